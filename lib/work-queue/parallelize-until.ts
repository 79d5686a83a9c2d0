/** Processes a fixed number of pieces of work with a limited number of workers. client-go: util/workqueue/parallelizer.go */
import { checkedCount, checkedWholeLimit } from '../rx/checked-option.ts';
import { reportUnhandled } from '../rx/report-unhandled.ts';

/** Options of {@link parallelizeUntil}. */
export interface ParallelizeOptions {
  /** How many pieces are processed at the same time. */
  readonly workers: number;
  readonly pieces: number;
  /** How many pieces a worker takes at a time, in order; with `Infinity` one worker takes all. @defaultValue 1 */
  readonly chunkSize?: number | undefined;
  /** Once it is aborted, no worker takes a further chunk. Chunks in progress are finished. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls `doWorkPiece` with 0, 1 … `pieces - 1`. Resolves when every call has ended or, after an abort, when the chunks
 * in progress have ended. It never rejects: a piece that throws is reported as an unhandled error, and the others continue.
 *
 * Throws a `TypeError` if `workers` or `chunkSize` is not an integer of at least 1, or `pieces` not an integer of at least 0.
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
  // Not Infinity, which would make the numbers of chunks and of the first pieces NaN.
  const chunk = Math.min(chunkSize, Math.max(1, pieces));
  const work = async (): Promise<void> => {
    while (next < pieces && signal?.aborted !== true) {
      const start = next;
      next += chunk;
      for (let piece = start; piece < Math.min(pieces, start + chunk); piece++) {
        try {
          await doWorkPiece(piece);
        } catch (error) {
          reportUnhandled(error);
        }
      }
    }
  };
  const chunks = Math.ceil(pieces / chunk);
  await Promise.all(Array.from({ length: Math.min(workers, chunks) }, work));
}
