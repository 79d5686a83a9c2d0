/** Routes a request and creates its response. The transport of the bytes is not handled here. */
import { utf8 } from '../../decode/utf8.ts';
import { ApiError } from '../../meta/api-error.ts';
import { failure } from '../../object-log/failures.ts';
import { list } from '../../object-log/list.ts';
import { watchPlan } from '../../object-log/watch-plan.ts';
import { patch } from '../patch/patch.ts';
import type { PodLogs } from '../pod-log.ts';
import { isPods, type ServedResource } from '../served-resource.ts';
import { evict, remove, removeAll } from '../writes/removals.ts';
import { patchScale, putScale, readScale } from '../writes/scale.ts';
import { create, existing, update, type WriteContext, type WriteResult } from '../writes/writes.ts';
import { checkAccess, verbOf } from './access.ts';
import { review } from './access-review.ts';
import { type Body, bytesBody } from './body.ts';
import { discovery, servesGroupVersion } from './discovery.ts';
import { type Renderer, rendererOf } from './representation.ts';
import { type Exchange, isMalformed, type RequestRecord, type Target } from './request.ts';
import { methodNotAllowed, noSuchResource, tooLarge } from './status.ts';
import type { FakeUsers } from './users.ts';
import { type WatchContext, WatchStream } from './watch-stream.ts';

/** A response. */
export interface SentResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
  /** Over a socket, each piece of the body is sent as a gzip member. */
  readonly gzip?: boolean;
}

/** The dependencies of a response. */
export interface ResponseContext extends Omit<WriteContext, 'user'>, WatchContext {
  readonly users: FakeUsers;
  readonly watchList: boolean;
  readonly shardedListAndWatch: boolean;
  readonly pageSizeMax: number;
  readonly random: () => number;
  readonly logs: PodLogs;
  onOpen(stream: WatchStream): void;
}

const JSON_TYPE = 'application/json';
const PLAIN = 'text/plain; charset=utf-8';
const NO_CACHE = { 'cache-control': 'no-cache, private' };

/** A response with a complete body. */
export function textResponse(
  status: number,
  body: string,
  contentType: string = JSON_TYPE,
  headers: Readonly<Record<string, string>> = {},
): SentResponse {
  return {
    status,
    headers: { ...NO_CACHE, 'content-type': contentType, ...headers },
    body: bytesBody(utf8(body)),
  };
}

/** The response to a failed request. */
export function failureResponse(error: ApiError): SentResponse {
  const seconds = error.status?.details?.retryAfterSeconds;
  const headers = seconds === undefined ? {} : { 'retry-after': String(seconds) };
  return textResponse(error.code, `${JSON.stringify(error.status)}\n`, JSON_TYPE, headers);
}

function read(
  request: RequestRecord,
  target: Target,
  exchange: Exchange,
  renderer: Renderer,
  context: ResponseContext,
): SentResponse {
  const query = new URLSearchParams(exchange.query);
  // A server without the feature gate ignores the selector, whatever it says.
  if (!context.shardedListAndWatch) query.delete('shardSelector');
  if (target.name !== undefined) return textResponse(200, renderer.object(existing(target)));
  if (request.use === 'list') {
    const { items, metadata } = list(target, query, context.pageSizeMax);
    // Only a list of complete objects says that it was filtered.
    const { shardInfo: _, ...others } = metadata;
    return textResponse(200, renderer.list(items, renderer.as === 'Object' ? metadata : others));
  }
  const plan = watchPlan(target, query, context);
  const stream = new WatchStream(request, target.collection, plan, renderer.watch(), context);
  context.onOpen(stream);
  return { status: 200, headers: { ...NO_CACHE, 'content-type': JSON_TYPE }, body: stream };
}

/** The limit of a body of a real server, in bytes. */
const MOST_BODY = 3_145_728;

type Write = (exchange: Exchange, target: Target, context: WriteContext) => WriteResult;

/** The handler of a method on a collection or an object, or `undefined` if the method is not allowed. */
function writeOf(method: string, { name }: Target): Write | undefined {
  switch (method) {
    case 'POST':
      return name === undefined ? create : undefined;
    case 'PUT':
      return name === undefined ? undefined : update;
    case 'PATCH':
      return name === undefined ? undefined : patch;
    case 'DELETE':
      return name === undefined ? removeAll : remove;
  }
  return undefined;
}

const SUBRESOURCES: Readonly<Record<string, Readonly<Record<string, Write>>>> = {
  status: { PUT: update, PATCH: patch },
  scale: {
    GET: (_, target) => ({ code: 200, content: { json: readScale(target) } }),
    PUT: putScale,
    PATCH: patchScale,
  },
  eviction: { POST: evict },
  log: {},
};

function has(subresource: string, served: ServedResource): boolean {
  if (subresource === 'status') return served.status;
  if (subresource === 'scale') return served.scale;
  return isPods(served) && (subresource === 'eviction' || subresource === 'log');
}

function written({ code, content, headers }: WriteResult, renderer: Renderer): SentResponse {
  const body =
    'object' in content
      ? renderer.object(content.object)
      : 'page' in content
        ? renderer.list(content.page.items, content.page.metadata)
        : `${JSON.stringify(content.json)}\n`;
  return textResponse(code, body, JSON_TYPE, headers);
}

function route(
  exchange: Exchange,
  request: RequestRecord,
  target: Target,
  context: ResponseContext & WriteContext,
): SentResponse {
  const { method, query } = exchange;
  const { subresource, collection } = target;
  const { served } = collection;
  if (subresource !== undefined && !has(subresource, served)) throw noSuchResource();
  if (subresource === 'log' && method === 'GET') {
    const headers = { 'content-type': 'text/plain' };
    return { status: 200, headers, body: context.logs.read(target, query) };
  }
  const renderer = rendererOf(exchange, served, () => context.scheduler.now());
  const readable = subresource === undefined || subresource === 'status';
  if (method === 'GET' && readable) return read(request, target, exchange, renderer, context);
  const write =
    subresource === undefined ? writeOf(method, target) : SUBRESOURCES[subresource]?.[method];
  if (write === undefined) throw methodNotAllowed();
  if (utf8(exchange.body).length > MOST_BODY) throw tooLarge(MOST_BODY);
  return written(write(exchange, target, context), renderer);
}

/** Returns the response to a request. A failure becomes an error response. */
export function answer(
  exchange: Exchange,
  request: RequestRecord,
  target: Target | undefined,
  context: ResponseContext,
): SentResponse {
  if (isMalformed(exchange.path)) return textResponse(400, '400 Bad Request', PLAIN);
  try {
    const user = context.users.of(exchange);
    const reviewed = review(context, exchange, user);
    if (reviewed !== undefined) return textResponse(201, `${JSON.stringify(reviewed)}\n`);
    if (target !== undefined) {
      const own = { ...context, user };
      checkAccess(own, exchange, verbOf(exchange, request, target), target);
      return route(exchange, request, target, own);
    }
    const found = discovery(context.log, exchange.path);
    if (typeof found === 'string') return textResponse(200, found, PLAIN);
    if (found !== undefined) return textResponse(200, `${JSON.stringify(found)}\n`);
    if (servesGroupVersion(context.log, exchange.path)) throw noSuchResource();
    return textResponse(404, '404 page not found\n', PLAIN);
  } catch (error) {
    if (error instanceof ApiError) return failureResponse(error);
    return failureResponse(failure(500, 'InternalError', String(error)));
  }
}
