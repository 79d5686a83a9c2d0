/**
 * Handlers in the manner of client-go, over the same stream of change sets that everyone else reads.
 * client-go: tools/cache/controller.go (ResourceEventHandler), shared_informer.go (AddEventHandler).
 */
import type { DeletedObject } from '../delta/net-change.ts';
import type { ChangeSet } from '../store/change-set.ts';

/** Callbacks, each optional. One that throws is reported; the others and the store go on. */
export interface ResourceEventHandler<T> {
  onAdd?(object: T, isInInitialList: boolean): void;
  onUpdate?(previous: T, object: T): void;
  onDelete?(deleted: DeletedObject<T>): void;
}

/** How one registration is served. */
export interface EventHandlerOptions {
  /** Every known object again, as an update, this often; 0 never, at least 1000. @defaultValue 0 */
  readonly resyncPeriodMs?: number;
  /** Named in errors. @defaultValue 'handler N' */
  readonly name?: string;
}

/** What `addEventHandler` answers. */
export interface EventHandlerRegistration {
  readonly name: string;
  /** The store is synced, and the handler has returned from every object of its first list. */
  readonly hasSynced: boolean;
}

/** Calls a handler for each change of a set, in order: deletions first. */
export function notifyHandler<T>(
  handler: ResourceEventHandler<T>,
  set: ChangeSet<T>,
  onThrow: (error: unknown, key: string) => void,
  isRemoved: () => boolean,
): void {
  for (const change of set.changes) {
    if (isRemoved()) return;
    const { id, key, previous, object, last, finalStateUnknown } = change;
    try {
      let answer: unknown;
      if (object === undefined) {
        if (previous === undefined) continue;
        const deleted = { key, uid: id, previous, object: last ?? previous };
        answer = handler.onDelete?.({ ...deleted, finalStateUnknown: finalStateUnknown === true });
      } else if (previous === undefined) answer = handler.onAdd?.(object, set.initial);
      else answer = handler.onUpdate?.(previous, object);
      if (answer instanceof Promise) answer.catch((error) => onThrow(error, key));
    } catch (error) {
      onThrow(error, key);
    }
  }
}
