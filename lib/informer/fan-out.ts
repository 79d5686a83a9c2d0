/**
 * Delivers change sets to all listeners of one informer. A new listener first receives a snapshot of the store, then
 * every later commit. The snapshot is taken synchronously, and the store commits before any listener is notified, so
 * there is no gap and no duplicate.
 * client-go: tools/cache/shared_informer.go, sharedProcessor.
 */
import type { Change } from '../delta/net-change.ts';
import { type KubernetesObject, uidOf } from '../meta/kubernetes-object.ts';
import { reportingErrors } from '../rx/report-unhandled.ts';
import { type ChangeSet, createChangeSet } from '../store/change-set.ts';
import type { IndexerReader } from '../store/indexer.ts';

/** A receiver of change sets. */
export interface Listener<T> {
  next(set: ChangeSet<T>): void;
  /**
   * Called when the informer stops. A listener without `complete` stays and receives the difference from the next run.
   */
  complete?(): void;
}

/**
 * The contents of the store as one set. As a `snapshot` every object is an addition, and earlier sets no longer count
 * (`reset`). As a `resync` every object is an update without a change.
 */
export function contentsOf<T extends KubernetesObject>(
  indexer: IndexerReader<T>,
  cause: 'snapshot' | 'resync',
): ChangeSet<T> {
  const { rev, resourceVersion, synced } = indexer;
  const initial = cause === 'snapshot';
  const objects = indexer.list();
  const changes = (): Change<T>[] =>
    objects.map((object) => {
      const key = indexer.keyOf(object);
      const id = uidOf(object) || key;
      return initial ? { id, key, object } : { id, key, previous: object, object };
    });
  return createChangeSet<T>(
    { rev, resourceVersion, synced, cause, initial, reset: initial },
    changes,
  );
}

/** The listeners of one informer. */
export class FanOut<T extends KubernetesObject> {
  readonly #indexer: IndexerReader<T>;
  readonly #listeners = new Map<Listener<T>, number>();

  constructor(indexer: IndexerReader<T>) {
    this.#indexer = indexer;
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** Passes the snapshot and all later sets to the listener, until the returned function is called. */
  join(listener: Listener<T>): () => void {
    const snapshot = contentsOf(this.#indexer, 'snapshot');
    this.#listeners.set(listener, snapshot.rev);
    listener.next(snapshot);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Passes one commit to every listener that joined before it. */
  deliver(set: ChangeSet<T>): void {
    for (const [listener, joinedAt] of [...this.#listeners]) {
      // Skip a listener that has left in the meantime, or whose snapshot already contains this commit.
      if (joinedAt < set.rev && this.#listeners.has(listener)) listener.next(set);
    }
  }

  /**
   * Returns a function that completes the present listeners that have `complete`. An error thrown by the cleanup of a
   * listener is reported.
   */
  completer(): () => void {
    const present = [...this.#listeners.keys()];
    return () => {
      for (const listener of present) {
        if (listener.complete === undefined || !this.#listeners.delete(listener)) continue;
        reportingErrors(() => listener.complete?.())();
      }
    };
  }
}
