/** From a request to its answer: routing, and nothing of how the bytes travel. */
import { ApiError } from '../meta/api-error.ts';
import { type Body, bytesBody } from './body.ts';
import { discovery, servesGroupVersion } from './discovery.ts';
import { list } from './list.ts';
import { patch } from './patch.ts';
import { remove, removeAll } from './removals.ts';
import type { Exchange, RequestRecord, Target } from './request.ts';
import { failure, methodNotAllowed, noSuchResource } from './status.ts';
import { objectText } from './stored-object.ts';
import { watchPlan } from './watch.ts';
import { type WatchContext, WatchStream } from './watch-stream.ts';
import { create, existing, update, type WriteContext } from './writes.ts';

/** An answer on its way. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

/** What answers are made from. */
export interface AnswerContext extends WriteContext, Omit<WatchContext, 'collection'> {
  readonly watchList: boolean;
  readonly pageSizeMax: number;
  readonly random: () => number;
  onOpen(stream: WatchStream): void;
}

const JSON_TYPE = 'application/json';
const encoder = new TextEncoder();

/** An answer whose body is there. */
export function textAnswer(
  status: number,
  body: string,
  contentType: string = JSON_TYPE,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return {
    status,
    headers: { 'content-type': contentType, 'cache-control': 'no-cache, private', ...headers },
    body: bytesBody(encoder.encode(body)),
  };
}

/** The answer to a failure. */
export function failureAnswer(error: ApiError): Answer {
  const seconds = error.status?.details?.retryAfterSeconds;
  const headers = seconds === undefined ? {} : { 'retry-after': String(seconds) };
  return textAnswer(error.code, `${JSON.stringify(error.status)}\n`, JSON_TYPE, headers);
}

/** Tables and metadata-only objects are other representations, which this server does not have. */
function accepts(header: string | null): boolean {
  if (header === null || header === '') return true;
  return header.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const plain = !parameters.some((parameter) => parameter.startsWith('as='));
    return plain && ['*/*', 'application/*', JSON_TYPE].includes(type);
  });
}

function read(
  exchange: Exchange,
  request: RequestRecord,
  target: Target,
  context: AnswerContext,
): Answer {
  const { query, header } = exchange;
  if (!accepts(header('accept'))) {
    const message = `only the following media types are accepted: ${JSON_TYPE}`;
    throw failure(406, 'NotAcceptable', message, {});
  }
  if (target.name !== undefined) return textAnswer(200, objectText(existing(target)));
  if (request.use === 'list') {
    return textAnswer(200, list(target, context.log, query, context.pageSizeMax));
  }
  const plan = watchPlan(target, context.log, query, context);
  const stream = new WatchStream(request, plan, { ...context, collection: target.collection });
  context.onOpen(stream);
  return { status: 200, headers: { 'content-type': JSON_TYPE }, body: stream };
}

function route(
  exchange: Exchange,
  request: RequestRecord,
  target: Target,
  context: AnswerContext,
): Answer {
  const { name, subresource, collection } = target;
  const status = subresource === 'status' && collection.served.status;
  if (subresource !== undefined && !status) throw noSuchResource();
  switch (exchange.method) {
    case 'GET':
      return read(exchange, request, target, context);
    case 'POST':
    case 'PUT':
    case 'PATCH':
    case 'DELETE': {
      const { method } = exchange;
      const one = method === 'PUT' || method === 'PATCH';
      if (method === 'POST' ? name !== undefined : one && name === undefined) {
        throw methodNotAllowed();
      }
      if (status && !one) throw methodNotAllowed();
      const del = name === undefined ? removeAll : remove;
      const { code, body, headers } = { POST: create, PUT: update, PATCH: patch, DELETE: del }[
        method
      ](exchange, target, context);
      return textAnswer(code, body, JSON_TYPE, headers);
    }
    default:
      throw methodNotAllowed();
  }
}

/** Answers a request; failures are answers too. */
export function answer(
  exchange: Exchange,
  request: RequestRecord,
  target: Target | undefined,
  context: AnswerContext,
): Answer {
  try {
    if (target !== undefined) return route(exchange, request, target, context);
    const found = discovery(context.log, exchange.path);
    if (typeof found === 'string') return textAnswer(200, found, 'text/plain; charset=utf-8');
    if (found !== undefined) return textAnswer(200, `${JSON.stringify(found)}\n`);
    if (servesGroupVersion(context.log, exchange.path)) throw noSuchResource();
    return textAnswer(404, '404 page not found\n', 'text/plain; charset=utf-8');
  } catch (error) {
    if (error instanceof ApiError) return failureAnswer(error);
    return failureAnswer(failure(500, 'InternalError', String(error)));
  }
}
