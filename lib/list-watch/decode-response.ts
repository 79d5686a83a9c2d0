/** Sends a request and decodes its response: the place where bytes, HTTP status and decoder meet. */
import { Observable, type SchedulerLike } from 'rxjs';
import type { Decoder } from '../decode/decoding.ts';
import { ApiError } from '../meta/api-error.ts';
import { stoppedWith } from '../rx/stopped-with.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { sendSuccessful } from '../transport/response.ts';
import type { TransportEvent, TransportRequest } from '../transport/transport.ts';
import type { RequestTurn } from './lister-watcher.ts';

/** A signal about a request and its response. `alive`: bytes arrived that did not complete an event or item. */
export type DecodedResponse<Out> =
  | { readonly kind: RequestTurn | 'opened' | 'alive'; readonly reason?: string }
  | { readonly kind: 'decoded'; readonly value: Out };

type Head = Extract<TransportEvent, { kind: 'head' }>;

/**
 * Sends a request and decodes its body. Completes at a clean end. Errors with an {@link ApiError} of the server's
 * Status, of the network, or of the decoder. Everything decoded before an error is emitted first.
 */
export function decodeResponse<Out>(options: {
  readonly client: Pick<KubeClient, 'send'>;
  readonly request: TransportRequest;
  readonly where: string;
  readonly scheduler: SchedulerLike;
  /**
   * Checks the head of a successful response. If it returns an error, the request is aborted with that error and the
   * body is not read.
   */
  readonly refusal?: ((head: Head) => ApiError | undefined) | undefined;
  decoder(): Decoder<Out>;
}): Observable<DecodedResponse<Out>> {
  const { client, request, where, scheduler } = options;
  return new Observable<DecodedResponse<Out>>((subscriber) => {
    const decoder = options.decoder();
    const failed = () => {
      const { failure } = decoder;
      if (failure === undefined) return false;
      const { code, reason, message } = failure;
      subscriber.error(new ApiError({ code, reason, message: `${where}: ${message}` }));
      return true;
    };
    /** A decoder that throws fails like a decoder that returns a failure. */
    const decoded = (step: () => Out | undefined): Out | undefined => {
      try {
        return step();
      } catch (error) {
        subscriber.error(ApiError.from(error, where));
        return undefined;
      }
    };
    // Stopped at its source, because each stage would let one more event pass.
    const send = (sent: TransportRequest) => client.send(sent).pipe(stoppedWith(subscriber));
    subscriber.add(
      sendSuccessful({ send }, request, where, scheduler).subscribe({
        next: (event) => {
          if (event.kind === 'chunk') {
            const value = decoded(() => decoder.push(event.bytes));
            subscriber.next(value === undefined ? { kind: 'alive' } : { kind: 'decoded', value });
            failed();
          } else if (event.kind === 'head') {
            const refusal = options.refusal?.(event);
            if (refusal === undefined) subscriber.next({ kind: 'opened' });
            else subscriber.error(refusal);
          } else subscriber.next(event);
        },
        error: (error) => subscriber.error(ApiError.from(error, where)),
        complete: () => {
          const value = decoded(() => decoder.end());
          if (value !== undefined) subscriber.next({ kind: 'decoded', value });
          if (!failed()) subscriber.complete();
        },
      }),
    );
  });
}
