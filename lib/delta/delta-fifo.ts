/**
 * `deltaFifo`, the queue between the reflector and the store. Deltas leave it in order. While the demand is closed they
 * accumulate and can be folded per key. Lists and resyncs are resolved when they are popped, against the objects that
 * the consumer knows then. client-go: tools/cache/delta_fifo.go and the_real_fifo.go.
 *
 * The state is created in `subscribe`. `merge(…).pipe(scan(…))` would not work: a scan emits for every input, so nothing
 * would accumulate, and with an immutable state it is thirty times slower. The specs use that scan as an oracle.
 */
import { EMPTY, Observable, type OperatorFunction } from 'rxjs';
import { metaNamespaceKeyFunc } from '../meta/key.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Delta } from '../reflector/delta.ts';
import type { Demand } from '../rx/demand.ts';
import { createDemandLoop } from '../rx/demand-loop.ts';
import { reportingErrors } from '../rx/report-unhandled.ts';
import { DeltaQueue, type QueueMemory } from './delta-queue.ts';
import type { Compression } from './pending-deltas.ts';

/** The options of {@link deltaFifo}. */
export interface DeltaFifoOptions<T> {
  /** The objects that the consumer has: its store, or {@link rememberedObjects}. */
  readonly known: QueueMemory<T>;
  /** Checked before each pop; the deltas wait while it is closed. @defaultValue always open */
  readonly ready?: Demand | undefined;
  /** Each emission delivers every known object without pending deltas again, without a list request. */
  readonly resync$?: Observable<unknown> | undefined;
  /** How deltas of one key are folded while they wait: {@link latestPerKey}. @defaultValue not at all */
  readonly compression?: Compression | undefined;
  /** Called for a deletion of an unknown key. The deletion is not passed on. */
  readonly onUnknownDeletion?: ((key: string) => void) | undefined;
  /** Called with the queue of each new subscription. Its `size` is the number of waiting entries. */
  readonly onQueue?: ((queue: { readonly size: number }) => void) | undefined;
}

/**
 * Throws a `TypeError` if a store has other keys than deltas have, because a relist would then delete all its objects.
 */
export function checkKeys<T>(known: KnownObjects<T> | undefined, caller: string): void {
  const keyOf = known?.keyOf;
  if (keyOf === undefined || keyOf === (metaNamespaceKeyFunc as unknown)) return;
  throw new TypeError(
    `${caller}: deltas are keyed by namespace/name, but the store has its own keyOf`,
  );
}

/**
 * Queues deltas until the consumer has capacity. Folds deltas per key, resolves each list to one `replaced`, and
 * inserts resyncs.
 *
 * Emits one array per pop, never an empty one. At the end of a list the queue emits a `replaced` with the objects. Its
 * `missing` has a `deleted` for every known key that the list does not contain, with `finalStateUnknown` and the newest
 * known state; a queued state takes precedence over a stored one. On an empty store the parts of a list are
 * passed on as `replacing`, and `replaced` says `flowed`.
 *
 * If the source completes, the waiting deltas are popped, then the result completes. An error of the source, of
 * `resync$` or of `ready` is passed on immediately. Unsubscribing drops the waiting deltas. Throws a `TypeError` if
 * `known` is a store whose keys are not `namespace/name`.
 *
 * ```
 * source   a1-a2-b1---c1--|       ready: closed until p
 * ready    -----p-------p
 * result   -----x-------(y|)      x: [a1, a2, b1] or, with `latestPerKey`, [a2, b1]   y: [c1]
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { deltaFifo, type Delta, rememberedObjects } from 'rx-informer';
 *
 * const web = { metadata: { name: 'web', uid: 'u1', resourceVersion: '5' } };
 * const gone: Delta<typeof web> = { type: 'deleted', key: 'db', finalStateUnknown: false };
 * const seen: string[] = [];
 * of([{ type: 'added', key: 'web', object: web } as const, gone])
 *   .pipe(deltaFifo({ known: rememberedObjects() }))
 *   .subscribe((deltas) => seen.push(...deltas.map((delta) => delta.type)));
 * seen; // => ['added']
 * ```
 */
export function deltaFifo<T extends KubernetesObject>(
  options: DeltaFifoOptions<T>,
): OperatorFunction<readonly Delta<T>[], readonly Delta<T>[]> {
  const { known, ready, resync$, compression } = options;
  const onUnknownDeletion = reportingErrors(options.onUnknownDeletion);
  const onQueue = reportingErrors(options.onQueue);
  checkKeys(known, 'deltaFifo');
  return (source) =>
    new Observable<readonly Delta<T>[]>((subscriber) => {
      const queue = new DeltaQueue<T>(known, compression, onUnknownDeletion);
      onQueue(queue);
      let ended = false;
      const error = (thrown: unknown) => subscriber.error(thrown);
      // Deltas that the consumer pushes while it handles a pop are resolved in the next pop, against its new state.
      const loop = createDemandLoop({
        ready,
        hasWork: () => queue.hasWork,
        serve: () => {
          const deltas = queue.pop();
          if (deltas.length > 0) subscriber.next(deltas);
        },
        onIdle: () => {
          if (ended) subscriber.complete();
        },
        onError: error,
      });
      subscriber.add(() => loop.close());
      subscriber.add(
        (resync$ ?? EMPTY).subscribe({
          next: () => {
            queue.resync = true;
            loop.request();
          },
          error,
        }),
      );
      subscriber.add(
        source.subscribe({
          next: (deltas) => {
            // A part of a list reads the store, which may throw.
            try {
              for (const delta of deltas) queue.push(delta);
            } catch (thrown) {
              return error(thrown);
            }
            loop.request();
          },
          error,
          complete: () => {
            ended = true;
            loop.request();
          },
        }),
      );
    });
}
