/** Reads a complete response: its body, parsed, or the error that an error response stands for. */
import { defer, Observable, type OperatorFunction, type SchedulerLike } from 'rxjs';
import { last, map, tap } from 'rxjs/operators';
import { ApiError, parseRetryAfterMs, type Status } from '../meta/api-error.ts';
import { unless } from '../rx/demand.ts';
import { stoppedWith } from '../rx/stopped-with.ts';
import { GatheredBytes } from './gathered-bytes.ts';
import type { TransportEvent, TransportRequest } from './transport.ts';

export const REDIRECTED = 'redirects are not followed. Give the final address as baseUrl';

/** Creates the error of an error response. */
function errorResponse(
  where: string,
  head: { readonly status: number; header(name: string): string | null },
  body: string,
  nowMs: number,
): ApiError {
  const retryAfterMs = parseRetryAfterMs(head.header('retry-after'), nowMs);
  const hint =
    head.status < 400 ? REDIRECTED : 'without a Status. Is this an API server, or a proxy?';
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
  return ApiError.fromStatus(status, head.status, { where, retryAfterMs });
}

type Head = Extract<TransportEvent, { kind: 'head' }>;

/** How much of an error response of a list, watch or log is read, in characters. It is a Status or a proxy's page, so more is not useful. */
const MAX_ERROR_LENGTH = 65_536;

/**
 * Sends a request, and emits the events of its response if it is successful. Otherwise gathers the body of the error
 * response, and errors with what it stands for, also if the body is cut, because of its Retry-After.
 */
export function sendSuccessful(
  client: { send(request: TransportRequest): Observable<TransportEvent> },
  request: TransportRequest,
  where: string,
  scheduler: SchedulerLike,
  maxErrorLength: number = MAX_ERROR_LENGTH,
): Observable<TransportEvent> {
  return new Observable<TransportEvent>((subscriber) => {
    const text = new TextDecoder();
    let head: Head | undefined;
    let ok = false;
    let body = '';
    const refused = (by: Head) => subscriber.error(errorResponse(where, by, body, scheduler.now()));
    const { demand } = request;
    // The body of an error is read without waiting for the consumer, because its Retry-After counts from now.
    const patient = demand && unless(() => head !== undefined && !ok, demand);
    subscriber.add(
      client
        .send({ ...request, demand: patient })
        .pipe(stoppedWith(subscriber))
        .subscribe({
          next: (event) => {
            if (event.kind === 'head') {
              head = event;
              ok = event.status >= 200 && event.status < 300;
            }
            if (ok || event.kind === 'queued' || event.kind === 'sending') subscriber.next(event);
            else if (event.kind === 'chunk') {
              body += text.decode(event.bytes, { stream: true });
              if (head !== undefined && body.length > maxErrorLength) refused(head);
            }
          },
          error: (error) => (head && !ok ? refused(head) : subscriber.error(error)),
          complete: () => {
            if (head && !ok) refused(head);
            else if (head) subscriber.complete();
            else {
              const message = `${where}: the connection ended before the response`;
              subscriber.error(ApiError.local('Network', message));
            }
          },
        }),
    );
  });
}

/** A response that has arrived completely. */
export interface WholeResponse {
  header(name: string): string | null;
  readonly body: string;
}

/** Collects a complete response. Errors if its body is longer than `maxBytes`. */
export function collect(
  where: string,
  maxBytes: number,
): OperatorFunction<TransportEvent, WholeResponse> {
  return (events) =>
    defer(() => {
      const bytes = new GatheredBytes();
      let header: WholeResponse['header'] = () => null;
      return events.pipe(
        tap((event) => {
          if (event.kind === 'head') header = event.header.bind(event);
          if (event.kind !== 'chunk') return;
          if (bytes.length + event.bytes.length > maxBytes) {
            bytes.drop();
            const message = `${where}: the response is longer than ${maxBytes} bytes; request less, or raise maxBodyBytes`;
            throw ApiError.local('TooLarge', message);
          }
          bytes.add(event.bytes);
        }),
        last(),
        map(() => ({ header, body: new TextDecoder().decode(bytes.take()) })),
      );
    });
}

/** Parses the body: JSON where the response says so, else text. Throws on JSON that cannot be parsed. */
export function parseResponse(answer: WholeResponse, where: string): unknown {
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
