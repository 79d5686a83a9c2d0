/** A server behind the development server of Vite. */
import { once } from 'node:events';
import { createServer as createHttp, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { viteProxy } from 'rx-informer/node';
import { createServer as createVite, type ProxyOptions, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

describe('the development server of Vite', () => {
  const paths: string[] = [];
  const responses: ServerResponse[] = [];
  let upstream: Server;
  let vite: ViteDevServer;
  let url: string;

  beforeAll(async () => {
    upstream = createHttp((request, response) => {
      paths.push(request.url ?? '');
      responses.push(response);
      response.writeHead(200, { 'content-type': 'application/json', 'x-served-by': 'a' });
      response.flushHeaders();
    });
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    const target = `http://127.0.0.1:${port}`;
    const proxy: Record<string, ProxyOptions> = {
      '/k8s': viteProxy(target, '/k8s'),
      '/api': viteProxy(target),
    };
    vite = await createVite({
      ...{ configFile: false, logLevel: 'silent', appType: 'custom' },
      server: { port: 0, host: '127.0.0.1', ws: false, watch: null, proxy },
      optimizeDeps: { noDiscovery: true },
    });
    await vite.listen();
    url = vite.resolvedUrls?.local[0] ?? '';
  });
  afterAll(async () => {
    await vite?.close();
    upstream?.closeAllConnections();
    upstream?.close();
  });

  it('T57: passes the head on before the body, with its headers, and the path without the prefix', async () => {
    const head = await fetch(`${url}k8s/api/v1/pods?watch=true`);
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

  it('T57: cuts a response that the server cuts', async () => {
    const head = await fetch(`${url}api/v1/pods?watch=true`);
    expect(paths.at(-1)).toBe('/api/v1/pods?watch=true');
    responses.at(-1)?.write('{}\n');
    responses.at(-1)?.destroy();
    await expect(head.text()).rejects.toThrow('terminated');
  });
});
