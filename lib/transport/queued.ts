/** What a request tells while it waits on this side: nobody may take that for a silence of the server. */
import { defer, Observable } from 'rxjs';
import { take } from 'rxjs/operators';
import type { TransportEvent } from './transport.ts';

/**
 * Tells `queued`, waits for the first value of `turn`, and sends. Tells `sending` then, unless what is sent waits
 * in a queue of its own: two queues one after the other are one wait.
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
    subscriber.next({ kind: 'queued' });
    if (subscriber.closed) return;
    const begin = (value: V) => {
      let told = false;
      subscriber.add(
        defer(() => send(value)).subscribe({
          next: (event) => {
            const again = !told && event.kind === 'queued';
            told = true;
            if (!again) subscriber.next(event);
          },
          error: (error) => subscriber.error(error),
          complete: () => subscriber.complete(),
        }),
      );
      if (!told) subscriber.next({ kind: 'sending' });
    };
    subscriber.add(
      turn.pipe(take(1)).subscribe({ next: begin, error: (error) => subscriber.error(error) }),
    );
  });
}
