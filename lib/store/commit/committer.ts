/**
 * Applies commits to the store, delta by delta: stores, removes and refuses objects.
 * client-go: tools/cache/controller.go, processDeltas and processDeltasInBatch.
 */
import type { Refused } from '../../decode/watch-event.ts';
import { isOutdatedDeletion, stateOf, versionOfDeletion } from '../../delta/outdated-deletions.ts';
import { listedObjects, unlistedKeys } from '../../delta/relist.ts';
import { ApiError } from '../../meta/api-error.ts';
import { inScope, isKeyOf } from '../../meta/key.ts';
import {
  controllerUidOf,
  type KubernetesObject,
  type Stored,
  uidOf,
  versionOf,
} from '../../meta/kubernetes-object.ts';
import { isOlder } from '../../meta/resource-version.ts';
import { shownCause, shownError } from '../../meta/shown-text.ts';
import type { Deletion, Delta, Replaced } from '../../reflector/delta.ts';
import { reportingErrors } from '../../rx/report-unhandled.ts';
import { type ChangeSet, createChangeSet } from '../change-set.ts';
import type { Indexer, IndexerTransaction } from '../indexer.ts';
import { Scopes } from '../scopes.ts';
import { type Origin, successorOf, type UnchangedParts } from '../successor-of.ts';
import { CommitChanges } from './commit-changes.ts';
import type { Commit } from './commits.ts';

/** An object that the store refused, because a key or index function threw an error. */
export interface StoreRefusal<T> {
  /** The key; '' for an object without a key, which is not tried again. */
  readonly key: string;
  readonly object: T;
  readonly error: unknown;
}

/** The options of a {@link Committer}. */
export interface CommitterOptions<T> {
  readonly scopes?: readonly string[] | undefined;
  readonly onRefused?: ((refusal: StoreRefusal<T>) => void) | undefined;
  readonly unchangedParts?: UnchangedParts | undefined;
}

type Removal<T> = Omit<Deletion<T>, 'type'>;

function refusalOf(key: string, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const message = `${key}: ${shownError(error)}`;
  return ApiError.local('Refused', message, { cause: shownCause(error) });
}

/** The state of the commit in progress. */
interface Work<T extends KubernetesObject> {
  readonly changes: CommitChanges<T>;
  readonly transaction: IndexerTransaction<T>;
}

/** Applies the commits of one run to a store. */
export class Committer<T extends KubernetesObject> {
  readonly #indexer: Indexer<T>;
  readonly #onRefused: (refusal: StoreRefusal<T>) => void;
  readonly #isNew: boolean;
  readonly scopes: Scopes;
  /** The lists in progress whose parts are committed as they arrive, by scope, each with the keys it has refused. */
  readonly #openLists = new Map<string | undefined, Set<string>>();

  constructor(indexer: Indexer<T>, options: CommitterOptions<T>) {
    this.#indexer = indexer;
    this.#onRefused = reportingErrors(options.onRefused);
    this.#isNew = options.unchangedParts === 'new';
    this.scopes = new Scopes(options.scopes ?? []);
  }

  /** Applies one commit. Returns `undefined` if no change set is to be emitted. */
  apply(commit: Commit<T>): ChangeSet<T> | undefined {
    const { cause, initial } = commit;
    const collected = new CommitChanges<T>(cause === 'initial' || cause === 'relist');
    const wasSynced = this.#indexer.synced;
    this.#indexer.transaction((transaction) => {
      const work = { changes: collected, transaction };
      for (const delta of commit.deltas) this.#delta(delta, work);
      const { resourceVersion, synced } = this.scopes;
      const touched = cause === 'resync' && collected.take().length > 0;
      transaction.mark({ resourceVersion, synced, touched });
    });
    const { rev, resourceVersion, synced } = this.#indexer;
    const changes = collected.take();
    if (changes.length === 0 && synced === wasSynced) return undefined;
    return createChangeSet({ rev, cause, initial, reset: false, synced, resourceVersion }, changes);
  }

  #delta(delta: Delta<T>, work: Work<T>): void {
    const { scopes } = this;
    switch (delta.type) {
      case 'added':
      case 'updated':
        this.#put(delta.object, delta.key, 'watch', work, delta.basis);
        // Objects that arrive may be newer than what the other shards have received.
        if (delta.cause !== undefined) return undefined;
        return scopes.move(scopes.ofKey(delta.key), versionOf(delta.object));
      case 'deleted':
        this.#remove(delta, work);
        if (delta.cause !== undefined) return undefined;
        return scopes.move(scopes.ofKey(delta.key), versionOfDeletion(delta));
      case 'refused':
        this.#refuse(delta.refused, 'watch');
        if (delta.cause !== undefined) return undefined;
        return scopes.move(scopes.ofKey(delta.key), delta.refused.resourceVersion);
      case 'sync':
        return this.#resync(delta.key, work);
      case 'retry':
        return this.#retry(work);
      case 'replacing':
        return this.#part(delta, work);
      case 'replaced':
        return this.#replace(delta, work);
      case 'bookmark':
        return scopes.move(scopes.name(delta.scope), delta.resourceVersion);
      case 'replace-abort':
        this.#openLists.delete(delta.scope);
        return undefined;
      case 'rebalanced':
        return undefined;
    }
  }

  #part(delta: Extract<Delta<T>, { type: 'replacing' }>, work: Work<T>): void {
    if (!this.#openLists.has(delta.scope)) this.#openLists.set(delta.scope, new Set());
    for (let at = 0; at < delta.objects.length; at++) {
      this.#put(delta.objects[at] as T, delta.keys?.[at], 'part', work);
    }
    for (const refused of delta.refused ?? []) this.#refuse(refused, 'part');
    for (const key of delta.removed ?? []) this.#remove({ key, finalStateUnknown: false }, work);
  }

  #replace(delta: Replaced<T>, work: Work<T>): void {
    const { scopes } = this;
    // Objects that an earlier run has left may be from another history, if the server was restored since then.
    const trusted = delta.trustVersions && scopes.isSynced(delta.scope);
    const origin = trusted ? 'trusting' : 'doubting';
    this.#releaseUnlisted(delta);
    for (const missing of delta.missing ?? []) this.#remove(missing, work);
    const kept = new Set(delta.refused?.map(({ key }) => key));
    const listed = listedObjects(delta);
    let found = 0;
    listed?.forEach((object, key) => {
      this.#put(object, key, origin, work);
      if (this.#indexer.has(key)) found++;
    });
    if (listed === undefined) {
      for (const object of delta.objects) kept.add(this.#put(object, undefined, origin, work));
    }
    // Objects may have been stored since the queue resolved the list. Reading all keys would allocate for each.
    if (delta.flowed !== true && found !== this.#indexer.size) {
      const isListed = (key: string) => kept.has(key) || listed?.has(key) === true;
      for (const key of unlistedKeys(delta, this.#indexer, isListed)) {
        this.#remove({ key, finalStateUnknown: true }, work);
      }
    }
    for (const refused of delta.refused ?? []) this.#refuse(refused, origin);
    const name = scopes.name(delta.scope);
    scopes.move(name, delta.resourceVersion, true);
    scopes.sync(name);
  }

  /** Releases the objects that were refused before a complete list, which contains each of them again or not at all. */
  #releaseUnlisted({ scope, flowed, within }: Replaced<T>): void {
    const { refused } = this.#indexer;
    const listed = flowed === true ? this.#openLists.get(scope) : undefined;
    this.#openLists.delete(scope);
    for (const key of refused.keys()) {
      if (!inScope(key, scope) || listed?.has(key) === true) continue;
      if (within?.containsRefused(refused.get(key) as Refused) !== false) refused.release(key);
    }
  }

  #keyOf(object: T): string | undefined {
    try {
      return this.#indexer.keyOf(object);
    } catch {
      return undefined;
    }
  }

  /** Stores an object, or refuses it. Returns its key; '' if it has none. */
  #put(object: T, givenKey: string | undefined, origin: Origin, work: Work<T>, basis?: T): string {
    const { refused } = this.#indexer;
    let key = givenKey ?? '';
    try {
      // The key of a watch event is reused, because the hash of another string would have to be computed again.
      if (!isKeyOf(key, object)) key = this.#indexer.keyOf(object);
      const had = this.#indexer.getByKey(key);
      const next = successorOf<T>(had, object, origin, this.#isNew ? had : basis);
      if (next !== undefined) {
        work.transaction.put(next, key);
        work.changes.stored(key, had, next as Stored<T>);
      }
      if (refused.size === 0) return key;
      // An older event does not release a newer state that was refused.
      const newest = refused.get(key);
      if (newest === undefined || isOlder(versionOf(object), newest.resourceVersion)) return key;
      refused.release(key);
    } catch (error) {
      this.#refuseUnindexable(key, object, error);
    }
    return key;
  }

  /**
   * The store refuses an object. An object without a key is only reported, because its deletion could not be
   * recognized.
   */
  #refuseUnindexable(key: string, object: T, error: unknown): void {
    if (key !== '') {
      const reason = refusalOf(key, error);
      const controllerUid = controllerUidOf(object);
      this.#keep({ key, ...stateOf(object), controllerUid, reason, retry: () => object });
    }
    this.#onRefused({ key, object, error });
  }

  /** Puts an object that a transform refused among the refused objects, unless newer information is known. */
  #refuse(refused: Refused, origin: Origin): void {
    const { key, uid, resourceVersion } = refused;
    const had = this.#indexer.getByKey(key);
    const { resourceVersion: newest = '' } = this.#indexer.refused.get(key) ?? {};
    if (origin === 'watch') {
      if (isOlder(resourceVersion, versionOf(had)) || isOlder(resourceVersion, newest)) return;
    }
    // The store already holds this state, because it was accepted earlier.
    const same = resourceVersion !== '' && versionOf(had) === resourceVersion;
    if (same && uidOf(had) === uid && origin !== 'doubting') return;
    this.#keep(refused);
  }

  #keep(refused: Refused): void {
    this.#indexer.refused.set(refused);
    for (const [scope, keys] of this.#openLists) {
      if (inScope(refused.key, scope)) keys.add(refused.key);
    }
  }

  /** Tries refused objects again. Their states are the newest ones, so the content decides, whatever is stored. */
  #retry(work: Work<T>): void {
    const { refused } = this.#indexer;
    const tried = refused.latest(refused.size).toReversed();
    for (const each of tried) {
      const { key } = each;
      if (!this.#isConfirmed(key)) continue;
      refused.release(key);
      let object: T;
      try {
        object = each.retry() as T;
        if (this.#indexer.keyOf(object) !== key)
          throw new TypeError('the object has another key now');
      } catch (error) {
        this.#keep({ ...each, reason: refusalOf(key, error) });
        continue;
      }
      this.#put(object, key, 'doubting', work);
    }
  }

  /** Whether every list in progress has already contained this key, so that the object exists. */
  #isConfirmed(key: string): boolean {
    for (const [scope, keys] of this.#openLists) {
      if (inScope(key, scope) && !keys.has(key)) return false;
    }
    return true;
  }

  #resync(key: string, work: Work<T>): void {
    const had = this.#indexer.getByKey(key);
    if (had !== undefined) work.changes.repeated(key, had);
  }

  #remove(delta: Removal<T>, work: Work<T>): void {
    const { refused } = this.#indexer;
    const key = delta.object === undefined ? delta.key : (this.#keyOf(delta.object) ?? delta.key);
    const newest = refused.get(key);
    if (newest !== undefined && !isOutdatedDeletion(delta, newest)) refused.release(key);
    const had = this.#indexer.getByKey(key);
    if (had === undefined) return;
    let ended: T = delta.object ?? had;
    if (isOutdatedDeletion({ ...delta, object: ended }, stateOf(had))) return;
    // A missed deletion carries the state that the queue knew; the store may have a newer one.
    if (delta.finalStateUnknown && isOlder(versionOf(ended), versionOf(had))) ended = had;
    const last = this.#guarded(ended, had, work);
    work.transaction.remove(key);
    work.changes.deleted(key, had, last, delta.finalStateUnknown, delta.cause !== undefined);
  }

  /** Freezes the last state of a deleted object. If that throws, the stored state is used instead. */
  #guarded(ended: T, had: Stored<T>, { transaction }: Work<T>): Stored<T> {
    try {
      return transaction.guarded(ended) as Stored<T>;
    } catch {
      return had;
    }
  }
}
