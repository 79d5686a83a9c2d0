/** From a request to its answer: routing, and nothing of how the bytes travel. */
import { ApiError } from '../meta/api-error.ts';
import { type Body, bytesBody } from './body.ts';
import { discovery, servesGroupVersion } from './discovery.ts';
import { list } from './list.ts';
import { patch } from './patch.ts';
import { remove, removeAll } from './removals.ts';
import { type Renderer, rendererOf } from './representation.ts';
import type { Exchange, RequestRecord, Target } from './request.ts';
import { failure, methodNotAllowed, noSuchResource } from './status.ts';
import { watchPlan } from './watch.ts';
import { type WatchContext, WatchStream } from './watch-stream.ts';
import { create, existing, update, type WriteAnswer, type WriteContext } from './writes.ts';

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

function read(
  request: RequestRecord,
  target: Target,
  { query }: Exchange,
  renderer: Renderer,
  context: AnswerContext,
): Answer {
  if (target.name !== undefined) return textAnswer(200, renderer.object(existing(target)));
  if (request.use === 'list') {
    const { items, metadata } = list(target, context.log, query, context.pageSizeMax);
    return textAnswer(200, renderer.list(items, metadata));
  }
  const plan = { ...watchPlan(target, context.log, query, context), render: renderer.watch() };
  const stream = new WatchStream(request, plan, { ...context, collection: target.collection });
  context.onOpen(stream);
  return { status: 200, headers: { 'content-type': JSON_TYPE }, body: stream };
}

type Write = (exchange: Exchange, target: Target, context: WriteContext) => WriteAnswer;

/** What a method does to a collection, an object or its status; `undefined` where it is not allowed. */
function writeOf(method: string, { name, subresource }: Target): Write | undefined {
  if (method === 'PUT' || method === 'PATCH') {
    if (name === undefined) return undefined;
    return method === 'PUT' ? update : patch;
  }
  if (subresource !== undefined) return undefined;
  if (method === 'POST') return name === undefined ? create : undefined;
  if (method !== 'DELETE') return undefined;
  return name === undefined ? removeAll : remove;
}

function written({ code, content, headers }: WriteAnswer, renderer: Renderer): Answer {
  const body =
    'object' in content
      ? renderer.object(content.object)
      : 'page' in content
        ? renderer.list(content.page.items, content.page.metadata)
        : `${JSON.stringify(content.json)}\n`;
  return textAnswer(code, body, JSON_TYPE, headers);
}

function route(
  exchange: Exchange,
  request: RequestRecord,
  target: Target,
  context: AnswerContext,
): Answer {
  const { served } = target.collection;
  if (target.subresource !== undefined && !(target.subresource === 'status' && served.status)) {
    throw noSuchResource();
  }
  const renderer = rendererOf(exchange, served, () => context.scheduler.now());
  if (exchange.method === 'GET') return read(request, target, exchange, renderer, context);
  const write = writeOf(exchange.method, target);
  if (write === undefined) throw methodNotAllowed();
  return written(write(exchange, target, context), renderer);
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
