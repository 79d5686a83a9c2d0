/** Sends calls, whose response is read completely, and retries those that the server asks to send again. */
import { map, mergeMap, type Observable, retry, type SchedulerLike, throwError } from 'rxjs';
import { ApiError } from '../meta/api-error.ts';
import { longTimer } from '../rx/long-timer.ts';
import { type SentBody, sentBody } from './request-body.ts';
import { collect, parseResponse, sendSuccessful } from './response.ts';
import type { TransportEvent, TransportRequest } from './transport.ts';

const MAX_RETRIES = 10;

/** The argument of `KubeClient.request`. */
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

/** The parts of a client that calls use. */
export interface CallParts {
  readonly baseUrl: string;
  readonly maxBodyBytes: number;
  readonly scheduler: SchedulerLike;
  send(request: TransportRequest, lane?: string): Observable<TransportEvent>;
}

/** Returns the wait before a failed call is retried, in milliseconds, or `undefined` if it is not retried. */
function retryDelayMs(error: unknown, method: string, attempt: number): number | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.retryAfterMs !== undefined && error.code >= 400) return error.retryAfterMs;
  if (error.code === 429 && method !== 'POST') return Math.min(30_000, 1000 * 2 ** (attempt - 1));
  return undefined;
}

/** Describes a call in errors: its method and its address. */
export function whereOf(baseUrl: string, { method = 'GET', path }: KubeRequest): string {
  return `${method} ${baseUrl}${path}`;
}

function transportRequest(request: KubeRequest, { body, contentType }: SentBody): TransportRequest {
  const { signal } = request;
  const headers: Record<string, string> = contentType ? { 'content-type': contentType } : {};
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    headers[name.toLowerCase()] = value;
  }
  return {
    method: request.method ?? 'GET',
    path: request.path,
    headers,
    use: 'call',
    query: request.query,
    body,
    // The signal of a reconcile knows the time, so it may abort without an event.
    maySend: signal && (() => !signal.aborted),
  };
}

/** Sends one call, and emits its parsed response. Errors with the {@link ApiError} of the last attempt. */
export function call(request: KubeRequest, parts: CallParts): Observable<unknown> {
  const { baseUrl, maxBodyBytes, scheduler } = parts;
  const where = whereOf(baseUrl, request);
  const attempt = (body: SentBody): Observable<unknown> => {
    const sent = transportRequest(request, body);
    const client = { send: (each: TransportRequest) => parts.send(each, request.lane) };
    return sendSuccessful(client, sent, where, scheduler, maxBodyBytes).pipe(
      collect(where, maxBodyBytes),
      map((answer) => parseResponse(answer, where)),
      retry({
        count: MAX_RETRIES,
        delay: (error, attempts) => {
          const delayMs = retryDelayMs(error, sent.method, attempts);
          return delayMs === undefined ? throwError(() => error) : longTimer(delayMs, scheduler);
        },
      }),
    );
  };
  return sentBody(request.body, where).pipe(mergeMap(attempt));
}
