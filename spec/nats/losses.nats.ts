/** What a store of JetStream, a server and a connection can lose, and what readers are told. */
import type { NatsConnection } from '@nats-io/nats-core';
import type { SharedInformer } from 'rx-informer';
import { createTcpProxy } from 'rx-informer/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';
import { managerOf, NatsServer } from './nats-server.ts';
import { contents, Scene, tries } from './scene.ts';

let nats: NatsServer;
let scene: Scene;

beforeEach(async () => {
  nats = await NatsServer.start();
  scene = new Scene(nats);
  for (const name of ['web-0', 'web-1', 'web-2']) scene.create('shop', name);
});
afterEach(async () => {
  await scene.stop();
  await nats.stop();
});

/** Notes all that an informer reports, folded: deletions and additions of an object that did not change show here. */
function toldOf(informer: SharedInformer<object>): string[] {
  const told: string[] = [];
  informer.changes$.subscribe(({ reset, changes }) => {
    if (reset) return;
    for (const { key, previous, object } of changes) {
      const sign = previous === undefined ? '+' : object === undefined ? '-' : '~';
      told.push(`${sign}${key}`);
    }
  });
  return told;
}

/** A reader that is in step, and all that it reports from then on. */
async function follower(options: { namespace?: string; port?: number; idleMs?: number } = {}) {
  const reader = await scene.reader(options);
  await reader.informer.whenSynced();
  return { ...reader, told: toldOf(reader.informer) };
}

async function equal(reader: SharedInformer<object>) {
  const isEqual = () => contents(reader).join() === scene.truth().join();
  await eventually(isEqual, 'the reader has what the API server has');
}

/** A slow server may cause other errors first. */
async function missed(reader: SharedInformer<object>) {
  const words = 'the publisher has sent nothing for 0.6 s';
  const isMissed = () => reader.status.error?.message.includes(words) ?? false;
  await eventually(isMissed, 'the publisher is missed');
}

/** The number of messages in the bucket. */
async function messages(connection: NatsConnection): Promise<number> {
  const { streams } = await managerOf(connection);
  return (await streams.info('KV_k8s')).state.messages;
}

describe('a loss', () => {
  it('J4, J6: a purge is found at the next heartbeat, the bucket is filled again, and nothing is told twice', async () => {
    const { connection, publisher } = await scene.publisher();
    const { informer: reader, told } = await follower();
    const { epoch } = publisher.status;
    const manager = await managerOf(connection);
    await manager.streams.purge('KV_k8s');
    await eventually(() => publisher.status.epoch !== epoch, 'a new epoch');
    await eventually(() => reader.status.relists > 0, 'the reader lists again');
    scene.create('shop', 'web-3');
    await equal(reader);
    expect(told).toEqual(['+shop/web-3']);
  });

  it('J6: the purge of one object is found by the count of messages', async () => {
    const { connection, publisher } = await scene.publisher();
    const { informer: reader, told } = await follower();
    const { epoch } = publisher.status;
    const manager = await managerOf(connection);
    await manager.streams.purge('KV_k8s', { filter: '$KV.k8s.core.pods.shop.web-1' });
    await eventually(() => publisher.status.epoch !== epoch, 'a new epoch');
    const late = await follower({ namespace: 'shop' });
    await equal(late.informer);
    await equal(reader);
    expect(told).toEqual([]);
  });

  it('J4: a store that was restored while no publisher lived is found by the reader', async () => {
    const first = await scene.publisher();
    const { informer: reader, told } = await follower();
    await nats.kill();
    const copy = nats.saveStore();
    await nats.run();
    scene.update('shop', 'web-0', { tier: 'front' });
    scene.update('shop', 'web-1', { tier: 'back' });
    scene.remove('shop', 'web-2');
    await equal(reader);
    await first.publisher.stop();
    await nats.kill();
    nats.restoreStore(copy);
    await nats.run();
    await scene.publisher();
    scene.create('shop', 'web-3');
    await equal(reader);
    expect(told.sort()).toEqual(['+shop/web-3', '-shop/web-2', '~shop/web-0', '~shop/web-1']);
    expect(reader.status.relists).toBeGreaterThan(0);
  });

  it('J4: a reader that was away for longer than tombstones last lists again, and has no ghost', async () => {
    const { publisher, connection } = await scene.publisher({ tombstoneMs: 1_000 });
    const link = await createTcpProxy({ target: { port: nats.port } });
    const { informer: reader, told } = await follower({ port: link.port });
    const away = link.refuse();
    link.drop();
    await eventually(() => !reader.status.live, 'the reader is away');
    const before = await messages(connection);
    scene.remove('shop', 'web-1');
    await eventually(() => publisher.status.objects === 2, 'the tombstone is written');
    await eventually(async () => expect(await messages(connection)).toBeLessThan(before));
    // A heartbeat that was on its way may say less than the next one. Each has two records.
    const { sequence } = publisher.status;
    await eventually(() => publisher.status.sequence >= sequence + 4, 'the horizon is published');
    away.heal();
    await equal(reader);
    expect(told).toEqual(['-shop/web-1']);
    expect(reader.status.relists).toBe(1);
    await link.close();
  });

  it('J8: readers see that the publisher is missing, keep their objects, and continue when it is back', async () => {
    const { publisher } = await scene.publisher();
    const { informer: reader, told } = await follower();
    await publisher.stop();
    await missed(reader);
    expect(contents(reader)).toHaveLength(3);
    // It stays so: the next watch is not shown as open either.
    const seen = new Set<boolean>();
    const status = reader.status$.subscribe(({ live }) => seen.add(live));
    await nats.kill();
    const isLost = () => reader.status.error?.message.includes('was lost') ?? false;
    await eventually(isLost, 'the reader sees that the connection is lost');
    await nats.run();
    await missed(reader);
    status.unsubscribe();
    expect([...seen]).toEqual([false]);
    scene.create('shop', 'web-3');
    await scene.publisher();
    await equal(reader);
    await eventually(() => reader.status.live, 'the reader is live');
    expect(told).toEqual(['+shop/web-3']);
  });

  it('J8: readers see that the publisher does not follow the API server, because it sends no heartbeat and does not compare', async () => {
    const { publisher, informer } = await scene.publisher({ compareEveryMs: 1_000 });
    const { informer: reader, told } = await follower();
    const fault = scene.api.faults.refuse();
    scene.api.faults.dropWatches();
    await eventually(() => !informer.status.live, 'the informer is not live');
    await missed(reader);
    const words = 'does not follow the API server';
    await eventually(() => publisher.status.message.includes(words), 'the publisher says why');
    expect(publisher.status.phase).toBe('publishing');
    const seen = new Set<boolean>();
    const status = reader.status$.subscribe(({ live }) => seen.add(live));
    const { sequence } = publisher.status;
    await tries(informer, 2);
    expect(publisher.status.sequence).toBe(sequence);
    status.unsubscribe();
    expect([...seen]).toEqual([false]);
    scene.create('shop', 'web-3');
    fault.heal();
    await equal(reader);
    await eventually(() => reader.status.live, 'the reader is live');
    expect(told).toEqual(['+shop/web-3']);
  });

  it('J8: a publisher whose write has failed compares when its informer follows the API server again, and not before', async () => {
    const { publisher, informer } = await scene.publisher();
    const { informer: reader, told } = await follower();
    await nats.kill();
    scene.update('shop', 'web-0', { tier: 'front' });
    await eventually(() => publisher.status.phase === 'backoff', 'the write fails');
    const fault = scene.api.faults.refuse();
    scene.api.faults.dropWatches();
    await eventually(() => !informer.status.live, 'the informer is not live');
    const phases = new Set<string>();
    publisher.status$.subscribe(({ phase }) => phases.add(phase));
    await nats.run();
    await eventually(() => phases.has('waiting'), 'the publisher waits');
    expect(publisher.status.message).toContain('does not follow the API server');
    await missed(reader);
    await tries(informer, 1);
    expect([...phases]).toEqual(['backoff', 'waiting']);
    expect(reader.status.live).toBe(false);
    fault.heal();
    await equal(reader);
    await eventually(() => reader.status.live, 'the reader is live');
    expect(told).toEqual(['~shop/web-0']);
  });
});
