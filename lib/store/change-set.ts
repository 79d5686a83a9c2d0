/**
 * `ChangeSet`, the notification of one commit. `added`, `updated` and `deleted` are derived from `changes` when they
 * are first read.
 */
import type { Change, DeletedObject } from '../delta/net-change.ts';
import type { Stored } from '../meta/kubernetes-object.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';
import { ownGuard } from './mutation-guard.ts';
import type { Origin } from './origin.ts';

/**
 * The cause of a change set: `snapshot` (the present contents of the store), `initial` (the first list), `watch` (watch
 * events), `relist` (a later list), `resync`, `query` (a parameter of a live query changed), `time` (an answer of a
 * live query was due to be evaluated again) or `rebalance` (the shards or namespaces that an informer holds have changed).
 */
export type Cause =
  | 'snapshot'
  | 'initial'
  | 'watch'
  | 'relist'
  | 'resync'
  | 'query'
  | 'time'
  | 'rebalance';

/** The cause of a set that is made of two: `watch` is what different causes have in common. */
export function commonCause(one: Cause | undefined, other: Cause): Cause {
  return one === undefined || one === other ? other : 'watch';
}

/** An object that existed before and exists now. */
export interface UpdatedObject<T> {
  readonly previous: Stored<T>;
  readonly object: Stored<T>;
}

/**
 * The notification of one commit, with all its changes. A set has at most one change per `id`, deletions come before
 * the other changes, and all changes have one cause. `rev` grows by one per commit. `synced` becomes false again within
 * a run only if `namespaceFallback` changes the namespaces. All consumers receive the same set, so its lists are frozen
 * unless NODE_ENV is `production`.
 */
export interface ChangeSet<T> {
  readonly rev: number;
  readonly cause: Cause;
  /**
   * Whether `changes` contains the complete contents of the store, so that the consumer must drop all it had before.
   */
  readonly reset: boolean;
  /** Whether the store has received a complete list. */
  readonly synced: boolean;
  /** Whether the set belongs to the first list (client-go's isInInitialList). */
  readonly initial: boolean;
  readonly resourceVersion: ResourceVersion | '';
  readonly changes: readonly Change<T>[];
  readonly added: readonly Stored<T>[];
  readonly updated: readonly UpdatedObject<T>[];
  readonly deleted: readonly DeletedObject<T>[];
  /** The objects whose shard or namespace has left the informer. They were not deleted, so `deleted` has none of them. */
  readonly left: readonly DeletedObject<T>[];
  /** Absent: the rows have no order. See {@link OrderedChangeSet}. */
  readonly order?: undefined;
  /**
   * The informers whose rows these are. Views and operators read it, and `createChangeSet` takes it from its head; a copy by
   * spread loses it.
   */
  readonly origin?: Origin | undefined;
}

/** The rows of an ordered stream after one set. It never changes, so a reader may keep it. */
export interface RowOrder<T> {
  readonly size: number;
  /** The row at a position, or `undefined` outside 0 … `size` - 1. */
  at(position: number): Stored<T> | undefined;
  /** The id at a position, or `undefined` outside 0 … `size` - 1. */
  idAt(position: number): string | undefined;
  /** The key at a position, or `undefined` outside 0 … `size` - 1. */
  keyAt(position: number): string | undefined;
  /** The position of an id, or -1. */
  indexOf(id: string): number;
  /** The rows from `start` to `end` (exclusive), like `Array.prototype.slice` without negative arguments. */
  slice(start?: number, end?: number): readonly Stored<T>[];
}

/**
 * A change set of a stream whose rows have an order. It has the order after the set, not moves, so folding sets keeps
 * the last order. It is not a {@link ChangeSet}, because an operator that forgets the order must not accept it.
 */
export interface OrderedChangeSet<T> extends Omit<ChangeSet<T>, 'order'> {
  readonly order: RowOrder<T>;
  /** The number of rows before a window was cut out; without a window `order.size`. */
  readonly total: number;
}

/** A change set with or without an order; `O` is `undefined` without. */
export interface AnyChangeSet<T, O = unknown> extends Omit<ChangeSet<T>, 'order'> {
  readonly order?: O;
  readonly total?: number;
}

/** The set that an operator emits for a set with the order `O`. */
export type SetOf<T, O> = [O] extends [undefined] ? ChangeSet<T> : OrderedChangeSet<T>;

/** The fields of a change set besides its changes. */
export interface ChangeSetHead<T = unknown>
  extends Pick<
    ChangeSet<unknown>,
    'rev' | 'cause' | 'reset' | 'synced' | 'initial' | 'resourceVersion' | 'origin'
  > {
  readonly order?: RowOrder<T> | undefined;
  readonly total?: number | undefined;
}

/** Made once, because reading NODE_ENV takes longer than making a short list. */
let guard: ReturnType<typeof ownGuard> | undefined;

/** Freezes a list, unless in production. */
function guarded<L extends object>(list: L): L {
  guard ??= ownGuard();
  return guard(list);
}

class LazyChangeSet<T> implements AnyChangeSet<T> {
  readonly rev: number;
  readonly cause: Cause;
  readonly reset: boolean;
  readonly synced: boolean;
  readonly initial: boolean;
  readonly resourceVersion: ResourceVersion | '';
  declare readonly order?: RowOrder<T>;
  declare readonly total?: number;
  #changes: readonly Change<T>[] | undefined;
  #makeChanges: (() => readonly Change<T>[]) | undefined;
  #added: readonly Stored<T>[] | undefined;
  #updated: readonly UpdatedObject<T>[] | undefined;
  #deleted: readonly DeletedObject<T>[] | undefined;
  #left: readonly DeletedObject<T>[] | undefined;
  #origin: Origin | undefined;

  constructor(
    head: ChangeSetHead<T>,
    changes: readonly Change<T>[] | (() => readonly Change<T>[]),
  ) {
    this.rev = head.rev;
    this.cause = head.cause;
    this.reset = head.reset;
    this.synced = head.synced;
    this.initial = head.initial;
    this.resourceVersion = head.resourceVersion;
    if (head.order !== undefined) this.order = head.order;
    if (head.total !== undefined) this.total = head.total;
    this.#origin = head.origin;
    if (typeof changes === 'function') this.#makeChanges = changes;
    else this.#changes = guarded(changes);
  }

  get origin(): Origin | undefined {
    return this.#origin;
  }

  /** Notes the origin of a set that has none. The store makes sets, and its informer knows where they come from. */
  static stamp<S extends object>(set: S, origin: Origin): S {
    if (#origin in set) set.#origin ??= origin;
    return set;
  }

  get changes(): readonly Change<T>[] {
    this.#changes ??= guarded(this.#makeChanges?.() ?? []);
    return this.#changes;
  }

  get added(): readonly Stored<T>[] {
    if (this.#added === undefined) {
      const added: Stored<T>[] = [];
      for (const { previous, object } of this.changes) {
        if (previous === undefined && object !== undefined) added.push(object);
      }
      this.#added = guarded(added);
    }
    return this.#added;
  }

  get updated(): readonly UpdatedObject<T>[] {
    if (this.#updated === undefined) {
      const updated: UpdatedObject<T>[] = [];
      for (const { previous, object } of this.changes) {
        if (previous !== undefined && object !== undefined) updated.push({ previous, object });
      }
      this.#updated = guarded(updated);
    }
    return this.#updated;
  }

  get deleted(): readonly DeletedObject<T>[] {
    this.#deleted ??= this.#gone(false);
    return this.#deleted;
  }

  get left(): readonly DeletedObject<T>[] {
    this.#left ??= this.#gone(true);
    return this.#left;
  }

  #gone(hasLeft: boolean): readonly DeletedObject<T>[] {
    const gone: DeletedObject<T>[] = [];
    for (const { id, key, previous, object, last, finalStateUnknown, left } of this.changes) {
      if (object !== undefined || previous === undefined || (left === true) !== hasLeft) continue;
      gone.push({
        key,
        uid: id,
        previous,
        object: last ?? previous,
        finalStateUnknown: finalStateUnknown === true,
      });
    }
    return guarded(gone);
  }
}

/**
 * Creates a change set, for authors of operators. `head` has the other fields; for an operator with one source, the
 * source's set will do. The changes must be ordered and unique as {@link ChangeSet} requires; given as a function, they are
 * computed when they are first read. With an `order` in the head it is an {@link OrderedChangeSet}.
 *
 * @example
 * ```ts
 * import { type ChangeSet, createChangeSet } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const web = { metadata: { name: 'web', uid: 'u1' } };
 * const set = changeSet({ added: [web] });
 * // The rows of one cluster among those of others: each id and key gets a prefix.
 * const changes = set.changes.map((each) => ({ ...each, id: `east/${each.id}`, key: `east/${each.key}` }));
 * const prefixed: ChangeSet<typeof web> = createChangeSet<typeof web>(set, changes);
 * prefixed.added[0] === web; // => true
 * prefixed.changes[0]?.key; // => 'east/web'
 * ```
 */
export function createChangeSet<T, H extends ChangeSetHead<T> = ChangeSetHead<T>>(
  head: H,
  changes: readonly Change<T>[] | (() => readonly Change<T>[]),
): H extends { readonly order: RowOrder<T> } ? OrderedChangeSet<T> : ChangeSet<T> {
  return new LazyChangeSet(head, changes) as never;
}

/** Notes the origin of the sets of an informer, which have none yet. Returns the set. */
export function stampOrigin<S extends object>(set: S, origin: Origin): S {
  return LazyChangeSet.stamp(set, origin);
}

/** The same set, with another origin. */
export function withOrigin<T>(set: AnyChangeSet<T>, origin: Origin): AnyChangeSet<T> {
  const { reset, order, total } = set as ChangeSetHead<T>;
  const head = { ...headOf(set as ChangeSet<T>), reset, order, total, origin };
  return new LazyChangeSet<T>(head, () => set.changes);
}

/** Returns the fields that a set made of `set` has in common with it: not its changes, their order or `reset`. */
export function headOf<T>({
  rev,
  cause,
  synced,
  initial,
  resourceVersion,
  origin,
}: ChangeSet<T>): Pick<
  ChangeSet<T>,
  'rev' | 'cause' | 'synced' | 'initial' | 'resourceVersion' | 'origin'
> {
  return { rev, cause, synced, initial, resourceVersion, origin };
}
