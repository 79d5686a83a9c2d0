/**
 * HandleDeltas as an operator: commits deltas to the store, then says what changed. In a callback downstream the
 * store, its indices and its version already show the whole commit.
 * client-go: tools/cache/controller.go, processDeltas and processDeltasInBatch.
 */
import { Observable, type OperatorFunction } from 'rxjs';
import { checkKeys } from '../delta/delta-fifo.ts';
import { come, go, type Net, unfold, untouched } from '../delta/net-change.ts';
import { isStaleEnd } from '../delta/stale-end.ts';
import { inScope } from '../meta/key.ts';
import { type KubernetesObject, uidOf, versionOf } from '../meta/kubernetes-object.ts';
import { isOlder } from '../meta/resource-version.ts';
import type { Delta } from '../reflector/delta.ts';
import { Drain } from '../rx/drain.ts';
import { told } from '../rx/unhandled.ts';
import { type ChangeSet, createChangeSet } from './change-set.ts';
import { type Commit, splitCommits } from './commits.ts';
import type { Indexer, IndexerTransaction } from './indexer.ts';
import { sameContent } from './same-content.ts';

/** An object that the store refused, because a key or index function threw. */
export interface Rejection<T> {
  readonly key: string;
  readonly object: T;
  readonly error: unknown;
}

/** What {@link applyDeltas} takes beside the indexer. */
export interface ApplyDeltasOptions<T> {
  /** The scopes that make up the store; it is synced when each has had its first list. @defaultValue one for all */
  readonly scopes?: readonly string[];
  /** Told of an object that a key or index function refused; it stays out, the others go in. */
  readonly onRejected?: (rejection: Rejection<T>) => void;
  /** Told after each commit, also one that changed nothing but the version. */
  readonly onCommitted?: () => void;
}

const ALL = '';

/** Versions and sync by scope, and what they mean for the store as a whole. */
class Scopes {
  readonly #names: readonly string[];
  readonly #versions = new Map<string, string>();
  readonly #synced = new Set<string>();

  constructor(names: readonly string[]) {
    this.#names = names.length === 0 ? [ALL] : names;
  }

  name(scope: string | undefined): string {
    return scope !== undefined && this.#names.includes(scope) ? scope : (this.#names[0] ?? ALL);
  }

  /** Deltas of single objects name no scope: their namespace tells it. */
  ofKey(key: string): string {
    if (this.#names.length === 1) return this.#names[0] ?? ALL;
    return this.#names.find((name) => inScope(key, name)) ?? this.#names[0] ?? ALL;
  }

  move(name: string, version: string, back = false): void {
    const at = this.#versions.get(name) ?? '';
    if (version === '' || (!back && isOlder(version, at))) return;
    this.#versions.set(name, version);
  }

  sync(name: string): void {
    this.#synced.add(name);
  }

  isSynced(scope: string | undefined): boolean {
    return this.#synced.has(this.name(scope));
  }

  get synced(): boolean {
    return this.#names.every((name) => this.#synced.has(name));
  }

  /** The oldest: what is older than this has been seen in every scope. */
  get resourceVersion(): string {
    let oldest: string | undefined;
    for (const name of this.#names) {
      const version = this.#versions.get(name) ?? '';
      if (oldest === undefined || version === '' || isOlder(version, oldest)) oldest = version;
    }
    return oldest ?? '';
  }
}

/** What a put of `object` over `existing` does. */
function supersedes<T extends KubernetesObject>(
  existing: T | undefined,
  object: T,
  how: 'watch' | 'part' | 'trusting' | 'doubting',
): boolean {
  if (existing === undefined || uidOf(existing) !== uidOf(object)) return true;
  if (existing === object) return false;
  const had = versionOf(existing);
  const came = versionOf(object);
  const same = had !== '' && had === came;
  // A list is right about what there is, also when it is older than what was seen: etcd may have been restored,
  // and a restore issues versions again.
  if (how === 'doubting') return !sameContent(existing, object);
  if (how === 'trusting') return had === '' ? !sameContent(existing, object) : !same;
  return !same && !isOlder(came, had);
}

class Committer<T extends KubernetesObject> {
  readonly #indexer: Indexer<T>;
  readonly #onRejected: (rejection: Rejection<T>) => void;
  readonly scopes: Scopes;

  constructor(indexer: Indexer<T>, options: ApplyDeltasOptions<T>) {
    this.#indexer = indexer;
    this.#onRejected = told(options.onRejected);
    this.scopes = new Scopes(options.scopes ?? []);
  }

  /** Applies one commit; `undefined` when there is nothing to tell. */
  apply(commit: Commit<T>): ChangeSet<T> | undefined {
    const nets = new Map<string, Net<T>>();
    const wasSynced = this.#indexer.synced;
    this.#indexer.transaction((transaction) => {
      for (const delta of commit.deltas) this.#delta(delta, nets, transaction);
      const { resourceVersion, synced } = this.scopes;
      const touched = commit.cause === 'resync' && nets.size > 0;
      transaction.mark({ resourceVersion, synced, touched });
    });
    const { rev, resourceVersion, synced } = this.#indexer;
    const changes = unfold(nets.values());
    if (changes.length === 0 && synced === wasSynced) return undefined;
    const { cause, initial } = commit;
    return createChangeSet({ rev, cause, initial, reset: false, synced, resourceVersion }, changes);
  }

  #delta(delta: Delta<T>, nets: Map<string, Net<T>>, transaction: IndexerTransaction<T>): void {
    const { scopes } = this;
    switch (delta.type) {
      case 'added':
      case 'updated':
        this.#put(delta.object, delta.key, 'watch', nets, transaction);
        return scopes.move(scopes.ofKey(delta.key), versionOf(delta.object));
      case 'deleted':
        this.#remove(delta, nets, transaction);
        if (delta.finalStateUnknown) return undefined;
        return scopes.move(scopes.ofKey(delta.key), versionOf(delta.object));
      case 'sync':
        this.#resync(delta.key, nets);
        return undefined;
      case 'replacing':
        for (const object of delta.objects) this.#put(object, undefined, 'part', nets, transaction);
        for (const key of delta.removed ?? []) {
          this.#remove({ key, finalStateUnknown: false }, nets, transaction);
        }
        return undefined;
      case 'replaced':
        return this.#replace(delta, nets, transaction);
      case 'bookmark':
        return scopes.move(scopes.name(delta.scope), delta.resourceVersion);
      case 'replace-abort':
        return undefined;
    }
  }

  #replace(
    delta: Extract<Delta<T>, { type: 'replaced' }>,
    nets: Map<string, Net<T>>,
    transaction: IndexerTransaction<T>,
  ): void {
    const { scopes } = this;
    const how = delta.trustVersions ? 'trusting' : 'doubting';
    if (delta.flowed !== true) this.#dropMissing(delta, nets, transaction);
    for (const object of delta.objects) this.#put(object, undefined, how, nets, transaction);
    const name = scopes.name(delta.scope);
    scopes.move(name, delta.resourceVersion, true);
    scopes.sync(name);
  }

  /** What a whole list does not have, and the queue has not told yet. */
  #dropMissing(
    delta: Extract<Delta<T>, { type: 'replaced' }>,
    nets: Map<string, Net<T>>,
    transaction: IndexerTransaction<T>,
  ): void {
    const kept = new Set(delta.rejected);
    for (const object of delta.objects) kept.add(this.#keyOf(object) ?? '');
    // A tombstone takes its key out of the map while its keys are walked, which a Map allows.
    for (const key of this.#indexer.keys()) {
      if (kept.has(key) || !inScope(key, delta.scope)) continue;
      this.#remove({ key, finalStateUnknown: true }, nets, transaction);
    }
  }

  #keyOf(object: T): string | undefined {
    try {
      return this.#indexer.keyOf(object);
    } catch {
      return undefined;
    }
  }

  /** What happened to a key in this commit; `had` is what is stored now. */
  #net(key: string, nets: Map<string, Net<T>>, had: T | undefined): Net<T> {
    let net = nets.get(key);
    if (net === undefined) {
      net = untouched(key, had === undefined ? undefined : { id: uidOf(had) || key, object: had });
      nets.set(key, net);
    }
    return net;
  }

  #put(
    object: T,
    givenKey: string | undefined,
    how: 'watch' | 'part' | 'trusting' | 'doubting',
    nets: Map<string, Net<T>>,
    transaction: IndexerTransaction<T>,
  ): void {
    let key = givenKey ?? '';
    try {
      key = this.#indexer.keyOf(object);
      const had = this.#indexer.getByKey(key);
      if (!supersedes(had, object, how)) return;
      // Before the write: the net remembers what was there.
      const net = this.#net(key, nets, had);
      transaction.put(object, key);
      come(net, uidOf(object) || key, object);
    } catch (error) {
      this.#onRejected({ key, object, error });
    }
  }

  #resync(key: string, nets: Map<string, Net<T>>): void {
    const had = this.#indexer.getByKey(key);
    if (had !== undefined) this.#net(key, nets, had).resync = true;
  }

  #remove(
    delta: { readonly key: string; readonly object?: T; readonly finalStateUnknown: boolean },
    nets: Map<string, Net<T>>,
    transaction: IndexerTransaction<T>,
  ): void {
    const key = delta.object === undefined ? delta.key : (this.#keyOf(delta.object) ?? delta.key);
    const had = this.#indexer.getByKey(key);
    if (had === undefined) return;
    let ended = delta.object ?? had;
    if (isStaleEnd({ ...delta, object: ended }, had)) return;
    // A deletion that was missed is told with what was known where it was found out.
    if (delta.finalStateUnknown && isOlder(versionOf(ended), versionOf(had))) ended = had;
    const net = this.#net(key, nets, had);
    transaction.remove(key);
    go(
      net,
      { id: uidOf(ended) || key, object: transaction.guarded(ended) },
      delta.finalStateUnknown,
    );
  }
}

/**
 * Commits each batch to `indexer` and emits what changed, one set a commit. A batch becomes several commits where a
 * key comes twice, where the cause changes, and at the end of the first list.
 *
 * A commit that changes nothing is not told, but for the one that makes the store synced: an empty collection
 * emits one empty set. Complete and error pass through in order; each subscription keeps its own account of
 * versions, so one indexer must have one.
 *
 * ```
 * deltas   r----ab----A|      r: replaced  a, b: two keys  A: a again
 * result   R----x-----y|      R: initial, synced  x: one set of two changes
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { applyDeltas, createIndexer } from 'rx-informer';
 *
 * const web = { metadata: { name: 'web', uid: 'u1', resourceVersion: '5' } };
 * const indexer = createIndexer<typeof web>();
 * const sizes: number[] = [];
 * of([{ type: 'added', key: 'web', object: web } as const])
 *   .pipe(applyDeltas(indexer))
 *   .subscribe((set) => sizes.push(set.added.length, indexer.size));
 * sizes; // => [1, 1]
 * ```
 */
export function applyDeltas<T extends KubernetesObject>(
  indexer: Indexer<T>,
  options: ApplyDeltasOptions<T> = {},
): OperatorFunction<readonly Delta<T>[], ChangeSet<T>> {
  checkKeys(indexer, 'applyDeltas');
  return (source) =>
    new Observable<ChangeSet<T>>((subscriber) => {
      const drain = new Drain();
      const committer = new Committer(indexer, options);
      const onCommitted = told(options.onCommitted);
      const commitAll = (deltas: readonly Delta<T>[]) => {
        const commits = splitCommits(deltas, (scope) => committer.scopes.isSynced(scope));
        for (const commit of commits) {
          if (subscriber.closed) return;
          const changes = committer.apply(commit);
          if (changes !== undefined) subscriber.next(changes);
          onCommitted();
        }
      };
      subscriber.add(
        source.subscribe({
          next: (deltas) => drain.run(() => commitAll(deltas)),
          error: (error) => drain.run(() => subscriber.error(error)),
          complete: () => drain.run(() => subscriber.complete()),
        }),
      );
    });
}
