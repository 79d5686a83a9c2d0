/** A request goes only to the client's server, below its path. */

import { createClient, createFetchTransport, type Fetch } from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';

/** A client that records the URLs of its requests. */
function recorded(baseUrl: string) {
  const urls: string[] = [];
  const fetch: Fetch = (url) => {
    urls.push(url);
    return Promise.resolve(new Response('{}'));
  };
  const client = createClient({ baseUrl, fetch, headers: { authorization: 'Bearer hunter2' } });
  return { urls, client, transport: createFetchTransport({ baseUrl, fetch }) };
}

const ELSEWHERE = [
  '@evil.example/x',
  ':pw@evil.example/x',
  '.evil.example/x',
  '',
  'api/v1/pods',
  'https://evil.example/x',
  '//evil.example/x',
  '/\\evil.example/x',
  '/\t/evil.example/x',
  '\n//evil.example/x',
  '/api?pretty=hunter2',
  '/api#part',
  '/api/v1/../../secret',
  '/api/./v1',
  '/api/%2e%2E/v1',
  '/api/.%2e',
  '/api/v1/pods/x/%2E%2E%2Fexec',
  '/api/v1/pods/x%2f..',
  '/api v1',
  '/api\u0000',
];

describe('a path', () => {
  it.each(ELSEWHERE)('T11: %j is refused before anything is sent', async (path) => {
    for (const baseUrl of ['https://10.0.0.1', '', '/proxy', 'https://10.0.0.1:6443/k8s/']) {
      const { urls, client, transport } = recorded(baseUrl);
      const errors: unknown[] = [await client.request({ path }).catch((error) => error)];
      const observer = { error: (error: unknown) => errors.push(error) };
      client.send({ method: 'GET', path, use: 'watch' }).subscribe(observer);
      transport.send({ method: 'GET', path, use: 'watch' }).subscribe(observer);
      expect(urls).toEqual([]);
      expect(errors).toHaveLength(3);
      for (const error of errors) {
        expect(error).toBeInstanceOf(TypeError);
        expect(String(error)).toMatch(/^TypeError: GET .*: the path must /);
        expect(String(error)).not.toMatch(/hunter2|\p{Cc}/u);
      }
    }
  });

  it.each(ELSEWHERE)('T11: %j is refused before it reaches undici or a proxy', (path) => {
    const baseUrl = 'http://10.0.0.1';
    const transport = createUndiciTransport({ baseUrl, proxy: 'http://127.0.0.1:1' });
    const errors: unknown[] = [];
    transport
      .send({ method: 'GET', path, use: 'watch' })
      .subscribe({ error: (error) => errors.push(error) });
    expect(errors).toEqual([expect.any(TypeError)]);
  });

  it('T11: a valid path is sent unchanged, also with unusual characters in names', async () => {
    const { urls, client } = recorded('https://10.0.0.1:6443/k8s/');
    const paths = [
      '/',
      '/version',
      '/api/v1/namespaces/a/pods/b%2Fc',
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node..x',
      '/api/v1/namespaces/%C3%BC/pods/...',
    ];
    for (const path of paths) await client.request({ path, query: { a: '?#@' } });
    expect(urls).toEqual(paths.map((path) => `https://10.0.0.1:6443/k8s${path}?a=%3F%23%40`));
  });

  it('T11: no path leads to another host or another path', async () => {
    const piece = fc.oneof(
      fc.constantFrom('/', '//', '@', ':', '.', '..', '%2e', '%2F', '\\', '?', '#', '\t', ' ', 'a'),
      fc.string(),
    );
    const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(text, async (path) => {
        const { urls, client } = recorded('https://10.0.0.1/base');
        await client.request({ path }).catch(() => {});
        for (const sent of urls) {
          const url = new URL(sent);
          expect([url.origin, url.search, url.hash]).toEqual(['https://10.0.0.1', '', '']);
          expect(url.pathname.startsWith('/base/')).toBe(true);
          expect(url.pathname.split('/')).toHaveLength(`/base${path}`.split('/').length);
        }
      }),
    );
  });
});

describe('a base URL', () => {
  it.each([
    'https://10.0.0.1?token=hunter2',
    'https://10.0.0.1/#hunter2',
    'https://10.0.0.1/?',
    '/proxy?to=hunter2',
    '//evil.example',
    '/\\evil.example',
    'https:\\\\evil.example',
    'https://me:hunter2@10.0.0.1',
    'https://10.0.0.1:99999',
  ])('T11: the base URL %j is refused by client and transports', (baseUrl) => {
    for (const make of [createClient, createFetchTransport, createUndiciTransport]) {
      expect(() => make({ baseUrl })).toThrow(TypeError);
      expect(() => make({ baseUrl })).toThrow(`${make.name}: baseUrl `);
      expect(() => make({ baseUrl })).not.toThrow(/hunter2/);
    }
  });
});
