/**
 * Handlers in the manner of client-go, over the same stream of change sets that everyone else reads.
 * client-go: tools/cache/controller.go (ResourceEventHandler), shared_informer.go (AddEventHandler).
 */

import type { Change, DeletedObject } from '../../delta/net-change.ts';
import type { Stored } from '../../meta/stored.ts';
import type { Cause } from '../../store/change-set.ts';
import type { SyncWaitOptions } from '../waits.ts';
import type { DeliveryPolicy } from './delivery.ts';

/** Why a handler is called: its first list, a watch event, a later list, a resync. Never guessed from versions. */
export type NotificationCause = Exclude<Cause, 'snapshot'>;

/** What a callback is told beside the objects. */
export interface EventNotification {
  readonly key: string;
  readonly cause: NotificationCause;
  /** An addition that is part of the first list. Always false for an update and a deletion. client-go: isInInitialList. */
  readonly isInInitialList: boolean;
}

/** As a method is to the compiler, so that a handler of any object serves for objects of a kind. */
type Callback<Args extends readonly unknown[]> = { call(...args: Args): unknown }['call'];

/**
 * Callbacks, each optional. A promise that one answers is awaited before the next call; other answers mean nothing.
 * One that throws or rejects is reported; the others and the store go on.
 */
export interface ResourceEventHandler<T> {
  onAdd?: Callback<[object: Stored<T>, notification: EventNotification]> | undefined;
  onUpdate?:
    | Callback<[previous: Stored<T>, object: Stored<T>, notification: EventNotification]>
    | undefined;
  onDelete?: Callback<[deleted: DeletedObject<T>, notification: EventNotification]> | undefined;
}

/** How one registration is served. */
export interface EventHandlerOptions<T = unknown> {
  /**
   * Every known object again, as an update, this often, in milliseconds, at least 1000; `0` and `Infinity`: never. Added to a running informer it is
   * raised to the informer's check period. @defaultValue with the informer's own resyncs
   */
  readonly resyncPeriodMs?: number | undefined;
  /** Named in errors and warnings. @defaultValue 'handler N' */
  readonly name?: string | undefined;
  /**
   * What bounds that which waits while the handler is busy. A handler knows no `reset`: where a policy starts over, it
   * gets the difference. @defaultValue { kind: 'conflate' }
   */
  readonly delivery?: DeliveryPolicy<T> | undefined;
  /** A callback longer than this, in milliseconds, is named in a warning while much waits. @defaultValue 100 */
  readonly slowAfterMs?: number | undefined;
  /** So many changes must wait for such a warning. @defaultValue 1024 */
  readonly slowPending?: number | undefined;
}

/** What `addEventHandler` answers. */
export interface EventHandlerRegistration {
  readonly name: string;
  /** The store is synced, and the handler has returned (or settled) from every object of its first list. */
  readonly hasSynced: boolean;
  /** Changes that wait for the handler: how far behind it is. */
  readonly lag: number;
  /**
   * Resolves when `hasSynced`. Rejects when its time is over, when the handler is removed, when the informer is stopped,
   * and immediately while the server refuses the first list (`status.blocked`), unless told to wait.
   */
  whenSynced(options?: SyncWaitOptions): Promise<void>;
}

/** How a registration is removed. */
export interface RemoveOptions {
  /**
   * `drop`: nothing is delivered after the call. `drain`: what waits by now is still delivered, nothing else.
   * @defaultValue 'drop'
   */
  readonly pending?: 'drop' | 'drain' | undefined;
  /** In a callback after an `await`: its own notification, so that the callback does not wait for itself. */
  readonly within?: EventNotification | undefined;
}

/** Calls a handler for one change. */
export function callHandler<T>(
  handler: ResourceEventHandler<T>,
  change: Change<T>,
  notification: EventNotification,
): unknown {
  const { id, key, previous, object, last, finalStateUnknown } = change;
  if (object !== undefined) {
    if (previous !== undefined) return handler.onUpdate?.(previous, object, notification);
    return handler.onAdd?.(object, notification);
  }
  if (previous === undefined) return undefined;
  const deleted = { key, uid: id, previous, object: last ?? previous };
  const end = { ...deleted, finalStateUnknown: finalStateUnknown === true };
  return handler.onDelete?.(end, notification);
}
