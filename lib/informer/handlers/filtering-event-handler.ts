/**
 * A handler that receives only the objects that a filter accepts.
 * client-go: tools/cache/controller.go, FilteringResourceEventHandler.
 */

import { shownError } from '../../meta/shown-text.ts';
import type { Stored } from '../../meta/stored.ts';
import { isThenable } from '../../rx/is-thenable.ts';
import type { ResourceEventHandler } from './event-handler.ts';

/** The options of {@link filteringEventHandler}. */
export interface FilteringEventHandlerOptions<T> {
  /** A pure function of the object. If it throws, the error is reported and the object does not match. */
  readonly filter: (object: Stored<T>) => boolean;
  readonly handler: ResourceEventHandler<T>;
}

interface Tested {
  readonly matches: boolean;
  readonly failure?: { readonly error: unknown };
}

/**
 * Calls the handler, then throws the error of the filter, so that the caller reports it. If the handler fails, too, the
 * thrown error contains both, because a callback can fail only once.
 */
function failing(call: () => unknown, { failure }: Tested): unknown {
  if (failure === undefined) return call();
  const fail = () => {
    throw failure.error;
  };
  const failBoth = (error: unknown) => {
    const both = [failure.error, error];
    throw new AggregateError(
      both,
      `filter and onDelete failed: ${both.map(shownError).join('; ')}`,
    );
  };
  let result: unknown;
  try {
    result = call();
  } catch (error) {
    return failBoth(error);
  }
  return isThenable(result) ? Promise.resolve(result).then(fail, failBoth) : fail();
}

/**
 * Wraps a handler so that it receives only the objects that the filter accepts. An update that crosses the filter
 * becomes an addition (with `isInInitialList` false) or a deletion (of the last state that the handler received).
 *
 * For a deletion the filter is applied to the last state that the handler received, never to the tombstone. An error
 * that the filter throws is reported by the informer with the key of the object, and the object does not match from
 * then on. If `onDelete` fails in the same call, an `AggregateError` of both errors is reported. client-go:
 * FilteringResourceEventHandler.
 *
 * ```
 * objects   +a(on)   ~a(off)   ~a(on)   ~a(on)   -a
 * handler   onAdd    onDelete  onAdd    onUpdate onDelete
 * ```
 *
 * @example
 * ```ts
 * import { filteringEventHandler, type KubernetesObject } from 'rx-informer';
 *
 * const log: string[] = [];
 * const handler = filteringEventHandler<KubernetesObject>({
 *   filter: (object) => object.metadata?.labels?.tier === 'web',
 *   handler: {
 *     onAdd: (object) => log.push(`+${object.metadata?.name}`),
 *     onDelete: ({ key }) => log.push(`-${key}`),
 *   },
 * });
 * const metadata = { name: 'a', uid: 'u1', resourceVersion: '5' };
 * const web = { metadata: { ...metadata, labels: { tier: 'web' } } };
 * const off = { metadata: { ...metadata, labels: { tier: 'db' } } };
 * handler.onAdd?.(web, { key: 'a', cause: 'initial', isInInitialList: true });
 * handler.onUpdate?.(web, off, { key: 'a', cause: 'watch', isInInitialList: false });
 * log; // => ['+a', '-a']
 * ```
 */
export function filteringEventHandler<T>(
  options: FilteringEventHandlerOptions<T>,
): ResourceEventHandler<T> {
  const { filter, handler } = options;
  const test = (object: Stored<T>): Tested => {
    try {
      return { matches: filter(object) };
    } catch (error) {
      return { matches: false, failure: { error } };
    }
  };
  return {
    onAdd(object, notification) {
      const now = test(object);
      if (!now.matches) return failing(() => undefined, now);
      return handler.onAdd?.(object, notification);
    },
    onUpdate(previous, object, notification) {
      // If the filter throws on the previous state, that error has been reported before.
      const before = test(previous);
      const now = previous === object ? before : test(object);
      if (before.matches && now.matches) return handler.onUpdate?.(previous, object, notification);
      if (now.matches) return handler.onAdd?.(object, notification);
      if (!before.matches) return failing(() => undefined, now);
      const { key } = notification;
      const uid = (previous as { metadata?: { uid?: string } }).metadata?.uid || key;
      const deleted = { key, uid, previous, object: previous, finalStateUnknown: false };
      return failing(() => handler.onDelete?.(deleted, notification), now);
    },
    onDelete(deleted, notification) {
      if (!test(deleted.previous).matches) return undefined;
      return handler.onDelete?.(deleted, notification);
    },
    onLeave(left, notification) {
      if (!test(left.previous).matches) return undefined;
      return handler.onLeave?.(left, notification);
    },
  };
}
