/**
 * Gathers what arrives in one turn of the event loop into one batch. One HTTP/2 read brings about three pods, and
 * everything downstream (commit, sort, paint) costs per batch. Only the first value after an idle turn does not wait,
 * because a lone event would otherwise arrive a turn late.
 */
import { Observable, type OperatorFunction, type SchedulerLike, type Subscription } from 'rxjs';
import { nextMacrotask } from './next-macrotask.ts';

/**
 * Passes the first array after an idle turn of the event loop on immediately, and joins those that follow into one
 * array per turn, until a turn is idle. Held values are emitted before a completion or an error; unsubscribing drops
 * them.
 *
 * ```
 * source  (abc)--(de|)      a: [1]  b: [2]  c: [3]  d: [4]  e: [5]
 * result  (ax)---(dy|)      x: [2, 3]  y: [5]
 * ```
 */
export function gather<T>(scheduler: SchedulerLike): OperatorFunction<readonly T[], readonly T[]> {
  return (source) =>
    new Observable<readonly T[]>((subscriber) => {
      let held: (readonly T[])[] = [];
      /** Set until a turn was idle. */
      let turning: Subscription | undefined;
      const flush = () => {
        const batch = held;
        held = [];
        if (batch.length === 1) subscriber.next(batch[0] as readonly T[]);
        else if (batch.length > 1) subscriber.next(batch.flat(1) as T[]);
      };
      // Set before values are passed on, so that those that the subscriber causes come after them.
      const awaitTurn = () => {
        turning = nextMacrotask(scheduler).subscribe(() => {
          turning = undefined;
          if (held.length === 0) return;
          awaitTurn();
          flush();
        });
      };
      subscriber.add(() => turning?.unsubscribe());
      subscriber.add(
        source.subscribe({
          next: (values) => {
            if (values.length === 0) return;
            if (turning !== undefined) {
              held.push(values);
              return;
            }
            awaitTurn();
            subscriber.next(values);
          },
          error: (error) => {
            turning?.unsubscribe();
            flush();
            subscriber.error(error);
          },
          complete: () => {
            turning?.unsubscribe();
            flush();
            subscriber.complete();
          },
        }),
      );
    });
}
