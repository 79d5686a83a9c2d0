/**
 * Fan-out of change sets. A new listener gets the state, then what is committed after it: the snapshot is taken
 * synchronously from the store, which commits before anyone is told, so there is no gap and no duplicate.
 * client-go: tools/cache/shared_informer.go, sharedProcessor.
 */
import type { Change } from '../delta/net-change.ts';
import { type KubernetesObject, uidOf } from '../meta/kubernetes-object.ts';
import { told } from '../rx/report-unhandled.ts';
import { type ChangeSet, createChangeSet } from '../store/change-set.ts';
import type { IndexerReader } from '../store/indexer.ts';

/** Who is told. */
export interface Listener<T> {
  next(set: ChangeSet<T>): void;
  /** Absent: stays over the end of a generation and hears the next one's difference. */
  complete?(): void;
}

/** The store as one set: everything added, what was before is void. */
export function snapshotSet<T extends KubernetesObject>(indexer: IndexerReader<T>): ChangeSet<T> {
  const { rev, resourceVersion, synced } = indexer;
  const objects = indexer.list();
  const changes = (): Change<T>[] =>
    objects.map((object) => {
      const key = indexer.keyOf(object);
      return { id: uidOf(object) || key, key, object };
    });
  const head = { rev, resourceVersion, synced, cause: 'snapshot', reset: true } as const;
  return createChangeSet<T>({ ...head, initial: true }, changes);
}

/** Everything in the store again, unchanged: what a resync delivers. */
export function resyncSet<T extends KubernetesObject>(indexer: IndexerReader<T>): ChangeSet<T> {
  const { rev, resourceVersion, synced } = indexer;
  const changes = indexer.list().map((object): Change<T> => {
    const key = indexer.keyOf(object);
    return { id: uidOf(object) || key, key, previous: object, object };
  });
  const head = { rev, resourceVersion, synced, cause: 'resync', reset: false } as const;
  return createChangeSet<T>({ ...head, initial: false }, changes);
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

  /** Tells the listener the state, then all that follows, until the answer is called. */
  join(listener: Listener<T>): () => void {
    const snapshot = snapshotSet(this.#indexer);
    this.#listeners.set(listener, snapshot.rev);
    listener.next(snapshot);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** One commit to everyone who had joined before it. */
  deliver(set: ChangeSet<T>): void {
    for (const [listener, joinedAt] of [...this.#listeners]) {
      // Left in the meantime, or joined with this commit already in its snapshot.
      if (joinedAt < set.rev && this.#listeners.has(listener)) listener.next(set);
    }
  }

  /**
   * Returns the function that completes those who listen now, except those who stay over the end. What the cleanup of
   * one throws is reported.
   */
  leaving(): () => void {
    const leaving = [...this.#listeners.keys()];
    return () => {
      for (const listener of leaving) {
        if (listener.complete === undefined || !this.#listeners.delete(listener)) continue;
        told(() => listener.complete?.())();
      }
    };
  }
}
