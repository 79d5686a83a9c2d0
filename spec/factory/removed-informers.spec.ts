/** Views of queries whose informer is stopped and removed from the factory while they are in use. */
import { createLiveQueries, liveQuery, toView, type View } from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { place, rig } from './rig.ts';

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
