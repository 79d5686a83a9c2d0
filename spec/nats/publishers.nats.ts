/** Publishers: large sets, objects that are too large, two publishers, informers that stop, streams with other settings. */
import {
  createClient,
  createLeaderElector,
  createListWatch,
  createShardedInformer,
  createSharedInformer,
  metered,
  shardRanges,
} from 'rx-informer';
import { leases, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { of } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordedMetrics } from '../metrics/recorded-metrics.ts';
import { eventually } from '../support/patience.ts';
import { managerOf, NatsServer } from './nats-server.ts';
import { beats, contents, patient, Scene } from './scene.ts';

let nats: NatsServer;
let scene: Scene;

beforeEach(async () => {
  nats = await NatsServer.start({ maxPayload: 64 * 1024 });
  scene = new Scene(nats);
});
afterEach(async () => {
  await scene.stop();
  await nats.stop();
});

const truthOf = () => scene.truth().join();

describe('a publisher', () => {
  it('J3: a set that is larger than a batch becomes visible at once, and is complete', async () => {
    for (let at = 0; at < 2_500; at++) scene.create(`ns-${at % 7}`, `web-${at}`);
    const { publisher } = await scene.publisher();
    const { informer } = await scene.reader();
    const { informer: one } = await scene.reader({ namespace: 'ns-3' });
    const sizes = new Set<number>();
    informer.changes$.subscribe(({ synced }) => {
      if (synced) sizes.add(informer.indexer.list().length);
    });
    await informer.whenSynced();
    expect([...sizes]).toEqual([2_500]);
    expect(contents(informer).join()).toBe(truthOf());
    await eventually(() => contents(one).length === 357, 'one namespace');
    await eventually(() => publisher.status.objects === 2_500, 'the publisher says so');
    // A restarted publisher finds a difference of more than one batch.
    await publisher.stop();
    for (let at = 0; at < 1_500; at++) scene.update(`ns-${at % 7}`, `web-${at}`, { tier: 'new' });
    for (let at = 2_400; at < 2_500; at++) scene.remove(`ns-${at % 7}`, `web-${at}`);
    const sets: number[] = [];
    informer.changes$.subscribe(({ reset, changes }) => {
      if (!reset) sets.push(changes.length);
    });
    await scene.publisher();
    await eventually(() => contents(informer).join() === truthOf(), 'the difference');
    expect(sets).toEqual([1_600]);
    expect(informer.status.relists).toBe(0);
  });

  it('J73: shows the place and the objects that it could not write in the metrics', async () => {
    const { provider, scrape } = recordedMetrics();
    scene.create('shop', 'big', { value: 'x'.repeat(70_000) });
    scene.create('shop', 'web-0');
    const { publisher } = await scene.publisher({ metrics: metered(provider) });
    const shown = () =>
      Object.entries(scrape()).flatMap(([series, value]) =>
        series.startsWith('informer_nats_sequence') || series.includes('too-large') ? [value] : [],
      );
    await eventually(() => publisher.status.objects === 1, 'web-0 is in the bucket');
    await eventually(
      () => shown().join() === [1, publisher.status.sequence].join(),
      'one is too large, and the place is that of the status',
    );
    expect(publisher.status.sequence).toBeGreaterThan(0);
  });

  it('J11: an object that is too large is named, is not in the bucket in any state, and enters it when it fits', async () => {
    scene.create('shop', 'big');
    scene.create('shop', 'web-0');
    const { publisher } = await scene.publisher();
    const { informer } = await scene.reader();
    await eventually(() => contents(informer).length === 2, 'both');
    scene.update('shop', 'big', { value: 'x'.repeat(70_000) });
    await eventually(() => contents(informer).length === 1, 'big is out');
    await eventually(() => publisher.status.tooLarge.length === 1, 'the publisher names it');
    // The rows may arrive before the publisher notes that they were written.
    await eventually(() => publisher.status.tooLarge.length > 0, 'the publisher names it');
    expect(publisher.status.tooLarge).toEqual([
      { key: 'shop/big', bytes: expect.any(Number) as number },
    ]);
    expect(publisher.status.message).toContain('the first is shop/big');
    scene.update('shop', 'big', { value: 'x' });
    await eventually(() => contents(informer).join() === truthOf(), 'big is in');
    await eventually(() => publisher.status.tooLarge.length === 0, 'nothing is too large');
    expect(informer.status.relists).toBe(0);
  });

  it('J12: of two publishers with one Lease one writes, and the other takes over without a list for readers', async () => {
    const api = createFakeApiServer({ resources: [leases] });
    const client = createClient({ baseUrl: 'http://fake', fetch: api.fetch });
    const elector = (identity: string) =>
      createLeaderElector({
        ...{ client, namespace: 'shop', name: 'publisher', identity },
        ...{ leaseDurationMs: 6_000, renewDeadlineMs: 4_000, retryPeriodMs: 200 },
      });
    scene.create('shop', 'web-0');
    const first = await scene.publisher({ elector: elector('a') });
    // Nobody is known to have the Lease before the first answer.
    expect(first.publisher.status.message).toBe('waiting for the Lease');
    await eventually(() => first.publisher.status.phase === 'publishing', 'the first leads');
    const second = await scene.publisher({ elector: elector('b') });
    const { informer } = await scene.reader();
    const words = 'a has the Lease; this process takes over when it gets the Lease';
    await eventually(() => second.publisher.status.message === words, 'the second waits');
    await eventually(() => contents(informer).length === 1, 'the reader is in step');
    scene.create('shop', 'web-1');
    await eventually(() => contents(informer).length === 2, 'web-1');
    await first.publisher.stop();
    scene.create('shop', 'web-2');
    scene.remove('shop', 'web-0');
    await eventually(() => contents(informer).join() === truthOf(), 'the second publishes');
    await eventually(() => second.publisher.status.phase === 'publishing', 'the second says so');
    expect(informer.status.relists).toBe(0);
  });

  it('J12: two publishers without a Lease exclude each other: each write is refused or complete, and readers are in step', async () => {
    scene.create('shop', 'web-0');
    await scene.publisher();
    await scene.publisher();
    const { informer } = await scene.reader();
    const told: string[] = [];
    informer.changes$.subscribe(({ reset, changes }) => {
      if (!reset)
        told.push(...changes.map(({ key, object }) => `${object === undefined ? '-' : '+'}${key}`));
    });
    for (let at = 1; at <= 20; at++) {
      scene.create('shop', `web-${at}`);
      // Each write is another one that both want to make.
      await eventually(() => informer.indexer.has(`shop/web-${at}`), `web-${at}`);
    }
    await eventually(() => contents(informer).join() === truthOf(), 'the reader is in step');
    expect(told.length).toBe(new Set(told).size);
    expect(informer.status.relists).toBe(0);
  });

  it('J15: a publisher of another namespace is refused, readers keep all objects, and a purge lets it in', async () => {
    scene.create('shop', 'web-0');
    scene.create('bank', 'db-0');
    const client = createClient({ baseUrl: 'http://fake', fetch: scene.api.fetch });
    const only = (namespace: string) =>
      createSharedInformer(createListWatch(client, pods, { namespace })) as never;
    const bank = await scene.publisher({}, only('bank'));
    await eventually(() => bank.publisher.status.phase === 'publishing', 'bank is published');
    const { informer } = await scene.reader();
    await eventually(() => contents(informer).length === 1, 'the reader is in step');
    const events: string[] = [];
    informer.changes$.subscribe(({ reset, changes }) => {
      if (!reset) events.push(...changes.map(({ key }) => key));
    });
    const shop = await scene.publisher({}, only('shop'));
    const all = await scene.publisher();
    for (const { publisher } of [shop, all]) {
      // Publishers that come at the same time may first be told that another one was faster.
      const isRefused = () =>
        publisher.status.phase === 'backoff' && publisher.status.error?.reason === 'OtherSource';
      await eventually(isRefused, 'the refusal');
      expect(publisher.status.error?.code).toBe(409);
      expect(publisher.status.message).toContain('the bucket has the namespace "bank"');
    }
    // Some heartbeats, of two records each.
    const { sequence } = bank.publisher.status;
    await eventually(() => bank.publisher.status.sequence > sequence + 12, 'bank has heartbeats');
    await eventually(() => informer.status.live, 'the reader is live');
    expect([events, informer.status.relists]).toEqual([[], 0]);
    await eventually(() => bank.publisher.status.phase === 'publishing', 'bank is not disturbed');
    await bank.publisher.stop();
    await all.publisher.stop();
    const manager = await managerOf(bank.connection);
    await manager.streams.purge('KV_k8s', { filter: '$KV.k8s.core.pods.>' });
    // Refused publishers wait longer each time.
    await eventually(() => shop.publisher.status.phase === 'publishing', 'shop is published');
    await eventually(() => events.join() === 'bank/db-0,shop/web-0', 'the reader follows');
  });

  it('J6: a bucket that is purged while a publisher reads it is read again', async () => {
    for (const at of [0, 1, 2]) scene.create('shop', `web-${at}`);
    const first = await scene.publisher();
    await eventually(() => first.publisher.status.phase === 'publishing', 'the bucket is full');
    await first.publisher.stop();
    const { publisher, connection } = await scene.publisher(
      {},
      scene.upstream(),
      {},
      (connection) => {
        const publish = connection.publish.bind(connection);
        let isPurged = false;
        connection.publish = (subject, ...rest) => {
          if (isPurged || !subject.startsWith('$JS.API.CONSUMER.MSG.NEXT')) {
            return publish(subject, ...rest);
          }
          isPurged = true;
          void managerOf(first.connection)
            .then((manager) => manager.streams.purge('KV_k8s', { filter: '$KV.k8s.core.pods.>' }))
            .then(() => publish(subject, ...rest));
        };
      },
    );
    await eventually(() => publisher.status.phase === 'publishing', 'it publishes');
    const { informer } = await scene.reader();
    await eventually(() => contents(informer).join() === truthOf(), 'the reader is in step');
    expect(connection.isClosed()).toBe(false);
  });

  it('J13: a stopped informer sends no heartbeats; when it is started again, the difference is published', async () => {
    scene.create('shop', 'web-0');
    const { publisher, informer: upstream } = await scene.publisher();
    const { informer } = await scene.reader();
    await eventually(() => contents(informer).length === 1, 'web-0');
    await upstream.stop();
    await eventually(() => publisher.status.phase === 'waiting', 'the publisher waits');
    expect(publisher.status.message).toContain('start the informer');
    await eventually(() => informer.status.error !== undefined, 'the publisher is missed');
    scene.remove('shop', 'web-0');
    scene.create('shop', 'web-1');
    expect(upstream.status.phase).toBe('stopped');
    upstream.start();
    await eventually(() => contents(informer).join() === truthOf(), 'the difference');
    expect(informer.status.relists).toBe(0);
  });

  it('J13: a relist of the informer is published as a difference', async () => {
    for (let at = 0; at < 5; at++) scene.create('shop', `web-${at}`);
    const { informer: upstream } = await scene.publisher();
    const { informer } = await scene.reader();
    await eventually(() => contents(informer).length === 5, 'all');
    scene.api.faults.closeWatches();
    scene.remove('shop', 'web-0');
    scene.update('shop', 'web-3', { tier: 'front' });
    scene.update('shop', 'web-1', { tier: 'front' });
    scene.api.objects.compact();
    await upstream.refresh();
    await eventually(() => contents(informer).join() === truthOf(), 'the difference');
    expect(informer.status.relists).toBe(0);
  });

  it('J13: an informer of some shards is refused, because objects that leave would seem to be deleted', async () => {
    scene.create('shop', 'web-0');
    const client = createClient({ baseUrl: 'http://fake', fetch: scene.api.fetch });
    const sharded = createShardedInformer(createListWatch(client, pods), {
      shards: { by: 'uid', ranges$: of(shardRanges([0, 1, 2])) },
    });
    const { publisher } = await scene.publisher({}, sharded as never);
    await eventually(() => publisher.status.phase === 'backoff', 'it is refused');
    expect(publisher.status.message).toContain('the informer holds some shards');
    expect(publisher.status.error?.code).toBe(400);
    await sharded.stop();
  });

  it('J1: an empty collection and a namespace without objects are synced, and show the first object', async () => {
    const { publisher } = await scene.publisher(patient);
    const { informer: all } = await scene.reader(patient);
    const { informer: shop } = await scene.reader({ ...patient, namespace: 'shop' });
    await all.whenSynced();
    await shop.whenSynced();
    const states = () => [all, shop].map(({ status }) => [status.live, status.reconnects]);
    await eventually(() => all.status.live && shop.status.live, 'both are live');
    const before = states();
    await beats(publisher, 4);
    expect(states()).toEqual(before);
    scene.create('shop', 'web-0');
    await eventually(() => contents(shop).length === 1 && contents(all).length === 1, 'web-0');
    expect([all.status.relists, shop.status.relists]).toEqual([0, 0]);
  });

  it('J15: a stream with settings that could lose changes is refused with their names', async () => {
    const manager = await managerOf(await nats.connect());
    await manager.streams.add({ name: 'KV_k8s', subjects: ['$KV.k8s.>'], max_age: 60e9 });
    const { publisher } = await scene.publisher();
    await eventually(() => publisher.status.phase === 'backoff', 'the refusal');
    const { error } = publisher.status;
    expect(error?.reason).toBe('WrongSettings');
    expect(error?.message).toContain('max_age is 60000000000 and must be 0');
    expect(error?.message).toContain('max_msgs_per_subject is -1 and must be 1');
  });
});
