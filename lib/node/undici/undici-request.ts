/// <reference types="node" />
/**
 * One request through undici's `dispatch`: no stream object in between, a chunk is handed on in the call in
 * which the socket delivered it.
 */
import type { Subscriber, Subscription } from 'rxjs';
import { take } from 'rxjs/operators';
import type { Dispatcher } from 'undici';
import { ApiError } from '../../meta/api-error.ts';
import { queryString } from '../../transport/query.ts';
import type { HttpProtocol, TransportEvent, TransportRequest } from '../../transport/transport.ts';
import { placeOf, type Route, requestFailure } from '../request-failure.ts';
import { type Gunzip, gunzip } from './gunzip.ts';
import { streamEnd } from './http2-stream-end.ts';

/** Where requests go. */
export interface Target extends Route {
  /** How long the head may take; 0 for ever. */
  readonly headersTimeoutMs: number;
  /** Sent as a line for each value. */
  readonly repeatedHeaders: Readonly<Record<string, readonly string[]>>;
  /** Told with each head. */
  onProtocol(protocol: HttpProtocol): void;
}

/** Ours for what the caller left out. Names are in lower case by the port's contract. */
const HEADERS = {
  // Decompressing 17 MB costs more than twice what reading them does; far servers are the exception.
  'accept-encoding': 'identity',
  'user-agent': 'rx-informer',
};

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

function headerOf(headers: Headers, name: string): string | null {
  const value = headers[name.toLowerCase()];
  return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value;
}

/**
 * Over HTTP/2 a head that comes for a stream which has been reset makes Node open that stream anew, as one that
 * nobody listens to: when the connection breaks, its error ends the process. So whoever leaves before the head
 * waits for it, this long at most.
 */
const HEAD_GRACE_MS = 1_000;

function optionsOf(target: Target, request: TransportRequest): Dispatcher.DispatchOptions {
  return {
    origin: target.origin,
    path: `${target.prefix}${request.path}${queryString(request.query)}`,
    method: request.method,
    headers: {
      ...HEADERS,
      ...(request.acceptGzip ? { 'accept-encoding': 'gzip' } : {}),
      ...request.headers,
      ...target.repeatedHeaders,
    },
    body: request.body ?? null,
    headersTimeout: target.headersTimeoutMs,
    // A quiet watch is healthy: silence is judged by whoever reads it.
    bodyTimeout: 0,
  };
}

/**
 * Sends; the function that comes back ends it. Until undici begins the request waits for a connection, and says so:
 * `queued`, and `sending` then.
 */
export function exchange(
  dispatcher: Dispatcher,
  target: Target,
  request: TransportRequest,
  subscriber: Subscriber<TransportEvent>,
): () => void {
  let controller: Dispatcher.DispatchController | undefined;
  let over = false;
  let queued = false;
  let headed = false;
  let wait: Subscription | undefined;
  let grace: NodeJS.Timeout | undefined;
  /** Of a body that comes compressed. */
  let body: Gunzip | undefined;
  const end = streamEnd();
  const where = () => `${request.method} ${placeOf(target, request)}`;

  const reset = () => {
    clearTimeout(grace);
    controller?.abort(new Error('unsubscribed'));
  };
  const abort = () => {
    if (over) return;
    over = true;
    wait?.unsubscribe();
    end.release();
    body?.release();
    if (headed || controller === undefined) reset();
    else grace = setTimeout(reset, HEAD_GRACE_MS).unref();
  };
  const fail = (error: unknown) => {
    if (over) return;
    abort();
    subscriber.error(requestFailure(target, request, error));
  };
  /** Asks before the next read. */
  const throttle = (reading: Dispatcher.DispatchController) => {
    if (over) return;
    const room = request.demand?.() ?? null;
    if (room === null) return;
    reading.pause();
    wait = room.pipe(take(1)).subscribe({ error: fail, complete: () => !over && reading.resume() });
  };

  const deliver = (bytes: Uint8Array) => {
    if (!over) subscriber.next({ kind: 'chunk', bytes });
  };
  const finish = () => {
    if (over) return;
    over = true;
    wait?.unsubscribe();
    body?.release();
    subscriber.complete();
  };

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (queued && !over) {
        queued = false;
        subscriber.next({ kind: 'sending' });
      }
      // Unsubscribed while it waited for a connection.
      if (over) started.abort(new Error('unsubscribed'));
      else end.begin();
    },
    onResponseStart(reading, status, headers) {
      if (status < 200) return;
      headed = true;
      if (over) {
        reset();
        return;
      }
      target.onProtocol(end.isHttp2 ? 'h2' : 'http/1.1');
      const encoding = headerOf(headers, 'content-encoding') ?? 'identity';
      if (encoding === 'gzip' && request.acceptGzip === true) {
        body = gunzip({ next: deliver, complete: finish, error: fail });
      } else if (encoding !== 'identity') {
        const asked = request.acceptGzip === true ? 'gzip' : 'no compression';
        const what = `the response is compressed with ${encoding}, although the request allowed ${asked}. Does a proxy compress it?`;
        fail(ApiError.local('Unexpected', `${where()}: ${what}`));
        return;
      }
      subscriber.next({ kind: 'head', status, header: (name) => headerOf(headers, name) });
      throttle(reading);
    },
    onResponseData(reading, bytes) {
      if (over) return;
      if (body === undefined) deliver(bytes);
      else body.write(bytes);
      throttle(reading);
    },
    onResponseEnd() {
      if (over) return;
      if (end.wasCut) {
        const what =
          'the HTTP/2 stream was reset before its end. Did the server or a proxy restart?';
        fail(ApiError.local('Network', `${where()}: ${what}`));
        return;
      }
      end.release();
      // It has ended: from here on there is nothing to abort.
      controller = undefined;
      if (body === undefined) finish();
      else body.end();
    },
    onResponseError(_, error) {
      headed = true;
      clearTimeout(grace);
      fail(error);
    },
  };
  try {
    dispatcher.dispatch(optionsOf(target, request), handler);
  } catch (error) {
    fail(error);
  }
  if (controller === undefined && !over) {
    queued = true;
    subscriber.next({ kind: 'queued' });
  }
  return abort;
}
