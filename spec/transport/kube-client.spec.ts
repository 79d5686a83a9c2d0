import {
  ApiError,
  createClient,
  type KubeClientOptions,
  type Transport,
  type TransportEvent,
  type TransportRequest,
} from 'rx-informer';
import { createFakeApiServer } from 'rx-informer/testing';
import { concat, NEVER, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { failureOf } from '../support/errors.ts';

interface Canned {
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

/** A client whose server sends these responses in order, and then repeats the last one. */
function answering(answers: readonly Canned[], options: Partial<KubeClientOptions> = {}) {
  const time = new VirtualTime();
  const sent: (TransportRequest & { readonly atMs: number })[] = [];
  const transport: Transport = {
    send: (request) => {
      sent.push({ ...request, atMs: time.now() });
      const found = answers[Math.min(sent.length, answers.length) - 1];
      if (found === undefined) return NEVER;
      const { status = 200, body = '', headers = {} } = found;
      const head: TransportEvent = {
        kind: 'head',
        status,
        header: (name) => headers[name.toLowerCase()] ?? null,
      };
      return of<TransportEvent[]>(head, { kind: 'chunk', bytes: new TextEncoder().encode(body) });
    },
    close: () => Promise.resolve(),
  };
  const client = createClient({ baseUrl: '', transport, scheduler: time, ...options });
  return { time, sent, client };
}

const json = { 'content-type': 'application/json; charset=utf-8' };
const path = '/api/v1/pods';

describe('a call', () => {
  it('T1: a call resolves with JSON, text or nothing', async () => {
    const ask = (body: string, headers = {}) =>
      answering([{ body, headers }]).client.request({ path });
    expect(await ask('{"a":1}', json)).toEqual({ a: 1 });
    expect(await ask('ok', { 'content-type': 'text/plain' })).toBe('ok');
    expect(await ask('{"a":1}')).toBe('{"a":1}');
    expect(await ask('', json)).toBeUndefined();
  });

  it('T1: a call sends objects as JSON and text as it is, with its own headers and those of the client', async () => {
    const { sent, client } = answering([{}], {
      headers: { Authorization: 'Bearer t', Accept: 'x' },
    });
    await client.request({ method: 'POST', path, body: { a: 1 }, query: { dryRun: 'All' } });
    await client.request({ method: 'PATCH', path, body: 'raw', headers: { 'Content-Type': 'y' } });
    expect(sent).toMatchObject([
      {
        body: '{"a":1}',
        query: { dryRun: 'All' },
        use: 'call',
        headers: { authorization: 'Bearer t', accept: 'x', 'content-type': 'application/json' },
      },
      { body: 'raw', headers: { authorization: 'Bearer t', accept: 'x', 'content-type': 'y' } },
    ]);
  });

  it('T1: a character may be split between two chunks', async () => {
    const bytes = new TextEncoder().encode('"€"');
    const transport: Transport = {
      send: () =>
        of<TransportEvent[]>(
          { kind: 'head', status: 200, header: () => 'application/json' },
          { kind: 'chunk', bytes: bytes.subarray(0, 2) },
          { kind: 'chunk', bytes: bytes.subarray(2) },
        ),
      close: () => Promise.resolve(),
    };
    expect(await createClient({ baseUrl: '', transport }).request({ path })).toBe('€');
  });

  it('T3: the error of a failed call names method and path, but no header, body or query', async () => {
    const body = '{"kind":"Status","reason":"NotFound","message":"no such pod","code":404}';
    const { client } = answering([{ status: 404, body, headers: json }], {
      headers: { authorization: 'Bearer hush' },
    });
    const request = { method: 'PUT', path, body: { data: 'hush' }, query: { token: 'hush' } };
    const error = await failureOf(client.request(request));
    expect(error).toMatchObject({ code: 404, reason: 'NotFound' });
    expect(error?.message).toBe('PUT /api/v1/pods: no such pod');
    expect(JSON.stringify([error, error?.stack])).not.toContain('hush');
  });

  it('T3: an invalid JSON response is not quoted', async () => {
    const { client } = answering([{ body: '{"password":hush}', headers: json }]);
    const error = await failureOf(client.request({ path }));
    expect(error?.message).toBe(
      'GET /api/v1/pods: the response is not the JSON that it claims to be (17 characters)',
    );
    expect([error?.reason, error?.cause]).toEqual(['Malformed', undefined]);
  });

  it.each([
    ['{"data":{"password":"hush', 'application/json'],
    ['hush"}}', 'text/plain'],
    ['hush', 'text/html'],
    ['[hush', 'text/plain; charset=utf-8'],
  ])('T3, T9: an error response without a Status is not quoted (%s as %s)', async (body, type) => {
    const { client } = answering([{ status: 500, body, headers: { 'content-type': type } }]);
    const error = await failureOf(client.request({ path }));
    expect(error?.message).toBe(
      'GET /api/v1/pods: the server answered 500, without a Status. Is this an API server, or a proxy?',
    );
    expect(JSON.stringify(error)).not.toContain('hush');
  });

  it('T9: an error response of short plain text is quoted, without the white space around it', async () => {
    const quoted = async (body: string) =>
      (await failureOf(answering([{ status: 404, body }]).client.request({ path }))).message;
    expect(await quoted(' 404 page not found\n')).toBe('GET /api/v1/pods: 404 page not found');
    expect(await quoted(`${'x'.repeat(200)}\n`)).toBe(`GET /api/v1/pods: ${'x'.repeat(200)}`);
    expect(await quoted('x'.repeat(201))).toContain('the server answered 404, without a Status');
  });

  it('T9: the error of a redirect says that redirects are not followed', async () => {
    const { client } = answering([
      { status: 302, headers: { location: 'http://other/?token=hush' } },
    ]);
    const error = await failureOf(client.request({ path }));
    expect(error?.message).toBe(
      'GET /api/v1/pods: the server answered 302, redirects are not followed. Give the final address as baseUrl',
    );
  });

  it('T7: a response over the limit is refused', async () => {
    const { client } = answering([{ body: 'x'.repeat(101) }], { maxBodyBytes: 100 });
    const error = await failureOf(client.request({ path }));
    expect(error).toMatchObject({ reason: 'TooLarge', code: 0 });
    expect(error?.message).toContain('longer than 100 bytes; request less, or raise maxBodyBytes');
    const fits = answering([{ body: 'x'.repeat(100) }], { maxBodyBytes: 100 });
    expect(await fits.client.request({ path })).toHaveLength(100);
  });

  it('T1: a call may be aborted before it is sent and while it runs', async () => {
    const { client, sent } = answering([]);
    const aborted = await failureOf(client.request({ path, signal: AbortSignal.abort() }));
    expect([aborted?.reason, sent.length]).toEqual(['Aborted', 0]);
    const abort = new AbortController();
    const running = failureOf(client.request({ path, signal: abort.signal }));
    expect(sent.length).toBe(1);
    abort.abort();
    expect((await running)?.message).toBe('GET /api/v1/pods: aborted by the caller');
  });

  it('T1: a call that is aborted while it waits for its retry is not sent again', async () => {
    const { client, sent, time } = answering([{ status: 429 }]);
    const abort = new AbortController();
    const running = failureOf(client.request({ path, signal: abort.signal }));
    await time.advance(500);
    abort.abort();
    expect((await running)?.reason).toBe('Aborted');
    await time.advance(100_000);
    expect([sent.length, time.pending]).toEqual([1, 0]);
  });
});

describe('an error response to a call', () => {
  const retryAfter = (seconds: string) => ({ 'retry-after': seconds });
  async function run(method: string, answers: readonly Canned[], ms = 1_000_000) {
    const { client, sent, time } = answering(answers);
    const end = client.request({ method, path }).then(
      () => undefined,
      (error: ApiError) => error,
    );
    await time.advance(ms);
    return { times: sent.map(({ atMs }) => atMs), error: await end };
  }

  it('T4: a call is retried after a 429, ten times at most', async () => {
    const { times, error } = await run('GET', [{ status: 429 }]);
    expect(times).toEqual([
      ...[0, 1_000, 3_000, 7_000, 15_000, 31_000],
      ...[61_000, 91_000, 121_000, 151_000, 181_000],
    ]);
    expect(error?.code).toBe(429);
  });

  it('T7: an error response whose body is cut is reported as that response', async () => {
    const time = new VirtualTime();
    const atMs: number[] = [];
    const header = (name: string) => (name.toLowerCase() === 'retry-after' ? '7' : null);
    const transport: Transport = {
      send: () => {
        atMs.push(time.now());
        const head: TransportEvent = { kind: 'head', status: 503, header };
        const cut = ApiError.local('Network', 'terminated');
        return concat(
          of(head),
          throwError(() => cut),
        );
      },
      close: () => Promise.resolve(),
    };
    const client = createClient({ baseUrl: '', transport, scheduler: time });
    const end = failureOf(client.request({ path }));
    await time.advance(100_000);
    expect(atMs.slice(0, 3)).toEqual([0, 7_000, 14_000]);
    expect((await end)?.code).toBe(503);
  });

  it('T4: a call is retried after the time in Retry-After', async () => {
    const answers = [
      { status: 429, headers: retryAfter('7') },
      { status: 503, headers: retryAfter('2') },
      {},
    ];
    const { times, error } = await run('GET', answers);
    expect([times, error]).toEqual([[0, 7_000, 9_000], undefined]);
  });

  it('T4: a POST is retried only after a Retry-After', async () => {
    expect((await run('POST', [{ status: 429 }])).times).toEqual([0]);
    const answers = [{ status: 429, headers: retryAfter('1') }, {}];
    expect((await run('POST', answers)).times).toEqual([0, 1_000]);
  });

  it.each([400, 401, 403, 404, 409, 500, 502, 503, 504])(
    'T4: a call is not retried after a %i without Retry-After',
    async (status) => {
      const { times, error } = await run('GET', [{ status }]);
      expect([times, error?.code]).toEqual([[0], status]);
    },
  );
});

describe('the rate limit', () => {
  it('T5: delays requests, emits queued first, and refills', async () => {
    const { client, time } = answering([{}], { qps: 2, burst: 2 });
    const log: string[] = [];
    const send = (name: string) =>
      client
        .send({ method: 'GET', path, use: 'watch' })
        .subscribe(({ kind }) => kind !== 'chunk' && log.push(`${time.now()} ${name} ${kind}`));
    for (const name of ['a', 'b', 'c', 'd']) send(name);
    await time.advance(2_000);
    expect(log).toEqual([
      '0 a head',
      '0 b head',
      '0 c queued',
      '0 d queued',
      '500 c head',
      '1000 d head',
    ]);
    log.length = 0;
    // A long idle time refills the bucket, but not beyond its burst.
    await time.advance(58_000);
    for (const name of ['e', 'f', 'g']) send(name);
    expect(log).toEqual(['60000 e head', '60000 f head', '60000 g queued']);
    await time.advance(500);
    expect(log.at(-1)).toBe('60500 g head');
  });

  it('T5: a request that is unsubscribed while it waits is not sent', async () => {
    const { client, time } = answering([{}], { qps: 1, burst: 1 });
    const kinds: string[] = [];
    const send = () =>
      client.send({ method: 'GET', path, use: 'list' }).subscribe(({ kind }) => kinds.push(kind));
    send();
    send().unsubscribe();
    await time.advance(5_000);
    expect([kinds, time.pending]).toEqual([['head', 'chunk', 'queued'], 0]);
  });

  it('T5: 0 means no limit', async () => {
    const { client } = answering([{}], { qps: 0 });
    await Promise.all(Array.from({ length: 500 }, () => client.request({ path })));
  });
});

describe('a client', () => {
  it.each([['host:6443'], ['ftp://x'], ['http://a b'], [' '], [undefined], [5]])(
    'T1: refuses %j as base URL',
    (baseUrl) => {
      expect(() => createClient({ baseUrl: baseUrl as string })).toThrow(
        /createClient: baseUrl is .*; it must be/,
      );
    },
  );

  it.each(['', '/proxy', 'http://127.0.0.1:8001', 'https://[::1]:6443/k8s/'])(
    'T1: accepts %j as base URL',
    (baseUrl) => {
      expect(createClient({ baseUrl }).baseUrl).toBe(baseUrl);
    },
  );

  it('T3: refuses a password in the base URL, because messages contain the base URL', () => {
    for (const baseUrl of [
      'https://me:hunter2@host/x',
      'https://hunter2@host',
      'ftp://me:hunter2@h',
      'https://me:hunter2/x@host',
      'me:hunter2/x@host',
    ]) {
      expect(() => createClient({ baseUrl })).toThrow(TypeError);
      expect(() => createClient({ baseUrl })).not.toThrow(/hunter2/);
    }
    expect(createClient({ baseUrl: 'https://host/@x' }).baseUrl).toBe('https://host/@x');
  });

  it('T15: refuses a header that is not text by its name, and sends nothing', async () => {
    for (const value of [undefined, null, 7, { token: 'hunter2' }]) {
      const headers = { Authorization: value } as unknown as Record<string, string>;
      expect(() => createClient({ baseUrl: '', headers })).toThrow(
        /^headers: authorization is \w+;/,
      );
      const { client, sent } = answering([{}]);
      const refused = await client.request({ path, headers }).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(TypeError);
      expect(String(refused)).toMatch(/headers: authorization is/);
      expect(String(refused)).not.toContain('hunter2');
      expect(sent).toEqual([]);
    }
  });

  it('T1: sends nothing before the first request', () => {
    const server = createFakeApiServer();
    createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    expect(server.requests).toEqual([]);
  });

  it('T6: closing a client ends calls and streams, and refuses later ones', async () => {
    const server = createFakeApiServer();
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    server.faults.neverAnswer();
    const call = failureOf(client.request({ path }));
    const ends: unknown[] = [];
    const stream = client.send({ method: 'GET', path, use: 'watch' });
    stream.subscribe({ error: (error) => ends.push(error.reason) });
    await client.close();
    expect((await call)?.reason).toBe('Stopped');
    expect(ends).toEqual(['Stopped']);
    expect((await failureOf(client.request({ path }))).reason).toBe('Stopped');
  });
});

describe('a client that is closed while a call waits', () => {
  it('T6: ends the wait for a Retry-After at once, and leaves no timer', async () => {
    const busy = { status: 429, headers: { 'retry-after': '3600' } };
    const { time, client, sent } = answering([busy]);
    const failures: unknown[] = [];
    client.request({ path }).catch((error) => failures.push(error.reason));
    await time.advance(1_000);
    expect([sent.length, failures]).toEqual([1, []]);
    await client.close();
    await time.advance(0);
    expect([failures, time.pending]).toEqual([['Stopped'], 0]);
  });
});
