/// <reference types="node" />
/**
 * `createUndiciTransport`, the transport for Node. It uses undici's `dispatch`, which costs a third of the time of
 * `fetch`, and supports back-pressure down to the socket, HTTP/2, TLS and proxies.
 */
import { from, Observable, type Subscriber } from 'rxjs';
import type { Dispatcher } from 'undici';
import { comparingStored } from '../../decode/differential/stored-difference.ts';
import { ApiError } from '../../meta/api-error.ts';
import { checkBaseUrl, checkPath } from '../../transport/address.ts';
import { queuedUntil } from '../../transport/queued-until.ts';
import type {
  HttpProtocol,
  Transport,
  TransportEvent,
  TransportRequest,
} from '../../transport/transport.ts';
import { requestFailure } from '../request-failure.ts';
import { checkPool, checkProxy, type DispatcherOptions, headersTimeoutOf } from './pool-options.ts';
import { openDispatcher } from './undici-pool.ts';
import { exchange, type Target } from './undici-request.ts';

/** The part of an undici `Dispatcher` that this library checks. The dispatchers of undici 7 and 8 are assignable. */
export interface DispatcherLike {
  dispatch(options: object, handler: object): boolean;
}

/** The options of {@link createUndiciTransport}. */
export interface UndiciTransportOptions extends DispatcherOptions {
  /** The address of the server: `https://10.0.0.1:6443`, `http://127.0.0.1:8001/prefix` */
  readonly baseUrl: string;
  /**
   * A dispatcher of undici 7 or 8 to use instead of a new pool. The caller closes it, and its own TLS, proxy and
   * connection settings apply.
   */
  readonly dispatcher?: DispatcherLike | undefined;
}

/** A {@link Transport} that owns its connection pool. */
export interface UndiciTransport extends Transport {
  /** Accepts no more requests, and ends the pool when the open requests have ended. */
  retire(): Promise<void>;
}

/** How many requests undici sends over one HTTP/2 connection at a time. */
const MOST_STREAMS = 100;

function targetOf(options: UndiciTransportOptions): Omit<Target, 'onProtocol'> {
  const { baseUrl, proxy, repeatedHeaders = {} } = options;
  checkPool('createUndiciTransport', options);
  checkBaseUrl('createUndiciTransport: baseUrl', baseUrl, false);
  const url = new URL(baseUrl);
  const prefix = url.pathname.replace(/(?<!\/)\/+$/, '');
  const headersTimeoutMs = headersTimeoutOf(options);
  const route = { origin: url.origin, prefix, ...(proxy === undefined ? {} : { proxy }) };
  return { ...route, headersTimeoutMs, repeatedHeaders };
}

/**
 * Creates a transport over undici (a peer dependency, loaded with the first request).
 *
 * All requests share one pool; over HTTP/2 they share one connection. A request that waits for a connection emits
 * `queued`, and `sending` when it is sent. Unsubscribing aborts the request. If the demand of a request is closed,
 * its socket or HTTP/2 stream is paused after the current chunk; the server may already have sent up to 4 MiB more of
 * that stream. Responses are requested uncompressed (`accept-encoding: identity`), or with `acceptGzip` optionally as
 * gzip. A response that is compressed although the request did not allow it is an error, and so is an HTTP/2 stream
 * that is reset within its body. The wait for a response head is limited (`headersTimeoutMs`, by default 30 s); the
 * duration of a body is not. The proxy of the environment is not used; give one in `proxy`. `close()` errors open
 * requests with reason `Stopped`. Throws a `TypeError` if the base URL or the proxy is invalid.
 *
 * @example
 * ```ts
 * import { createClient } from 'rx-informer';
 * import { createUndiciTransport } from 'rx-informer/node';
 *
 * const baseUrl = 'http://127.0.0.1:8001';
 * const client = createClient({ baseUrl, transport: createUndiciTransport({ baseUrl }) });
 * client.baseUrl; // => 'http://127.0.0.1:8001'
 * await client.close();
 * ```
 */
export function createUndiciTransport(options: UndiciTransportOptions): UndiciTransport {
  let protocol: HttpProtocol | undefined;
  const target: Target = {
    ...targetOf(options),
    onProtocol(seen) {
      protocol = seen;
    },
  };
  if (options.proxy !== undefined) checkProxy(options.proxy);
  if (options.dispatcher !== undefined && options.repeatedHeaders !== undefined) {
    throw new TypeError(
      'createUndiciTransport: repeatedHeaders need HTTP/1.1, which the given dispatcher may not speak; give only one of the two options',
    );
  }
  let ready = options.dispatcher as Dispatcher | undefined;
  let opening: Promise<Dispatcher> | undefined;
  let closed = false;
  const open = new Set<Subscriber<TransportEvent>>();
  const { maxConnections: most = Number.POSITIVE_INFINITY } = options;

  const openPool = () => {
    opening ??= openDispatcher(options).then(
      (dispatcher) => {
        ready = dispatcher;
        return dispatcher;
      },
      (error) => {
        opening = undefined;
        throw error;
      },
    );
    return opening;
  };
  const end = async (how: 'close' | 'destroy') => {
    closed = true;
    const pool =
      options.dispatcher === undefined ? await opening?.catch(() => undefined) : undefined;
    // The error of a second call is ignored, because the pool has already ended.
    await pool?.[how]().catch(() => undefined);
  };
  const stopped = () => ApiError.local('Stopped', 'the client was closed');
  const via = (dispatcher: Dispatcher, request: TransportRequest) =>
    new Observable<TransportEvent>((subscriber) =>
      exchange(dispatcher, target, request, subscriber),
    );

  const left = () => {
    if (options.dispatcher !== undefined) return undefined;
    return protocol === 'h2' ? Number.POSITIVE_INFINITY : Math.max(0, most - open.size);
  };

  return {
    mayCompress: false,
    decoding: comparingStored(),
    get protocol() {
      return protocol;
    },
    get connectionsLeft() {
      return left();
    },
    send: (request) =>
      new Observable<TransportEvent>((subscriber) => {
        if (closed) {
          subscriber.error(stopped());
          return undefined;
        }
        checkPath(request);
        // An urgent request asks whether the server can be reached, so opening a connection to it is no wait.
        const isFree = (left() ?? 0) > 0 && open.size < MOST_STREAMS * most;
        const isConnecting = request.isUrgent === true && isFree;
        open.add(subscriber);
        subscriber.add(() => open.delete(subscriber));
        const sent =
          ready !== undefined
            ? via(ready, request)
            : queuedUntil(from(openPool()), (pool) => via(pool, request));
        let answered = false;
        return sent.subscribe({
          next: (event) => {
            answered ||= event.kind === 'head';
            if (event.kind !== 'queued' || !isConnecting) subscriber.next(event);
          },
          error: (error) => subscriber.error(requestFailure(target, request, error, answered)),
          complete: () => subscriber.complete(),
        });
      }),
    retire: () => end('close'),
    async close() {
      closed = true;
      for (const subscriber of [...open]) subscriber.error(stopped());
      await end('destroy');
    },
  };
}
