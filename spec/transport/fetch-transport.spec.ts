import {
  ApiError,
  createClient,
  createFetchTransport,
  createListWatch,
  createSharedInformer,
  type Demand,
  type Fetch,
  type TransportEvent,
  type TransportRequest,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { Subject } from 'rxjs';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { loadTurns } from '../../lib/transport/page/page-streams.ts';
import { queryString } from '../../lib/transport/query.ts';

beforeAll(async () => {
  await loadTurns();
});

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const GET: TransportRequest = { method: 'GET', path: '/api/v1/pods', use: 'watch' };

/** A `fetch` that the test controls: bodies are pulled, signals obeyed. */
function fakeFetch(status = 200) {
  const calls: { url: string; init: Parameters<Fetch>[1] }[] = [];
  const chunks: string[] = [];
  let answer = () => {};
  let close = () => {};
  let pulled = 0;
  const fetch: Fetch = (url, init) => {
    calls.push({ url, init });
    return new Promise<Response>((resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      answer = () => {
        const body = new ReadableStream<Uint8Array>(
          {
            start(controller) {
              close = () => controller.close();
              init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason));
            },
            pull(controller) {
              const next = chunks.shift();
              if (next === undefined) return;
              pulled++;
              controller.enqueue(new TextEncoder().encode(next));
            },
          },
          { highWaterMark: 0 },
        );
        resolve(new Response(body, { status, headers: { 'retry-after': '3' } }));
      };
    });
  };
  return {
    fetch,
    calls,
    chunks,
    answer: () => answer(),
    close: () => close(),
    get pulled() {
      return pulled;
    },
    get signal() {
      return calls.at(-1)?.init?.signal;
    },
  };
}

function send(fake: { readonly fetch: Fetch }, request: Partial<TransportRequest> = {}) {
  const transport = createFetchTransport({ baseUrl: 'http://host/proxy/', fetch: fake.fetch });
  const received: string[] = [];
  const describeEvent = (event: TransportEvent) => {
    if (event.kind === 'chunk') return new TextDecoder().decode(event.bytes);
    return event.kind === 'head' ? `${event.status} ${event.header('Retry-After')}` : 'queued';
  };
  const subscription = transport.send({ ...GET, ...request }).subscribe({
    next: (event) => received.push(describeEvent(event)),
    error: (error) => received.push(`# ${error.reason}: ${error.message}`),
    complete: () => received.push('|'),
  });
  return { transport, received, subscription };
}

describe('a request through fetch', () => {
  it('T1: a request is not sent before it is subscribed', () => {
    const fake = fakeFetch();
    createFetchTransport({ baseUrl: '', fetch: fake.fetch }).send(GET);
    expect(fake.calls).toEqual([]);
  });

  it('T1: a request has method, URL, headers and body', async () => {
    const fake = fakeFetch();
    const { subscription } = send(fake, {
      method: 'POST',
      query: { b: 'x y', a: 'ß&=' },
      headers: { accept: 'application/json' },
      body: '{}',
    });
    expect(fake.calls[0]?.url).toBe('http://host/proxy/api/v1/pods?b=x+y&a=%C3%9F%26%3D');
    expect(fake.calls[0]?.init).toMatchObject({
      method: 'POST',
      headers: { accept: 'application/json' },
      body: '{}',
    });
    subscription.unsubscribe();
  });

  it('T1: emits the head and the chunks, and completes', async () => {
    const fake = fakeFetch(404);
    const { received } = send(fake);
    fake.chunks.push('a', 'b');
    fake.answer();
    await settle();
    expect(received).toEqual(['404 3', 'a', 'b']);
    fake.close();
    await settle();
    expect(received).toEqual(['404 3', 'a', 'b', '|']);
  });

  it('T1: unsubscribing aborts the request while the head is awaited', async () => {
    const fake = fakeFetch();
    const { received, subscription } = send(fake);
    subscription.unsubscribe();
    await settle();
    expect([fake.signal?.aborted, received]).toEqual([true, []]);
  });

  it('T1: unsubscribing aborts the request in its body', async () => {
    const fake = fakeFetch();
    const { received, subscription } = send(fake);
    fake.chunks.push('a');
    fake.answer();
    await settle();
    subscription.unsubscribe();
    fake.chunks.push('b');
    await settle();
    expect([fake.signal?.aborted, received]).toEqual([true, ['200 3', 'a']]);
  });

  it('T1: emits nothing of a response that arrives after unsubscription', async () => {
    let resolve = (_response: Response) => {};
    const deaf: Fetch = () =>
      new Promise((resolved) => {
        resolve = resolved;
      });
    const { received, subscription } = send({ fetch: deaf });
    subscription.unsubscribe();
    resolve(new Response('late'));
    await settle();
    expect(received).toEqual([]);
  });

  it('T1: a response without a body completes', async () => {
    const { received } = send({
      fetch: () => Promise.resolve(new Response(null, { status: 204 })),
    });
    await settle();
    expect(received).toEqual(['204 null', '|']);
  });
});

describe('a demand', () => {
  it('T1: a closed demand pauses reading until it opens', async () => {
    const fake = fakeFetch();
    const capacity = new Subject<void>();
    let full = false;
    const demand: Demand = () => (full ? capacity : null);
    const { received, subscription } = send(fake, { demand });
    fake.chunks.push('a', 'b', 'c');
    full = true;
    fake.answer();
    await settle();
    expect([received, fake.pulled]).toEqual([['200 3'], 0]);
    capacity.next();
    await settle();
    expect([received, fake.pulled]).toEqual([['200 3', 'a'], 1]);
    full = false;
    capacity.complete();
    await settle();
    expect(received).toEqual(['200 3', 'a', 'b', 'c']);
    subscription.unsubscribe();
  });

  it('T1: a closed demand is unsubscribed when the request ends', async () => {
    const fake = fakeFetch();
    const capacity = new Subject<void>();
    const { received, subscription } = send(fake, { demand: () => capacity });
    fake.chunks.push('a');
    fake.answer();
    await settle();
    expect(capacity.observed).toBe(true);
    subscription.unsubscribe();
    await settle();
    expect([capacity.observed, received, fake.pulled]).toEqual([false, ['200 3'], 0]);
  });
});

describe('an error of the network', () => {
  const failing = (error: unknown) => {
    const { received } = send(
      { fetch: () => Promise.reject(error) },
      { headers: { authorization: 'Bearer hush' } },
    );
    return settle().then(() => received[0]);
  };
  const caused = (message: string, cause: unknown) => new TypeError(message, { cause });

  it.each<[string, unknown, string]>([
    [
      'its code, several causes deep',
      caused('fetch failed', caused('x', Object.assign(new Error('y'), { code: 'ECONNREFUSED' }))),
      'connection refused (ECONNREFUSED). Is the API server running at this address?',
    ],
    [
      'its code, if there is no text for it',
      caused('fetch failed', Object.assign(new Error('y'), { code: 'EXDEV' })),
      'request failed (EXDEV)',
    ],
    ['its message, if it has no code', new TypeError('Failed to fetch'), 'Failed to fetch'],
    ['"no connection", if it has nothing', undefined, 'no connection'],
    [
      'the code of a cause that is not an Error',
      caused('fetch failed', { code: 'ENOTFOUND' }),
      'unknown host (ENOTFOUND). Does DNS know this name?',
    ],
    [
      'the code of the first of several errors',
      caused(
        'fetch failed',
        new AggregateError([Object.assign(new Error(''), { code: 'ECONNREFUSED' })]),
      ),
      'connection refused (ECONNREFUSED). Is the API server running at this address?',
    ],
    ['its message, if the cause is a text', caused('fetch failed', 'offline'), 'offline'],
    ['itself, if it is a text', 'offline', 'offline'],
    [
      '"no connection", if its message is not a text',
      Object.assign(new Error(), { message: { text: 'x' } }),
      'no connection',
    ],
  ])('T50: a network error is described by %s', async (_name, error, message) => {
    expect(await failing(error)).toBe(`# Network: GET http://host/proxy/api/v1/pods: ${message}`);
  });

  it.each([
    ['https://k8s.example', 'https://k8s.example', 'Failed to fetch'],
    ['', 'https://app.example', 'NetworkError when attempting to fetch resource.'],
    ['/k8s', 'https://app.example/k8s', 'Load failed'],
  ])(
    'T51: in a page with the base URL %j, the error says that only the console shows the cause',
    async (baseUrl, at, text) => {
      vi.stubGlobal('location', { origin: 'https://app.example' });
      const fetch: Fetch = () => Promise.reject(new TypeError(text));
      const received: string[] = [];
      createFetchTransport({ baseUrl, fetch })
        .send({ ...GET, query: { token: 'hush' } })
        .subscribe({ error: ({ message }: ApiError) => received.push(message) });
      vi.unstubAllGlobals();
      await settle();
      expect(received).toEqual([
        `GET ${at}/api/v1/pods: no response (${text}). Only the browser's console has the cause: CORS, mixed content, certificate, connection.`,
      ]);
    },
  );

  it('T3: does not quote a header, although the cause does', async () => {
    const received: string[] = [];
    const transport = createFetchTransport({ baseUrl: 'http://127.0.0.1:1' });
    for (const authorization of [
      'Bearer hush\nhush',
      'Bearer hush…',
      'Bearer "hush"\u0000"hush"',
    ]) {
      transport.send({ ...GET, headers: { authorization } }).subscribe({
        error: (error: ApiError) => received.push(`${error.message} ${error.cause} ${error.stack}`),
      });
    }
    await settle();
    expect(received.length).toBe(3);
    expect(received.join()).not.toContain('hush');
    expect(received[0]).toContain('is an invalid header value');
  });

  it.each(['%s is an invalid header value.', "Header 'x-key' has invalid value: '%s'"])(
    'T3: does not quote the value of a header, however the runtime quotes it (%s)',
    async (text) => {
      const received: string[] = [];
      const headers = { authorization: 'Basic aHVzaDp4', 'x-key': 'hush', empty: '' };
      for (const value of ['Basic aHVzaDp4', 'aHVzaDp4', 'hush']) {
        const fetch: Fetch = () => Promise.reject(new TypeError(text.replace('%s', value)));
        createFetchTransport({ baseUrl: 'http://host', fetch })
          .send({ ...GET, headers })
          .subscribe({ error: (error: ApiError) => received.push(error.message) });
      }
      await settle();
      expect(received).toHaveLength(3);
      expect(received.join()).not.toMatch(/aHVzaDp4|hush/);
      expect(received[0]).toContain('invalid');
    },
  );

  it('T3: does not quote a URL, although the cause does', async () => {
    const received: string[] = [];
    const complaining: Fetch = (url) =>
      Promise.reject(new TypeError(`no such URL: http://me:hush@host${url}`));
    for (const fetch of [complaining, globalThis.fetch]) {
      createFetchTransport({ baseUrl: '', fetch })
        .send({ ...GET, query: { token: 'hush' } })
        .subscribe({ error: (error: ApiError) => received.push(error.message) });
    }
    await settle();
    expect(received.length).toBe(2);
    expect(received.join()).not.toContain('hush');
  });

  it('T9: a redirect is an error in a browser, too', async () => {
    const calls: RequestRedirect[] = [];
    const opaque = Object.defineProperty(new Response(null), 'type', { value: 'opaqueredirect' });
    const fetch: Fetch = (_, init) => {
      calls.push(init?.redirect ?? 'follow');
      return Promise.resolve(opaque);
    };
    const { received } = send({ fetch });
    await settle();
    expect([calls, received]).toEqual([
      ['manual'],
      [
        '# Unexpected: GET http://host/proxy/api/v1/pods: redirects are not followed. Give the final address as baseUrl',
      ],
    ]);
  });

  it('T3: has no cause, because a cause may contain the request', async () => {
    let failure: unknown;
    const fetch: Fetch = () => Promise.reject(new Error('x', { cause: { headers: 'hush' } }));
    createFetchTransport({ baseUrl: '', fetch })
      .send(GET)
      .subscribe({
        error: (error) => {
          failure = error;
        },
      });
    await settle();
    expect(failure).toBeInstanceOf(ApiError);
    expect((failure as ApiError).cause).toBeUndefined();
  });

  it('T1: an error in the body arrives after the chunks before it', async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('a'));
        setImmediate(() => controller.error(new TypeError('terminated')));
      },
    });
    const { received } = send({ fetch: () => Promise.resolve(new Response(body)) });
    await settle();
    await settle();
    expect(received).toEqual([
      '200 null',
      'a',
      '# Network: GET http://host/proxy/api/v1/pods: terminated',
    ]);
  });
});

describe('close', () => {
  const stopped = '# Stopped: the client was closed';

  it('T6: requests that wait for their head or read their body error', async () => {
    const fake = fakeFetch();
    const { transport, received } = send(fake);
    fake.chunks.push('a');
    fake.answer();
    await settle();
    const other: unknown[] = [];
    transport.send(GET).subscribe({ error: (error) => other.push(error.reason) });
    await transport.close();
    await settle();
    expect(received).toEqual(['200 3', 'a', stopped]);
    expect(other).toEqual(['Stopped']);
    expect(fake.calls.map(({ init }) => init?.signal?.aborted)).toEqual([true, true]);
  });

  it('T6: a request that waits for its demand errors instead of completing', async () => {
    const fake = fakeFetch();
    const { transport, received } = send(fake, { demand: () => new Subject() });
    fake.answer();
    await settle();
    await transport.close();
    await settle();
    expect(received).toEqual(['200 3', stopped]);
  });

  it('T6: refuses later requests, and may be called twice', async () => {
    const fake = fakeFetch();
    const { transport, subscription } = send(fake);
    subscription.unsubscribe();
    await transport.close();
    await transport.close();
    const errors: unknown[] = [];
    transport.send(GET).subscribe({ error: (error) => errors.push(error.reason) });
    expect([errors, fake.calls.length]).toEqual([['Stopped'], 1]);
  });
});

describe('compression', () => {
  const sent = (use: TransportRequest['use'], headers: Record<string, string>) => {
    const fake = fakeFetch();
    send(fake, { use, headers }).subscription.unsubscribe();
    return fake.calls[0]?.init?.headers;
  };

  it('T19: a watch requests no compression, whatever headers the client sets; lists and calls may be compressed', () => {
    const accept = 'application/json';
    expect(sent('watch', { accept })).toEqual({ accept, 'accept-encoding': 'identity' });
    expect(sent('watch', { 'accept-encoding': 'gzip' })).toEqual({ 'accept-encoding': 'identity' });
    expect(sent('list', { accept })).toEqual({ accept });
    expect(sent('call', { accept })).toEqual({ accept });
  });

  it('T19: a server that compresses streaming lists does not compress ours', async () => {
    const server = createFakeApiServer();
    server.faults.gzipStreamingLists();
    const served = await server.serve();
    const informer = createSharedInformer(
      createListWatch(createClient({ baseUrl: served.url }), pods),
    );
    informer.start();
    await informer.whenSynced();
    expect(server.requests.map(({ query }) => query['sendInitialEvents'])).toEqual(['true']);
    await informer.stop();
    await served.close();
  });

  it.each([
    ['https://app.example', 'https://app.example/k8s', false],
    ['https://app.example', '/k8s', false],
    ['https://app.example', '', false],
    ['https://app.example', 'http://app.example', true],
    ['https://app.example', 'https://app.example:6443', true],
    // A page from a file.
    ['null', 'http://127.0.0.1:8001', true],
    [undefined, 'http://127.0.0.1:8001', false],
  ])('T19: a page of %s that requests %j: hidden %s', (origin, baseUrl, hides) => {
    vi.stubGlobal('location', origin === undefined ? undefined : { origin });
    const { fetch } = fakeFetch();
    expect(createFetchTransport({ baseUrl, fetch }).hidesEncoding).toBe(hides);
    expect(createClient({ baseUrl, fetch }).hidesEncoding).toBe(hides);
    vi.unstubAllGlobals();
  });

  it.each([
    ['basic', {}, false],
    ['default', {}, false],
    ['cors', {}, true],
    ['cors', { 'content-encoding': 'gzip' }, false],
  ])('T19: a response of type %s with the headers %j: hidden %s', async (type, headers, hides) => {
    const answer = Object.defineProperty(new Response('', { headers }), 'type', { value: type });
    const transport = createFetchTransport({ baseUrl: '', fetch: async () => answer });
    expect(transport.hidesEncoding).toBe(false);
    let atHead: boolean | undefined;
    transport.send(GET).subscribe(({ kind }) => {
      if (kind === 'head') atHead = transport.hidesEncoding;
    });
    await settle();
    expect(atHead).toBe(hides);
  });
});

describe('the network of a page', () => {
  const entry = (name: string, nextHopProtocol: string) => ({ name, nextHopProtocol });
  const networkOf = (baseUrl: string, entries: Record<string, readonly object[]>) => {
    vi.stubGlobal('location', { origin: 'https://app.example' });
    // Without Web Locks a list is sent synchronously.
    vi.stubGlobal('navigator', undefined);
    const getEntriesByType = (type: string) => entries[type] ?? [];
    vi.stubGlobal('performance', { now: () => 0, getEntriesByType });
    const fake = fakeFetch();
    const transport = createFetchTransport({ baseUrl, fetch: fake.fetch });
    const client = createClient({ baseUrl, fetch: fake.fetch });
    const first = transport.send(GET).subscribe();
    const { protocol, connectionsLeft: left } = transport;
    expect(client.protocol).toBe(protocol);
    expect(client.connectionsLeft).toBe(left === 5 ? 6 : left);
    first.unsubscribe();
    // A request that has ended uses no connection.
    expect(transport.connectionsLeft).toBe(client.connectionsLeft);
    vi.unstubAllGlobals();
    return [protocol, left];
  };
  const page = (protocol: string) => ({
    navigation: [entry('https://app.example/pods', protocol)],
  });
  const other = (protocol: string) => ({
    resource: [
      entry('https://k8s.example:6443/api/v1/pods', protocol),
      entry('https://k8s.example/x', 'http/1.1'),
    ],
  });

  it.each([
    ['/k8s', {}, undefined, 5],
    ['/k8s', page('http/1.1'), 'http/1.1', 5],
    ['/k8s', page('h2'), 'h2', Number.POSITIVE_INFINITY],
    ['/k8s', page('h3'), 'h3', Number.POSITIVE_INFINITY],
    // A response from a service worker has no protocol.
    ['/k8s', page(''), undefined, 5],
    ['https://k8s.example:6443', page('h2'), undefined, 5],
    ['https://k8s.example:6443', other('h2'), 'h2', Number.POSITIVE_INFINITY],
    // Across origins the browser hides the protocol, unless the server sends Timing-Allow-Origin.
    ['https://k8s.example:6443', other(''), undefined, 5],
    ['http://127.0.0.1:8001', {}, 'http/1.1', 5],
  ])(
    'T21: the base URL %j with %j: protocol %s; one of six connections is used: %s',
    (baseUrl, entries, ...known) => {
      expect(networkOf(baseUrl, entries)).toEqual(known);
    },
  );

  it('T21: outside of pages neither is known, and lists may be compressed', () => {
    const transport = createFetchTransport({ baseUrl: 'https://host' });
    const { protocol, connectionsLeft, mayCompress } = transport;
    expect({ protocol, connectionsLeft, mayCompress }).toEqual({
      protocol: undefined,
      connectionsLeft: undefined,
      mayCompress: true,
    });
    expect(createClient({ baseUrl: 'https://host' }).mayCompress).toBe(true);
  });

  it.each([
    ['https://app.example', 'watch', 'no-store'],
    ['https://app.example', 'list', undefined],
    ['https://app.example', 'call', undefined],
    [undefined, 'watch', undefined],
  ] as const)('T22: in a page of %s a %s has the cache mode %s', (origin, use, cache) => {
    vi.stubGlobal('location', origin === undefined ? undefined : { origin });
    vi.stubGlobal('navigator', undefined);
    const fake = fakeFetch();
    send(fake, { use }).subscription.unsubscribe();
    expect(fake.calls[0]?.init?.cache).toBe(cache);
    vi.unstubAllGlobals();
  });
});

describe('a query string', () => {
  it.each<[Record<string, string> | undefined, string]>([
    [undefined, ''],
    [{}, ''],
    [{ b: '1', a: '2' }, '?b=1&a=2'],
    [{ labelSelector: 'a in (b,c),!d' }, '?labelSelector=a+in+%28b%2Cc%29%2C%21d'],
    [{ continue: 'a+b/c=' }, '?continue=a%2Bb%2Fc%3D'],
  ])('T1: the query string of %j is %j', (query, text) => {
    expect(queryString(query)).toBe(text);
    const back = Object.fromEntries(new URLSearchParams(text));
    expect(back).toEqual(query ?? {});
  });
});
