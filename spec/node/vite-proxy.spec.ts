/** A server behind the development server of Vite. */
import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { viteProxy } from 'rx-informer/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vite } from '../diagnose/set-up-rig.ts';
import { listen, type Response } from './servers.ts';

/** Sends a request with any headers, which `fetch` would not. */
async function asked(
  url: string,
  { method = 'GET', body = '', headers = {} }: { method?: string; body?: string; headers?: object },
) {
  const request = requestHttp(url, { method, headers: { ...headers } });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  for await (const part of response) text += part;
  return { status: response.statusCode, text };
}

describe('the development server of Vite', () => {
  const paths: string[] = [];
  const responses: Response[] = [];
  const ends: (() => Promise<void>)[] = [];
  let url: string;

  beforeAll(async () => {
    const upstream = await listen('http', (request, response) => {
      paths.push(request.url ?? '');
      responses.push(response);
      response.writeHead(200, { 'content-type': 'application/json', 'x-served-by': 'a' });
      response.flushHeaders();
    });
    ends.push(upstream.close);
    const target = upstream.url;
    url = await vite((end) => ends.push(end), {
      '/k8s': viteProxy(target, '/k8s'),
      '/api': viteProxy(target),
      '/ws': { ...viteProxy(target, '/ws'), ws: true },
    });
  });
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });

  it('T57: passes the head on before the body, with its headers, and the path without the prefix', async () => {
    const head = await fetch(`${url}/k8s/api/v1/pods?watch=true`);
    expect(head.headers.get('content-type')).toBe('application/json');
    expect(head.headers.get('x-served-by')).toBe('a');
    expect(paths.at(-1)).toBe('/api/v1/pods?watch=true');
    const reader = head.body?.getReader();
    responses.at(-1)?.write('{}\n');
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('{}\n');
    responses.at(-1)?.end();
    expect(await reader?.read()).toMatchObject({ done: true });
  });

  it.each([
    ['/k8s', '/k8s/api', '/api'],
    ['/k8s/', '/k8s/api', '/api'],
    ['/k8s', '/k8s', '/'],
    ['/k8s', '/k8s?x=1', '/?x=1'],
    ['/k8s', '/k8sfoo/api', '/k8sfoo/api'],
    ['', '/api', '/api'],
  ])('T57: without the prefix %j the path %j is %j', (prefix, path, rest) => {
    expect(viteProxy('http://127.0.0.1:1', prefix).rewrite(path)).toBe(rest);
  });

  it.each([
    '',
    '/k8s',
    '127.0.0.1:8001',
    'ws://127.0.0.1',
    'http://',
    'http://a:hunter2@b',
    'http://a?b',
  ])('M18: the target %j is refused, without a password', (target) => {
    expect(() => viteProxy(target)).toThrow(/^viteProxy: target (is|has|contains) (?!.*hunter2)/);
  });

  it.each([
    ['a write', { method: 'POST', body: '{}', headers: { origin: 'https://evil.example' } }],
    ['a write without an Origin', { method: 'POST', body: '{}' }],
    ['a frame', { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' } }],
  ])('T78: does not forward %s of another site', async (_what, init) => {
    const before = paths.length;
    const { status, text } = await asked(`${url}/k8s/api/v1/pods`, init);
    expect([status, text]).toEqual([
      403,
      expect.stringMatching(/^The proxy to the cluster answers only to its own page, not to/),
    ]);
    expect(paths.length).toBe(before);
  });

  it('T78: does not forward an upgrade of another site', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket', origin: 'https://evil.example' };
    const before = paths.length;
    expect((await asked(`${url}/ws/api/v1/pods`, { headers })).status).toBe(404);
    expect(paths.length).toBe(before);
  });

  it('T57: cuts a response that the server cuts', async () => {
    const head = await fetch(`${url}/api/v1/pods?watch=true`);
    expect(paths.at(-1)).toBe('/api/v1/pods?watch=true');
    responses.at(-1)?.write('{}\n');
    responses.at(-1)?.destroy();
    await expect(head.text()).rejects.toThrow('terminated');
  });
});
