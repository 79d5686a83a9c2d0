/** Informers of a factory that subscribers run, that are stopped separately or removed while views use them, or that the application makes. */

import {
  type CollectionPart,
  createClient,
  createListWatch,
  createLiveQueries,
  liveQuery,
  resourceName,
  toView,
  type View,
} from 'rx-informer';
import { nodes, type Pod, pods, secrets } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it, vi } from 'vitest';
import { place, rig } from './rig.ts';

describe('an informer that is stopped separately', () => {
  it.each([
    ['stop(resource)', false],
    ['its last release, after the linger', true],
    ['stop(), without a holder', true],
  ] as const)(
    'I7, G5: its status$ completes if the factory removes it, by %s',
    async (how, isHeld) => {
      const { factory, time, until } = rig();
      const own = factory({ lingerMs: 10_000 });
      own.start();
      const { informer, release } = own.acquire(pods);
      const completed = vi.fn();
      informer.status$.subscribe({ complete: completed });
      await until(own.stop());
      own.start();
      await until(own.whenSynced());
      await until(informer.stop());
      own.start();
      await until(own.whenSynced());
      if (isHeld) release();
      expect(completed).not.toHaveBeenCalled();
      if (how === 'stop(resource)') await until(own.stop(pods));
      else if (how === 'stop(), without a holder') await until(own.stop());
      else await time.advance(10_000);
      expect(completed).toHaveBeenCalledTimes(1);
      expect(own.informers).toEqual([]);
    },
  );

  it('G2: is started again when it is requested, as the same informer', async () => {
    const { server, factory, until } = rig();
    const own = factory();
    own.start();
    for (const ask of [
      () => own.informer(pods),
      () => own.acquire(pods).informer,
      () => {
        own.lister(pods);
        return own.informer(pods);
      },
    ]) {
      const informer = own.informer(pods);
      await until(own.whenSynced());
      await informer.stop();
      expect(server.openWatches).toHaveLength(0);
      server.objects.delete(pods, place('web-0'));
      expect(ask()).toBe(informer);
      expect(informer.isStopped).toBe(false);
      await until(own.whenSynced());
      expect(own.lister(pods).list()).toHaveLength(2);
      expect(server.openWatches).toHaveLength(1);
      server.objects.create(pods, { metadata: place('web-0') });
    }
  });

  it('G2: is started again by the next start() of the factory, and not before', async () => {
    const { server, factory, time, until } = rig();
    const own = factory();
    const informer = own.informer(pods);
    own.informer(nodes);
    own.start();
    await until(own.whenSynced());
    await informer.stop();
    const requests = server.requests.length;
    await time.advance(1_000);
    expect(server.requests).toHaveLength(requests);
    own.start();
    await until(own.whenSynced());
    expect([informer.isStopped, server.openWatches.length]).toEqual([false, 2]);

    await own.stop();
    expect(own.acquire(pods).informer).toBe(informer);
    await time.advance(1_000);
    expect([informer.isStopped, server.openWatches.length]).toEqual([true, 0]);
  });

  it('G3: makes the factory unsynced until it has listed again, as a stop of the factory does', async () => {
    const { server, factory, until } = rig();
    const own = factory();
    const informer = own.informer(pods);
    own.informer(nodes);
    own.start();
    await until(own.whenSynced());
    const said = () =>
      until(
        own.whenSynced().then(
          () => 'synced',
          ({ message }) => message,
        ),
      );
    server.faults.neverAnswer({ resource: secrets });
    own.informer(secrets);
    const waiting = said();
    await informer.stop();
    await own.stop(secrets);
    expect(await waiting).toBe('2 of 3 informers not synced: pods (stopped); secrets (stopped)');
    expect(await said()).toBe('1 of 2 informers not synced: pods (stopped)');
    own.start();
    expect(await said()).toBe('synced');
    await own.stop();
    expect(await said()).toBe('2 of 2 informers not synced: pods (stopped); nodes (stopped)');
    own.start();
    expect(own.informer(pods).status.synced).toBe(false);
    expect(await said()).toBe('synced');
  });
});

describe('a factory that is started again within a callback of its stop', () => {
  it.each([0, 1, 2])(
    'G2: runs all of its informers, if the callback is of number %d',
    async (at) => {
      const { factory, until } = rig();
      const own = factory();
      const informers = [pods, nodes, secrets].map((resource) =>
        own.informer(resource as typeof pods),
      );
      own.start();
      await until(own.whenSynced());
      let starts = 0;
      informers[at]?.status$.subscribe(({ phase }) => {
        if (phase === 'stopped' && starts++ === 0) own.start();
      });
      await until(own.stop());
      await until(own.whenSynced());
      expect(informers.map(({ status }) => status.live)).toEqual([true, true, true]);
      await until(own.stop());
      expect(informers.map(({ status }) => status.phase)).toEqual([
        'stopped',
        'stopped',
        'stopped',
      ]);
    },
  );
});

const shop = { namespace: 'shop' };
const query = () => liveQuery({ from: pods, namespace: 'shop' });
const names = (view: View<Pod>) =>
  view
    .getSnapshot()
    .rows.map(({ metadata }) => metadata.name)
    .sort()
    .join();

async function stoppedWorld() {
  const r = rig();
  const factory = r.factory();
  factory.start();
  const queries = createLiveQueries(factory);
  const view = queries.view(query());
  let calls = 0;
  const leave = view.subscribe(() => calls++);
  await r.until(factory.whenSynced());
  const before = calls;
  await r.until(factory.stop(pods, shop));
  expect(calls).toBeGreaterThan(before);
  r.server.objects.apply(pods, [{ metadata: place('late', 'shop') }]);
  r.server.clearRequests();
  await r.time.advance(100_000);
  return { ...r, factory, queries, view, leave };
}

describe('a view whose informer was removed', () => {
  it.each([
    ['begins', false],
    ['finds', true],
  ])(
    'Q14: shows the status of the next run, which its next subscriber %s',
    async (_, isRunning) => {
      const { server, factory, time, until } = rig();
      const own = factory();
      const { changes$ } = own.informer(pods, shop);
      own.start();
      await until(own.whenSynced());
      const view = toView(changes$);
      const leaves = [view.subscribe(() => undefined)];
      await until(own.stop(pods, shop));
      expect(server.openWatches).toEqual([]);
      expect(view.getSnapshot()).toMatchObject({ synced: false, status: { phase: 'stopped' } });
      if (isRunning) {
        const other = changes$.subscribe();
        leaves.push(() => other.unsubscribe());
        await time.advance(3_000);
      }
      leaves.push(view.subscribe(() => undefined));
      await time.advance(3_000);
      expect(server.openWatches).toHaveLength(1);
      expect(view.getSnapshot()).toMatchObject({ synced: true, status: { live: true } });
      for (const leave of leaves) leave();
      await time.advance(100_000);
      expect([server.openWatches, time.pending]).toEqual([[], 0]);
    },
  );

  it('Q84: shows its rows as stale, and sends nothing', async () => {
    const { server, factory, view, leave } = await stoppedWorld();
    expect(names(view)).not.toContain('late');
    expect(view.getSnapshot()).toMatchObject({
      synced: false,
      total: 1,
      status: { phase: 'stopped', live: false, synced: false },
    });
    expect([server.requests, factory.informers]).toEqual([[], []]);
    leave();
    await factory.stop();
  });

  it.each([
    ['informer()', false],
    ['acquire()', false],
    ['an equal query', false],
    ['another subscriber of the view', false],
    ['a wider informer', true],
  ] as const)('Q84: continues when the informer is requested by %s', async (how, isWider) => {
    const { factory, queries, view, leave, time, server } = await stoppedWorld();
    if (how === 'informer()') factory.informer(pods, shop);
    else if (how === 'acquire()') factory.acquire(pods, shop);
    else if (how === 'a wider informer') factory.informer(pods);
    else if (how === 'another subscriber of the view') view.subscribe(() => undefined);
    else {
      const equal = queries.view(query());
      // Equal queries that are in use have one view.
      expect(equal).toBe(view);
      equal.subscribe(() => undefined);
    }
    await time.advance(3_000);
    expect(names(view)).toContain('late');
    expect(view.getSnapshot()).toMatchObject({ synced: true, status: { live: true } });
    expect(factory.informers).toEqual([isWider ? 'pods' : 'pods/shop']);
    expect(server.openWatches).toHaveLength(1);
    leave();
    await factory.stop();
  });

  it('Q84: continues immediately if a wider informer is running', async () => {
    const r = rig();
    const factory = r.factory();
    factory.start();
    const view = createLiveQueries(factory).view(query());
    const leave = view.subscribe(() => undefined);
    await r.until(factory.whenSynced());
    factory.informer(pods);
    await r.until(factory.whenSynced());
    await r.until(factory.stop(pods, shop));
    r.server.objects.apply(pods, [{ metadata: place('late', 'shop') }]);
    await r.time.advance(3_000);
    expect(names(view)).toBe('late,web-0');
    expect(view.getSnapshot()).toMatchObject({ synced: true, status: { live: true } });
    expect(factory.informers).toEqual(['pods']);
    leave();
    await factory.stop();
    await r.time.advance(100_000);
    expect(r.time.pending).toBe(0);
  });

  it('Q84: a query of two informers waits for both', async () => {
    const r = rig();
    const factory = r.factory();
    const till = { namespace: 'till' };
    for (const scope of [shop, till]) factory.informer(pods, scope);
    factory.start();
    await r.until(factory.whenSynced());
    const queries = createLiveQueries(factory);
    const view = queries.view(liveQuery({ from: pods, namespace: ['shop', 'till'] }));
    const leave = view.subscribe(() => undefined);
    const [one, other] = [factory.stop(pods, shop), factory.stop(pods, till)];
    await r.until(Promise.all([one, other]));
    factory.informer(pods, shop);
    await r.time.advance(3_000);
    expect(view.getSnapshot().status.phase).toBe('stopped');
    factory.informer(pods, till);
    await r.time.advance(3_000);
    expect(view.getSnapshot()).toMatchObject({ total: 2, status: { live: true } });
    expect(factory.informers).toEqual(['pods/shop', 'pods/till']);
    leave();
    await factory.stop();
  });
});

describe('a factory with other ListerWatchers', () => {
  it('G20: reads from them, and from the API server where there is none', async () => {
    const { factory, time, until, requestedPaths } = rig();
    const other = createFakeApiServer({ scheduler: time });
    other.objects.create(pods, { metadata: place('cached', 'shop') });
    const client = createClient({ baseUrl: 'http://other', fetch: other.fetch, scheduler: time });
    const asked: (readonly [string, CollectionPart])[] = [];
    const { informer, start, whenSynced } = factory({
      listWatch: (resource, part) => {
        asked.push([resourceName(resource), part]);
        if (resource.plural !== 'pods' || part.labelSelector !== '') return undefined;
        return createListWatch(client, resource, { scheduler: time });
      },
    });
    const all = informer(pods);
    const selected = informer(pods, { labelSelector: 'app=web', namespaces: ['shop', 'till'] });
    informer(nodes, { as: 'metadata' });
    informer(nodes, { as: 'table' });
    start();
    await until(whenSynced());
    expect(all.indexer.listKeys()).toEqual(['shop/cached']);
    expect([...selected.indexer.listKeys()].sort()).toEqual(['shop/web-0', 'till/web-0']);
    expect(requestedPaths()).toEqual([
      '/api/v1/namespaces/shop/pods',
      '/api/v1/namespaces/till/pods',
      '/api/v1/nodes',
    ]);
    const every = { namespace: '', labelSelector: '', fieldSelector: '', as: 'object' };
    expect(asked).toEqual([
      ['pods', every],
      ['pods', { ...every, labelSelector: 'app=web', namespace: 'shop' }],
      ['pods', { ...every, labelSelector: 'app=web', namespace: 'till' }],
      ['nodes', { ...every, as: 'metadata' }],
    ]);
  });
});
