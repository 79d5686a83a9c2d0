/**
 * The isomorphic adapter: any WHATWG `fetch` as a {@link Transport}. Promises end here; downstream of it
 * everything is an Observable.
 */
import { firstValueFrom, fromEvent, Observable, type Subscriber } from 'rxjs';
import { takeUntil } from 'rxjs/operators';
import { ApiError } from '../meta/api-error.ts';
import { checkBaseUrl, checkPath } from './address.ts';
import { networkError, PAGE_CAUSES } from './network-error.ts';
import { pageNetwork } from './page-network.ts';
import { queryString } from './query.ts';
import type { Transport, TransportEvent, TransportRequest } from './transport.ts';

/** What a {@link Fetch} is called with: a part of every WHATWG `RequestInit`. */
export interface FetchInit {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  signal?: AbortSignal;
  redirect?: 'manual';
  cache?: 'no-store';
}

/** What a {@link Fetch} resolves to: the part of a WHATWG `Response` that is read. */
export interface FetchResponse {
  readonly status: number;
  /** `cors` and `opaqueredirect` mean what they mean in a page. */
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
 * The part of `fetch` that is used. The `fetch` of browsers, of Node and of undici are assignable. No name of the DOM
 * stands in it, so that programs compile without `lib: ["dom"]`.
 */
export type Fetch = (input: string, init?: FetchInit) => Promise<FetchResponse>;

async function readBody(
  response: FetchResponse,
  request: TransportRequest,
  next: (bytes: Uint8Array) => void,
  signal: AbortSignal,
): Promise<void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  for (;;) {
    const wait = request.demand?.() ?? null;
    if (wait !== null) {
      const room = wait.pipe(takeUntil(fromEvent(signal, 'abort')));
      await firstValueFrom(room, { defaultValue: undefined });
    }
    if (signal.aborted) return;
    const read = await reader.read();
    if (signal.aborted || read.done) return;
    next(read.value);
  }
}

/**
 * Sends requests through `fetch`. Unsubscribing aborts; one read of the body is one chunk, and the next read
 * waits for the request's demand. Redirects are not followed: they would take the headers along. A queue within
 * `fetch`, such as a browser's for its six connections a host, cannot be seen: its time is the server's. Throws a
 * `TypeError` on a base URL that is none, and so does a request on a path that could lead to another host.
 *
 * A watch asks for no compression, of which browsers take no notice: they ask for gzip, and read the first of several
 * gzip members only. Across origins CORS keeps the header that tells from a page: `hidesEncoding` says so. In a page a
 * watch passes the HTTP cache by: there the second tab that watches the same URL would wait for the first.
 *
 * @param options - `fetch` defaults to the global one.
 */
export function createFetchTransport(options: {
  readonly baseUrl: string;
  readonly fetch?: Fetch;
}): Transport {
  checkBaseUrl('createFetchTransport', options.baseUrl);
  const base = options.baseUrl.replace(/\/+$/, '');
  const send: Fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const open = new Set<Subscriber<TransportEvent>>();
  let closed = false;
  const page = pageNetwork(base);
  const causes = page === undefined ? undefined : PAGE_CAUSES;
  const shownBase = page === undefined || URL.canParse(base) ? base : page.origin + base;
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
        const fail = (error: unknown) =>
          subscriber.error(networkError(request, error, shownBase + request.path, causes));
        const run = async () => {
          const response = await send(`${base}${request.path}${queryString(request.query)}`, {
            method: request.method,
            signal: abort.signal,
            // Followed, it would take the headers, tokens among them, wherever the answer says.
            redirect: 'manual',
            ...(page !== undefined && request.use === 'watch' ? { cache: 'no-store' } : {}),
            headers: {
              ...request.headers,
              ...(request.use === 'watch' ? { 'accept-encoding': 'identity' } : {}),
            },
            ...(request.body === undefined
              ? {}
              : { body: request.body as string | Uint8Array<ArrayBuffer> }),
          });
          if (abort.signal.aborted) return;
          const { headers } = response;
          if (response.type === 'opaqueredirect') {
            const where = `${request.method} ${shownBase}${request.path}`;
            throw ApiError.local(
              'Unexpected',
              `${where}: redirects are not followed. Give the final address as baseUrl`,
            );
          }
          // Also where `fetch` was given, or the page's base, and leads elsewhere.
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
