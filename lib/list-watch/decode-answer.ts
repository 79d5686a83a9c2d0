/** Sends a request and decodes its response: the place where bytes, HTTP status and decoder meet. */
import { Observable, type SchedulerLike } from 'rxjs';
import type { Decoder } from '../decode/decoding.ts';
import { ApiError } from '../meta/api-error.ts';
import { unless } from '../rx/demand.ts';
import { stoppedWith } from '../rx/stopped-with.ts';
import { errorAnswer } from '../transport/answer.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { TransportEvent, TransportRequest } from '../transport/transport.ts';
import type { RequestTurn } from './lister-watcher.ts';

/** A signal about a request and its response. `alive`: bytes arrived that did not complete an event or item. */
export type Answer<Out> =
  | { readonly kind: RequestTurn | 'opened' | 'alive'; readonly reason?: string }
  | { readonly kind: 'decoded'; readonly value: Out };

type Head = Extract<TransportEvent, { kind: 'head' }>;

/** How much of an error response is read. It is a Status or a proxy's page, so more is not useful. */
const MAX_ERROR_BYTES = 65_536;

/**
 * Sends a request and decodes its body. Completes at a clean end. Errors with an {@link ApiError} of the server's
 * Status, of the network, or of the decoder. Everything decoded before an error is emitted first.
 */
export function decodeAnswer<Out>(options: {
  readonly client: Pick<KubeClient, 'send'>;
  readonly request: TransportRequest;
  readonly where: string;
  readonly scheduler: SchedulerLike;
  /**
   * Checks the head of a successful response. If it returns an error, the request is aborted with that error and the
   * body is not read.
   */
  refusal?(head: Head): ApiError | undefined;
  decoder(): Decoder<Out>;
}): Observable<Answer<Out>> {
  const { client, request, where, scheduler } = options;
  return new Observable<Answer<Out>>((subscriber) => {
    const decoder = options.decoder();
    const text = new TextDecoder();
    let head: Head | undefined;
    let ok = false;
    let errorBody = '';
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
    const refused = (by: Head) =>
      subscriber.error(errorAnswer(where, by, errorBody, scheduler.now()));
    const { demand } = request;
    // The body of an error is read without waiting for the consumer, because its Retry-After counts from now.
    const patient =
      demand === undefined ? {} : { demand: unless(() => head !== undefined && !ok, demand) };
    subscriber.add(
      client
        .send({ ...request, ...patient })
        .pipe(stoppedWith(subscriber))
        .subscribe({
          next: (event) => {
            if (event.kind === 'queued' || event.kind === 'sending') subscriber.next(event);
            else if (event.kind === 'head') {
              head = event;
              ok = event.status >= 200 && event.status < 300;
              const refusal = ok ? options.refusal?.(event) : undefined;
              if (refusal !== undefined) subscriber.error(refusal);
              else if (ok) subscriber.next({ kind: 'opened' });
            } else if (!ok) {
              errorBody += text.decode(event.bytes, { stream: true });
              if (head !== undefined && errorBody.length > MAX_ERROR_BYTES) refused(head);
            } else {
              const value = decoded(() => decoder.push(event.bytes));
              subscriber.next(value === undefined ? { kind: 'alive' } : { kind: 'decoded', value });
              failed();
            }
          },
          // An error response whose body is cut is still reported, with its Retry-After.
          error: (error) => {
            if (head !== undefined && !ok) refused(head);
            else subscriber.error(ApiError.from(error, where));
          },
          complete: () => {
            if (head === undefined) {
              subscriber.error(
                ApiError.local('Network', `${where}: the connection ended before the response`),
              );
            } else if (!ok) refused(head);
            else {
              const value = decoded(() => decoder.end());
              if (value !== undefined) subscriber.next({ kind: 'decoded', value });
              if (!failed()) subscriber.complete();
            }
          },
        }),
    );
  });
}
