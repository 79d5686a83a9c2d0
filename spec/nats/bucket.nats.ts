/** Informers behind a bucket have what the informer of its publisher has. */

import { createNatsListWatch } from 'rx-informer/nats';
import { pods } from 'rx-informer/resources';
import { firstValueFrom, Subject } from 'rxjs';
import { map } from 'rxjs/operators';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';
import { NatsServer } from './nats-server.ts';
import { beats, contents, patient, Scene } from './scene.ts';

let nats: NatsServer;
let scene: Scene;

beforeEach(async () => {
  nats = await NatsServer.start();
  scene = new Scene(nats);
});
afterEach(async () => {
  await scene.stop();
  await nats.stop();
});

describe('a bucket', () => {
  it.each(['pages', 'stream'] as const)(
    'J1: an informer behind a bucket has the objects of the API server, and follows them (%s)',
    async (initialList) => {
      scene.create('shop', 'web-0', { tier: 'front' });
      scene.create('shop', 'web-1');
      scene.create('bank', 'db-0');
      const { informer } = await scene.publisher();
      const all = await scene.reader({ initialList });
      const shop = await scene.reader({ namespace: 'shop', initialList });
      await all.informer.whenSynced();
      await shop.informer.whenSynced();
      expect(contents(all.informer)).toEqual(contents(informer));
      expect(contents(shop.informer)).toHaveLength(2);
      const byUid = ({ indexer }: typeof informer) =>
        new Map(indexer.list().map((pod) => [pod.metadata?.uid, pod]));
      expect(byUid(all.informer)).toEqual(byUid(informer));
      scene.update('shop', 'web-0', { tier: 'back' });
      scene.remove('shop', 'web-1');
      scene.create('bank', 'db-1');
      await eventually(() => all.informer.indexer.getByKey('bank/db-1') !== undefined, 'db-1');
      expect(contents(all.informer)).toEqual(contents(informer));
      await eventually(() => contents(shop.informer).length === 1, 'web-1 is gone');
      expect(all.informer.status.relists).toBe(0);
      expect(shop.informer.status.relists).toBe(0);
    },
  );

  it('J1: an idle time that is longer than the server keeps a request', async () => {
    scene.create('shop', 'web-0');
    await scene.publisher(patient);
    const { informer } = await scene.reader({ idleMs: 60_000 });
    await informer.whenSynced();
    scene.create('shop', 'web-1');
    await eventually(() => informer.indexer.getByKey('shop/web-1') !== undefined, 'web-1');
    expect(informer.status.reconnects).toBe(0);
  });

  it.each([
    { ...patient, heartbeatMs: 800_000_000 },
    { ...patient, idleMs: 2 ** 31 },
    { heartbeatMs: 1e12, idleMs: 1e12 },
  ])('J18: a reader is live, and stays so, with %o', async ({ heartbeatMs, idleMs }) => {
    scene.create('shop', 'web-0');
    const { publisher } = await scene.publisher({ heartbeatMs, tombstoneMs: 1e12 });
    await eventually(() => publisher.status.phase === 'publishing', 'the bucket is complete');
    const { informer } = await scene.reader({ idleMs });
    await informer.whenSynced();
    await eventually(() => informer.status.live, 'the reader is live');
    scene.remove('shop', 'web-0');
    await eventually(() => contents(informer).length === 0, 'the deletion');
    // A delay that is too long for a timer ends at once, so before these have arrived.
    if (heartbeatMs === patient.heartbeatMs) await beats(publisher, 4);
    for (let at = 0; at < 20; at++) {
      scene.create('shop', `web-${at}`);
      await eventually(() => contents(informer).length === at + 1, `web-${at}`);
    }
    expect([informer.status.live, informer.status.reconnects]).toEqual([true, 0]);
  });

  it('J8: a watch whose reader requests nothing for a while does not miss its publisher', async () => {
    scene.create('shop', 'web-0');
    const { publisher } = await scene.publisher();
    await eventually(() => publisher.status.phase === 'publishing', 'the bucket is complete');
    const connection = await nats.connect();
    const listWatch = createNatsListWatch(connection, pods, { bucket: 'k8s', batch: 2 });
    const resourceVersion = await firstValueFrom(
      listWatch
        .list({ resourceVersion: '0' })
        .pipe(map(({ metadata }) => metadata?.resourceVersion ?? '')),
    );
    const open$ = new Subject<void>();
    let isOpen = false;
    const watch$ = listWatch.watch({
      resourceVersion,
      timeoutSeconds: 60,
      demand: () => (isOpen ? null : open$),
    });
    let error: unknown;
    const shown: string[] = [];
    const watching = watch$.subscribe({
      next: (signal) => {
        if (signal.kind === 'events') shown.push(...signal.events.map(({ type }) => type));
      },
      error: (thrown) => {
        error = thrown;
      },
    });
    // A reader misses its publisher after three.
    await beats(publisher, 5);
    expect(error).toBeUndefined();
    scene.create('shop', 'web-1');
    isOpen = true;
    open$.next();
    await eventually(() => shown.includes('ADDED'), 'web-1');
    expect(error).toBeUndefined();
    watching.unsubscribe();
  });

  it('J5: a restarted publisher publishes the difference, and readers continue', async () => {
    scene.create('shop', 'web-0');
    scene.create('shop', 'web-1');
    const first = await scene.publisher();
    const { informer } = await scene.reader();
    await informer.whenSynced();
    const told: string[] = [];
    informer.changes$.subscribe(({ cause, added, updated, deleted }) =>
      told.push(`${cause} +${added.length} ~${updated.length} -${deleted.length}`),
    );
    await first.publisher.stop();
    scene.remove('shop', 'web-1');
    scene.update('shop', 'web-0', { tier: 'front' });
    scene.create('shop', 'web-2');
    const second = await scene.publisher();
    await eventually(() => informer.indexer.getByKey('shop/web-2') !== undefined, 'web-2');
    expect(contents(informer)).toEqual(contents(second.informer));
    expect(told).toEqual(['snapshot +2 ~0 -0', 'watch +1 ~1 -1']);
    expect(informer.status.relists).toBe(0);
  });
});
