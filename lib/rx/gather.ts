/**
 * Gathers everything that arrives before the event loop turns into one batch. One HTTP/2 read brings about three
 * pods, and everything downstream (commit, sort, paint) costs per batch.
 */
import { Observable, type OperatorFunction, type SchedulerLike, type Subscription } from 'rxjs';
import { nextMacrotask } from './next-macrotask.ts';

/**
 * Joins the arrays of one turn of the event loop into one. Held values are emitted before a completion or an error;
 * unsubscribing drops them.
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
