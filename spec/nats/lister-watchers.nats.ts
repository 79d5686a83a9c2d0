/** The suite of all ListerWatchers, for one that reads a bucket. */

import { jetstreamManager } from '@nats-io/jetstream';
import {
  createClient,
  createListWatch,
  createSharedInformer,
  type KubernetesObject,
  type ListerWatcher,
} from 'rx-informer';
import { createNatsListWatch, publishToNats } from 'rx-informer/nats';
import { configMaps } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { asyncScheduler } from 'rxjs';
import { afterAll, beforeAll } from 'vitest';
import { listerWatcherSuite } from '../lister-watchers/suite.ts';
import type { World } from '../lister-watchers/world.ts';
import { NatsServer } from './nats-server.ts';
import { patient } from './scene.ts';

let nats: NatsServer;
let worlds = 0;

beforeAll(async () => {
  nats = await NatsServer.start();
});
afterAll(() => nats.stop());

const BATCH = 4;
/** No scenario lasts so long, so tombstones expire only in `compact`. */
const TOMBSTONE_MS = 600_000;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

async function natsWorld(): Promise<World> {
  const bucket = `world${++worlds}`;
  const server = createFakeApiServer({ bookmarkIntervalMs: 200 });
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  const informer = createSharedInformer(createListWatch(client, configMaps));
  const connection = await nats.connect();
  let passedMs = 0;
  const publisher = publishToNats(informer, {
    connection,
    resource: configMaps,
    bucket,
    heartbeatMs: patient.heartbeatMs,
    tombstoneMs: TOMBSTONE_MS,
    compareEveryMs: Number.POSITIVE_INFINITY,
    backoff: () => 50,
    scheduler: {
      now: () => performance.now() + passedMs,
      schedule: asyncScheduler.schedule.bind(asyncScheduler),
    },
  });
  const readers = await nats.connect();
  const manager = await jetstreamManager(connection);
  let newest = '';
  const removed = new Set<string>();
  const settle = async () => {
    while (publisher.status.phase !== 'publishing' || +publisher.status.resourceVersion < +newest) {
      await pause(5);
    }
  };
  const horizon = async () => {
    const record = { last_by_subj: `$KV.${bucket}.core.configmaps._._meta` };
    const message = await manager.direct.getMessage(`KV_${bucket}`, record);
    return message?.json<{ horizon: number }>().horizon;
  };
  await settle();
  return {
    traits: {
      streams: true,
      bookmarks: true,
      expires: true,
      timesOut: true,
      waitsForVersion: true,
      folds: true,
      // The messages that were requested, and those of the next request.
      readAhead: BATCH * 2,
    },
    quietMs: 300,
    patienceMs: 60_000,
    listerWatcher: (namespace) =>
      createNatsListWatch(readers, configMaps, {
        bucket,
        batch: BATCH,
        idleMs: patient.idleMs,
        ...(namespace === undefined ? {} : { namespace }),
      }) as unknown as ListerWatcher<KubernetesObject>,
    async put(namespace, name, value) {
      const object = { metadata: { namespace, name, labels: { value } } };
      const [stored] = server.objects.apply(configMaps, [object]);
      removed.delete(`${namespace}.${name}`);
      const { uid = '', resourceVersion = '' } = stored?.metadata ?? {};
      newest = resourceVersion;
      return { uid, resourceVersion };
    },
    async remove(namespace, name) {
      server.objects.delete(configMaps, { namespace, name });
      removed.add(`${namespace}.${name}`);
      newest = `${+newest + 1}`;
    },
    async advance() {
      server.objects.advance(3);
    },
    settle,
    // The publisher raises the horizon with its next heartbeat, and the server drops the tombstones.
    async compact() {
      await settle();
      const before = await horizon();
      passedMs += TOMBSTONE_MS;
      while (removed.size > 0 && (await horizon()) === before) await pause(20);
      for (const name of removed) {
        await manager.streams.purge(`KV_${bucket}`, {
          filter: `$KV.${bucket}.core.configmaps.${name}`,
        });
      }
      removed.clear();
    },
    async disconnect() {
      await readers.reconnect();
      // The client reports the loss asynchronously.
      await pause(100);
      await readers.flush().catch(() => undefined);
    },
    openRequests: async () => (await manager.streams.info(`KV_${bucket}`)).state.consumer_count,
    pass: pause,
    async close() {
      await publisher.stop();
      await informer.stop();
      await readers.close();
      await connection.close();
    },
  };
}

listerWatcherSuite('createNatsListWatch', natsWorld);
