/** What a request tells while it waits on this side: nobody may take that for a silence of the server. */
import { defer, Observable } from 'rxjs';
import { take } from 'rxjs/operators';
import type { TransportEvent } from './transport.ts';

/**
 * Waits for the first value of `turn`, and sends. Tells `queued` unless that comes at once, and `sending` then, unless
 * what is sent waits in a queue of its own: two queues one after the other are one wait.
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
      let told = false;
      subscriber.add(
        defer(() => send(value)).subscribe({
          next: (event) => {
            const again = queued && !told && event.kind === 'queued';
            told = true;
            if (!again) subscriber.next(event);
          },
          error: (error) => subscriber.error(error),
          complete: () => subscriber.complete(),
        }),
      );
      if (queued && !told) subscriber.next({ kind: 'sending' });
    };
    // It has its place before anybody is told, who may ask for one, too.
    subscriber.add(
      turn.pipe(take(1)).subscribe({ next: begin, error: (error) => subscriber.error(error) }),
    );
    if (begun || subscriber.closed) return;
    queued = true;
    subscriber.next({ kind: 'queued' });
  });
}
