/** What readiness and liveness answer while something goes wrong. */
import {
  createClient,
  createController,
  createInformerFactory,
  createLeaderElector,
  liveness,
  type ReconcileObject,
  readiness,
} from 'rx-informer';
import { leases, type Pod, pods } from 'rx-informer/resources';
import { createFakeApiServer, createVirtualTime } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';

function rig(reconcile: ReconcileObject<Pod> = () => undefined) {
  const time = createVirtualTime();
  const { scheduler } = time;
  const server = createFakeApiServer({ scheduler, resources: [pods, leases] });
  for (const name of ['web-0', 'web-1', 'web-2', 'web-3'])
    server.objects.create(pods, { metadata: { namespace: 'shop', name } });
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler });
  const factory = createInformerFactory(client, { scheduler, onWarning: () => undefined });
  const informer = factory.informer(pods);
  const controller = createController({
    ...{ name: 'webs', scheduler, concurrency: 4, reconcile, for: informer },
    onUnhandledError: () => undefined,
    leaderElection: () =>
      createLeaderElector({
        ...{ client, scheduler, namespace: 'shop', name: 'webs', identity: 'a' },
        onError: () => undefined,
      }),
  });
  const probed = () => ({
    ready: readiness(controller, informer).body,
    alive: liveness(controller, informer).body,
  });
  const stopped = async (promise: Promise<unknown>) => {
    const stopping = promise.finally(() => undefined);
    await time.advance(120_000);
    await stopping;
  };
  return { time, server, factory, informer, controller, probed, stopped };
}

describe('a process', () => {
  it('N49: is ready from its first sync until it stops, also while the API server is away for hours', async () => {
    const { time, factory, server, controller, informer, probed, stopped } = rig();
    expect(probed()).toEqual({
      ready: 'not ok\nnot ok: webs: idle\nnot ok: pods: idle\n',
      alive: 'ok\nwebs: idle\npods: idle\n',
    });
    const outage = server.faults.refuse();
    factory.start();
    controller.start();
    await time.advance(60_000);
    expect(probed()).toEqual({
      ready:
        'not ok\nnot ok: webs: waits for the first list of for: pods\nnot ok: pods: has no complete list yet: backoff\n',
      alive: 'ok\nwebs: syncing\npods: backoff\n',
    });
    outage.heal();
    await time.advance(60_000);
    expect(probed()).toEqual({
      ready: 'ok\nwebs: running\npods: watching\n',
      alive: 'ok\nwebs: running\npods: watching\n',
    });
    server.faults.refuse();
    server.faults.dropWatches();
    await time.advance(4 * 3_600_000);
    expect([controller.status.leading, informer.status.live]).toEqual([false, false]);
    expect(probed()).toEqual({
      ready: 'ok\nwebs: standby\npods: backoff\n',
      alive: 'ok\nwebs: standby\npods: backoff\n',
    });
    expect(readiness(controller, informer)).toMatchObject({ ok: true, status: 200 });
    await stopped(Promise.all([controller.stop(), factory.stop()]));
    expect(probed().ready).toBe('not ok\nnot ok: webs: stopped\nnot ok: pods: stopped\n');
    expect(readiness(controller)).toMatchObject({ ok: false, status: 503 });
  });

  it('N49: names the reason for which the API server refuses an informer', async () => {
    const { time, factory, server, controller, probed, stopped } = rig();
    server.faults.failNext(
      { resource: pods },
      { status: 403, reason: 'Forbidden', times: Number.POSITIVE_INFINITY },
    );
    factory.start();
    controller.start();
    await time.advance(60_000);
    expect(probed().ready).toMatch(/\nnot ok: pods: has no complete list yet: forbidden\n$/);
    await stopped(Promise.all([controller.stop(), factory.stop()]));
  });

  it('N49, N50: is neither ready nor alive while reconciles of a lost term run on, and both when they have ended', async () => {
    const ends: (() => void)[] = [];
    const { time, factory, server, controller, probed, stopped } = rig(
      () =>
        new Promise<void>((resolve) => {
          ends.push(resolve);
        }),
    );
    factory.start();
    controller.start();
    await time.advance(20_000);
    const outage = server.faults.refuse({ resource: leases });
    await time.advance(30_000);
    const why =
      'webs: a reconcile of an earlier term has not ended: shop/web-0, shop/web-1, shop/web-2, …';
    expect(probed()).toEqual({
      ready: `not ok\nnot ok: ${why}\npods: watching\n`,
      alive: `not ok\nnot ok: ${why}\npods: watching\n`,
    });
    for (const end of ends.splice(0)) end();
    await time.advance(0);
    expect(probed()).toEqual({
      ready: 'ok\nwebs: standby\npods: watching\n',
      alive: 'ok\nwebs: standby\npods: watching\n',
    });
    outage.heal();
    await time.advance(30_000);
    for (const end of ends.splice(0)) end();
    await stopped(Promise.all([controller.stop(), factory.stop()]));
  });

  it('N50: is not alive when a source of its controller has ended', async () => {
    const { time, factory, informer, controller, probed, stopped } = rig();
    factory.start();
    controller.start();
    await time.advance(20_000);
    await stopped(informer.stop());
    expect(probed().alive).toBe(
      'not ok\nnot ok: webs: has lost a source: for: pods\npods: stopped\n',
    );
    await stopped(Promise.all([controller.stop(), factory.stop()]));
  });

  it('N49, N50: is not well if a function of the program says why, or throws', () => {
    const fail = () => {
      throw new Error('no disk');
    };
    for (const probe of [readiness, liveness]) {
      expect(probe(() => undefined)).toEqual({ ok: true, status: 200, body: 'ok\n' });
      expect(probe(() => 'the port is taken')).toEqual({
        ...{ ok: false, status: 503 },
        body: 'not ok\nnot ok: the port is taken\n',
      });
      expect(probe(fail).body).toBe('not ok\nnot ok: a check of the program failed: no disk\n');
    }
  });
});
