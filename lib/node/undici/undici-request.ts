/// <reference types="node" />
/**
 * Sends one request through undici's `dispatch`. It uses no stream object. A server sends each object of a streaming list in a
 * chunk of its own, and everything behind costs per chunk, so those that arrive together are joined.
 */
import { type Observable, type Subscriber, Subscription } from 'rxjs';
import type { Dispatcher } from 'undici';
import { ApiError } from '../../meta/api-error.ts';
import { untilOpen } from '../../rx/demand.ts';
import { queryString } from '../../transport/query.ts';
import {
  type HttpProtocol,
  notSent,
  type TransportEvent,
  type TransportRequest,
} from '../../transport/transport.ts';
import { placeOf, type Route } from '../request-failure.ts';
import { type Gunzip, gunzip } from './gunzip.ts';
import { streamEnd } from './http2-stream-end.ts';
import { joined, LARGEST } from './joined-parts.ts';
import { LONGEST_MS } from './pool-options.ts';

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
    headersTimeout: Math.min(target.headersTimeoutMs * (request.patience ?? 1), LONGEST_MS),
    // No limit, because a quiet watch is healthy. The reader judges silence.
    bodyTimeout: 0,
  };
}

type Reading = Pick<Gunzip, 'pause' | 'resume'>;

/** One request and its response. */
class Exchange {
  readonly #target: Target;
  readonly #request: TransportRequest;
  readonly #capacity: ReturnType<typeof untilOpen>;
  readonly #subscriber: Subscriber<TransportEvent>;
  readonly #stream = streamEnd();
  #controller: Dispatcher.DispatchController | undefined;
  #ended = false;
  #queued = false;
  #headed = false;
  /** Set while the demand is closed. */
  #wait: Subscription | undefined;
  /** The parts of the body that have arrived since the last chunk. */
  #parts: Uint8Array[] = [];
  #length = 0;
  /** Set until a turn of the event loop has brought nothing. */
  #turning: NodeJS.Immediate | undefined;
  /** The response has ended while the demand was closed. */
  #hasEnd = false;
  #grace: NodeJS.Timeout | undefined;
  /** Set if the body is compressed. */
  #body: Gunzip | undefined;

  constructor(target: Target, request: TransportRequest, subscriber: Subscriber<TransportEvent>) {
    this.#target = target;
    this.#request = request;
    this.#capacity = untilOpen(request.demand);
    this.#subscriber = subscriber;
  }

  send(dispatcher: Dispatcher): void {
    try {
      dispatcher.dispatch(optionsOf(this.#target, this.#request), this.#handler());
    } catch (error) {
      this.#fail(error);
    }
    if (this.#controller === undefined && !this.#ended) {
      this.#queued = true;
      this.#subscriber.next({ kind: 'queued' });
    }
  }

  abort(): void {
    if (this.#ended) return;
    this.#stop();
    this.#stream.release();
    this.#body?.release();
    if (this.#headed || this.#controller === undefined) this.#reset();
    else this.#grace = setTimeout(() => this.#reset(), HEAD_GRACE_MS).unref();
  }

  /** Returns a plain object, because an interceptor of a given dispatcher may copy its properties. */
  #handler(): Dispatcher.DispatchHandler {
    return {
      onRequestStart: (started) => this.#started(started),
      onResponseStart: (reading, status, headers) => {
        if (status >= 200) this.#head(reading, status, headers);
      },
      onResponseData: (reading, bytes) => {
        if (this.#ended) return;
        if (this.#body === undefined) this.#gather(bytes, reading);
        else if (!this.#body.write(bytes)) reading.pause();
      },
      onResponseEnd: (reading) => {
        // The response has ended, so there is nothing to abort.
        this.#controller = undefined;
        this.#flush(reading);
        this.#responseEnded();
      },
      onResponseError: (reading, error) => {
        this.#headed = true;
        clearTimeout(this.#grace);
        this.#flush(reading);
        this.#fail(error);
      },
    };
  }

  #started(controller: Dispatcher.DispatchController): void {
    // Asked before the controller is known, because an abort would otherwise wait for the head of a response.
    if (!this.#ended && this.#request.maySend?.() === false) this.#fail(notSent(this.#request));
    this.#controller = controller;
    if (this.#queued && !this.#ended) {
      this.#queued = false;
      this.#subscriber.next({ kind: 'sending' });
    }
    // The request was cancelled while it waited for a connection.
    if (this.#ended) controller.abort(new Error('unsubscribed'));
    else this.#stream.begin();
  }

  #head(reading: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.#headed = true;
    if (this.#ended) return this.#reset();
    this.#target.onProtocol(this.#stream.isHttp2 ? 'h2' : 'http/1.1');
    const encoding = (headerOf(headers, 'content-encoding') ?? '').trim().toLowerCase();
    const mayGzip = this.#request.acceptGzip === true;
    const isPlain = encoding === '' || encoding === 'identity';
    // A gateway compresses its errors for clients that did not ask for it, too.
    const isError = status >= 300;
    if (encoding === 'gzip' && (mayGzip || isError)) {
      const body: Gunzip = gunzip({
        next: (bytes) => this.#deliver(bytes, body),
        onDrain: () => reading.resume(),
        complete: () => this.#finish(),
        error: (error) => this.#fail(error),
      });
      this.#body = body;
    } else if (!isPlain && !isError) {
      const allowed = mayGzip ? 'gzip' : 'no compression';
      const what = `the response is compressed with ${encoding}, although the request allowed ${allowed}. Does a proxy compress it?`;
      return this.#failWith('Unexpected', what);
    }
    this.#subscriber.next({ kind: 'head', status, header: (name) => headerOf(headers, name) });
    if (this.#body === undefined && !isPlain && !this.#ended) {
      // The body cannot be read, and the status says enough.
      this.abort();
      return this.#subscriber.complete();
    }
    this.#throttle(this.#body ?? reading);
  }

  #responseEnded(): void {
    if (this.#ended) return;
    if (this.#stream.wasCut) {
      const what = 'the HTTP/2 stream was reset before its end. Did the server or a proxy restart?';
      return this.#failWith('Network', what);
    }
    this.#stream.release();
    if (this.#body !== undefined) this.#body.end();
    else if (this.#wait === undefined) this.#finish();
    else this.#hasEnd = true;
  }

  /** Pauses reading until the demand is open. */
  #throttle(reading: Reading): void {
    if (this.#ended) return;
    let closed: Observable<never> | null;
    try {
      closed = this.#capacity();
    } catch (error) {
      return this.#fail(error);
    }
    if (closed === null) return;
    reading.pause();
    const wait = new Subscription();
    this.#wait = wait;
    wait.add(
      closed.subscribe({
        error: (error) => this.#fail(error),
        complete: () => {
          this.#wait = undefined;
          // A pause between two chunks stops the reading behind the next one, which has waited here.
          this.#flush(reading);
          if (this.#ended || this.#wait !== undefined) return;
          if (this.#hasEnd) this.#finish();
          else reading.resume();
        },
      }),
    );
  }

  /**
   * Joins what one read of an HTTP/1.1 socket brings of a streaming list. Over HTTP/2 Node runs the microtasks behind each frame, so
   * there what one turn of the event loop brings is joined, but the first chunk after an idle turn does not wait. Behind the list
   * chunks are events: together they would be later, and the young objects of one set cost the garbage collector more.
   */
  #gather(bytes: Uint8Array, reading: Reading): void {
    const { isHttp2 } = this.#stream;
    if (this.#wait === undefined && this.#length === 0) {
      const isInList = this.#request.mayYield?.() === false;
      if (!isInList) return this.#deliver(bytes, reading);
      if (isHttp2 && this.#turning === undefined) {
        this.#awaitTurn(reading);
        return this.#deliver(bytes, reading);
      }
    }
    if (this.#length + bytes.length > LARGEST) this.#flush(reading);
    this.#length += bytes.length;
    if (this.#parts.push(bytes) === 1 && !isHttp2) queueMicrotask(() => this.#flush(reading));
  }

  // Begun before the chunk is passed on, so that what the subscriber gathers until the same turn is passed on in it, too.
  #awaitTurn(reading: Reading): void {
    this.#turning = setImmediate(() => {
      this.#turning = undefined;
      if (this.#length === 0 || this.#wait !== undefined) return;
      this.#awaitTurn(reading);
      this.#flush(reading);
    });
  }

  #flush(reading: Reading): void {
    const [parts, length] = [this.#parts, this.#length];
    if (length === 0 || this.#wait !== undefined) return;
    this.#parts = [];
    this.#length = 0;
    joined(parts, length, (bytes) => this.#deliver(bytes, reading));
  }

  #deliver(bytes: Uint8Array, reading: Reading): void {
    if (this.#ended) return;
    this.#subscriber.next({ kind: 'chunk', bytes });
    this.#throttle(reading);
  }

  #stop(): void {
    this.#ended = true;
    this.#wait?.unsubscribe();
    clearImmediate(this.#turning);
  }

  #finish(): void {
    if (this.#ended) return;
    this.#stop();
    this.#body?.release();
    this.#subscriber.complete();
  }

  #fail(error: unknown): void {
    if (this.#ended) return;
    this.abort();
    this.#subscriber.error(error);
  }

  #failWith(reason: 'Unexpected' | 'Network', what: string): void {
    const where = `${this.#request.method} ${placeOf(this.#target, this.#request)}`;
    this.#fail(ApiError.local(reason, `${where}: ${what}`));
  }

  #reset(): void {
    clearTimeout(this.#grace);
    this.#controller?.abort(new Error('unsubscribed'));
  }
}

/**
 * Sends a request and returns a function that aborts it. While the request waits for a connection, it emits `queued`,
 * and `sending` when undici begins it. Errors of undici are passed on as they are.
 */
export function exchange(
  dispatcher: Dispatcher,
  target: Target,
  request: TransportRequest,
  subscriber: Subscriber<TransportEvent>,
): () => void {
  const sent = new Exchange(target, request, subscriber);
  sent.send(dispatcher);
  return () => sent.abort();
}
