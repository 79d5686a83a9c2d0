/**
 * `ChangeSet`, the notification of one commit. `added`, `updated` and `deleted` are derived from `changes` when they
 * are first read.
 */
import type { Change, DeletedObject } from '../delta/net-change.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';
import type { Stored } from '../meta/stored.ts';

/**
 * The cause of a change set: `snapshot` (the present contents of the store), `initial` (the first list), `watch` (watch
 * events), `relist` (a later list) or `resync`.
 */
export type Cause = 'snapshot' | 'initial' | 'watch' | 'relist' | 'resync';

/** An object that existed before and exists now. */
export interface UpdatedObject<T> {
  readonly previous: Stored<T>;
  readonly object: Stored<T>;
}

/**
 * The notification of one commit, with all its changes. A set has at most one change per `id`, deletions come before
 * the other changes, and all changes have one cause. `rev` grows by one per commit, and `synced` never becomes false
 * again within a run.
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
}

/** The fields of a change set besides its changes. */
export type ChangeSetHead = Pick<
  ChangeSet<unknown>,
  'rev' | 'cause' | 'reset' | 'synced' | 'initial' | 'resourceVersion'
>;

class LazyChangeSet<T> implements ChangeSet<T> {
  readonly rev: number;
  readonly cause: Cause;
  readonly reset: boolean;
  readonly synced: boolean;
  readonly initial: boolean;
  readonly resourceVersion: ResourceVersion | '';
  #changes: readonly Change<T>[] | undefined;
  #makeChanges: (() => readonly Change<T>[]) | undefined;
  #added: readonly Stored<T>[] | undefined;
  #updated: readonly UpdatedObject<T>[] | undefined;
  #deleted: readonly DeletedObject<T>[] | undefined;

  constructor(head: ChangeSetHead, changes: readonly Change<T>[] | (() => readonly Change<T>[])) {
    this.rev = head.rev;
    this.cause = head.cause;
    this.reset = head.reset;
    this.synced = head.synced;
    this.initial = head.initial;
    this.resourceVersion = head.resourceVersion;
    if (typeof changes === 'function') this.#makeChanges = changes;
    else this.#changes = changes;
  }

  get changes(): readonly Change<T>[] {
    this.#changes ??= this.#makeChanges?.() ?? [];
    return this.#changes;
  }

  get added(): readonly Stored<T>[] {
    if (this.#added === undefined) {
      const added: Stored<T>[] = [];
      for (const { previous, object } of this.changes) {
        if (previous === undefined && object !== undefined) added.push(object);
      }
      this.#added = added;
    }
    return this.#added;
  }

  get updated(): readonly UpdatedObject<T>[] {
    if (this.#updated === undefined) {
      const updated: UpdatedObject<T>[] = [];
      for (const { previous, object } of this.changes) {
        if (previous !== undefined && object !== undefined) updated.push({ previous, object });
      }
      this.#updated = updated;
    }
    return this.#updated;
  }

  get deleted(): readonly DeletedObject<T>[] {
    if (this.#deleted === undefined) {
      const deleted: DeletedObject<T>[] = [];
      for (const { id, key, previous, object, last, finalStateUnknown } of this.changes) {
        if (object !== undefined || previous === undefined) continue;
        deleted.push({
          key,
          uid: id,
          previous,
          object: last ?? previous,
          finalStateUnknown: finalStateUnknown === true,
        });
      }
      this.#deleted = deleted;
    }
    return this.#deleted;
  }
}

/** Creates a change set. The changes must be ordered and unique as {@link ChangeSet} requires. */
export function createChangeSet<T>(
  head: ChangeSetHead,
  changes: readonly Change<T>[] | (() => readonly Change<T>[]),
): ChangeSet<T> {
  return new LazyChangeSet(head, changes);
}
