/** What the metrics show while something goes wrong. */
import {
  type ApiError,
  audit,
  createClient,
  createController,
  createInformerFactory,
  createLeaderElector,
  createListWatch,
  createShardMember,
  createSharedInformer,
  type MetricsProvider,
  metered,
  shardSlot,
  snapshotsIn,
  TerminalError,
} from 'rx-informer';
import { leases, pods } from 'rx-informer/resources';
import { createFakeApiServer, createVirtualTime } from 'rx-informer/testing';
import { config, Observable } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MemoryStore } from '../persist/memory-store.ts';
import { recordedMetrics } from './recorded-metrics.ts';

/** The labels of the informer of pods. */
const OF_PODS = ['name="pods"', 'group=""', 'version="v1"', 'resource="pods"'];

/** Gauges are 0 once, because the SDK of OpenTelemetry repeats the last value of a series that is not observed any more. */
const ENDED = [new Set([0]), {}];

function withoutThem(series: string): string {
  const [name, labels = ''] = series.slice(0, -1).split('{');
  const others = labels.split(',').filter((label) => !OF_PODS.includes(label));
  return `${name}{${others.join(',')}}`;
}

function rig(provider?: MetricsProvider, onUnhandledError?: (error: unknown) => void) {
  const time = createVirtualTime();
  const { scheduler } = time;
  const recorded = recordedMetrics();
  const metrics = metered(provider ?? recorded.provider, { onUnhandledError });
  const server = createFakeApiServer({ scheduler, resources: [pods, leases] });
  server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
  const client = createClient({
    ...{ baseUrl: 'http://fake', fetch: server.fetch, scheduler, metrics },
    ...{ livenessMs: Number.POSITIVE_INFINITY },
  });
  const factory = createInformerFactory(client, { scheduler, metrics, onWarning: () => undefined });
  /** The series whose text begins so, without its labels for the resource. */
  const shown = (name: string) =>
    Object.fromEntries(
      Object.entries(recorded.scrape())
        .filter(([series]) => series.startsWith(name))
        .map(([series, value]) => [withoutThem(series), value]),
    );
  /** What the first collection after the end shows, and the second one. */
  const afterEnd = async (name: string) => {
    const last = new Set(Object.values(shown(name)));
    await time.advance(0);
    return [last, shown(name)];
  };
  const settled = async <R>(promise: Promise<R>): Promise<R> => {
    const passing = promise.finally(() => undefined);
    for (let step = 0; step < 150; step++) await time.advance(1_000);
    return passing;
  };
  return { time, scheduler, recorded, metrics, server, client, factory, shown, afterEnd, settled };
}

describe('an informer', () => {
  it('I126: shows for how long its objects are stale, and that it is not live', async () => {
    const { time, server, factory, shown, afterEnd, settled } = rig();
    const informer = factory.informer(pods);
    factory.start();
    await time.advance(5_000);
    expect(shown('informer_stale_seconds')).toEqual({ 'informer_stale_seconds{}': 0 });
    expect(shown('informer_live')).toEqual({ 'informer_live{}': 1 });
    const outage = server.faults.refuse();
    server.faults.dropWatches();
    await time.advance(90_000);
    expect(shown('informer_live')).toEqual({ 'informer_live{}': 0 });
    expect(shown('informer_synced')).toEqual({ 'informer_synced{}': 1 });
    expect(shown('informer_stale_seconds')['informer_stale_seconds{}']).toBeCloseTo(90, 0);
    const { 'informer_retries_total{}': retries = 0 } = shown('informer_retries');
    expect(retries).toBeGreaterThan(3);
    expect(retries).toBe(informer.status.attempt);
    outage.heal();
    await time.advance(60_000);
    expect(shown('informer_stale_seconds')).toEqual({ 'informer_stale_seconds{}': 0 });
    // The next failures count on.
    server.faults.refuse();
    server.faults.dropWatches();
    await time.advance(10_000);
    expect(shown('informer_retries')['informer_retries_total{}']).toBeGreaterThan(retries);
    await settled(factory.stop());
    expect(await afterEnd('informer_stale_seconds')).toEqual(ENDED);
  });

  it('I126: is stale from its start until it is synced, and shows why it is blocked', async () => {
    const { time, server, factory, shown, settled } = rig();
    const forbidden = server.faults.failNext(undefined, {
      ...{ status: 403, reason: 'Forbidden', times: Number.POSITIVE_INFINITY },
    });
    factory.informer(pods);
    factory.start();
    await time.advance(20_000);
    expect(shown('informer_blocked')).toEqual({
      'informer_blocked{reason="forbidden"}': 1,
      'informer_blocked{reason="no-such-resource"}': 0,
      'informer_blocked{reason="unauthorized"}': 0,
      'informer_blocked{reason="wrong-kind"}': 0,
    });
    expect(shown('informer_synced')).toEqual({ 'informer_synced{}': 0 });
    expect(shown('informer_stale_seconds')['informer_stale_seconds{}']).toBe(20);
    forbidden.heal();
    await settled(factory.stop());
  });

  it('I27: counts the events of watches, and those before the end of the run', async () => {
    const { time, server, factory, shown, settled } = rig();
    factory.informer(pods);
    factory.start();
    await time.advance(5_000);
    expect(shown('informer_events')).toEqual({ 'informer_events_total{}': 0 });
    const target = { namespace: 'shop', name: 'web-1' };
    server.objects.create(pods, { metadata: target });
    server.objects.delete(pods, target);
    await time.advance(1_000);
    // The counter is told when metrics are collected, so this scrape does so first.
    shown('informer_events');
    expect(shown('informer_events')).toEqual({ 'informer_events_total{}': 2 });
    server.objects.create(pods, { metadata: target });
    await time.advance(1_000);
    await settled(factory.stop());
    expect(shown('informer_events')).toEqual({ 'informer_events_total{}': 3 });
  });
});

describe('an audit', () => {
  it('I92: counts what differed by whether only the store or only the server had it', async () => {
    const { time, scheduler, server, client, metrics, shown, settled } = rig();
    const factory = createInformerFactory(client, {
      ...{ scheduler, metrics, audit: audit({ periodMs: 60_000 }), onWarning: () => undefined },
    });
    const named = (name: string) => ({ namespace: 'shop', name });
    for (const name of ['web-1', 'web-2']) server.objects.create(pods, { metadata: named(name) });
    factory.informer(pods);
    factory.start();
    await time.advance(5_000);
    const loss = server.faults.loseEvents(1);
    server.objects.delete(pods, named('web-0'));
    server.objects.delete(pods, named('web-1'));
    server.objects.modify(pods, named('web-2'), ({ metadata }) => {
      Object.assign(metadata, { labels: { changed: 'yes' } });
    });
    for (const at of [3, 4, 5]) server.objects.create(pods, { metadata: named(`web-${at}`) });
    await time.advance(1_000);
    loss.heal();
    server.objects.create(pods, { metadata: named('web-6') });
    await time.advance(120_000);
    expect(shown('informer_audit_differed')).toEqual({
      'informer_audit_differed_total{difference="ghost"}': 2,
      'informer_audit_differed_total{difference="missing"}': 3,
      'informer_audit_differed_total{difference="version"}': 1,
    });
    await settled(factory.stop());
  });
});

describe('stored objects', () => {
  it('P37: are counted by their writes, and by the reasons for which they are not stored', async () => {
    const { time, scheduler, metrics, server, client, shown, settled } = rig();
    const store = new MemoryStore();
    const factory = createInformerFactory(client, {
      ...{ scheduler, onWarning: () => undefined },
      persist: snapshotsIn(store, { identity: 'a', kinds: [pods], env: 'stored', metrics }),
    });
    factory.informer(pods);
    factory.start();
    await time.advance(60_000);
    const { length: first } = store.written;
    expect(first).toBeGreaterThan(0);
    server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-1' } });
    await time.advance(60_000);
    expect(store.written).toHaveLength(first + 1);
    expect(shown('informer_snapshot')).toEqual({
      'informer_snapshot_writes_total{}': first + 1,
    });
    const failed = (reason: string) => `informer_not_stored_total{reason="${reason}"}`;
    const none = Object.fromEntries(
      [
        ...['damaged', 'other-informer', 'other-version'],
        ...['read-failed', 'unknown-cluster', 'write-failed'],
      ].map((reason) => [failed(reason), 0]),
    );
    expect(shown('informer_not_stored')).toEqual(none);
    store.failing.write = new Error('the disk is full');
    server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-2' } });
    await time.advance(60_000);
    expect(shown('informer_not_stored')).toEqual({ ...none, [failed('write-failed')]: 1 });
    expect(shown('informer_snapshot')).toEqual({
      'informer_snapshot_writes_total{}': first + 1,
    });
    await settled(factory.stop());
  });
});

describe('a controller', () => {
  it('N48: counts each attempt by its result', async () => {
    const { time, scheduler, server, metrics, factory, shown, afterEnd, settled } = rig();
    const results: Record<string, unknown> = {
      ok: undefined,
      again: { requeue: true },
      later: { requeueAfterMs: 3_600_000 },
      'no-time': { requeueAfterMs: Number.NaN },
      terminal: new TerminalError('never'),
      failing: new Error('twice'),
    };
    for (const name of Object.keys(results))
      server.objects.create(pods, { metadata: { namespace: 'jobs', name } });
    const controller = createController({
      ...{ name: 'jobs', scheduler, metrics, maxRetries: 1, concurrency: 3 },
      for: factory.informer(pods),
      reconcile: (key, { attempt, reasons }) => {
        const result = results[key.slice('jobs/'.length)];
        if (result instanceof Error) throw result;
        const isFirst = attempt === 1 && !reasons.includes('requeue');
        return (isFirst ? result : undefined) as undefined;
      },
    });
    factory.start();
    controller.start();
    await time.advance(60_000);
    // Of shop/web-0, jobs/ok and the second run of jobs/again; NaN, the terminal error, and the failing one twice.
    expect(shown('controller_runtime_reconcile_total')).toEqual({
      'controller_runtime_reconcile_total{controller="jobs",result="success"}': 3,
      'controller_runtime_reconcile_total{controller="jobs",result="requeue"}': 1,
      'controller_runtime_reconcile_total{controller="jobs",result="requeue_after"}': 1,
      'controller_runtime_reconcile_total{controller="jobs",result="error"}': 4,
    });
    const time_ = 'controller_runtime_reconcile_time_seconds';
    expect(shown(time_)[`${time_}_count{controller="jobs"}`]).toBe(9);
    expect(shown('controller_runtime_max')).toEqual({
      'controller_runtime_max_concurrent_reconciles{controller="jobs"}': 3,
    });
    await settled(Promise.all([controller.stop(), factory.stop()]));
    expect(await afterEnd('controller_runtime_max')).toEqual(ENDED);
  });

  it('N48: shows the running reconciles, those of a lost term, and does not count one that was unsubscribed', async () => {
    const { time, scheduler, server, client, metrics, factory, shown, afterEnd, settled } = rig();
    server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-1' } });
    let finish = () => {};
    const controller = createController({
      ...{ name: 'webs', scheduler, metrics, concurrency: 2, onUnhandledError: () => undefined },
      for: factory.informer(pods),
      leaderElection: () =>
        createLeaderElector({
          ...{ client, scheduler, metrics, namespace: 'shop', name: 'webs-lead', identity: 'a' },
          onError: () => undefined,
        }),
      reconcile: (key) =>
        key === 'shop/web-0'
          ? new Promise<void>((resolve) => {
              finish = resolve;
            })
          : new Observable<undefined>(),
    });
    const active = 'controller_runtime_active_workers{controller="webs"}';
    const former = 'informer_controller_unfinished_reconciles{name="webs"}';
    const lead = 'leader_election_master_status{name="webs-lead"}';
    factory.start();
    controller.start();
    await time.advance(20_000);
    expect(shown('')).toMatchObject({ [active]: 2, [former]: 0, [lead]: 1 });
    const outage = server.faults.refuse();
    await time.advance(30_000);
    expect(shown('')).toMatchObject({ [active]: 1, [former]: 1, [lead]: 0 });
    finish();
    await time.advance(0);
    expect(shown('')).toMatchObject({ [active]: 0, [former]: 0, [lead]: 0 });
    const total = 'controller_runtime_reconcile_total';
    expect(Object.values(shown(total)).reduce((sum, value) => sum + value, 0)).toBe(1);
    outage.heal();
    await time.advance(30_000);
    expect(shown('')).toMatchObject({ [lead]: 1 });
    finish();
    await settled(Promise.all([controller.stop(), factory.stop()]));
    expect(await afterEnd('leader_election')).toEqual(ENDED);
  });

  it('N48: a meter in place of what metered() returned is refused, with the name', () => {
    const { recorded, factory } = rig();
    const metrics = recorded.provider as never;
    expect(() =>
      createController({ name: 'webs', for: factory.informer(pods), metrics, reconcile() {} }),
    ).toThrow(/^webs: metrics is .*; it must be what metered\(provider\) returned/);
  });
});

describe('a client', () => {
  it('T80: counts each attempt by its status code, bytes and open requests by their use', async () => {
    const { time, server, client, factory, shown, settled } = rig();
    factory.informer(pods);
    factory.start();
    await time.advance(5_000);
    expect(shown('rest_client_open_requests')).toMatchObject({
      'rest_client_open_requests{use="call"}': 0,
      'rest_client_open_requests{use="watch"}': 1,
    });
    const before = shown('rest_client_');
    server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-1' } });
    await time.advance(1_000);
    shown('');
    const watched = 'rest_client_response_bytes_total{use="watch"}';
    expect(shown('')[watched]).toBeGreaterThan(before[watched] ?? 0);
    const call = (path: string, method = 'GET') =>
      client.request({ path, method }).catch((error: ApiError) => error.code);
    const path = '/api/v1/namespaces/shop/pods';
    expect(await settled(call(`${path}/nobody`))).toBe(404);
    server.faults.failNext({ use: 'call' }, { status: 429, times: 2 });
    await settled(call(`${path}/web-0`));
    const outage = server.faults.refuse({ use: 'call' });
    await settled(call(`${path}/web-0`));
    outage.heal();
    expect(shown('rest_client_requests_total')).toMatchObject({
      'rest_client_requests_total{code="404",method="GET"}': 1,
      'rest_client_requests_total{code="429",method="GET"}': 2,
      'rest_client_requests_total{code="<error>",method="GET"}': 1,
    });
    await settled(factory.stop());
    expect(shown('rest_client_open_requests')).toMatchObject({
      'rest_client_open_requests{use="watch"}': 0,
    });
  });

  it('T80: measures the wait for the rate limit, and the time to the head of a response', async () => {
    const time = createVirtualTime();
    const { scheduler } = time;
    const recorded = recordedMetrics();
    const server = createFakeApiServer({ scheduler });
    server.faults.delay(250);
    const client = createClient({
      ...{ baseUrl: 'http://fake', fetch: server.fetch, scheduler, qps: 1, burst: 1 },
      metrics: metered(recorded.provider),
    });
    const both = Promise.all([1, 2].map(() => client.request({ path: '/version' })));
    await time.advance(5_000);
    await both;
    const series = recorded.scrape();
    expect(series['rest_client_rate_limiter_duration_seconds_count{verb="GET"}']).toBe(2);
    expect(series['rest_client_rate_limiter_duration_seconds_sum{verb="GET"}']).toBeCloseTo(1, 1);
    expect(series['rest_client_request_duration_seconds_sum{verb="GET"}']).toBe(0.5);
  });
});

describe('a member of a ring', () => {
  it('H72: shows the slots that it owns, until it stops', async () => {
    const { time, scheduler, client, metrics, shown, afterEnd, settled } = rig();
    const member = createShardMember({
      ...{ client, scheduler, metrics, namespace: 'shop', name: 'ring', identity: 'a' },
    });
    member.start();
    await time.advance(1_000);
    const owned = 'informer_shard_slots_owned{name="ring"}';
    expect(shown('informer_shard')).toMatchObject({
      'informer_shard_slots{name="ring"}': 64,
      [owned]: 0,
    });
    await time.advance(60_000);
    expect(shown('informer_shard')).toMatchObject({
      'informer_shard_members{name="ring"}': 1,
      [owned]: 64,
    });
    await settled(member.stop());
    expect(await afterEnd('informer_shard')).toEqual(ENDED);
  });

  it('H73: a controller in shards shows the keys of slots that are being released', async () => {
    const { time, scheduler, server, client, metrics, shown, afterEnd, settled } = rig();
    for (let at = 1; at < 60; at++)
      server.objects.create(pods, { metadata: { namespace: 'shop', name: `web-${at}` } });
    const hanging: (() => void)[] = [];
    const replica = (identity: string) => {
      const informer = createSharedInformer(createListWatch(client, pods), { scheduler });
      const shared = { scheduler, metrics, identity };
      const member = createShardMember({
        ...{ ...shared, client, namespace: 'shop', name: 'ring', drainMs: 600_000 },
      });
      const controller = createController({
        ...{ name: identity, scheduler, metrics, shards: member, concurrency: 100 },
        for: informer,
        reconcile: () => {
          if (hanging.length >= 60) return undefined;
          return new Promise<void>((resolve) => hanging.push(resolve));
        },
      });
      controller.start();
      return { member, informer, controller };
    };
    const of = (name: string) => `informer_shard_waiting_keys{name="${name}"}`;
    const a = replica('a');
    expect(shown('informer_shard_waiting')).toEqual({ [of('a')]: 0 });
    await time.advance(1_000);
    // The slots of a new ring have no owner.
    expect(shown('informer_shard_waiting')).toEqual({ [of('a')]: 60 });
    await time.advance(60_000);
    expect(hanging).toHaveLength(60);
    expect(shown('informer_shard_waiting')).toEqual({ [of('a')]: 0 });
    const b = replica('b');
    await time.advance(10_000);
    const waiting = () => {
      const vacant = new Set(a.member.status.vacant);
      const all = server.objects.list(pods);
      return all.filter((pod) => vacant.has(shardSlot(pod, 'uid'))).map(({ metadata }) => metadata);
    };
    const { length: count } = waiting();
    expect(count).toBeGreaterThan(5);
    expect(a.member.status.vacant).toEqual(a.member.status.releasing);
    // Both know, because both receive all objects.
    expect(shown('informer_shard_waiting')).toEqual({ [of('a')]: count, [of('b')]: count });
    const [first] = waiting();
    server.objects.delete(pods, { namespace: 'shop', name: first?.name ?? '' });
    await time.advance(1_000);
    expect(waiting()).toHaveLength(count - 1);
    expect(shown('informer_shard_waiting')).toEqual({ [of('a')]: count, [of('b')]: count });
    // An object that exists again has no deletion to be reconciled.
    server.objects.create(pods, { metadata: { namespace: 'shop', name: first?.name ?? '' } });
    await time.advance(1_000);
    const { length: again } = waiting();
    expect(shown('informer_shard_waiting')).toEqual({ [of('a')]: again, [of('b')]: again });
    for (const finish of hanging) finish();
    await time.advance(20_000);
    expect(b.member.status.owned.length).toBeGreaterThan(20);
    expect(shown('informer_shard_waiting')).toEqual({ [of('a')]: 0, [of('b')]: 0 });
    for (const { informer, controller } of [a, b])
      await settled(Promise.all([controller.stop(), informer.stop()]));
    expect(await afterEnd('informer_shard')).toEqual(ENDED);
  });
});

describe('a provider that throws', () => {
  const fail = () => {
    throw new Error('the backend is shutting down');
  };
  const throwing = {
    add: fail,
    record: fail,
    addCallback: fail,
    removeCallback: fail,
  };
  const providers: Record<string, () => object> = {
    'creates no instrument': fail,
    'throws whenever it is called': () => throwing,
  };
  it.each(Object.entries(providers))(
    'N48, T80, H72: a provider that %s ends nothing, and is reported where the program said',
    async (_, create) => {
      const uncaught: unknown[] = [];
      config.onUnhandledError = (error) => uncaught.push(error);
      onTestFinished(() => {
        config.onUnhandledError = null;
      });
      const reports: string[] = [];
      const report = (error: unknown) => reports.push((error as Error).message);
      const provider = {
        createCounter: create,
        createUpDownCounter: create,
        createHistogram: create,
        createObservableGauge: create,
      } as unknown as MetricsProvider;
      const { time, scheduler, client, metrics, settled } = rig(provider, report);
      const shared = { client, scheduler, metrics, namespace: 'shop', identity: 'a' };
      const informers = createInformerFactory(client, {
        ...{ scheduler, metrics, onUnhandledError: report },
      });
      const seen: string[] = [];
      const controller = createController({
        ...{ scheduler, metrics, onUnhandledError: report },
        for: informers.informer(pods),
        leaderElection: () => createLeaderElector({ ...shared, name: 'webs' }),
        reconcile: (key) => {
          seen.push(key);
        },
      });
      const member = createShardMember({ ...shared, name: 'ring' });
      informers.start();
      controller.start();
      member.start();
      await time.advance(60_000);
      expect([seen, member.status.owned.length]).toEqual([['shop/web-0'], 64]);
      await settled(Promise.all([controller.stop(), member.stop(), informers.stop()]));
      expect([new Set(reports), uncaught]).toEqual([new Set(['the backend is shutting down']), []]);
    },
  );
});
