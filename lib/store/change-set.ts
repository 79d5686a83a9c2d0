/**
 * One commit, as every consumer sees it. `changes` is the truth; `added`, `updated` and `deleted` are views of
 * it, made when they are first read.
 */

import type { Change, DeletedObject } from '../delta/net-change.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';
import type { Stored } from '../meta/stored.ts';

/** Why a change set came: the store as it stands, the first list, a watch event, a later list, a resync. */
export type Cause = 'snapshot' | 'initial' | 'watch' | 'relist' | 'resync';

/** An object that was there before and is there now. */
export interface UpdatedObject<T> {
  readonly previous: Stored<T>;
  readonly object: Stored<T>;
}

/**
 * Laws: at most one change an `id`; deletions stand before all else; `rev` grows by one a commit; a set has one
 * cause; `reset` means that what the consumer had before is void; `synced` never goes back to false within a
 * generation.
 */
export interface ChangeSet<T> {
  readonly rev: number;
  readonly cause: Cause;
  /** Forget what you had: `changes` holds everything there is. */
  readonly reset: boolean;
  /** The store has held a whole list. */
  readonly synced: boolean;
  /** Part of the first list (client-go's isInInitialList). */
  readonly initial: boolean;
  readonly resourceVersion: ResourceVersion | '';
  readonly changes: readonly Change<T>[];
  readonly added: readonly Stored<T>[];
  readonly updated: readonly UpdatedObject<T>[];
  readonly deleted: readonly DeletedObject<T>[];
}

/** What a set says beside its changes. */
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

/** A change set of these changes, which must keep the laws of {@link ChangeSet}. */
export function createChangeSet<T>(
  head: ChangeSetHead,
  changes: readonly Change<T>[] | (() => readonly Change<T>[]),
): ChangeSet<T> {
  return new LazyChangeSet(head, changes);
}
