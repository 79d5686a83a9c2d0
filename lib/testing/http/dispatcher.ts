/**
 * Dispatches every request, of `fetch` and of sockets: records it, applies the standing faults, and creates its
 * response after its delay.
 */

import { failure } from '../../object-log/failures.ts';
import { isTrue } from '../../object-log/list-options.ts';
import { longTimer } from '../../rx/long-timer.ts';
import type { Faults } from '../faults/faults.ts';
import { heldBody } from '../faults/held-body.ts';
import type { FailedAnswer, Truncation } from '../faults/standing-faults.ts';
import { type Body, bytesBody } from './body.ts';
import { type Exchange, type RequestRecord, recordOf, targetOf } from './request.ts';
import { answer, type ResponseContext, type SentResponse, textResponse } from './response.ts';

/** The outcome of a request: a response, or a refused connection. */
export type Outcome =
  | { readonly kind: 'answer'; readonly answer: SentResponse }
  | { readonly kind: 'refused' };

export interface DispatchContext extends ResponseContext {
  readonly faults: Faults;
  readonly latencyMs: number;
  onRequest(request: RequestRecord): void;
}

/** The `Retry-After` header, as seconds or as a date. A date is rounded up to a full second. */
function retryAfter(answer: FailedAnswer, nowMs: number): Readonly<Record<string, string>> {
  const { retryAfterSeconds: seconds, retryAfterAs = 'seconds' } = answer;
  if (seconds === undefined) return {};
  const atMs = Math.ceil((nowMs + seconds * 1000) / 1000) * 1000;
  const date = () => new Date(atMs).toUTCString();
  return { 'retry-after': retryAfterAs === 'date' ? date() : String(seconds) };
}

function scripted(answer: FailedAnswer, nowMs: number): SentResponse {
  const { status, reason, message, retryAfterSeconds, body, contentType } = answer;
  const error = failure(
    status,
    reason ?? (status === 429 ? 'TooManyRequests' : undefined),
    message ?? `a scripted answer with status ${status}`,
    retryAfterSeconds === undefined ? undefined : { retryAfterSeconds },
  );
  return textResponse(status, body ?? `${JSON.stringify(error.status)}\n`, contentType, {
    ...retryAfter(answer, nowMs),
    ...answer.headers,
  });
}

/** Reads everything of a body that is available now. */
function drain(body: Body): Uint8Array {
  const chunks: number[] = [];
  for (let chunk = body.read(); chunk; chunk = body.read())
    for (const byte of chunk) chunks.push(byte);
  body.cancel();
  return Uint8Array.from(chunks);
}

function truncated(full: SentResponse, { keepBytes, clean = false }: Truncation): SentResponse {
  const bytes = drain(full.body);
  const keep = Math.min(keepBytes ?? bytes.length >> 1, bytes.length);
  const body = clean ? bytesBody(bytes.subarray(0, keep)) : bytesBody(bytes, keep);
  return { ...full, body };
}

/** Whether a request is for a streaming list, as `watchPlan` decides, and accepts gzip. */
function takesGzip({ query, header }: Exchange): boolean {
  const streams = isTrue(query.get('watch')) && isTrue(query.get('sendInitialEvents'));
  return streams && /(^|,)\s*gzip\s*(,|;|$)/.test(header('accept-encoding') ?? '');
}

/**
 * Handles a request. Calls `done` once, or never if the request is never answered. The returned function cancels a
 * request that has not been answered.
 */
export function dispatch(
  exchange: Exchange,
  context: DispatchContext,
  done: (outcome: Outcome) => void,
): () => void {
  const target = targetOf(exchange.path, context.log);
  const request = recordOf(exchange, target, context.scheduler.now());
  context.onRequest(request);
  const verdict = context.faults.judge(request);
  if (verdict.connection === 'silent') return () => {};
  let waiting: Body | undefined;
  /** Sends the response. A held-back head waits until a piece of the body is ready. */
  const send = (full: SentResponse) => {
    if (verdict.holding === undefined) return done({ kind: 'answer', answer: full });
    const body = heldBody(full.body, verdict.holding);
    const go = () => {
      if (!body.ready) return;
      waiting = undefined;
      body.onReadable = undefined;
      done({ kind: 'answer', answer: { ...full, body } });
    };
    if (verdict.holding.head === false) return done({ kind: 'answer', answer: { ...full, body } });
    waiting = body;
    body.onReadable = go;
    go();
  };
  const finish = () => {
    if (verdict.connection === 'refused') return done({ kind: 'refused' });
    const given =
      verdict.answer === undefined
        ? // The target is looked up again, because it may have changed during the delay.
          answer(exchange, request, targetOf(exchange.path, context.log), context)
        : scripted(verdict.answer, context.scheduler.now());
    const full = verdict.cut === undefined ? given : truncated(given, verdict.cut);
    const gzip = given.status === 200 && takesGzip(exchange) && context.faults.gzips(request);
    send(gzip ? { ...full, gzip } : full);
  };
  const delayMs = verdict.delayMs + context.latencyMs;
  if (delayMs <= 0) {
    finish();
    return () => waiting?.cancel();
  }
  const timer = longTimer(delayMs, context.scheduler).subscribe(finish);
  return () => {
    timer.unsubscribe();
    waiting?.cancel();
  };
}
