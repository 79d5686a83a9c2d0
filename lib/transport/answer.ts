/** Reads a complete response: its body, parsed, or the error that an error response stands for. */
import { Observable } from 'rxjs';
import { ApiError, parseRetryAfterMs, type Status } from '../meta/api-error.ts';
import { stoppedWith } from '../rx/stopped-with.ts';
import { GatheredBytes } from './gathered-bytes.ts';
import type { TransportEvent } from './transport.ts';

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

/** A response that has arrived completely. */
export interface Answer {
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

/** Parses the body: JSON where the response says so, else text. Throws on JSON that cannot be parsed. */
export function parseAnswer(answer: Answer, where: string): unknown {
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
