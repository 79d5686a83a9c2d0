/** `changeSet`: builds change sets for tests of their consumers, from the few fields that matter in a test. */

import type { Change, DeletedObject } from '../../delta/net-change.ts';
import { metaNamespaceKeyFunc } from '../../meta/key.ts';
import { type KubernetesObject, type Stored, uidOf } from '../../meta/kubernetes-object.ts';
import type { Cause, ChangeSet, UpdatedObject } from '../../store/change-set.ts';

/** The fields of a change set. All are optional. */
export interface ChangeSetInit<T> {
  readonly added?: readonly T[] | undefined;
  readonly updated?: readonly { readonly previous: T; readonly object: T }[] | undefined;
  readonly deleted?: readonly T[] | undefined;
  /** Objects that were deleted, but whose deletion was missed, so that their final state is unknown. */
  readonly missed?: readonly T[] | undefined;
  /** Objects that left a sharded informer without being deleted. */
  readonly left?: readonly T[] | undefined;
  /** @defaultValue true */
  readonly synced?: boolean | undefined;
  /** @defaultValue 1 */
  readonly rev?: number | undefined;
  /** Default: `initial` for an initial set, otherwise `watch`. */
  readonly cause?: Cause | undefined;
  /** @defaultValue false */
  readonly reset?: boolean | undefined;
  /** @defaultValue false */
  readonly initial?: boolean | undefined;
  /** Default: the version of the last object that has one. */
  readonly resourceVersion?: string | undefined;
}

function goneObject<T extends KubernetesObject>(
  object: Stored<T>,
  finalStateUnknown: boolean,
): DeletedObject<T> {
  const key = metaNamespaceKeyFunc(object);
  return { key, uid: uidOf(object), previous: object, object, finalStateUnknown };
}

/**
 * Builds a change set: deletions first, then updates, then additions.
 *
 * Throws a `TypeError` for an object without a name, or for two changes of one object.
 *
 * @example
 * ```ts
 * import { changeSet } from 'rx-informer/testing';
 *
 * const set = changeSet({ added: [{ metadata: { name: 'web-0', uid: 'u1' } }] });
 * set.changes.length; // => 1
 * set.synced; // => true
 * ```
 */
export function changeSet<T extends KubernetesObject>(init: ChangeSetInit<T> = {}): ChangeSet<T> {
  type S = Stored<T>;
  const { initial = false } = init;
  // A test may leave out metadata. Consumers see the objects typed as if a server had stored them.
  const { added = [], deleted = [], missed = [], left = [] } = init as Record<string, readonly S[]>;
  const updated = (init.updated ?? []) as readonly UpdatedObject<T>[];
  const named = (object: T) => {
    const key = metaNamespaceKeyFunc(object);
    return { id: uidOf(object) || key, key };
  };
  const gone = (object: S): Change<T> => ({ ...named(object), previous: object, last: object });
  const changes: Change<T>[] = [
    ...deleted.map(gone),
    ...missed.map((object): Change<T> => ({ ...gone(object), finalStateUnknown: true })),
    ...left.map((object): Change<T> => ({ ...gone(object), left: true })),
    ...updated.map((both): Change<T> => ({ ...named(both.object), ...both })),
    ...added.map((object): Change<T> => ({ ...named(object), object })),
  ];
  const seen = new Set<string>();
  for (const { id } of changes) {
    if (seen.has(id))
      throw new TypeError(`changeSet: two changes of ${JSON.stringify(id)} in one set`);
    seen.add(id);
  }
  const versions = changes.map(({ object, last }) => (object ?? last)?.metadata?.resourceVersion);
  return {
    rev: init.rev ?? 1,
    cause: init.cause ?? (initial ? 'initial' : 'watch'),
    reset: init.reset ?? false,
    synced: init.synced ?? true,
    initial,
    resourceVersion: init.resourceVersion ?? versions.findLast(Boolean) ?? '',
    changes,
    added,
    updated,
    deleted: [...deleted, ...missed].map((object) => goneObject(object, missed.includes(object))),
    left: left.map((object) => goneObject(object, false)),
  };
}
