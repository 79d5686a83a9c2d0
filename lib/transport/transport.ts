/**
 * `Transport`, the interface to the network: it sends one request and emits the response as a stream of bytes. A
 * transport does not parse JSON and does not retry. `fetch` has an isomorphic adapter; `rx-informer/node` has one for
 * undici's `dispatch`.
 */
import type { Observable } from 'rxjs';
import { ApiError } from '../meta/api-error.ts';
import type { Demand } from '../rx/demand.ts';

/** The use of a request. Retries, limits and HTTP settings differ between streams and calls. */
export type TransportUse = 'call' | 'list' | 'watch';

/** One HTTP request. */
export interface TransportRequest {
  readonly method: string;
  /** The path from the server's root, encoded, without a query: `/api/v1/pods`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** Header names are in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly use: TransportUse;
  /** Asked before each read of the body. */
  readonly demand?: Demand | undefined;
  /**
   * By how much longer than usual the head of the response may take, because it did not come in time before: 1, 2 or 4
   * times. @defaultValue 1
   */
  readonly patience?: number | undefined;
  /**
   * Whether the response may be compressed with gzip, over a transport that otherwise requests no compression. The
   * transport decompresses it. For finite bodies whose size matters more than CPU time. A transport that leaves
   * compression to the platform, as `fetch` does, ignores this field. @defaultValue false
   */
  readonly acceptGzip?: boolean | undefined;
  /**
   * Whether the stream may be ended now, to be requested again later (reason `Yielded`). Asked when other streams wait
   * for a connection, and for a streaming list with each chunk, to learn whether the list is complete.
   * @defaultValue true for lists and watches
   */
  readonly mayYield?: (() => boolean) | undefined;
  /**
   * Whether somebody uses what the stream delivers. Where few streams may be open, a watch that nobody uses is ended first (reason
   * `Yielded`), and is sent again when somebody uses it. @defaultValue always
   */
  readonly inUse$?: Observable<boolean> | undefined;
  /**
   * Asked immediately before the bytes of the request leave, behind the rate limit and the wait for a connection. If it returns
   * false, the request is not sent, and errors with reason `Aborted`. A transport that can hold a request back asks it, too.
   * @defaultValue true
   */
  readonly maySend?: (() => boolean) | undefined;
  /**
   * Whether a list or watch is sent without waiting for its turn or for the rate limit, because it is short and rare.
   * @defaultValue false
   */
  readonly isUrgent?: boolean | undefined;
}

/**
 * The events of a request: `queued` and `sending` alternately, or neither, then one `head`, then chunks. A transport
 * that cannot know when a request is sent, such as `fetch`, emits neither `queued` nor `sending`.
 */
export type TransportEvent =
  /**
   * The request was not sent yet: it waits for the rate limit, for credentials or for a connection. `reason` says why in
   * words, if the user should know. It is emitted again if the reason changes.
   */
  | { readonly kind: 'queued'; readonly reason?: string }
  /** The request is sent now. From here on, the client waits for the server. */
  | { readonly kind: 'sending' }
  | { readonly kind: 'head'; readonly status: number; header(name: string): string | null }
  /** `bytes` are valid until `next()` returns; copy them to keep them. */
  | { readonly kind: 'chunk'; readonly bytes: Uint8Array };

/** A protocol by its ALPN name. */
export type HttpProtocol = 'http/1.1' | 'h2' | 'h3';

/**
 * The properties of the connection to a server. Each response head may change them. `undefined` means unknown.
 */
export interface TransportTraits {
  /**
   * Whether bodies may be compressed without the heads revealing it, as across origins in a browser. A response head
   * may set it to true. @defaultValue false
   */
  readonly hidesEncoding?: boolean | undefined;
  /** Whether bodies of lists and calls may be compressed, also without `acceptGzip`. */
  readonly mayCompress?: boolean | undefined;
  /** The protocol in use. A browser reports it for the page's own origin, and for other origins if they allow it. */
  readonly protocol?: HttpProtocol | undefined;
  /**
   * How many more requests can be open before one has to wait for another. Infinity if all requests share one
   * connection, or there is no limit. In a browser an upper bound, because all tabs share six connections over
   * HTTP/1.1; an unknown protocol counts as HTTP/1.1.
   */
  readonly connectionsLeft?: number | undefined;
  /**
   * Emits when the network may have changed, as after a sleep of the machine, so that a request that waits before a
   * retry is worth sending now. Absent outside of browsers.
   */
  readonly awake$?: Observable<unknown> | undefined;
  /**
   * Makes the `Decoding` of a collection whose option `decoding` is not set. A transport has it for the platform that it runs
   * on, so that pages do not load it. @defaultValue `jsonDecoding`
   */
  readonly decoding?: (() => unknown) | undefined;
}

/**
 * Sends requests. `send` does nothing until it is subscribed, and unsubscribing aborts the request. The stream
 * completes at the end of the body, and errors with an `ApiError` if there is no response or the body is cut. An HTTP
 * error status is not an error here. After `close()` every `send` errors.
 */
export interface Transport extends TransportTraits {
  send(request: TransportRequest): Observable<TransportEvent>;
  /** Closes pooled connections and aborts open requests. */
  close(): Promise<void>;
}

/** The error of a request that was not sent, because its `maySend` returned false. */
export function notSent({ method, path }: TransportRequest): ApiError {
  return ApiError.local('Aborted', `${method} ${path}: not sent, because the caller aborted it`);
}
