/**
 * A handler that sees only what a filter lets through, as if the rest did not exist.
 * client-go: tools/cache/controller.go, FilteringResourceEventHandler.
 */

import { shownError } from '../../meta/shown-text.ts';
import type { Stored } from '../../meta/stored.ts';
import { isThenable } from '../../rx/is-thenable.ts';
import type { ResourceEventHandler } from './event-handler.ts';

/** What {@link filteringEventHandler} takes. */
export interface FilteringEventHandlerOptions<T> {
  /** A pure function of the object. One that throws is reported, and counts as `false`. */
  readonly filter: (object: Stored<T>) => boolean;
  readonly handler: ResourceEventHandler<T>;
}

interface Tested {
  readonly matches: boolean;
  readonly failure?: { readonly error: unknown };
}

/**
 * What the handler answers, then the filter's error, so that whoever called reports it. Where the handler fails, too,
 * one error holds both: a callback has one answer.
 */
function failing(act: () => unknown, { failure }: Tested): unknown {
  if (failure === undefined) return act();
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
  let answer: unknown;
  try {
    answer = act();
  } catch (error) {
    return failBoth(error);
  }
  return isThenable(answer) ? Promise.resolve(answer).then(fail, failBoth) : fail();
}

/**
 * Makes updates that cross the filter into additions (`isInInitialList` false) and deletions (with the object as it
 * was told before), so that a handler's additions and deletions balance.
 *
 * A deletion passes when the handler was told of the object: the filter is asked about the state that was told, never
 * about a tombstone. What a filter throws is reported with the object's key by the informer; the object counts as not
 * matching from then on. Where `onDelete` fails in the same call, an `AggregateError` of both is reported. client-go:
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
      // That the filter failed on what was told before has been reported then.
      const before = test(previous);
      const now = previous === object ? before : test(object);
      if (before.matches && now.matches) return handler.onUpdate?.(previous, object, notification);
      if (now.matches) return handler.onAdd?.(object, notification);
      if (!before.matches) return failing(() => undefined, now);
      const { key } = notification;
      const uid = (previous as { metadata?: { uid?: string } }).metadata?.uid || key;
      const gone = { key, uid, previous, object: previous, finalStateUnknown: false };
      return failing(() => handler.onDelete?.(gone, notification), now);
    },
    onDelete(deleted, notification) {
      if (!test(deleted.previous).matches) return undefined;
      return handler.onDelete?.(deleted, notification);
    },
  };
}
