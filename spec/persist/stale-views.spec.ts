/** Tests what views, hooks and tabs say of rows that come from a store and are not confirmed yet. */
import {
  createClient,
  createInformerFactory,
  createLiveQueries,
  liveQuery,
  snapshotsIn,
  toView,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { mergeStatus } from '../../lib/informer/status/merge-status.ts';
import { resultOf } from '../../lib/react/row-result.ts';
import { BrowserRig, follow } from '../worker/browser-rig.ts';
import { MemoryStore } from './memory-store.ts';
import { persistRig, services } from './rig.ts';

describe('rows of a warm start', () => {
  it('P31: are stale in a view and in a hook until the informer is synced', async () => {
    const rig = persistRig();
    rig.put('a', 1);
    await rig.once();
    rig.server.objects.advance(5);
    const { informer, end } = rig.life();
    const view = toView(informer.changes$);
    const seen: unknown[] = [];
    const note = () => {
      const { rows, synced, stale } = view.getSnapshot();
      const hook = resultOf(view.getSnapshot(), true);
      if (rows.length > 0) seen.push([synced, stale, hook.synced, hook.stale]);
    };
    const leave = view.subscribe(note);
    await rig.time.advance(5_000);
    expect(seen[0]).toEqual([false, true, false, true]);
    expect(seen.at(-1)).toEqual([true, undefined, true, false]);
    leave();
    await end();
  });

  it('P31: are stale in a view of a live query, also if only one of its informers starts warm', async () => {
    const rig = persistRig();
    rig.put('a', 1);
    const client = createClient({
      baseUrl: 'http://fake',
      fetch: rig.server.fetch,
      scheduler: rig.time,
    });
    const start = () =>
      createInformerFactory(client, {
        ...{ scheduler: rig.time, random: () => 0 },
        persist: snapshotsIn(rig.store, { identity: 'alice', kinds: [services] }),
      });
    const query = liveQuery({ from: services, select: { name: 'metadata.name' } });
    const first = start();
    const held = createLiveQueries(first)
      .view(query)
      .subscribe(() => undefined);
    await rig.time.advance(3_000);
    held();
    await first.stop();
    await rig.time.advance(10);
    rig.server.objects.advance(5);
    const second = start();
    const view = createLiveQueries(second).view(query);
    const leave = view.subscribe(() => undefined);
    await rig.time.advance(100);
    expect(view.getSnapshot()).toMatchObject({ rows: [{ name: 'a' }], synced: false, stale: true });
    await rig.time.advance(5_000);
    expect(view.getSnapshot().synced).toBe(true);
    expect(view.getSnapshot().stale).toBeUndefined();
    leave();
    await second.stop();
    const other = { ...rig.life().informer.status, phase: 'listing' as const };
    expect(
      mergeStatus([{ ...other, phase: 'watching' as const, stale: true as const }, other]).stale,
    ).toBe(true);
  });

  it('P31: are stale in the tabs of a worker that starts warm', async () => {
    const rig = new BrowserRig();
    const store = new MemoryStore();
    rig.persist = ({ identity }) =>
      snapshotsIn(store, { identity, kinds: [pods], env: 'left-out' });
    rig.server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
    const former = rig.open();
    const names = liveQuery({ from: pods, select: { name: 'metadata.name' } });
    follow(former.cluster, names);
    await rig.pass(5_000);
    former.cluster.close();
    rig.kill();
    rig.server.objects.advance(5);
    const tab = follow(rig.open().cluster, names);
    await rig.pass(500);
    expect(tab.shown).toMatchObject({ rows: [{ name: 'web' }], synced: false, stale: true });
    await rig.pass(5_000);
    expect(tab.shown.synced).toBe(true);
    expect(tab.shown.stale).toBeUndefined();
  });
});
