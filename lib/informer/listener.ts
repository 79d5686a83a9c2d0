/** A listener of an informer, and the set that it receives first. client-go: tools/cache/shared_informer.go, sharedProcessor. */
import type { Change } from '../delta/net-change.ts';
import { type KubernetesObject, type Stored, uidOf } from '../meta/kubernetes-object.ts';
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

/** The change that adds an object of a store. */
export function additionOf<T extends KubernetesObject>(
  { keyOf }: Pick<IndexerReader<T>, 'keyOf'>,
  object: Stored<T>,
): Change<T> {
  const key = keyOf(object);
  return { id: uidOf(object) || key, key, object };
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
    objects.map((previous) => {
      const added = additionOf(indexer, previous);
      return initial ? added : { ...added, previous };
    });
  return createChangeSet<T>(
    { rev, resourceVersion, synced, cause, initial, reset: initial },
    changes,
  );
}
