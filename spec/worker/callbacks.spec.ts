/** Tests calls of a page within notifications, and after the page has closed the connection. */
import { pods } from 'rx-informer/resources';
import type { WorkerCluster } from 'rx-informer/worker';
import { editInWorker } from 'rx-informer/worker';
import { describe, expect, it } from 'vitest';
import { follow } from './browser-rig.ts';
import { names, rigWith } from './rig-pods.ts';

type Call = (cluster: WorkerCluster) => void;

describe('calls of a page within notifications', () => {
  const out: Call = (cluster) => cluster.signedOut();
  const close: Call = (cluster) => cluster.close();
  it.each([
    ['signedOut() in a listener of a view', out, true],
    ['close() in a listener of a view', close, true],
    ['signedOut() in a subscriber of connection$', out, false],
    ['close() in a subscriber of connection$', close, false],
  ])('B5, B7: %s that hears of an error has an end', async (_, call, isOfView) => {
    const rig = rigWith('a');
    const { cluster } = rig.open();
    const view = cluster.view(names);
    let calls = 0;
    const heard = (error: Error | undefined) => {
      if (error !== undefined && ++calls < 100) call(cluster);
    };
    view.subscribe(() => isOfView && heard(view.getSnapshot().status.error));
    await rig.pass(1_000);
    if (!isOfView) cluster.connection$.subscribe(({ error }) => heard(error));
    rig.kill();
    await rig.pass(5_000);
    expect(calls).toBeGreaterThan(0);
    expect(calls).toBeLessThan(5);
  });

  it('B5: one sign-out makes one snapshot, which stays after the answer of the worker', async () => {
    const rig = rigWith('a');
    const { cluster } = rig.open();
    const tab = follow(cluster, names);
    await rig.pass(1_000);
    cluster.signedOut();
    const { shown } = tab;
    await rig.pass(1_000);
    expect(tab.shown).toBe(shown);
    expect(cluster.connection.phase).toBe('signed-out');
  });

  it('B7: what a subscriber of connection$ causes comes later for all of them', async () => {
    const rig = rigWith('a');
    const { cluster } = rig.open();
    const seen: string[][] = [[], []];
    for (const [at, own] of seen.entries()) {
      cluster.connection$.subscribe(({ phase }) => {
        own.push(phase);
        if (at === 0 && phase === 'open') cluster.close();
      });
    }
    await rig.pass(1_000);
    expect(seen[0]).toEqual(['connecting', 'open', 'left']);
    expect(seen[1]).toEqual(seen[0]);
  });
});

describe('a connection that was closed', () => {
  it.each<[string, Call]>([
    ['signedIn', (cluster) => cluster.signedIn('bob')],
    [
      'signedOut and signedIn',
      (cluster) => {
        cluster.signedOut();
        cluster.signedIn('ann');
      },
    ],
    ['signedOut', (cluster) => cluster.signedOut()],
  ])('B7: stays closed after %s, and says so', async (_, call) => {
    const rig = rigWith('a');
    const { cluster } = rig.open();
    const tab = follow(cluster, names);
    await rig.pass(1_000);
    cluster.close();
    const { connection } = cluster;
    call(cluster);
    await rig.pass(60_000);
    expect(cluster.connection).toBe(connection);
    expect(connection).toMatchObject({ phase: 'left', error: { reason: 'Stopped' } });
    const status = { phase: 'stopped', live: false, error: { reason: 'Stopped' } };
    expect(tab.shown).toMatchObject({ rows: [], synced: false, status });
    const edit = editInWorker(cluster, pods, 'shop/a', () => undefined);
    await expect(edit).rejects.toMatchObject({ reason: 'Stopped' });
  });

  it.each<[string, Call]>([
    ['closed', (cluster) => cluster.close()],
    ['signed out', (cluster) => cluster.signedOut()],
  ])('B7: a view that was left says that the page is %s', async (_, call) => {
    const rig = rigWith('a');
    const { cluster } = rig.open();
    const tab = follow(cluster, names);
    await rig.pass(1_000);
    call(cluster);
    const { status } = tab.shown;
    tab.leave();
    expect(tab.shown.status).toMatchObject({ phase: 'stopped', live: false, error: status.error });
  });
});

describe('several views of one query', () => {
  it('B5: none keeps the rows of a user who has signed out', async () => {
    const rig = rigWith('a');
    const { cluster } = rig.open();
    const first = cluster.view(names);
    first.subscribe(() => undefined)();
    // Longer than the linger, after which the query has another view.
    await rig.pass(40_000);
    const second = follow(cluster, names);
    expect(second.view).not.toBe(first);
    await rig.pass(1_000);
    first.subscribe(() => undefined);
    second.leave();
    await rig.pass(1_000);
    expect(second.shown.rows).toHaveLength(1);
    cluster.signedOut();
    expect(first.getSnapshot().rows).toEqual([]);
    expect(second.shown.rows).toEqual([]);
  });
});

describe('the age of rows', () => {
  it.each(['the worker died', 'the page was closed', 'the page was left'])(
    'B7: rows of a hidden page are right until it was hidden: %s an hour later',
    async (what) => {
      const rig = rigWith('a');
      const page = rig.open();
      const tab = follow(page.cluster, names);
      await rig.pass(1_000);
      const hiddenMs = rig.scheduler.now();
      page.turn('hidden');
      await rig.pass(3_600_000);
      rig.delayMs = 400;
      if (what === 'the worker died') {
        rig.isUnavailable = true;
        rig.kill();
        page.turn('shown');
        await rig.pass(500);
      } else if (what === 'the page was closed') page.cluster.close();
      else page.turn('left');
      expect(tab.shown.stale).toBe(true);
      expect(tab.shown.status.staleSinceMs).toBeLessThanOrEqual(hiddenMs);
    },
  );

  it('B7: without Web Locks rows are right until the worker was last heard', async () => {
    const rig = rigWith('a');
    rig.hasLocks = false;
    const tab = follow(rig.open().cluster, names);
    await rig.pass(60_000);
    const killedMs = rig.scheduler.now();
    rig.kill();
    rig.isUnavailable = true;
    await rig.pass(30_000);
    expect(tab.shown.stale).toBe(true);
    const { staleSinceMs = 0 } = tab.shown.status;
    expect(staleSinceMs).toBeLessThanOrEqual(killedMs);
    expect(staleSinceMs).toBeGreaterThan(killedMs - 21_000);
  });

  it('B7: a query that is asked again does not show the former refusal', async () => {
    const rig = rigWith('a');
    rig.isTokenRequired = true;
    const { cluster } = rig.open();
    const before = follow(cluster, names);
    await rig.pass(5_000);
    expect(before.shown.status).toMatchObject({ blocked: 'unauthorized', error: { code: 401 } });
    rig.isTokenRequired = false;
    before.leave();
    const { status } = follow(cluster, names).shown;
    expect(status.phase).toBe('connecting');
    expect([status.blocked, status.error]).toEqual([undefined, undefined]);
  });
});
