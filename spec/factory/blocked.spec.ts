/** The factory's whenSynced() when the server refuses some of the requested resources. */
import { createController, type InformerFactory, type NotSyncedError } from 'rx-informer';
import { configMaps, nodes, pods, secrets } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { place, rig } from './rig.ts';

type Outcome = 'pending' | 'synced' | NotSyncedError;

function watched(wait: Promise<void>): { outcome: Outcome } {
  const seen: { outcome: Outcome } = { outcome: 'pending' };
  wait.then(
    () => {
      seen.outcome = 'synced';
    },
    (error: NotSyncedError) => {
      seen.outcome = error;
    },
  );
  return seen;
}

const waits = (factory: InformerFactory) => ({
  hasty: watched(factory.whenSynced()),
  patient: watched(factory.whenSynced({ whileBlocked: 'wait', timeoutMs: 60_000 })),
});

describe('whenSynced of a factory', () => {
  it('G16: rejects without waiting for its timeout, and names each refused informer with the cause', async () => {
    const { server, factory, time } = rig();
    const own = factory();
    own.informer(pods);
    own.informer(secrets, { namespace: 'shop' });
    own.informer(nodes);
    own.informer(configMaps, { namespaces: ['shop', 'till'] });
    const times = 99;
    server.faults.failNext({ resource: secrets }, { status: 403, message: 'no secrets', times });
    // These are refused later, or fail in another way.
    server.faults.delay(40, { resource: nodes });
    server.faults.failNext({ resource: nodes }, { status: 401, message: 'no nodes', times });
    server.faults.delay(70, { resource: configMaps, namespace: 'till' });
    const broken = { status: 500, message: 'broken', times };
    server.faults.failNext({ resource: configMaps, namespace: 'till' }, broken);
    own.start();
    const { hasty, patient } = waits(own);
    await time.advance(50);
    expect(hasty.outcome).toBe('pending');
    await time.advance(150);
    const { outcome } = hasty;
    if (typeof outcome === 'string') throw new Error(`it is ${outcome}`);
    expect(outcome.missing.map(({ name }) => name)).toEqual([
      'secrets/shop',
      'nodes',
      'configmaps/shop+till',
    ]);
    expect(outcome.message).toMatch(
      /^3 of 4 informers not synced: secrets\/shop \(forbidden: .*no secrets\); nodes \(unauthorized: .*no nodes\); configmaps\/shop\+till \(namespace till backoff: .*broken\)\. They keep trying; to wait for that, pass whileBlocked: 'wait'$/,
    );
    expect(patient.outcome).toBe('pending');
    await time.advance(60_000);
    expect(patient.outcome).toMatchObject({ reason: 'NotObserved' });
    expect(String(patient.outcome)).toContain(
      '3 of 4 informers not synced after 60000 ms: secrets',
    );
  });

  it('G16: with one cause the error is that cause; an informer that is accepted later is synced', async () => {
    const { server, factory, time } = rig();
    const own = factory();
    own.informer(pods);
    own.informer(secrets);
    const refused = { status: 403, message: 'no secrets', times: 4 };
    server.faults.failNext({ resource: secrets }, refused);
    own.start();
    const { hasty, patient } = waits(own);
    await time.advance(100);
    expect(hasty.outcome).toMatchObject({ code: 403, reason: 'Forbidden' });
    await time.advance(20_000);
    expect(patient.outcome).toBe('synced');
    await own.whenSynced();
  });

  it('G16: a failure that is retried does not reject before the timeout', async () => {
    const { server, factory, time } = rig();
    const own = factory();
    own.informer(pods);
    own.informer(secrets);
    server.faults.failNext({ resource: secrets }, { status: 500, times: 4 });
    own.start();
    const wait = watched(own.whenSynced());
    await time.advance(1_000);
    expect(wait.outcome).toBe('pending');
    await time.advance(30_000);
    expect(wait.outcome).toBe('synced');
  });

  it.each([
    ['before another informer fails in a way that a retry can heal', 500],
    ['and fails in a way that a retry can heal', 403],
  ])(
    'G16: a refusal that ends while other outcomes are awaited does not reject: %s',
    async (_how, status) => {
      const { server, factory, time } = rig();
      const own = factory();
      own.informer(pods);
      own.informer(secrets);
      server.faults.failNext({ resource: secrets }, { status: 403, times: 2 });
      if (status === 403) server.faults.failNext({ resource: secrets }, { status: 500, times: 5 });
      server.faults.delay(10_000, { resource: pods });
      if (status === 500) server.faults.failNext({ resource: pods }, { status: 500, times: 1 });
      own.start();
      const wait = watched(own.whenSynced());
      await time.advance(5_000);
      expect(wait.outcome).toBe('pending');
      await time.advance(100_000);
      expect(wait.outcome).toBe('synced');
    },
  );

  it('G16: a stop rejects immediately, also while the outcomes of others are awaited', async () => {
    const { server, factory, time } = rig();
    const own = factory();
    const stopped = own.informer(pods);
    own.informer(secrets);
    server.faults.delay(20_000, { resource: pods });
    server.faults.failNext({ resource: secrets }, { status: 403, times: 99 });
    own.start();
    const wait = watched(own.whenSynced());
    await time.advance(100);
    expect(wait.outcome).toBe('pending');
    await stopped.stop();
    await time.advance(0);
    expect(String(wait.outcome)).toMatch(/2 of 2 informers not synced: pods \(stopped/);
  });

  it('G16: a cause that blocked the previous run does not count after a restart in the same callback', async () => {
    const { server, factory, time } = rig();
    const own = factory();
    const informer = own.informer(pods);
    server.faults.failNext({ resource: pods }, { status: 403, times: 2 });
    let wait: { outcome: Outcome } | undefined;
    informer.status$.subscribe(({ blocked }) => {
      if (blocked === undefined || wait !== undefined) return;
      void informer.stop();
      informer.start();
      wait = watched(own.whenSynced());
    });
    own.start();
    await time.advance(100);
    expect(wait?.outcome).toBe('synced');
  });

  it("I65: with whileBlocked 'wait' the caller gets no error, so the factory warns once per informer", async () => {
    const { server, factory, time } = rig();
    const warnings: string[] = [];
    const own = factory({ onWarning: (message) => warnings.push(message) });
    own.informer(secrets);
    server.faults.failNext({ resource: secrets }, { status: 403, message: 'no', times: 99 });
    own.start();
    const wait = watched(own.whenSynced({ whileBlocked: 'wait', timeoutMs: 60_000 }));
    await time.advance(60_000);
    expect(wait.outcome).toMatchObject({ code: 403 });
    expect(warnings).toEqual([
      'secrets: blocked (forbidden): LIST v1/secrets: no. The informer keeps trying, and nothing listens to its status$',
    ]);
  });

  it('I65: a caller that is refused gets the error, so the factory does not warn', async () => {
    const { server, factory, time } = rig();
    const warnings: string[] = [];
    const own = factory({ onWarning: (message) => warnings.push(message) });
    own.informer(secrets);
    own.informer(nodes);
    server.faults.failNext({}, { status: 403, times: 99 });
    server.faults.delay(40, { resource: nodes });
    own.start();
    const wait = watched(own.whenSynced());
    await time.advance(30_000);
    expect(wait.outcome).toMatchObject({ code: 403 });
    expect(warnings).toEqual([]);
  });

  it('N1: a controller waits for a resource that does not exist yet, and starts when it is added', async () => {
    const { server, factory, time } = rig();
    const own = factory();
    const informer = own.informer(secrets);
    const seen: string[] = [];
    const controller = createController({
      name: 'secretive',
      for: informer,
      scheduler: time,
      reconcile: (key: string) => {
        seen.push(key);
      },
    });
    server.objects.create(secrets, { metadata: place('key') });
    server.faults.failNext({ resource: secrets }, { status: 404, times: 6 });
    controller.start();
    const ready = controller.whenReady();
    await time.advance(2_000);
    expect(informer.status.blocked).toBe('no-such-resource');
    expect(controller.status).toMatchObject({ phase: 'syncing' });
    await time.advance(30_000);
    await ready;
    expect(seen).toEqual(['shop/key']);
    const stopping = controller.stop();
    await time.advance(1_000);
    await stopping;
  });
});
