/** What the response to a probe shows about a server, and what counts as a server's answer. */
import { Observable } from 'rxjs';
import { stoppedWith } from '../rx/stopped-with.ts';
import type { TransportEvent } from '../transport/transport.ts';

/** The progress of a probe: it waits on the client's side, it was sent, or an API server has answered it. */
export type ProbeSign = 'queued' | 'sending' | 'life';

/** How much of an error response is read to find a Status in it. */
const MAX_BYTES = 65_536;

/**
 * Judges the response to a probe. Emits `life` and completes if an API server has answered: with a list, with an error
 * below 500, or with a Status. Errors if the request fails, or if only a proxy has answered.
 */
export function probeSigns(events: Observable<TransportEvent>): Observable<ProbeSign> {
  return new Observable<ProbeSign>((subscriber) => {
    const text = new TextDecoder();
    let status = 0;
    let body = '';
    const live = () => {
      subscriber.next('life');
      subscriber.complete();
    };
    const fail = () => subscriber.error(new Error(`a proxy answered ${status} in its place`));
    subscriber.add(
      events.pipe(stoppedWith(subscriber)).subscribe({
        next: (event) => {
          if (event.kind === 'queued' || event.kind === 'sending') subscriber.next(event.kind);
          else if (event.kind === 'head') {
            ({ status } = event);
            const isPage = /html/.test(event.header('content-type') ?? '');
            if ((status >= 400 && status < 500) || (status < 300 && !isPage)) live();
            else if (status < 500) fail();
          } else if (body.length < MAX_BYTES) {
            body += text.decode(event.bytes, { stream: true });
            if (/"kind"\s*:\s*"Status"/.test(body)) live();
          }
        },
        // An error response may be cut, too.
        error: (error) => (status === 0 ? subscriber.error(error) : fail()),
        complete: fail,
      }),
    );
  });
}
