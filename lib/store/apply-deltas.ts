/**
 * HandleDeltas as an operator: commits deltas to the store, then says what changed. In a callback downstream the
 * store, its indices and its version already show the whole commit.
 * client-go: tools/cache/controller.go, processDeltas and processDeltasInBatch.
 */
import { Observable, type OperatorFunction } from 'rxjs';
import { checkKeys } from '../delta/delta-fifo.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Delta } from '../reflector/delta.ts';
import { Drain } from '../rx/drain.ts';
import { told } from '../rx/report-unhandled.ts';
import type { ChangeSet } from './change-set.ts';
import { splitCommits } from './commits.ts';
import { Committer, type Rejection } from './committer.ts';
import type { Indexer } from './indexer.ts';

/** What {@link applyDeltas} takes beside the indexer. */
export interface ApplyDeltasOptions<T> {
  /** The scopes that make up the store; it is synced when each has had its first list. @defaultValue one for all */
  readonly scopes?: readonly string[] | undefined;
  /** Told of an object that a key or index function refused; it stays out, the others go in. */
  readonly onRejected?: ((rejection: Rejection<T>) => void) | undefined;
  /** Told after each commit, also one that changed nothing but the version. */
  readonly onCommitted?: ((deltas: readonly Delta<T>[]) => void) | undefined;
}

/**
 * Commits each batch to `indexer` and emits what changed, one set a commit. A batch becomes several commits where a
 * key comes twice, where the cause changes, and at the end of the first list.
 *
 * A commit that changes nothing is not told, but for the one that makes the store synced: an empty collection
 * emits one empty set. Who was refused on the way, or by the store itself, is kept in `indexer.refused` until it is
 * let in, deleted or missed by a list; a `retry` tries again. Complete and error pass through in order; each subscription keeps its own account of
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
          onCommitted(commit.deltas);
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
