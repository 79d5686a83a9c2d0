/**
 * Reports that a request waits on the client's side, so that the wait is not mistaken for a silence of the server.
 */
import { defer, Observable } from 'rxjs';
import { take } from 'rxjs/operators';
import type { TransportEvent } from './transport.ts';

/**
 * Waits for the first value of `turn`, then sends. Emits `queued` unless the turn comes synchronously, and `sending`
 * after it, unless `send` itself emits `queued`: two queues in sequence are reported as one wait.
 *
 * ```
 * turn     ---t
 * sent        ---h--c|
 * result   q--s--h--c|      q: queued, s: sending
 * ```
 */
export function queuedUntil<V>(
  turn: Observable<V>,
  send: (value: V) => Observable<TransportEvent>,
): Observable<TransportEvent> {
  return new Observable<TransportEvent>((subscriber) => {
    let queued = false;
    let begun = false;
    const begin = (value: V) => {
      begun = true;
      let hasEmitted = false;
      subscriber.add(
        defer(() => send(value)).subscribe({
          next: (event) => {
            const isRepeated =
              queued && !hasEmitted && event.kind === 'queued' && event.reason === undefined;
            hasEmitted = true;
            if (!isRepeated) subscriber.next(event);
          },
          error: (error) => subscriber.error(error),
          complete: () => subscriber.complete(),
        }),
      );
      if (queued && !hasEmitted) subscriber.next({ kind: 'sending' });
    };
    // The turn is requested before `queued` is emitted, because the subscriber may request a turn, too.
    subscriber.add(
      turn.pipe(take(1)).subscribe({ next: begin, error: (error) => subscriber.error(error) }),
    );
    if (begun || subscriber.closed) return;
    queued = true;
    subscriber.next({ kind: 'queued' });
  });
}
