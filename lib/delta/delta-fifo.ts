/**
 * The queue between the network and the store: a keyed scan. Deltas pass in order; where the consumer has no
 * room they gather, and there they are folded. Lists and resyncs are resolved when they are popped, against what
 * the consumer knows by then. client-go: tools/cache/delta_fifo.go and the_real_fifo.go.
 *
 * It is one `Observable` with its state made in `subscribe`, not `merge(…).pipe(scan(…))`: a scan emits for every
 * input, so nothing would ever gather, and with an immutable state it is thirty times slower. The scan is its
 * oracle in the specs.
 */
import { EMPTY, Observable, type OperatorFunction } from 'rxjs';
import { metaNamespaceKeyFunc } from '../meta/key.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Delta } from '../reflector/delta.ts';
import type { Demand } from '../rx/demand.ts';
import { createDemandLoop } from '../rx/demand-loop.ts';
import { told } from '../rx/report-unhandled.ts';
import { DeltaQueue } from './delta-queue.ts';
import type { Compression } from './pending-deltas.ts';

/** What {@link deltaFifo} takes. */
export interface DeltaFifoOptions<T> {
  /** What the consumer has. @defaultValue what has passed through */
  readonly known?: KnownObjects<T> | undefined;
  /** Asked before each pop. @defaultValue room always */
  readonly ready?: Demand | undefined;
  /** Each emission delivers every known object again, but those with something pending. Not a relist. */
  readonly resync$?: Observable<unknown> | undefined;
  /** How deltas of one key are folded while they wait. @defaultValue 'none' */
  readonly compression?: Compression | undefined;
  /** Told of a DELETED for a key that nobody knows; it is not passed on. */
  readonly onUnknownDeletion?: ((key: string) => void) | undefined;
  /** Given each subscription's queue when it begins: its size tells how much waits. */
  readonly onQueue?: ((queue: { readonly size: number }) => void) | undefined;
}

/** Throws a `TypeError` for a store whose keys are not those of deltas: relists would tombstone all it holds. */
export function checkKeys<T>(known: KnownObjects<T> | undefined, who: string): void {
  const keyOf = known?.keyOf;
  if (keyOf === undefined || keyOf === (metaNamespaceKeyFunc as unknown)) return;
  throw new TypeError(
    `${who}: deltas are keyed by namespace/name, but the store has its own keyOf`,
  );
}

/**
 * Folds deltas per key, resolves lists to one `replaced` with tombstones before it, and injects resyncs.
 *
 * Emits one array a pop, never an empty one. A list's end comes out as `deleted` (with `finalStateUnknown`, and the
 * newest state known: a queued one beats a stored one) for every key that is missing, then `replaced` with its
 * objects; on an empty store the parts go through as `replacing` and `replaced` says `flowed`. Source completion pops what is left, then completes; a source error passes at once; unsubscribing drops
 * what is queued.
 *
 * ```
 * source   a1-a2-b1---c1--|       ready: closed until p
 * ready    -----p-------p
 * result   -----x-------(y|)      x: [a1, a2, b1] or, with 'latest', [a2, b1]   y: [c1]
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { deltaFifo, type Delta } from 'rx-informer';
 *
 * const web = { metadata: { name: 'web', uid: 'u1', resourceVersion: '5' } };
 * const gone: Delta<typeof web> = { type: 'deleted', key: 'db', finalStateUnknown: false };
 * const seen: string[] = [];
 * of([{ type: 'added', key: 'web', object: web } as const, gone])
 *   .pipe(deltaFifo())
 *   .subscribe((deltas) => seen.push(...deltas.map((delta) => delta.type)));
 * seen; // => ['added']
 * ```
 */
export function deltaFifo<T extends KubernetesObject>(
  options: DeltaFifoOptions<T> = {},
): OperatorFunction<readonly Delta<T>[], readonly Delta<T>[]> {
  const { known, ready, resync$, compression = 'none' } = options;
  const onUnknownDeletion = told(options.onUnknownDeletion);
  const onQueue = told(options.onQueue);
  checkKeys(known, 'deltaFifo');
  return (source) =>
    new Observable<readonly Delta<T>[]>((subscriber) => {
      const queue = new DeltaQueue<T>(known, compression, onUnknownDeletion);
      onQueue(queue.pending);
      let ended = false;
      const error = (thrown: unknown) => subscriber.error(thrown);
      // What the consumer sends back while it is told is resolved against what it knows then: never within a pop.
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
            for (const delta of deltas) queue.push(delta);
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
