/**
 * A batch is all that arrived before the event loop turned: one HTTP/2 read is three pods, and everything
 * downstream (commit, sort, paint) pays by the batch.
 */
import { Observable, type OperatorFunction, type SchedulerLike, type Subscription } from 'rxjs';
import { nextMacrotask } from './next-macrotask.ts';

/**
 * Joins the arrays of one turn of the event loop into one. What is held is emitted before a complete or an
 * error; unsubscribing drops it.
 *
 * ```
 * source  (ab)---c|      a: [1]  b: [2]  c: [3]
 * result  x------(y|)    x: [1, 2]  y: [3]
 * ```
 */
export function gather<T>(scheduler: SchedulerLike): OperatorFunction<readonly T[], readonly T[]> {
  return (source) =>
    new Observable<readonly T[]>((subscriber) => {
      let held: (readonly T[])[] = [];
      let waiting: Subscription | undefined;
      const flush = () => {
        waiting = undefined;
        const batch = held;
        held = [];
        if (batch.length === 1) subscriber.next(batch[0] as readonly T[]);
        else if (batch.length > 1) subscriber.next(batch.flat(1) as T[]);
      };
      subscriber.add(() => waiting?.unsubscribe());
      subscriber.add(
        source.subscribe({
          next: (values) => {
            if (values.length === 0) return;
            held.push(values);
            waiting ??= nextMacrotask(scheduler).subscribe(flush);
          },
          error: (error) => {
            waiting?.unsubscribe();
            flush();
            subscriber.error(error);
          },
          complete: () => {
            waiting?.unsubscribe();
            flush();
            subscriber.complete();
          },
        }),
      );
    });
}
