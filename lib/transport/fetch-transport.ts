/**
 * Adapts any WHATWG `fetch` as a {@link Transport}, in browsers and in Node. This is the last place with promises;
 * everything downstream is an Observable.
 */
import { asyncScheduler, firstValueFrom, fromEvent, Observable, type Subscriber } from 'rxjs';
import { takeUntil } from 'rxjs/operators';
import { checkedTimeout } from '../checks/checked-option.ts';
import { ApiError } from '../meta/api-error.ts';
import { untilOpen } from '../rx/demand.ts';
import { longTimer } from '../rx/long-timer.ts';
import { checkBaseUrl, checkPath, parsedUrl } from './address.ts';
import { LOST, networkError, PAGE_CAUSES, PAGE_LOST } from './network-error.ts';
import { inPage, pageStreams } from './page/in-page.ts';
import type { StreamOptions } from './page/stream-options.ts';
import { type PageNetwork, pageNetwork } from './page-network.ts';
import { queryString } from './query.ts';
import { REDIRECTED } from './response.ts';
import type { Transport, TransportEvent, TransportRequest } from './transport.ts';

/** The second argument of a {@link Fetch}: the part of a WHATWG `RequestInit` that is used. */
export interface FetchInit {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  signal?: AbortSignal;
  redirect?: 'manual';
  cache?: 'no-store';
}

/** The result of a {@link Fetch}: the part of a WHATWG `Response` that is used. */
export interface FetchResponse {
  readonly status: number;
  /** The response type. `cors` and `opaqueredirect` have the same meaning as in a page. */
  readonly type: string;
  readonly headers: { get(name: string): string | null };
  readonly body: {
    getReader(): {
      read(): Promise<
        { readonly done: false; readonly value: Uint8Array } | { readonly done: true }
      >;
    };
  } | null;
}

/**
 * The part of `fetch` that is used. The `fetch` of browsers, Node and undici are assignable. The type uses no DOM
 * type, so that programs compile without `lib: ["dom"]`.
 */
export type Fetch = (input: string, init?: FetchInit) => Promise<FetchResponse>;

/** The options of {@link createFetchTransport} besides the base URL. */
export interface FetchTransportOptions extends StreamOptions {
  /** @defaultValue the global `fetch` */
  readonly fetch?: Fetch | undefined;
  /**
   * How long a call waits for the head of its response, in milliseconds. Infinity means no limit. @defaultValue 30000
   */
  readonly headersTimeoutMs?: number | undefined;
}

async function readBody(
  response: FetchResponse,
  request: TransportRequest,
  next: (bytes: Uint8Array) => void,
  signal: AbortSignal,
): Promise<void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const capacity = untilOpen(request.demand);
  for (;;) {
    const wait = capacity();
    if (wait !== null) {
      const reopened = wait.pipe(takeUntil(fromEvent(signal, 'abort')));
      await firstValueFrom(reopened, { defaultValue: undefined });
    }
    if (signal.aborted) return;
    const read = await reader.read();
    if (signal.aborted || read.done) return;
    next(read.value);
  }
}

function initOf(
  { method, headers, body, use }: TransportRequest,
  signal: AbortSignal,
  page: PageNetwork | undefined,
): FetchInit {
  const isWatch = use === 'watch';
  return {
    method,
    signal,
    // A redirect that is followed would send the headers, including tokens, to its target.
    redirect: 'manual',
    ...(page && isWatch ? { cache: 'no-store' } : {}),
    headers: isWatch ? { ...headers, 'accept-encoding': 'identity' } : { ...headers },
    ...(body === undefined ? {} : { body: body as string | Uint8Array<ArrayBuffer> }),
  };
}

/** Sends each request immediately. */
function directTransport(
  base: string,
  page: PageNetwork | undefined,
  options: FetchTransportOptions,
): Transport {
  const { scheduler = asyncScheduler, headersTimeoutMs = 30_000 } = options;
  const limitMs = checkedTimeout(headersTimeoutMs, 'createClient: headersTimeoutMs');
  const send: Fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const open = new Set<Subscriber<TransportEvent>>();
  let closed = false;
  const causes = page === undefined ? undefined : PAGE_CAUSES;
  const shownBase = page === undefined || parsedUrl(base) ? base : page.origin + base;
  let hidesEncoding = page?.isElsewhere ?? false;
  const stopped = () => ApiError.local('Stopped', 'the client was closed');
  return {
    get hidesEncoding() {
      return hidesEncoding;
    },
    mayCompress: true,
    get protocol() {
      return page?.protocol;
    },
    get connectionsLeft() {
      return page?.connectionsLeft(open.size);
    },
    send: (request) =>
      new Observable<TransportEvent>((subscriber) => {
        if (closed) {
          subscriber.error(stopped());
          return undefined;
        }
        checkPath(request);
        const abort = new AbortController();
        open.add(subscriber);
        let texts = causes;
        const fail = (error: unknown) =>
          subscriber.error(networkError(request, error, shownBase + request.path, texts));
        const late = () => {
          texts = undefined;
          fail({ code: 'HEADERS_TIMEOUT' });
        };
        // The reader of a list or a watch has a limit of its own.
        const wait =
          request.use === 'call' ? longTimer(limitMs, scheduler).subscribe(late) : undefined;
        const run = async () => {
          const url = `${base}${request.path}${queryString(request.query)}`;
          const response = await send(url, initOf(request, abort.signal, page));
          if (abort.signal.aborted) return;
          wait?.unsubscribe();
          texts = page === undefined ? LOST : PAGE_LOST;
          const { headers } = response;
          if (response.type === 'opaqueredirect') {
            const where = `${request.method} ${shownBase}${request.path}`;
            throw ApiError.local('Unexpected', `${where}: ${REDIRECTED}`);
          }
          // Covers a custom `fetch`, or a base URL of the page's origin, that leads to another origin.
          hidesEncoding ||= response.type === 'cors' && headers.get('content-encoding') === null;
          subscriber.next({
            kind: 'head',
            status: response.status,
            header: (name) => headers.get(name),
          });
          const deliver = (bytes: Uint8Array) => subscriber.next({ kind: 'chunk', bytes });
          await readBody(response, request, deliver, abort.signal);
          subscriber.complete();
        };
        run().catch(fail);
        return () => {
          open.delete(subscriber);
          wait?.unsubscribe();
          abort.abort();
        };
      }),
    async close() {
      closed = true;
      for (const subscriber of [...open]) subscriber.error(stopped());
      open.clear();
    },
  };
}

/**
 * Sends requests through `fetch`. Unsubscribing aborts the request. Each read of the body is one chunk, and the next
 * read waits for the request's demand. Redirects are not followed, because the headers would go to the target. A
 * queue inside `fetch`, such as a browser's queue for its six connections per host, is invisible, so its time counts
 * as the server's. Therefore lists and watches in a page take turns. Throws a `TypeError` on an invalid base URL or
 * option, and a request errors with a `TypeError` if its path could lead to another host.
 *
 * A watch requests no compression. Browsers ignore this: they request gzip, and read only the first of several gzip
 * members. Across origins, CORS hides the header that would reveal a compression; `hidesEncoding` reports this. In a
 * page a watch bypasses the HTTP cache, because otherwise a second tab that watches the same URL would wait for the
 * first.
 */
export function createFetchTransport(
  options: FetchTransportOptions & { readonly baseUrl: string },
): Transport {
  checkBaseUrl('createFetchTransport: baseUrl', options.baseUrl);
  const base = options.baseUrl.replace(/(?<!\/)\/+$/, '');
  const page = pageNetwork(base);
  const streams = pageStreams(options, page);
  const transport = directTransport(base, page, options);
  return streams === undefined ? transport : inPage(transport, streams);
}
