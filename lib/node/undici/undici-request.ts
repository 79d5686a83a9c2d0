/// <reference types="node" />
/**
 * Sends one request through undici's `dispatch`. It uses no stream object: each chunk is emitted in the call in which
 * the socket delivered it.
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

/** The server to which requests are sent, and the settings of its transport. */
export interface Target extends Route {
  /** How long to wait for the head of a response, in milliseconds; 0 means no limit. */
  readonly headersTimeoutMs: number;
  /** Each value is sent in a header line of its own. */
  readonly repeatedHeaders: Readonly<Record<string, readonly string[]>>;
  /** Called with each response head. */
  onProtocol(protocol: HttpProtocol): void;
}

/** The default headers. Names are in lower case, as the port requires. */
const HEADERS = {
  // Decompressing 17 MB costs more than twice as much as reading them uncompressed, except over slow connections.
  'accept-encoding': 'identity',
  'user-agent': 'rx-informer',
};

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

function headerOf(headers: Headers, name: string): string | null {
  const value = headers[name.toLowerCase()];
  return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value;
}

/**
 * How long to wait for the head after an unsubscription, in milliseconds. Over HTTP/2, if a head arrives for a stream
 * that has been reset, Node opens that stream again without a listener. If the connection then breaks, the error of
 * that stream ends the process. The reset is therefore delayed until the head has arrived.
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
    // No limit, because a quiet watch is healthy. The reader judges silence.
    bodyTimeout: 0,
  };
}

/**
 * Sends a request and returns a function that aborts it. While the request waits for a connection, it emits `queued`,
 * and `sending` when undici begins it.
 */
export function exchange(
  dispatcher: Dispatcher,
  target: Target,
  request: TransportRequest,
  subscriber: Subscriber<TransportEvent>,
): () => void {
  let controller: Dispatcher.DispatchController | undefined;
  let ended = false;
  let queued = false;
  let headed = false;
  let wait: Subscription | undefined;
  let grace: NodeJS.Timeout | undefined;
  /** Set if the body is compressed. */
  let body: Gunzip | undefined;
  const end = streamEnd();
  const where = () => `${request.method} ${placeOf(target, request)}`;

  const reset = () => {
    clearTimeout(grace);
    controller?.abort(new Error('unsubscribed'));
  };
  const abort = () => {
    if (ended) return;
    ended = true;
    wait?.unsubscribe();
    end.release();
    body?.release();
    if (headed || controller === undefined) reset();
    else grace = setTimeout(reset, HEAD_GRACE_MS).unref();
  };
  const fail = (error: unknown) => {
    if (ended) return;
    abort();
    subscriber.error(requestFailure(target, request, error));
  };
  /** Pauses reading until the demand is open. */
  const throttle = (reading: Dispatcher.DispatchController) => {
    if (ended) return;
    const closed = request.demand?.() ?? null;
    if (closed === null) return;
    reading.pause();
    wait = closed
      .pipe(take(1))
      .subscribe({ error: fail, complete: () => !ended && reading.resume() });
  };

  const deliver = (bytes: Uint8Array) => {
    if (!ended) subscriber.next({ kind: 'chunk', bytes });
  };
  const finish = () => {
    if (ended) return;
    ended = true;
    wait?.unsubscribe();
    body?.release();
    subscriber.complete();
  };

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (queued && !ended) {
        queued = false;
        subscriber.next({ kind: 'sending' });
      }
      // The request was cancelled while it waited for a connection.
      if (ended) started.abort(new Error('unsubscribed'));
      else end.begin();
    },
    onResponseStart(reading, status, headers) {
      if (status < 200) return;
      headed = true;
      if (ended) {
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
      if (ended) return;
      if (body === undefined) deliver(bytes);
      else body.write(bytes);
      throttle(reading);
    },
    onResponseEnd() {
      if (ended) return;
      if (end.wasCut) {
        const what =
          'the HTTP/2 stream was reset before its end. Did the server or a proxy restart?';
        fail(ApiError.local('Network', `${where()}: ${what}`));
        return;
      }
      end.release();
      // The response has ended, so there is nothing to abort.
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
  if (controller === undefined && !ended) {
    queued = true;
    subscriber.next({ kind: 'queued' });
  }
  return abort;
}
