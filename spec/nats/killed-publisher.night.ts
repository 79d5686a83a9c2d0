/** A publisher that is killed, with the default heartbeats: how soon readers notice, whenever they began to watch. */
import { createSharedInformer, type KubernetesObject, type SharedInformer } from 'rx-informer';
import { createNatsListWatch } from 'rx-informer/nats';
import { pods } from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';
import { NatsServer } from './nats-server.ts';
import { PublishProcess } from './publish-process.ts';
import { Scene } from './scene.ts';

/**
 * Three heartbeats of 10 s, 1 s, and 5 s for timers that are late beside other work. A reader that waits for a fourth
 * heartbeat needs 40 s.
 */
const NOTICED_MS = 36_000;

let nats: NatsServer;
let scene: Scene;
let publisher: PublishProcess;
let close: () => Promise<void>;

beforeAll(async () => {
  nats = await NatsServer.start();
  scene = new Scene(nats);
  scene.create('shop', 'web-0');
  const served = await scene.api.serve({ port: 0 });
  close = () => served.close();
  const args = ['--kind', 'pods'];
  publisher = new PublishProcess({ api: served.url, nats: nats.url, args });
  await publisher.says('pods: publishing: 1 objects');
});
afterAll(async () => {
  await publisher.end('SIGKILL');
  await scene.stop();
  await close();
  await nats.stop();
});

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Starts a reader. The returned function resolves with the moment at which it was no longer live. */
async function follow(namespace?: string) {
  const source = createNatsListWatch(await nats.connect(), pods, {
    bucket: 'k8s',
    ...(namespace === undefined ? {} : { namespace }),
  });
  const informer = createSharedInformer(source) as SharedInformer<KubernetesObject>;
  let endMs = Number.POSITIVE_INFINITY;
  informer.status$.subscribe(({ live, synced }) => {
    endMs = live || !synced ? Number.POSITIVE_INFINITY : Math.min(endMs, performance.now());
  });
  informer.start();
  await informer.whenSynced();
  return {
    notices: async (sinceMs: number): Promise<number> => {
      await eventually(() => endMs < Number.POSITIVE_INFINITY, 'the reader notices');
      return Math.round(endMs - sinceMs);
    },
    stop: () => informer.stop(),
  };
}

describe('a publisher that is killed', () => {
  it('J8: is missed within three heartbeats and 1 s, whenever a watch began, and by a reader that comes later', async () => {
    const readers: Awaited<ReturnType<typeof follow>>[] = [];
    let passedMs = 0;
    // How long before the kill the watches begin. A request for messages lasts 30 s, so another one follows.
    for (const beforeMs of [29_000, 22_000, 15_000, 8_000, 1_000]) {
      await sleep(29_000 - beforeMs - passedMs);
      passedMs = 29_000 - beforeMs;
      readers.push(await follow());
    }
    readers.push(await follow('empty'));
    await sleep(1_000);
    await publisher.end('SIGKILL');
    const killedMs = performance.now();
    await sleep(15_000);
    readers.push(await follow(), await follow('empty'));
    const noticed = await Promise.all(readers.map(({ notices }) => notices(killedMs)));
    await Promise.all(readers.map(({ stop }) => stop()));
    expect(noticed.filter((ms) => ms > NOTICED_MS)).toEqual([]);
    expect(noticed).toHaveLength(8);
  }, 180_000);
});
