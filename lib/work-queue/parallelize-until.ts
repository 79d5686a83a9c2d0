/**
 * A fixed number of pieces of work, a few at a time. client-go: util/workqueue/parallelizer.go
 */
import { checkedCount, checkedWholeLimit } from '../rx/checked-option.ts';
import { reportUnhandled } from '../rx/report-unhandled.ts';

/** What {@link parallelizeUntil} takes. */
export interface ParallelizeOptions {
  /** How many pieces are worked on at once. */
  readonly workers: number;
  readonly pieces: number;
  /** How many pieces a worker takes at a time, in order. @defaultValue 1 */
  readonly chunkSize?: number | undefined;
  /** Once aborted, no further chunk is taken; those under way are finished. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls `doWorkPiece` with 0, 1 … `pieces - 1`, and resolves when all have ended, or, after an abort, those that had
 * begun. It never rejects: a piece that throws is reported as an unhandled error and the others go on.
 *
 * Throws a `TypeError` if `workers` or `chunkSize` is not a whole number of 1 or more, or `pieces` not one of 0 or more.
 *
 * client-go: workqueue.ParallelizeUntil
 *
 * @example
 * ```ts
 * import { parallelizeUntil } from 'rx-informer';
 *
 * const lengths: number[] = [];
 * const names = ['web', 'db', 'cache'];
 * await parallelizeUntil({ workers: 2, pieces: names.length }, async (piece) => {
 *   lengths[piece] = (names[piece] ?? '').length;
 * });
 * lengths; // => [3, 2, 5]
 * ```
 */
export async function parallelizeUntil(
  options: ParallelizeOptions,
  doWorkPiece: (piece: number) => void | PromiseLike<void>,
): Promise<void> {
  const { workers, pieces, chunkSize = 1, signal } = options;
  checkedWholeLimit(workers, 'parallelizeUntil: workers');
  checkedCount(pieces, 'parallelizeUntil: pieces', 0);
  checkedWholeLimit(chunkSize, 'parallelizeUntil: chunkSize');
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < pieces && signal?.aborted !== true) {
      const start = next;
      next += chunkSize;
      for (let piece = start; piece < Math.min(pieces, start + chunkSize); piece++) {
        try {
          await doWorkPiece(piece);
        } catch (error) {
          reportUnhandled(error);
        }
      }
    }
  };
  const chunks = Math.ceil(pieces / chunkSize);
  await Promise.all(Array.from({ length: Math.min(workers, chunks) }, work));
}
