/** The suite of all ListerWatchers, for one that reads a bucket. */

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
import { eventually } from '../support/patience.ts';
import { managerOf, NatsServer } from './nats-server.ts';
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
      now: () => asyncScheduler.now() + passedMs,
      schedule: asyncScheduler.schedule.bind(asyncScheduler),
    },
  });
  const readers = await nats.connect();
  const manager = await managerOf(connection);
  let newest = '';
  const removed = new Set<string>();
  const settle = async () => {
    const isPublished = ({ phase, resourceVersion }: typeof publisher.status) =>
      phase === 'publishing' && +resourceVersion >= +newest;
    await eventually(() => isPublished(publisher.status), 'the bucket has all writes');
  };
  let reconnects = 0;
  void (async () => {
    for await (const { type } of readers.status()) reconnects += Number(type === 'reconnect');
  })();
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
      const isRaised = async () => removed.size === 0 || (await horizon()) !== before;
      await eventually(isRaised, 'the publisher raises the horizon');
      for (const name of removed) {
        await manager.streams.purge(`KV_${bucket}`, {
          filter: `$KV.${bucket}.core.configmaps.${name}`,
        });
      }
      removed.clear();
    },
    async disconnect() {
      const before = reconnects;
      await readers.reconnect();
      await eventually(() => reconnects > before, 'the connection is renewed');
      await readers.flush().catch(() => undefined);
    },
    openRequests: async () => (await manager.streams.info(`KV_${bucket}`)).state.consumer_count,
    // The server writes to a connection in turn.
    async pass() {
      await settle();
      for (const _trip of [1, 2, 3]) {
        await horizon();
        await readers.flush();
      }
    },
    async close() {
      await publisher.stop();
      await informer.stop();
      await readers.close();
      await connection.close();
    },
  };
}

listerWatcherSuite('createNatsListWatch', natsWorld);
