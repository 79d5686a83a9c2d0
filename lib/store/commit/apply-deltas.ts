/**
 * `applyDeltas`, the operator that commits deltas to the store and then emits the changes. In a callback downstream the
 * store, its indices and its version already show the complete commit.
 * client-go: tools/cache/controller.go, processDeltas and processDeltasInBatch.
 */
import { Observable, type OperatorFunction } from 'rxjs';
import { checkKeys } from '../../delta/delta-fifo.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { Delta } from '../../reflector/delta.ts';
import { Drain } from '../../rx/drain.ts';
import { reportingErrors } from '../../rx/report-unhandled.ts';
import type { ChangeSet } from '../change-set.ts';
import type { Indexer } from '../indexer.ts';
import type { UnchangedParts } from '../successor-of.ts';
import { splitCommits } from './commits.ts';
import { Committer, type StoreRefusal } from './committer.ts';

/** The options of {@link applyDeltas}. */
export interface ApplyDeltasOptions<T> {
  /** The scopes of the store. The store is synced when the first list of each is complete. @defaultValue one for all */
  readonly scopes?: readonly string[] | undefined;
  /** Called for an object that a key or index function refused. It is not stored; the other objects are. */
  readonly onRefused?: ((refusal: StoreRefusal<T>) => void) | undefined;
  /** Whether unchanged parts of a changed object stay the same JavaScript objects. @defaultValue 'same' */
  readonly unchangedParts?: UnchangedParts | undefined;
  /** Called after each commit, also after one that changed only the version. */
  readonly onCommitted?: ((deltas: readonly Delta<T>[]) => void) | undefined;
}

/**
 * Commits each batch to `indexer` and emits one change set per commit. A batch becomes several commits if it contains a
 * key twice, if the cause changes, and at the end of the first list.
 *
 * A commit that changes nothing emits nothing, except the one that makes the store synced: for an empty collection one
 * empty set is emitted. Refused objects are kept in `indexer.refused` until they are accepted, deleted, or missing from
 * a complete list; a `retry` tries them again. Completion and errors of the source are passed on, after the batches
 * before them. If a commit fails as a whole, the stream errors. Each subscription tracks the versions by itself, so an
 * indexer must have only one subscription. Throws a `TypeError` if the keys of `indexer` are not `namespace/name`.
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
      const onCommitted = reportingErrors(options.onCommitted);
      const commitAll = (deltas: readonly Delta<T>[]) => {
        try {
          const commits = splitCommits(deltas, (scope) => committer.scopes.isSynced(scope));
          for (const commit of commits) {
            if (subscriber.closed) return;
            const changes = committer.apply(commit);
            if (changes !== undefined) subscriber.next(changes);
            onCommitted(commit.deltas);
          }
        } catch (error) {
          // The commit is lost, so a store that continued would seem complete.
          subscriber.error(error);
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
