/** Tests the dashboard's server: which requests it accepts, and which it forwards to the cluster. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError, type KubeClient, type TransportRequest } from 'rx-informer';
import { NEVER, of, throwError } from 'rxjs';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClusterProxy } from '../../examples/dashboard/proxy.ts';
import { refusal } from '../../examples/dashboard/server/guard.ts';
import { type PageFiles, readPageFiles } from '../../examples/dashboard/server/page-files.ts';
import { type DashboardServer, serveDashboard } from '../../examples/dashboard/server.ts';
import { eventually } from '../support/patience.ts';

let files: PageFiles;
let server: DashboardServer;
let sent: TransportRequest[];
let isBroken: boolean;
/** The headers of the cluster's responses. */
let headers: Record<string, string>;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a request with any headers, also those that `fetch` does not send. */
function ask(
  path: string,
  options: { readonly method?: string; readonly headers?: Record<string, string> } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {} } = options;
    const outgoing = httpRequest(
      { host: '127.0.0.1', port: server.port, path, method, headers },
      (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          body += part;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}

/**
 * Sends raw bytes and returns the response head, or what has arrived when the server closes the connection.
 */
function sendRaw(text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    const end = () => {
      socket.destroy();
      resolve(answer);
    };
    socket.setEncoding('latin1');
    socket.on('data', (part: string) => {
      answer += part;
      if (answer.includes('\r\n\r\n')) end();
    });
    socket.on('error', () => {}).on('close', end);
  });
}

const client: KubeClient = {
  baseUrl: 'http://cluster',
  request: () => Promise.reject(new Error('not used')),
  close: () => Promise.resolve(),
  send(request) {
    sent.push(request);
    if (isBroken) return throwError(() => ApiError.local('Network', 'no way'));
    const head = { kind: 'head', status: 200, header: (name: string) => headers[name] ?? null };
    const chunk = { kind: 'chunk', bytes: new TextEncoder().encode('{}\n') };
    return of(head, chunk) as ReturnType<KubeClient['send']>;
  },
};

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dashboard-'));
  await writeFile(join(folder, 'index.html'), '<meta content="%STYLE_NONCE%">');
  files = await readPageFiles(folder, { cluster: 'real' });
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  sent = [];
  isBroken = false;
  headers = { 'content-type': 'application/json', 'set-cookie': 'session=1' };
  server = await serveDashboard({
    proxy: createClusterProxy(client),
    files,
    cluster: 'test',
    port: 0,
  });
});
afterEach(() => server.close());

describe('accepted requests', () => {
  test('each response of the page has a strict policy and its own nonce', async () => {
    const [first, second] = await Promise.all([ask('/'), ask('/')]);
    expect(first.status).toBe(200);
    expect(first.body).not.toBe(second.body);
    const policy = String(first.headers['content-security-policy']);
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-/);
    expect(policy).not.toContain('unsafe');
    expect(policy).toContain("frame-ancestors 'none'");
    for (const path of ['/', '/nothing', '/dashboard/info', '/api/v1/pods', '/api/v1/secrets']) {
      const { headers } = await ask(path);
      expect(headers, path).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
      });
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; script-src 'self'; /,
      );
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  test.each([
    ['a foreign Host', { host: 'evil.example' }],
    ['a Host of another port', { host: '127.0.0.1:1' }],
    ['a foreign Origin', { origin: 'http://evil.example' }],
    ['an opaque Origin', { origin: 'null' }],
    ['another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
  ])('%s is refused with one sentence', async (_who, headers) => {
    for (const path of ['/', '/api/v1/pods', '/dashboard/info']) {
      const { status, body } = await ask(path, { headers });
      expect(status).toBe(403);
      expect(body).toMatch(/^This dashboard answers only to [^\n]+\.\n$/);
    }
    expect(sent).toEqual([]);
  });

  test('localhost, the Origin of the page and a link from another site are accepted', async () => {
    const host = `localhost:${server.port}`;
    const own = await ask('/dashboard/info', { headers: { host, origin: `http://${host}` } });
    expect(own.status).toBe(200);
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect((await ask('/', { headers: link })).status).toBe(200);
  });

  test('a hidden frame of another site, and a link to anything but the page, are refused', async () => {
    const visit = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    const paths = ['/api/v1/pods', '/api/v1/pods?watch=1', '/dashboard/info'];
    for (const path of paths) expect((await ask(path, { headers: visit })).status).toBe(403);
    const frame = { ...visit, 'sec-fetch-dest': 'iframe' };
    expect((await ask('/', { headers: frame })).status).toBe(403);
    expect(sent).toEqual([]);
  });

  test('on port 80 a browser leaves out the port of Host and Origin', () => {
    const judged = (headers: Record<string, string>) =>
      refusal({ headers, method: 'GET' } as unknown as IncomingMessage, 80);
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
      expect(judged({ host })).toBeUndefined();
      expect(judged({ host, origin: `http://${host}` })).toBeUndefined();
    }
    expect(judged({ host: 'evil.example' })).toMatch(
      /^This dashboard answers only to 127\.0\.0\.1 /,
    );
    expect(judged({ host: 'localhost', origin: 'http://localhost:81' })).toMatch(/another Origin/);
  });

  test('a path outside the page is not found', async () => {
    for (const path of [
      '/../package.json',
      '/%2e%2e/package.json',
      '//etc/passwd',
      '/%00',
      '/%zz',
    ]) {
      expect((await ask(path)).status).toBeGreaterThanOrEqual(400);
    }
  });
});

describe('forwarded requests', () => {
  test('reads of the API are forwarded, without cookies, tokens or any other header of the browser', async () => {
    const headers = { cookie: 'a=b', authorization: 'Bearer x', 'x-remote-user': 'root' };
    const { status, body, headers: answered } = await ask('/api/v1/pods?limit=500', { headers });
    expect({ status, body }).toEqual({ status: 200, body: '{}\n' });
    expect(answered['set-cookie']).toBeUndefined();
    expect(sent).toMatchObject([
      {
        method: 'GET',
        path: '/api/v1/pods',
        query: { limit: '500' },
        headers: { accept: 'application/json' },
      },
    ]);
    expect(Object.keys(sent[0]?.headers ?? {})).toEqual(['accept']);
  });

  test('W7: lists of metadata and tables are forwarded, and no other projection', async () => {
    const as = (kind: string) => `application/json;as=${kind};g=meta.k8s.io;v=v1`;
    const metadata = as('PartialObjectMetadataList');
    for (const [query, accept] of [
      ['', metadata],
      ['', as('Table')],
      ['', as('Scale')],
      ['?watch=true', metadata],
    ]) {
      await ask(`/api/v1/pods${query}`, { headers: { accept: accept ?? '' } });
    }
    const plain = 'application/json';
    expect(sent.map(({ headers }) => headers?.['accept'])).toEqual([
      ...[metadata, as('Table'), plain, plain],
    ]);
    expect(sent.map(({ acceptGzip }) => acceptGzip)).toEqual([true, ...Array(3)]);
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s is refused', async (method) => {
    const { status, body, headers } = await ask('/api/v1/pods', {
      headers: { 'content-type': 'application/json' },
      method,
    });
    expect(status).toBe(405);
    expect(headers.allow).toBe('GET');
    expect(body).toMatch(/^This dashboard does not forward [A-Z]+ to this path\.\n$/);
    expect(sent).toEqual([]);
  });

  test.each([
    '/api/v1/pods/../secrets',
    '/api/v1/pods/;/../secrets',
    '/api/v1/namespaces/shop/pods/web-0/../../secrets/password',
    '/api/v1/namespaces/shop/pods/.%2e/secrets/password',
    '/api/v1/x/../pods',
    '/api/v1/pods/%2e%2e/secrets',
    '/api/v1/./pods',
    '/api\\v1\\pods',
    '//api/v1/pods',
    'http://evil.example/api/v1/pods',
    'http://127.0.0.1/api/v1/pods',
    'api/v1/pods',
  ])('%s is refused, because it would be resolved to another path', async (path) => {
    const host = `127.0.0.1:${server.port}`;
    const answer = await sendRaw(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    expect(answer.slice(0, 12)).toBe('HTTP/1.1 400');
    expect(sent).toEqual([]);
  });

  test('a tunnel, an upgrade and a second Host are refused', async () => {
    const host = `Host: 127.0.0.1:${server.port}`;
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==';
    expect(await sendRaw(`CONNECT 127.0.0.1:6443 HTTP/1.1\r\n${host}\r\n\r\n`)).toBe('');
    expect(await sendRaw(`GET /api/v1/pods HTTP/1.1\r\n${host}\r\n${upgrade}\r\n\r\n`)).toBe('');
    const twice = await sendRaw(`GET / HTTP/1.1\r\nHost: evil.example\r\n${host}\r\n\r\n`);
    expect(twice).toMatch(/^HTTP\/1.1 40[03] /);
    expect(sent).toEqual([]);
  });

  test('a parameter that an informer does not need is dropped', async () => {
    await ask('/api/v1/pods?watch=true&resourceVersion=7&__proto__=x&pretty=true&impersonate=root');
    expect(sent[0]?.query).toEqual({ watch: 'true', resourceVersion: '7' });
  });

  test.each(['text/html', 'text/javascript', 'image/svg+xml', ''])(
    'a response of type %j becomes plain text',
    async (type) => {
      headers = { 'content-type': type, warning: '299 - "…"', 'retry-after': '1' };
      const { headers: answered, body } = await ask('/api/v1/pods');
      expect(answered['content-type']).toBe('text/plain; charset=utf-8');
      // Characters that no header allows would end the process.
      expect([answered.warning, answered['retry-after'], body]).toEqual([undefined, '1', '{}\n']);
    },
  );

  test('nothing outside of the API is forwarded', async () => {
    for (const path of [
      '/metrics',
      '/apisx',
      '/version',
      '/readyz',
      '/openapi/v3',
      '/logs/',
      '/embedded/truth',
      '/embedded/control',
    ]) {
      expect((await ask(path)).status).toBe(404);
    }
    expect(sent).toEqual([]);
  });

  test('a failed request to the cluster becomes a text and no Status, because no API server has answered', async () => {
    isBroken = true;
    const { status, body } = await ask('/api/v1/pods');
    expect(status).toBe(502);
    expect(body).toBe('no way\n');
  });

  test('a watch ends when the page is closed', async () => {
    let isOpen = false;
    const proxy = createClusterProxy({
      ...client,
      send: () => {
        isOpen = true;
        return NEVER;
      },
    });
    const other = await serveDashboard({
      proxy,
      files: () => false,
      cluster: 'test',
      port: 0,
    });
    const ending = new AbortController();
    const asked = fetch(`${other.url}api/v1/pods?watch=true`, { signal: ending.signal });
    await eventually(() => expect(isOpen && proxy.traffic.watches).toBe(1));
    ending.abort();
    await expect(asked).rejects.toThrow();
    await eventually(() => expect(proxy.traffic.watches).toBe(0));
    await other.close();
  });
});
