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
  Observable,
  of,
  type SchedulerLike,
  Subject,
  throwError,
} from 'rxjs';
import { mergeMap, retry, takeUntil } from 'rxjs/operators';
import { ApiError, parseRetryAfterMs, type Status } from '../meta/api-error.ts';
import { checkedLimit, checkedRate } from '../rx/checked-option.ts';
import { longTimer } from '../rx/long-timer.ts';
import { stoppedWith } from '../rx/stopped-with.ts';
import { checkBaseUrl, checkPath } from './address.ts';
import { createFetchTransport, type Fetch } from './fetch-transport.ts';
import { GatheredBytes } from './gathered-bytes.ts';
import { queuedUntil } from './queued-until.ts';
import { laneLimits, tokenBucket } from './rate-limit.ts';
import { type SentBody, sentBody } from './request-body.ts';
import type { Transport, TransportEvent, TransportRequest, TransportTraits } from './transport.ts';

/** The options of {@link createClient}. */
export interface KubeClientOptions {
  /**
   * The address of the API server or of a proxy to it: `https://10.0.0.1:6443`, `http://localhost:8001`, `''` (same
   * origin).
   */
  readonly baseUrl: string;
  /** Any WHATWG `fetch`. @defaultValue the global `fetch` */
  readonly fetch?: Fetch | undefined;
  /** The transport to use instead of `fetch`. */
  readonly transport?: Transport | undefined;
  /** Headers that are sent with every request. Their names may have any case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The average number of requests per second. 0 or less, or Infinity, means no limit. @defaultValue 50 */
  readonly qps?: number | undefined;
  /** How many requests may be sent in a burst, at least 1. Infinity means no limit. @defaultValue 100 */
  readonly burst?: number | undefined;
  /** The scheduler of rate limits and retries. @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
  /**
   * The longest body that {@link KubeClient.request} reads, in bytes. Infinity means no limit. @defaultValue 64 MiB
   */
  readonly maxBodyBytes?: number | undefined;
}

/** The argument of {@link KubeClient.request}. */
export interface KubeRequest {
  /** @defaultValue 'GET' */
  readonly method?: string | undefined;
  /** The path from the server's root, encoded, without a query: `/api/v1/namespaces`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** Text, bytes (a view, a buffer) and a Blob are sent as they are, everything else as JSON. */
  readonly body?: unknown | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * The calls of one lane share a rate limit with the client's `qps` and `burst`, and do not wait for the calls of
   * other lanes. Use a lane for the few calls that must not be delayed, such as the lease renewals of a leader.
   * @defaultValue the lane of all other requests
   */
  readonly lane?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A client for one API server. Its traits are those of its {@link Transport}. If `hidesEncoding` is true, lists are
 * streamed only with `initialList: 'stream'`.
 */
export interface KubeClient extends TransportTraits {
  readonly baseUrl: string;
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

const MAX_RETRIES = 10;

/** Creates the error of an error response. */
export function errorAnswer(
  where: string,
  head: { readonly status: number; header(name: string): string | null },
  body: string,
  nowMs: number,
): ApiError {
  const retryAfterMs = parseRetryAfterMs(head.header('retry-after'), nowMs);
  const hint =
    head.status < 400
      ? 'redirects are not followed. Give the final address as baseUrl'
      : 'without a Status. Is this an API server, or a proxy?';
  let status: Status = { message: `the server answered ${head.status}, ${hint}` };
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === 'object' && parsed !== null && (parsed as Status).kind === 'Status') {
      status = parsed as Status;
    }
  } catch {
    // Not JSON: a proxy's page or the server's plain text. Short plain text is quoted. Markup is not, nor is a
    // fragment of JSON, which may be part of a Secret.
    const text = body.trim();
    const isPlain = /^text\/plain\b/i.test(head.header('content-type') ?? 'text/plain');
    if (isPlain && /^[^<>{}[\]]+$/.test(text) && text.length <= 200) status = { message: text };
  }
  return ApiError.fromStatus(status, head.status, {
    where,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

interface Answer {
  readonly status: number;
  header(name: string): string | null;
  readonly body: string;
}

/** Collects a complete response. Errors if its body is longer than `maxBytes`. */
export function collect(
  events: Observable<TransportEvent>,
  where: string,
  maxBytes: number,
): Observable<Answer> {
  return new Observable<Answer>((subscriber) => {
    const bytes = new GatheredBytes();
    let head: { status: number; header(name: string): string | null } | undefined;
    const finish = (answer: NonNullable<typeof head>) => {
      const { status } = answer;
      const header = answer.header.bind(answer);
      subscriber.next({ status, header, body: new TextDecoder().decode(bytes.take()) });
      subscriber.complete();
    };
    return events.pipe(stoppedWith(subscriber)).subscribe({
      next: (event) => {
        if (event.kind === 'head') head = event;
        if (event.kind !== 'chunk') return;
        if (bytes.length + event.bytes.length > maxBytes) {
          bytes.drop();
          const message = `${where}: the response is longer than ${maxBytes} bytes; request less, or raise maxBodyBytes`;
          subscriber.error(ApiError.local('TooLarge', message));
          return;
        }
        bytes.add(event.bytes);
      },
      error: (error) => {
        // An error response whose body is cut is still reported, with its Retry-After.
        if (head !== undefined && head.status >= 400) finish(head);
        else subscriber.error(error);
      },
      complete: () => {
        if (head !== undefined) finish(head);
        else
          subscriber.error(
            ApiError.local('Network', `${where}: the connection ended before the response`),
          );
      },
    });
  });
}

function parseAnswer(answer: Answer, where: string): unknown {
  if (answer.body === '') return undefined;
  const type = answer.header('content-type') ?? '';
  if (!type.includes('json')) return answer.body;
  try {
    return JSON.parse(answer.body);
  } catch {
    // The parser's message quotes the text, which may be a Secret.
    const message = `${where}: the response is not the JSON that it claims to be (${answer.body.length} characters)`;
    throw ApiError.local('Malformed', message);
  }
}

/** Returns the wait before a failed call is retried, in milliseconds, or `undefined` if it is not retried. */
function retryDelayMs(error: unknown, method: string, attempt: number): number | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.retryAfterMs !== undefined && error.code >= 400) return error.retryAfterMs;
  if (error.code === 429 && method !== 'POST') return Math.min(30_000, 1000 * 2 ** (attempt - 1));
  return undefined;
}

/**
 * Creates a client for one API server.
 *
 * Nothing is sent before the first request. Throws a `TypeError` on an invalid base URL, on a base URL with a
 * password, a query or a fragment, and on an invalid number. A request errors with a `TypeError`, before anything is
 * sent, if its path could lead to another host or another path.
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
  checkBaseUrl('createClient', baseUrl);
  const qps = checkedRate(options.qps ?? 50, 'createClient: qps');
  const burst = checkedLimit(options.burst ?? 100, 'createClient: burst');
  const bound = options.maxBodyBytes ?? 64 * 2 ** 20;
  const maxBodyBytes = checkedLimit(bound, 'createClient: maxBodyBytes');
  const transport =
    options.transport ??
    createFetchTransport({
      baseUrl,
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    });
  const limitOf = laneLimits(() => tokenBucket({ qps, burst, scheduler }));
  /** Errors when the client is closed, and immediately for later subscribers. */
  const closing = new Subject<never>();
  const common: Record<string, string> = { accept: 'application/json' };
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    common[name.toLowerCase()] = value;
  }

  const send = (request: TransportRequest, lane = ''): Observable<TransportEvent> =>
    defer(() => {
      checkPath(request);
      const headers = { ...common, ...request.headers };
      const sent = transport.send({ ...request, headers });
      const turn = limitOf(lane)();
      return turn === null ? sent : queuedUntil(turn, () => sent);
    }).pipe(takeUntil(closing));

  const whereOf = ({ method = 'GET', path }: KubeRequest) => `${method} ${baseUrl}${path}`;
  const call = (request: KubeRequest): Observable<unknown> => {
    const where = whereOf(request);
    return sentBody(request.body, where).pipe(mergeMap((sent) => callWith(request, where, sent)));
  };
  const callWith = (
    request: KubeRequest,
    where: string,
    { body, contentType }: SentBody,
  ): Observable<unknown> => {
    const method = request.method ?? 'GET';
    const headers: Record<string, string> = contentType ? { 'content-type': contentType } : {};
    for (const [name, value] of Object.entries(request.headers ?? {})) {
      headers[name.toLowerCase()] = value;
    }
    const call: TransportRequest = {
      method,
      path: request.path,
      headers,
      use: 'call',
      ...(request.query === undefined ? {} : { query: request.query }),
      ...(body === undefined ? {} : { body }),
    };
    const sent = send(call, request.lane);
    return collect(sent, where, maxBodyBytes).pipe(
      mergeMap((answer) =>
        answer.status >= 200 && answer.status < 300
          ? of(parseAnswer(answer, where))
          : throwError(() => errorAnswer(where, answer, answer.body, scheduler.now())),
      ),
      retry({
        count: MAX_RETRIES,
        delay: (error, attempt) => {
          const delayMs = retryDelayMs(error, method, attempt);
          return delayMs === undefined ? throwError(() => error) : longTimer(delayMs, scheduler);
        },
      }),
      takeUntil(closing),
    );
  };

  return {
    baseUrl,
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
    send: (request) => send(request),
    close: () => {
      closing.error(ApiError.local('Stopped', 'the client was closed'));
      return transport.close();
    },
    request: <R>(request: KubeRequest) => {
      const { signal } = request;
      const aborted = () => ApiError.local('Aborted', `${whereOf(request)}: aborted by the caller`);
      if (signal?.aborted) return Promise.reject(aborted());
      const abort =
        signal === undefined
          ? EMPTY
          : fromEvent(signal, 'abort').pipe(mergeMap(() => throwError(aborted)));
      return firstValueFrom(merge(call(request), abort)) as Promise<R>;
    },
  };
}
