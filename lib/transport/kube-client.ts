/**
 * `createClient`, a client for one API server: base URL, headers, rate limit, and retries of calls. Streams are not
 * retried here, because their reader decides when to retry and reports it in its status.
 */
import {
  asyncScheduler,
  defer,
  EMPTY,
  firstValueFrom,
  fromEvent,
  merge,
  type Observable,
  type SchedulerLike,
  Subject,
  throwError,
} from 'rxjs';
import { mergeMap, takeUntil } from 'rxjs/operators';
import {
  checkedLimit,
  checkedMetered,
  checkedRate,
  checkedTimeout,
} from '../checks/checked-option.ts';
import { ApiError } from '../meta/api-error.ts';
import type { Metered } from '../meta/metrics.ts';
import { checkBaseUrl, checkHeaders, checkPath } from './address.ts';
import { type CallParts, call, type KubeRequest, whereOf } from './call.ts';
import { createFetchTransport, type Fetch } from './fetch-transport.ts';
import { guarded } from './guards/watch-guards.ts';
import type { StreamOptions } from './page/stream-options.ts';
import { queuedUntil } from './queued-until.ts';
import { laneLimits, tokenBucket } from './rate-limit.ts';
import {
  notSent,
  type Transport,
  type TransportEvent,
  type TransportRequest,
  type TransportTraits,
} from './transport.ts';

/** The options of {@link createClient}. */
export interface KubeClientOptions extends Omit<StreamOptions, 'scheduler'> {
  /**
   * The address of the API server or of a proxy to it: `https://10.0.0.1:6443`, `http://localhost:8001`, `''` (same
   * origin).
   */
  readonly baseUrl: string;
  /** Any WHATWG `fetch`. @defaultValue the global `fetch` */
  readonly fetch?: Fetch | undefined;
  /**
   * How long a call waits for the head of its response, in milliseconds; without effect on a given `transport`. Infinity means no limit.
   * Lists and watches have limits of their own. @defaultValue 30000
   */
  readonly headersTimeoutMs?: number | undefined;
  /** The transport to use instead of `fetch`. */
  readonly transport?: Transport | undefined;
  /** Headers that are sent with every request. Their names may have any case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The average number of requests per second. 0 or less, or Infinity, means no limit. @defaultValue 50 */
  readonly qps?: number | undefined;
  /** How many requests may be sent in a burst, at least 1. Infinity means no limit. @defaultValue 100 */
  readonly burst?: number | undefined;
  /** The scheduler of rate limits, retries and turns. @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
  /**
   * The longest body that {@link KubeClient.request} reads, in bytes. Infinity means no limit. @defaultValue 64 MiB
   */
  readonly maxBodyBytes?: number | undefined;
  /**
   * How long all lists and watches of the client may be silent before a ping, which is one small request, shows whether the
   * server can still be reached, in milliseconds. Up to a fifth of it is taken off at random. If the server does not answer
   * within 5 s, informers are no longer `live`. Infinity sends no pings. @defaultValue 15000
   */
  readonly livenessMs?: number | undefined;
  /**
   * Counts and measures the requests, each attempt of its own: `metered(provider)`. @defaultValue not measured
   */
  readonly metrics?: Metered | undefined;
}

/**
 * A client for one API server. Its traits are those of its {@link Transport}. If `hidesEncoding` is true, lists are
 * streamed only with `initialList: 'stream'`. Only the watches of a client that {@link createClient} made are guarded against
 * a server that is gone and against a proxy that holds events back.
 */
export interface KubeClient extends TransportTraits {
  readonly baseUrl: string;
  /** The option `livenessMs` of {@link createClient}. @defaultValue Infinity */
  readonly livenessMs?: number | undefined;
  /**
   * Sends one call and resolves with the parsed JSON response; with text if the response is not JSON, and with
   * `undefined` if it is empty.
   *
   * Rejects with an {@link ApiError}: the server's Status, a failure on the way, or `Aborted`. A 429 and a response
   * with Retry-After are retried, ten times at most; a POST is retried only after a response with Retry-After.
   * Rejects with a `TypeError`, and sends nothing, if the body cannot be sent as it is or as JSON.
   */
  request<R = unknown>(request: KubeRequest): Promise<R>;
  /**
   * Sends a request with the client's headers and rate limit, and emits the response as a stream of bytes. Nothing is
   * retried.
   */
  send(request: TransportRequest): Observable<TransportEvent>;
  /**
   * Closes all connections. Open requests, requests that wait to be sent or retried, and later requests error with
   * reason `Stopped`.
   */
  close(): Promise<void>;
}

/**
 * Creates a client for one API server.
 *
 * Nothing is sent before the first request. Throws a `TypeError` on an invalid base URL, on a base URL with a
 * password, a query or a fragment, on a header that is not text, and on an invalid number. A request errors with a
 * `TypeError`, before anything is sent, if its path could lead to another host or another path, or if a header is not
 * text.
 *
 * @example
 * ```ts
 * import { createClient } from 'rx-informer';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const version = await client.request<{ major: string }>({ path: '/version' });
 * version.major; // => '1'
 * ```
 */
export function createClient(options: KubeClientOptions): KubeClient {
  const { baseUrl, scheduler = asyncScheduler } = options;
  checkBaseUrl('createClient: baseUrl', baseUrl);
  const qps = checkedRate(options.qps ?? 50, 'createClient: qps');
  const burst = checkedLimit(options.burst ?? 100, 'createClient: burst');
  const bound = options.maxBodyBytes ?? 64 * 2 ** 20;
  const maxBodyBytes = checkedLimit(bound, 'createClient: maxBodyBytes');
  checkedMetered(options.metrics, 'createClient: metrics');
  const livenessMs = checkedTimeout(options.livenessMs ?? 15_000, 'createClient: livenessMs');
  const transport =
    options.transport ??
    createFetchTransport({
      baseUrl,
      scheduler,
      maxStreams: options.maxStreams,
      hiddenGraceMs: options.hiddenGraceMs,
      headersTimeoutMs: options.headersTimeoutMs,
      fetch: options.fetch,
    });
  const limitOf = laneLimits(() => tokenBucket({ qps, burst, scheduler }));
  /** Errors when the client is closed, and immediately for later subscribers. */
  const closing = new Subject<never>();
  const common: Record<string, string> = { accept: 'application/json' };
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    common[name.toLowerCase()] = value;
  }
  checkHeaders(common);

  const send = (request: TransportRequest, lane = ''): Observable<TransportEvent> =>
    defer(() => {
      checkPath(request);
      checkHeaders(request.headers ?? {});
      const measured = options.metrics?.request(request, scheduler);
      const headers = { ...common, ...request.headers };
      const begin = () => {
        if (request.maySend?.() === false) throw notSent(request);
        const events = transport.send({ ...request, headers });
        return measured?.(events) ?? events;
      };
      const turn = request.isUrgent === true ? null : limitOf(lane)();
      return turn === null ? begin() : queuedUntil(turn, begin);
    }).pipe(takeUntil(closing));

  const parts: CallParts = { baseUrl, maxBodyBytes, scheduler, send };

  const client: KubeClient = {
    baseUrl,
    livenessMs,
    get hidesEncoding() {
      return transport.hidesEncoding ?? false;
    },
    get mayCompress() {
      return transport.mayCompress;
    },
    get protocol() {
      return transport.protocol;
    },
    get connectionsLeft() {
      return transport.connectionsLeft;
    },
    get awake$() {
      return transport.awake$;
    },
    decoding: transport.decoding,
    send: (request) => send(request),
    close: () => {
      closing.error(ApiError.local('Stopped', 'the client was closed'));
      return transport.close();
    },
    request: <R>(request: KubeRequest) => {
      const { signal } = request;
      const aborted = () =>
        ApiError.local('Aborted', `${whereOf(baseUrl, request)}: aborted by the caller`);
      if (signal?.aborted) return Promise.reject(aborted());
      const abort =
        signal === undefined
          ? EMPTY
          : fromEvent(signal, 'abort').pipe(mergeMap(() => throwError(aborted)));
      const answer = call(request, parts).pipe(takeUntil(closing));
      // The abort first, because it may happen while the request is handed to the transport.
      return firstValueFrom(merge(abort, answer)) as Promise<R>;
    },
  };
  return guarded(client, { livenessMs, scheduler });
}
