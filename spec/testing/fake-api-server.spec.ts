import * as fc from 'fast-check';
import { createFakeApiServer } from 'rx-informer/testing';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { defineResource } from '../../lib/meta/resource.ts';
import { type Line, pod, pods, Wire } from './wire.ts';

const shop = (name: string) => ({ name, namespace: 'shop' });

async function listed(server: ReturnType<typeof createFakeApiServer>, query = '') {
  const answer = await server.fetch(`http://fake/api/v1/pods${query}`);
  return answer.json();
}

describe('objects of a fake server', () => {
  it('are frozen copies with UID, version and time', () => {
    const scheduler = new VirtualTimeScheduler();
    const server = createFakeApiServer({ scheduler, random: () => 0.5 });
    const given = pod('a');
    const stored = server.objects.create(pods, given);
    expect(stored).toMatchObject({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { resourceVersion: '2', generation: 1, creationTimestamp: '1970-01-01T00:00:00Z' },
      status: { phase: 'Running' },
    });
    expect(Object.isFrozen(stored.metadata.labels)).toBe(true);
    given.status.phase = 'Failed';
    expect(server.objects.get(pods, shop('a'))).toBe(stored);
  });

  it('are changed by update, modify, apply and delete', () => {
    const { objects } = createFakeApiServer();
    const one = objects.create(pods, pod('a'));
    const two = objects.modify(pods, shop('a'), (draft) => {
      draft.metadata = { ...draft.metadata, labels: { x: '1' } };
    });
    expect(two.metadata).toMatchObject({ uid: one.metadata.uid, resourceVersion: '3' });
    expect(() => objects.update(pods, one)).toThrow(/the object has been modified/);
    expect(objects.apply(pods, [pod('a'), pod('b')]).map(({ metadata }) => metadata.name)).toEqual([
      'a',
      'b',
    ]);
    expect(objects.apply(pods, [pod('b')])[0]?.metadata.resourceVersion).toBe('5');
    objects.delete(pods, shop('a'));
    expect(objects.list(pods).map(({ metadata }) => metadata.name)).toEqual(['b']);
    expect(objects.list(pods, 'elsewhere')).toEqual([]);
    expect(() => objects.delete(pods, shop('a'))).toThrow('pods "a" not found');
  });

  it('have versions beyond what a number can hold', async () => {
    const server = createFakeApiServer({ initialResourceVersion: '9007199254740992' });
    for (const name of ['a', 'b', 'c']) server.objects.create(pods, pod(name));
    const first = await listed(server, '?limit=1');
    expect(first.metadata.resourceVersion).toBe('9007199254740995');
    server.objects.create(pods, pod('aa'));
    const rest = await listed(server, `?continue=${first.metadata.continue}`);
    expect(rest.items.map((item: Line['object']) => item.metadata.resourceVersion)).toEqual([
      '9007199254740994',
      '9007199254740995',
    ]);
    expect(() => createFakeApiServer({ initialResourceVersion: '0' })).toThrow(TypeError);
  });

  it('can change without a watch being told', async () => {
    const server = createFakeApiServer();
    const wire = await Wire.open(server.fetch);
    server.objects.create(pods, pod('a'), { silent: true });
    server.objects.create(pods, pod('b'));
    expect(await wire.lines()).toEqual(['ADDED b']);
    expect((await listed(server)).items).toHaveLength(2);
    const replay = await Wire.open(server.fetch, 'watch=1&resourceVersion=1');
    expect(await replay.lines()).toEqual(['ADDED b']);
  });

  it('go back to a snapshot, versions and all', async () => {
    const server = createFakeApiServer();
    const a = server.objects.create(pods, pod('a'));
    const snapshot = server.objects.snapshot();
    server.objects.create(pods, pod('b'));
    server.objects.delete(pods, shop('a'));
    const wire = await Wire.open(server.fetch, 'watch=1&resourceVersion=4');
    server.objects.restoreSnapshot(snapshot);
    await expect(wire.chunk()).rejects.toThrow(TypeError);
    expect(server.openWatches).toEqual([]);
    expect(server.objects.list(pods)).toEqual([a]);
    expect(server.objects.create(pods, pod('c')).metadata.resourceVersion).toBe('3');
    const again = await Wire.open(server.fetch, 'watch=1&resourceVersion=2');
    expect(await again.lines()).toEqual(['ADDED c']);
    server.objects.reset();
    expect([server.objects.resourceVersion, server.objects.list(pods)]).toEqual(['1', []]);
  });

  it('a short history expires by itself', async () => {
    const server = createFakeApiServer({ historyLimit: 2 });
    for (const name of 'abcde') server.objects.create(pods, pod(name));
    const old = await Wire.open(server.fetch, 'watch=1&resourceVersion=3');
    expect(await old.lines()).toEqual(['ERROR Expired']);
    const kept = await Wire.open(server.fetch, 'watch=1&resourceVersion=4');
    expect(await kept.lines()).toEqual(['ADDED d', 'ADDED e']);
  });
});

describe('watches of a fake server', () => {
  it('send what happens in one turn as one chunk', async () => {
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
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(server.openWatches[0]?.sent).toBe(0);
    const first = await wire.lines();
    expect(server.openWatches[0]?.sent).toBe(first.length);
    expect(first.length).toBeLessThan(120);
  });

  it('get 410 when the history outruns them', async () => {
    const server = createFakeApiServer({ historyLimit: 2 });
    const wire = await Wire.open(server.fetch);
    for (const name of 'abcdefgh') server.objects.create(pods, pod(name));
    expect((await wire.lines()).at(-1)).toBe('ERROR Expired');
    expect(await wire.chunk()).toBeUndefined();
  });

  it('leave nothing behind when they are aborted or cancelled', async () => {
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

  it('bookmark and end on time of the scheduler', async () => {
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

  it('end when their resource goes', async () => {
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

  it('carry whoever applies them from any version to the newest', async () => {
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
            // An ADDED of what is there, or a DELETED of what is not, would be a lie.
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

describe('a fake server', () => {
  it('logs requests in order', async () => {
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

  it('knows no streaming lists when it is told so', async () => {
    const server = createFakeApiServer({ watchList: false });
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    const answer = await server.fetch(`http://fake/api/v1/pods?${query}&allowWatchBookmarks=true`);
    expect(answer.status).toBe(422);
    expect((await answer.json()).details.causes[0].field).toBe('sendInitialEvents');
    const wire = await Wire.open(server.fetch, 'watch=1&allowWatchBookmarks=true');
    server.objects.create(pods, pod('a'));
    expect(await wire.lines()).toEqual(['ADDED a']);
  });

  it('gives no page longer than pageSizeMax', async () => {
    const server = createFakeApiServer({ pageSizeMax: 2 });
    for (const name of 'abc') server.objects.create(pods, pod(name));
    expect((await listed(server, '?limit=10')).items).toHaveLength(2);
    expect((await listed(server)).items).toHaveLength(3);
  });

  it('selects by the fields that a resource has', async () => {
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

  it('refuses tables, metadata only, patches and dry runs', async () => {
    const server = createFakeApiServer();
    server.objects.create(pods, pod('a'));
    const ask = (path: string, init: RequestInit) => server.fetch(`http://fake${path}`, init);
    for (const as of ['Table', 'PartialObjectMetadataList']) {
      const accept = `application/json;as=${as};v=v1;g=meta.k8s.io`;
      expect((await ask('/api/v1/pods', { headers: { accept } })).status).toBe(406);
      const either = { headers: { accept: `${accept},application/json` } };
      expect((await ask('/api/v1/pods', either)).status).toBe(200);
    }
    const a = '/api/v1/namespaces/shop/pods/a';
    const patched = await ask(a, { method: 'PATCH', body: '{}' });
    expect([patched.status, (await patched.json()).message]).toEqual([
      415,
      expect.stringContaining('no PATCH of pods'),
    ]);
    expect((await ask(`${a}?dryRun=All`, { method: 'DELETE' })).status).toBe(400);
    expect(server.objects.get(pods, shop('a'))).toBeDefined();
  });

  it('takes Request objects', async () => {
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
