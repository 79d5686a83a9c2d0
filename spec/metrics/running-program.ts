/**
 * A program in virtual time with everything that is measured: informers, a controller, an election, a ring, a client, a store, and
 * a publisher whose NATS refuses every request.
 */
import type { NatsConnection } from '@nats-io/nats-core';
import {
  audit,
  createClient,
  createController,
  createInformerFactory,
  createLeaderElector,
  createResourceClient,
  createShardMember,
  metered,
  snapshotsIn,
} from 'rx-informer';
import { publishToNats } from 'rx-informer/nats';
import { configMaps, leases, pods } from 'rx-informer/resources';
import { createFakeApiServer, createVirtualTime } from 'rx-informer/testing';
import { MemoryStore } from '../persist/memory-store.ts';
import { type RecordedMetrics, recordedMetrics } from './recorded-metrics.ts';

const RESULTS = [
  undefined,
  { requeue: true },
  { requeueAfterMs: 600_000 },
  new Error('the disk is full'),
] as const;

const refusing = {
  options: { inboxPrefix: '_INBOX' },
  features: { get: () => ({ ok: true, min: '2.12.0' }) },
  isClosed: () => false,
  status: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) }),
  request: async () => {
    throw new Error('no responders');
  },
} as unknown as NatsConnection;

/** Runs the program for a minute and a half, in which its watches are dropped, and scrapes it. */
export async function scrapedProgram(): Promise<
  Pick<RecordedMetrics, 'instruments'> & { readonly series: Readonly<Record<string, number>> }
> {
  const time = createVirtualTime();
  const { scheduler } = time;
  const recorded = recordedMetrics();
  const metrics = metered(recorded.provider);
  const server = createFakeApiServer({ scheduler, resources: [pods, configMaps, leases] });
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler, metrics });
  for (const [at] of RESULTS.entries())
    server.objects.create(pods, { metadata: { namespace: 'shop', name: `web-${at}` } });
  const store = new MemoryStore();
  const factory = createInformerFactory(client, {
    ...{ scheduler, metrics, onWarning: () => undefined },
    audit: audit({ periodMs: 60_000 }),
    persist: snapshotsIn(store, { identity: 'a', kinds: [pods], env: 'stored', metrics }),
  });
  const lease = { client, scheduler, metrics, namespace: 'shop' };
  const controller = createController({
    ...{ name: 'webs', scheduler, metrics, maxRetries: 1 },
    for: factory.informer(pods),
    leaderElection: () => createLeaderElector({ ...lease, name: 'webs', identity: 'a' }),
    reconcile: async (key, { attempt }) => {
      const result = RESULTS[Number(key.slice(-1))];
      if (result instanceof Error) throw result;
      return attempt > 1 ? undefined : result;
    },
  });
  const member = createShardMember({ ...lease, name: 'ring', identity: 'a' });
  const sharded = createController({
    ...{ name: 'sharded', scheduler, shards: member, metrics },
    for: factory.informer(pods),
    reconcile: () => undefined,
  });
  const publisher = publishToNats(factory.informer(pods), {
    ...{ connection: refusing, resource: pods, bucket: 'k8s', scheduler, metrics },
  });
  factory.start();
  controller.start();
  sharded.start();
  await time.advance(10_000);
  server.faults.dropWatches();
  createResourceClient(client, pods, { scheduler })
    .get({ namespace: 'shop', name: 'nobody' })
    .catch(() => undefined);
  await time.advance(80_000);
  const series = recorded.scrape();
  const stopped = Promise.all([
    publisher.stop(),
    controller.stop(),
    sharded.stop(),
    factory.stop(),
  ]);
  await time.advance(60_000);
  await stopped;
  return { instruments: recorded.instruments, series };
}
