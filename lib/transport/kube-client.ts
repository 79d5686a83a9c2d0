/**
 * One API server and how to reach it: base URL, headers, rate limit, retries of calls. Streams are sent as they
 * are, because whoever reads them decides when to try again and shows it.
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

/** What {@link createClient} takes. */
export interface KubeClientOptions {
  /** Where the API server, or a proxy to it, is: `https://10.0.0.1:6443`, `http://localhost:8001`, `''` (same origin). */
  readonly baseUrl: string;
  /** Any WHATWG `fetch`. @defaultValue the global one */
  readonly fetch?: Fetch | undefined;
  /** Another way to the server, instead of `fetch`. */
  readonly transport?: Transport | undefined;
  /** Sent with every request; names in any case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Requests a second, on average; 0 or less, or Infinity: no limit. @defaultValue 50 */
  readonly qps?: number | undefined;
  /** Requests at once, at least 1; Infinity: no limit. @defaultValue 100 */
  readonly burst?: number | undefined;
  /** The clock of limits and retries. */
  readonly scheduler?: SchedulerLike | undefined;
  /** The longest body that {@link KubeClient.request} reads, in bytes; Infinity: no bound. @defaultValue 64 MiB */
  readonly maxBodyBytes?: number | undefined;
}

/** One call. */
export interface KubeRequest {
  /** @defaultValue 'GET' */
  readonly method?: string | undefined;
  /** From the server's root, encoded, without query: `/api/v1/namespaces`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** Sent as it is when text, bytes (a view, a buffer) or a Blob, else as JSON. */
  readonly body?: unknown | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Calls of one lane share a rate limit, of the client's `qps` and `burst`, and wait for those of no other lane. For
   * the few whose delay does harm, such as the renewals of a leader. @defaultValue the lane of all other requests
   */
  readonly lane?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A connection to one API server. What is known of the way to it is that of its {@link Transport}; where that
 * `hidesEncoding`, lists are streamed only where `initialList: 'stream'` says so.
 */
export interface KubeClient extends TransportTraits {
  readonly baseUrl: string;
  /**
   * One call, its JSON answer parsed (text, where it is none; `undefined`, where it is empty).
   *
   * Rejects with an {@link ApiError}: the server's Status, or what went wrong on the way, or `Aborted`. 429 and
   * answers with Retry-After are tried again, ten times at most; a POST only if the server sent Retry-After. Rejects
   * with a `TypeError`, and sends nothing, where the body can be neither sent as it is nor as JSON.
   */
  request<R = unknown>(request: KubeRequest): Promise<R>;
  /** A request as a stream of bytes, with the client's headers and rate limit. Nothing is retried. */
  send(request: TransportRequest): Observable<TransportEvent>;
  /** Ends all connections. Open requests, those that wait to be sent or sent again, and later ones error: `Stopped`. */
  close(): Promise<void>;
}

const MAX_RETRIES = 10;

/** Reads the rest of an error answer and makes the error of it. */
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
    // No JSON: a proxy's page or the server's plain text. Short plain text is worth showing; markup is not, nor is
    // a piece of JSON, which may be of a Secret.
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

/** Gathers a whole answer. Errors when it is longer than `maxBytes`. */
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
        // An error answer whose body is cut is still that answer, with its Retry-After.
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
    // The parser's own message quotes the text, which may be a Secret.
    const message = `${where}: the response is not the JSON that it claims to be (${answer.body.length} characters)`;
    throw ApiError.local('Malformed', message);
  }
}

/** Whether, and after how long, a failed call is sent again. */
function retryDelayMs(error: unknown, method: string, attempt: number): number | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.retryAfterMs !== undefined && error.code >= 400) return error.retryAfterMs;
  if (error.code === 429 && method !== 'POST') return Math.min(30_000, 1000 * 2 ** (attempt - 1));
  return undefined;
}

/**
 * A client for one API server.
 *
 * Nothing is sent before the first request. Throws a `TypeError` on a base URL that is none, or that has a password,
 * a query or a fragment, and on a number that is none. A request whose path could lead to another host, or elsewhere on this one, fails with a
 * `TypeError` before it is sent.
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
  /** Errors when the client is closed, and at once for whoever comes later. */
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
