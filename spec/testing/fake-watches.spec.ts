import { createFakeApiServer } from 'rx-informer/testing';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';
import { type Line, pod, pods, Wire } from './wire.ts';

const shop = (name: string) => ({ name, namespace: 'shop' });

async function listed(server: ReturnType<typeof createFakeApiServer>, query = '') {
  const answer = await server.fetch(`http://fake/api/v1/pods${query}`);
  return answer.json();
}

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
