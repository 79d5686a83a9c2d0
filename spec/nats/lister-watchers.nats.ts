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
import { afterAll, beforeAll } from 'vitest';
import { listerWatcherSuite } from '../lister-watchers/suite.ts';
import type { World } from '../lister-watchers/world.ts';
import { NatsServer } from './nats-server.ts';

let nats: NatsServer;
let worlds = 0;

beforeAll(async () => {
  nats = await NatsServer.start();
});
afterAll(() => nats.stop());

const BATCH = 4;
const TOMBSTONE_MS = 1_000;
const HEARTBEAT_MS = 500;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

async function natsWorld(): Promise<World> {
  const bucket = `world${++worlds}`;
  const server = createFakeApiServer({ bookmarkIntervalMs: 200 });
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  const informer = createSharedInformer(createListWatch(client, configMaps));
  const connection = await nats.connect();
  const publisher = publishToNats(informer, {
    connection,
    resource: configMaps,
    bucket,
    heartbeatMs: HEARTBEAT_MS,
    tombstoneMs: TOMBSTONE_MS,
    backoff: () => 50,
  });
  const readers = await nats.connect();
  const manager = await jetstreamManager(connection);
  let newest = '';
  const settle = async () => {
    while (publisher.status.phase !== 'publishing' || +publisher.status.resourceVersion < +newest) {
      await pause(5);
    }
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
        idleMs: 500,
        ...(namespace === undefined ? {} : { namespace }),
      }) as unknown as ListerWatcher<KubernetesObject>,
    async put(namespace, name, value) {
      const object = { metadata: { namespace, name, labels: { value } } };
      const [stored] = server.objects.apply(configMaps, [object]);
      const { uid = '', resourceVersion = '' } = stored?.metadata ?? {};
      newest = resourceVersion;
      return { uid, resourceVersion };
    },
    async remove(namespace, name) {
      server.objects.delete(configMaps, { namespace, name });
      newest = `${+newest + 1}`;
    },
    async advance() {
      server.objects.advance(3);
    },
    settle,
    // Tombstones expire, and the horizon with them.
    async compact() {
      await settle();
      await pause(TOMBSTONE_MS + 3 * HEARTBEAT_MS);
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
