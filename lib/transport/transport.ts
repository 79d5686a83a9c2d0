/**
 * The port to the network: one request, its answer as a stream of bytes. It knows no JSON and retries
 * nothing. `fetch` is its isomorphic adapter; `rx-informer/node` has one over undici's `dispatch`.
 */
import type { Observable } from 'rxjs';
import type { Demand } from '../rx/demand.ts';

/** What a request is for: streams are treated unlike calls by retries, budgets and HTTP settings. */
export type TransportUse = 'call' | 'list' | 'watch';

/** One HTTP request. */
export interface TransportRequest {
  readonly method: string;
  /** Path from the server's root, encoded, without query: `/api/v1/pods`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly use: TransportUse;
  /** Asked before each read of the body. */
  readonly demand?: Demand;
  /**
   * Whether this body may come as gzip over a transport that otherwise asks for none; the transport decompresses it. For
   * finite bodies whose size matters more than the work. A transport that leaves compression to the platform, as `fetch`
   * does, takes no notice. @defaultValue false
   */
  readonly acceptGzip?: boolean;
}

/**
 * `queued` and `sending` by turns, or neither, then one `head`, then chunks. A transport that cannot tell when a
 * request leaves, as `fetch` cannot, says neither.
 */
export type TransportEvent =
  /** Nothing was sent yet: it waits for a token of the rate limiter, for credentials or for a connection. */
  | { readonly kind: 'queued' }
  /** That wait is over: from now on it is the server that is waited for. */
  | { readonly kind: 'sending' }
  | { readonly kind: 'head'; readonly status: number; header(name: string): string | null }
  /** `bytes` are lent until `next()` returns: copy what must stay. */
  | { readonly kind: 'chunk'; readonly bytes: Uint8Array };

/** As ALPN names it. */
export type HttpProtocol = 'http/1.1' | 'h2' | 'h3';

/** What is known of the way to a server. May change with each head; left out or `undefined`: not known. */
export interface TransportTraits {
  /**
   * Whether bodies may come compressed and heads not tell, as from another origin in a browser. May become true with a
   * head. Left out: no.
   */
  readonly hidesEncoding?: boolean | undefined;
  /** Whether bodies of lists and calls may come compressed, also where a request has no `acceptGzip`. */
  readonly mayCompress?: boolean | undefined;
  /** The protocol in use. A browser tells it of the page's own origin, and of others where they allow it. */
  readonly protocol?: HttpProtocol | undefined;
  /**
   * How many more requests can be open at once before one has to wait for another; Infinity where all share a
   * connection, or nothing limits them. In a browser, which shares six among all its tabs over HTTP/1.1, no more than
   * this; there a protocol that is not known counts as HTTP/1.1.
   */
  readonly connectionsLeft?: number | undefined;
}

/**
 * Laws: `send` does nothing until it is subscribed; unsubscribing aborts the request; the stream completes at
 * the end of the body and errors with an `ApiError` when there is no answer or the body is cut; an HTTP
 * error status is no error here. After `close()` every `send` errors.
 */
export interface Transport extends TransportTraits {
  send(request: TransportRequest): Observable<TransportEvent>;
  /** Ends pooled connections; open requests are aborted. */
  close(): Promise<void>;
}
