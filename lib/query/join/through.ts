/** `through`: joins owners with what their own objects own, over a stream of the objects between. */

import { isObservable, type Observable } from 'rxjs';
import { check, checkedWord } from '../../checks/checked-option.ts';
import { type KubernetesObject, uidOf } from '../../meta/kubernetes-object.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import { sameList } from '../operators/shallow-equal.ts';
import { type JoinKeys, KeyMatching, ownersOf, uidOfRow } from './key-matching.ts';
import {
  type Bucket,
  type LeftRow,
  type Matching,
  RELATION,
  type Relation,
  type RightRow,
} from './matching.ts';

/** A relation that {@link through} has made, for the option `on` of `liveJoin`. */
export interface JoinThrough {
  readonly [RELATION]: object;
}

type Row = LeftRow | RightRow;

const NONE: readonly never[] = /* @__PURE__ */ Object.freeze([]);

function ownerUids(object: KubernetesObject, key: string): readonly string[] {
  return ownersOf(object, key)?.map(({ uid }) => uid) ?? NONE;
}

class ThroughMatching implements Matching {
  readonly #owner: 'left' | 'right';
  readonly #keys: KeyMatching;
  /** The UIDs of the owners of each object between, by its own UID. */
  readonly #above = new Map<string, readonly string[]>();
  /** The rows that an object between owns, by its UID, whether that object is known or not. */
  readonly #owned = new Map<string, Set<Row>>();
  /** The UIDs of the owners of each owned row. */
  readonly #owners = new Map<Row, readonly string[]>();

  constructor(owner: 'left' | 'right') {
    this.#owner = owner;
    const own = (keys: never) => keys as JoinKeys;
    this.#keys = new KeyMatching(own, own);
  }

  ofLeft(row: LeftRow, object: never, nowMs: number): readonly Bucket[] {
    return this.#keys.ofLeft(row, this.#keysOf('left', row, object) as never, nowMs);
  }

  ofRight(row: RightRow, object: never, nowMs: number): readonly Bucket[] {
    return this.#keys.ofRight(row, this.#keysOf('right', row, object) as never, nowMs);
  }

  removed(row: Row): void {
    this.#own(row, NONE);
  }

  vacated(bucket: Bucket): void {
    this.#keys.vacated(bucket);
  }

  fill(): undefined {
    return undefined;
  }

  between(id: string, key: string, object: KubernetesObject, isGone: boolean): Iterable<Row> {
    const uid = uidOf(object) || id;
    const owners = isGone ? NONE : ownerUids(object, key);
    if (sameList(owners, this.#above.get(uid) ?? NONE)) return NONE;
    if (owners.length === 0) this.#above.delete(uid);
    else this.#above.set(uid, owners);
    return this.#owned.get(uid) ?? NONE;
  }

  #keysOf(side: 'left' | 'right', row: Row, object: KubernetesObject): JoinKeys {
    if (side === this.#owner) return uidOfRow(object, row);
    const owners = ownerUids(object, row.key);
    this.#own(row, owners);
    return owners.flatMap((uid) => this.#above.get(uid) ?? NONE);
  }

  #own(row: Row, owners: readonly string[]): void {
    const before = this.#owners.get(row) ?? NONE;
    if (sameList(before, owners)) return;
    for (const uid of before) {
      const rows = this.#owned.get(uid);
      rows?.delete(row);
      if (rows?.size === 0) this.#owned.delete(uid);
    }
    for (const uid of owners) {
      const rows = this.#owned.get(uid);
      if (rows === undefined) this.#owned.set(uid, new Set([row]));
      else rows.add(row);
    }
    if (owners.length === 0) this.#owners.delete(row);
    else this.#owners.set(row, owners);
  }
}

/**
 * A relation for the option `on` of {@link liveJoin}: it joins owners with what their own objects own, for example
 * Deployments with the Pods of their ReplicaSets, or CronJobs with the Pods of their Jobs. `between$` is the stream of the
 * objects between, of which the UID and `metadata.ownerReferences` are read, so that an informer with
 * `as: 'metadata'` is enough. `owner` is the side of the join with the upper owners. An object whose owner has no
 * object between is joined with nothing.
 *
 * An object between that arrives later, changes its owners or is deleted changes the rows of what it owns. The join is
 * synced when all three streams are, completes when all have completed, and errors if one does. A relation that an
 * Observable of `on` emits is refused with a `TypeError`, because the streams of a join do not change. Throws a
 * `TypeError` if `between$` is not an Observable or `owner` is invalid.
 *
 * ```
 * left      +D------------------------
 * between$  ----+R(of D)------(-R)----
 * right     --+P(of R)----------------
 * result    D[]-D[P]----------D[]-----
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { liveJoin, through, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const ownedBy = (kind: string, uid: string) => [{ apiVersion: 'apps/v1', kind, name: uid, uid }];
 * const web = { metadata: { name: 'web', uid: 'd1' } };
 * const set = { metadata: { name: 'web-1', uid: 'r1', ownerReferences: ownedBy('Deployment', 'd1') } };
 * const pod = { metadata: { name: 'web-1-x', uid: 'p1', ownerReferences: ownedBy('ReplicaSet', 'r1') } };
 * const deployments$ = of(changeSet({ added: [web] })); // with an informer: informer.changes$
 * const replicaSets$ = of(changeSet({ added: [set] }));
 * const pods$ = of(changeSet({ added: [pod] }));
 * const view = toView(
 *   deployments$.pipe(
 *     liveJoin(pods$, {
 *       on: through(replicaSets$, { owner: 'left' }),
 *       project: ({ metadata }, pods) => ({ name: metadata.name, pods: pods.length }),
 *     }),
 *   ),
 * );
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows; // => [{ name: 'web', pods: 1 }]
 * ```
 */
export function through<T>(
  between$: Observable<ChangeSet<T>>,
  { owner }: { readonly owner: 'left' | 'right' },
): JoinThrough {
  check(isObservable(between$), 'through: between$', between$, 'a stream of change sets');
  checkedWord(owner, 'through: owner', ['left', 'right']);
  const relation: Relation = {
    between$,
    match: () => new ThroughMatching(owner),
  };
  return { [RELATION]: relation };
}
