/** The fake API server and its watches, and that its page names every fault, every default resource and every fault of the TCP proxy. */

import { readFileSync } from 'node:fs';
import { defineResource } from 'rx-informer';
import { createFakeApiServer, createTcpProxy, defaultResources } from 'rx-informer/testing';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';
import { type Line, pod, pods, Wire } from './wire.ts';

const shop = (name: string) => ({ name, namespace: 'shop' });

async function listed(server: ReturnType<typeof createFakeApiServer>, query = '') {
  const answer = await server.fetch(`http://fake/api/v1/pods${query}`);
  return answer.json();
}

describe('a fake server', () => {
  it('records requests in order', async () => {
    const scheduler = new VirtualTimeScheduler();
    const server = createFakeApiServer({ scheduler });
    await server.fetch('http://fake/api/v1/namespaces/shop/pods?limit=1');
    const wire = await Wire.open(server.fetch, 'watch=true&resourceVersion=1');
    await server.fetch('http://fake/version');
    expect(server.requests).toEqual([
      {
        method: 'GET',
        path: '/api/v1/namespaces/shop/pods',
        query: { limit: '1' },
        use: 'list',
        resource: 'pods',
        namespace: 'shop',
        atMs: 0,
      },
      expect.objectContaining({ use: 'watch', resource: 'pods', path: '/api/v1/pods' }),
      { method: 'GET', path: '/version', query: {}, use: 'call', atMs: 0 },
    ]);
    wire.abort();
    server.clearRequests();
    expect(server.requests).toEqual([]);
  });

  it('keeps the newest requests, at most twice as many as requestsKept', async () => {
    const server = createFakeApiServer({ requestsKept: 3 });
    for (let at = 0; at < 20; at++) {
      await listed(server, `?limit=${at + 1}`);
      expect(server.requests.length).toBeLessThanOrEqual(6);
    }
    expect(server.requests.at(-1)?.query).toEqual({ limit: '20' });
  });

  it('refuses streaming lists if watchList is false', async () => {
    const server = createFakeApiServer({ watchList: false });
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    const answer = await server.fetch(`http://fake/api/v1/pods?${query}&allowWatchBookmarks=true`);
    expect(answer.status).toBe(422);
    expect((await answer.json()).details.causes[0].field).toBe('sendInitialEvents');
    const wire = await Wire.open(server.fetch, 'watch=1&allowWatchBookmarks=true');
    server.objects.create(pods, pod('a'));
    expect(await wire.lines()).toEqual(['ADDED a']);
  });

  it('returns no page that is longer than pageSizeMax', async () => {
    const server = createFakeApiServer({ pageSizeMax: 2 });
    for (const name of 'abc') server.objects.create(pods, pod(name));
    expect((await listed(server, '?limit=10')).items).toHaveLength(2);
    expect((await listed(server)).items).toHaveLength(3);
  });

  it('supports the field selectors of each resource', async () => {
    const server = createFakeApiServer();
    server.objects.create(pods, pod('a', {}, 'Pending'));
    server.objects.create(pods, pod('b'));
    const found = await listed(server, '?fieldSelector=status.phase%21%3DRunning');
    expect(found.items).toHaveLength(1);
    expect((await listed(server, '?fieldSelector=spec.x%3D1')).code).toBe(400);
    const widgets = defineResource({
      ...{ group: 'example.com', version: 'v1', plural: 'widgets' },
      ...{ kind: 'Widget', namespaced: false },
    });
    server.addResource(widgets, { selectableFields: ['spec.size'] });
    server.objects.create(widgets, { metadata: { name: 'w' } });
    const path = 'http://fake/apis/example.com/v1/widgets?fieldSelector=spec.size%3D1';
    expect((await (await server.fetch(path)).json()).items).toEqual([]);
  });

  it('A94: serves one version of a resource, and adding a resource that it serves leaves its objects and watches alone', async () => {
    const server = createFakeApiServer();
    const { fetch, objects, addResource } = server;
    objects.create(pods, pod('a'));
    const wire = await Wire.open(fetch);
    expect(await wire.lines()).toEqual(['ADDED a']);
    const beta = defineResource({ ...pods, version: 'v1beta1' });
    for (const resource of [pods, beta]) {
      expect(() => addResource(resource)).toThrow(
        /^addResource: pods is already served, in version v1; removeResource it first$/,
      );
    }
    objects.create(pods, pod('b'));
    expect(await wire.lines()).toEqual(['ADDED b']);
    expect(objects.list(pods)).toHaveLength(2);
    expect(() => createFakeApiServer({ resources: [beta, pods] })).toThrow(
      /^createFakeApiServer: resources has pods in the versions v1beta1 and v1; the server serves/,
    );
    expect(createFakeApiServer({ resources: [pods, { ...pods }] }).objects.list(pods)).toEqual([]);
  });

  it('A94: refuses options and resources of another type', async () => {
    const { objects, addResource } = createFakeApiServer();
    expect(() => createFakeApiServer({ resources: 5 as never })).toThrow(
      'createFakeApiServer: resources is 5; it must be a list of resources',
    );
    expect(() => createFakeApiServer({ allows: 5 as never })).toThrow(
      'createFakeApiServer: allows is 5; it must be a function',
    );
    const itself = /: resource is (undefined|"pods"); it must be the resource itself, such as pods/;
    for (const resource of [undefined, 'pods'] as never[]) {
      expect(() => createFakeApiServer({ resources: [resource] })).toThrow(itself);
      expect(() => addResource(resource)).toThrow(itself);
      expect(() => objects.create(resource, pod('a'))).toThrow(itself);
      expect(() => objects.get(resource, shop('a'))).toThrow(itself);
    }
    for (const options of [undefined, {}, { target: {} }] as never[]) {
      await expect(createTcpProxy(options)).rejects.toThrow(
        /^createTcpProxy: target is .*; it must be a URL/,
      );
    }
  });

  it('accepts Request objects', async () => {
    const server = createFakeApiServer();
    const body = JSON.stringify({ metadata: { name: 'a' } });
    const request = new Request('http://fake/api/v1/namespaces/shop/pods', {
      method: 'POST',
      body,
    });
    request.headers.set('content-type', 'application/json');
    expect((await server.fetch(request)).status).toBe(201);
    expect(server.objects.get(pods, shop('a'))).toBeDefined();
  });
});

describe('watches of a fake server', () => {
  it('send the events of one turn of the event loop as one chunk', async () => {
    const server = createFakeApiServer();
    const wire = await Wire.open(server.fetch);
    const next = wire.lines();
    for (const name of 'abc') server.objects.create(pods, pod(name));
    expect(await next).toEqual(['ADDED a', 'ADDED b', 'ADDED c']);
  });

  it('are not read ahead of their reader', async () => {
    const server = createFakeApiServer();
    const wire = await Wire.open(server.fetch);
    for (let index = 0; index < 500; index++) {
      server.objects.create(pods, pod(`p-${index}`, { pad: 'x'.repeat(500) }));
    }
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(server.openWatches[0]?.sent).toBe(0);
    const first = await wire.lines();
    expect(server.openWatches[0]?.sent).toBe(first.length);
    expect(first.length).toBeLessThan(120);
  });

  it('end with a 410 if they fall behind the history', async () => {
    const server = createFakeApiServer({ historyLimit: 2 });
    const wire = await Wire.open(server.fetch);
    for (const name of 'abcdefgh') server.objects.create(pods, pod(name));
    expect((await wire.lines()).at(-1)).toBe('ERROR Expired');
    expect(await wire.chunk()).toBeUndefined();
  });

  it('leave nothing behind after an abort or a cancellation', async () => {
    const scheduler = new VirtualTimeScheduler();
    const server = createFakeApiServer({ scheduler });
    const wire = await Wire.open(server.fetch, 'watch=1&allowWatchBookmarks=true');
    await wire.lines();
    expect(scheduler.actions.length).toBeGreaterThan(0);
    const pending = wire.chunk();
    wire.abort();
    await expect(pending).rejects.toMatchObject({ name: 'AbortError' });
    const other = await server.fetch('http://fake/api/v1/pods?watch=1');
    await other.body?.cancel();
    expect(server.openWatches).toEqual([]);
    expect(scheduler.actions.filter(({ closed }) => !closed)).toEqual([]);
  });

  it('send bookmarks and end by the clock of the scheduler', async () => {
    const scheduler = new VirtualTimeScheduler(undefined, 130_000);
    const server = createFakeApiServer({ scheduler, bookmarkIntervalMs: 60_000 });
    const wire = await Wire.open(
      server.fetch,
      'watch=1&resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=125',
    );
    server.objects.advance(7);
    scheduler.maxFrames = 59_999;
    scheduler.flush();
    expect(server.openWatches[0]?.sent).toBe(0);
    scheduler.maxFrames = 60_000;
    scheduler.flush();
    expect(await wire.lines()).toEqual(['BOOKMARK 8']);
    scheduler.maxFrames = 130_000;
    scheduler.flush();
    expect(await wire.lines()).toEqual(['BOOKMARK 8']);
    expect(await wire.chunk()).toBeUndefined();
    expect(server.openWatches).toEqual([]);
  });

  it('end when their resource is removed', async () => {
    const server = createFakeApiServer();
    server.objects.create(pods, pod('a'));
    const wire = await Wire.open(server.fetch);
    expect(await wire.lines()).toEqual(['ADDED a']);
    server.removeResource(pods);
    expect(await wire.lines()).toEqual(['DELETED a']);
    expect(await wire.chunk()).toBeUndefined();
    expect((await server.fetch('http://fake/api/v1/pods')).status).toBe(404);
    server.addResource(pods);
    expect((await listed(server)).items).toEqual([]);
  });

  it('lead from the list at any version to the newest list', async () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const step = fc.record({ name, own: fc.constantFrom('yes', 'no'), gone: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.nat(12),
        fc.constantFrom('', '&labelSelector=own%3Dyes', '&fieldSelector=metadata.name%3Da'),
        async (steps, start, selector) => {
          const server = createFakeApiServer();
          for (const [index, { name, own, gone }] of steps.entries()) {
            if (gone && server.objects.get(pods, shop(name)))
              server.objects.delete(pods, shop(name));
            else server.objects.apply(pods, [pod(name, { own, index: String(index) })]);
          }
          const version = String(Math.min(start + 1, Number(server.objects.resourceVersion)));
          const exact = `?resourceVersion=${version}&resourceVersionMatch=Exact${selector}`;
          const state = new Map<string, string>();
          for (const { metadata } of (await listed(server, exact)).items) {
            state.set(metadata.name, metadata.resourceVersion);
          }
          const query = `watch=1&resourceVersion=${version}&allowWatchBookmarks=true${selector}`;
          const wire = await Wire.open(server.fetch, query);
          server.faults.closeWatches();
          const text = (await wire.chunk()) ?? '';
          for (const line of text.split('\n').filter(Boolean)) {
            const { type, object } = JSON.parse(line) as Line;
            const { name: key = '', resourceVersion } = object.metadata;
            // An ADDED of a known object, or another event of an unknown one, would be wrong.
            expect(state.has(key)).toBe(type !== 'ADDED');
            if (type === 'DELETED') state.delete(key);
            else state.set(key, resourceVersion);
          }
          const now = await listed(server, `?${selector.slice(1)}`);
          const expected = now.items.map(({ metadata }: Line['object']) => [
            metadata.name,
            metadata.resourceVersion,
          ]);
          expect([...state].sort()).toEqual(expected);
        },
      ),
    );
  });
});

describe('documented faults', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const page = read('docs/reference/fake-api-server.md');

  /** The members of a class or an interface in the public surface of `rx-informer/testing`, with their results. */
  function methodsOf(name: string): { readonly method: string; readonly result: string }[] {
    const surface = read('spec/api/testing.txt');
    const declared = new RegExp(
      `^export (?:class|interface) ${name} .*\\{\\n([\\s\\S]*?)^\\}`,
      'm',
    );
    const body = declared.exec(surface)?.[1] ?? '';
    const methods = body.matchAll(/^ {4}(?!constructor)(\w+)\((?:[\s\S]*?)\): ([^;\n]+);$/gm);
    return [...methods].map(([, method = '', result = '']) => ({ method, result }));
  }

  it('A91: the table of faults has one row for each fault, and no other', () => {
    const table = /^\| fault \| effect \|\n([\s\S]*?)\n\n/m.exec(page)?.[1] ?? '';
    const rows = [...table.matchAll(/^\| `(\w+)\(/gm)].map(([, method = '']) => method);
    // A fault returns its handle, or how many watches it met.
    const faults = methodsOf('Faults').filter(({ result }) => /^(?:Fault|number)$/.test(result));
    expect(rows.toSorted()).toEqual(faults.map(({ method }) => method).sort());
    expect(page).toContain('`healAll()`');
  });

  it('the page names each fault of the TCP proxy', () => {
    const faults = methodsOf('TcpProxy')
      .map(({ method }) => method)
      .filter((name) => name !== 'close');
    expect(faults.length).toBeGreaterThan(4);
    expect(faults.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('A91: the table of resources has each default resource, and no other', () => {
    const table = /^\| API group \| resources \|\n([\s\S]*?)\n\n/m.exec(page)?.[1] ?? '';
    const rows = [...table.matchAll(/^\| (?:core \(`v1`\)|`([^`]+)`) \| (.*) \|$/gm)].flatMap(
      ([, group = 'v1', cell = '']) =>
        [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => `${group} ${name}`),
    );
    const served = defaultResources.map(({ group, version, plural }) =>
      group === '' ? `${version} ${plural}` : `${group}/${version} ${plural}`,
    );
    expect(rows.toSorted()).toEqual(served.toSorted());
  });
});
