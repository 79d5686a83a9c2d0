/** A listener of an informer, and the set that it receives first. client-go: tools/cache/shared_informer.go, sharedProcessor. */
import type { Change } from '../delta/net-change.ts';
import { type KubernetesObject, uidOf } from '../meta/kubernetes-object.ts';
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

/** The additions of all objects, while somebody reads them: many queries that begin together have the same ones. */
const additions = /* @__PURE__ */ new WeakMap<object, WeakRef<readonly Change<unknown>[]>>();

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
  const changes = (): readonly Change<T>[] =>
    objects.map((object) => {
      const key = indexer.keyOf(object);
      const id = uidOf(object) || key;
      return initial ? { id, key, object } : { id, key, previous: object, object };
    });
  const shared = () => {
    const made = (additions.get(objects)?.deref() as readonly Change<T>[] | undefined) ?? changes();
    additions.set(objects, new WeakRef<readonly Change<unknown>[]>(made));
    return made;
  };
  return createChangeSet<T>(
    { rev, resourceVersion, synced, cause, initial, reset: initial },
    initial ? shared : changes,
  );
}
