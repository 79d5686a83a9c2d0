/**
 * The interface of event handlers, as in client-go, and a handler that receives only the objects that a filter accepts.
 * Handlers read the same stream of change sets as subscribers. client-go: tools/cache/controller.go (ResourceEventHandler,
 * FilteringResourceEventHandler), shared_informer.go (AddEventHandler).
 */

import type { Change, DeletedObject } from '../../delta/net-change.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import { shownError } from '../../meta/shown-text.ts';
import { isThenable, synchronous } from '../../rx/is-thenable.ts';
import type { Cause } from '../../store/change-set.ts';
import type { SyncWaitOptions } from '../waits.ts';
import type { DeliveryPolicy } from './deliver.ts';

/**
 * Why a handler is called: the first list of the run, a watch event, a later list, a resync, or a change of shards. Not derived from
 * versions.
 */
export type NotificationCause = Exclude<Cause, 'snapshot'>;

/** The last argument of every callback. */
export interface EventNotification {
  readonly key: string;
  readonly cause: NotificationCause;
  /**
   * Whether this is an addition that is part of the first list. Always false for updates and deletions. client-go:
   * isInInitialList.
   */
  readonly isInInitialList: boolean;
}

/**
 * A function type that is checked like a method, so that a handler of any object is assignable to a handler of one
 * kind.
 */
type Callback<Args extends readonly unknown[]> = { call(...args: Args): unknown }['call'];

/**
 * The callbacks of a handler, each optional. A returned promise is awaited before the next callback; other return
 * values are ignored. An error that a callback throws, or with which its promise rejects, is reported. Other handlers
 * and the store continue.
 */
export interface ResourceEventHandler<T> {
  onAdd?: Callback<[object: Stored<T>, notification: EventNotification]> | undefined;
  onUpdate?:
    | Callback<[previous: Stored<T>, object: Stored<T>, notification: EventNotification]>
    | undefined;
  onDelete?: Callback<[deleted: DeletedObject<T>, notification: EventNotification]> | undefined;
  /**
   * Called if the shard of an object has left a sharded informer, or if its namespace may no longer be read
   * (`namespaceFallback`). The object was not deleted, so `onDelete` is not called. Drop what you remember of the object,
   * and write nothing.
   */
  onLeave?: Callback<[left: DeletedObject<T>, notification: EventNotification]> | undefined;
}

/** The options of one registration. */
export interface EventHandlerOptions<T = unknown> {
  /**
   * How often every stored object is delivered again as an update, in milliseconds, at least 1000. `0` and `Infinity`
   * mean never. On a running informer, a period shorter than the check period of the informer is raised to it.
   * @defaultValue the resync period of the informer
   */
  readonly resyncPeriodMs?: number | undefined;
  /** The name of the handler in errors and warnings. @defaultValue 'handler N' */
  readonly name?: string | undefined;
  /**
   * How changes are queued, and how many, while the handler is busy. If a policy starts over from the store, the
   * handler receives the difference instead of a `reset` set. @defaultValue { kind: 'conflate' }
   */
  readonly delivery?: DeliveryPolicy<T> | undefined;
  /**
   * How long a callback may take, in milliseconds. A longer callback causes a warning if more than `slowPending`
   * changes wait. @defaultValue 100
   */
  readonly slowAfterMs?: number | undefined;
  /** How many changes may wait without a warning. @defaultValue 1024 */
  readonly slowPending?: number | undefined;
}

/** A registered handler, as returned by `addEventHandler`. */
export interface EventHandlerRegistration {
  readonly name: string;
  /**
   * Whether the store is synced, and the handler has returned (its promises have settled) for every object of the first
   * list.
   */
  readonly hasSynced: boolean;
  /** How many changes wait for the handler. */
  readonly lag: number;
  /**
   * Resolves when `hasSynced` is true. Rejects when `timeoutMs` has passed, when the handler is removed, when the
   * informer is stopped or goes idle, and immediately while the server refuses the first list (`status.blocked`),
   * unless `whileBlocked` is `'wait'`.
   */
  whenSynced(options?: SyncWaitOptions): Promise<void>;
  /**
   * Removes the handler. With `drop`, the default, no callback begins after the call. With `drain` the waiting changes
   * are still delivered, and no later ones. The promise resolves when the handler has finished: the callback in
   * progress has returned or settled, and with `drain` every waiting change is delivered.
   *
   * If the handler itself makes the call, the promise resolves immediately, because otherwise the callback would wait
   * for itself. For a call after an `await` in the callback, pass the callback's notification as `within`, or do not
   * await the promise. Removing a registration twice does nothing. client-go: ShutDownEventHandler.
   */
  remove(options?: RemoveOptions): Promise<void>;
}

/** The options of `EventHandlerRegistration.remove`. */
export interface RemoveOptions {
  /**
   * `drop`: no callback begins after the call. `drain`: the changes that wait at the call are still delivered, later
   * ones are not.
   * @defaultValue 'drop'
   */
  readonly pending?: 'drop' | 'drain' | undefined;
  /** For a call after an `await` in a callback: the notification of that callback, which must not wait for itself. */
  readonly within?: EventNotification | undefined;
}

/** Calls the callback of a handler for one change, and returns what the callback returns. */
export function callHandler<T>(
  handler: ResourceEventHandler<T>,
  change: Change<T>,
  notification: EventNotification,
): unknown {
  const { id, key, previous, object, last, finalStateUnknown, left } = change;
  if (object !== undefined) {
    if (previous !== undefined) return handler.onUpdate?.(previous, object, notification);
    return handler.onAdd?.(object, notification);
  }
  if (previous === undefined) return undefined;
  const deleted = { key, uid: id, previous, object: last ?? previous };
  const argument = { ...deleted, finalStateUnknown: finalStateUnknown === true };
  if (left === true) return handler.onLeave?.(argument, notification);
  return handler.onDelete?.(argument, notification);
}

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
      return { matches: synchronous(filter(object), 'filter') };
    } catch (error) {
      return { matches: false, failure: { error } };
    }
  };
  const ifMatching = (object: Stored<T>, call: () => unknown): unknown => {
    const tested = test(object);
    return tested.matches ? call() : failing(() => undefined, tested);
  };
  return {
    onAdd: (object, notification) =>
      ifMatching(object, () => handler.onAdd?.(object, notification)),
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
    onDelete: (deleted, notification) =>
      ifMatching(deleted.previous, () => handler.onDelete?.(deleted, notification)),
    onLeave: (left, notification) =>
      ifMatching(left.previous, () => handler.onLeave?.(left, notification)),
  };
}
