/** Informers that linger, on a client that keeps few streams open. */
// Loaded here, so that its `import()` takes no time of its own in virtual time.
import '../../lib/transport/page/taking-turns.ts';
import { createClient, createInformerFactory } from 'rx-informer';
import { configMaps, nodes, pods, services } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

describe('an informer that lingers', () => {
  it('T68: leaves its connection to those that are used, and continues without a list when it is used again', async () => {
    const time = new VirtualTime();
    const scheduler = time;
    const server = createFakeApiServer({
      scheduler,
      resources: [pods, configMaps, nodes, services],
    });
    const create = (name: string) =>
      server.objects.create(pods, { metadata: { namespace: 'shop', name } });
    create('web-0');
    const client = createClient({
      ...{ baseUrl: 'http://fake', fetch: server.fetch, scheduler },
      maxStreams: 2,
    });
    const factory = createInformerFactory(client, { scheduler, lingerMs: 60_000 });
    factory.start();
    const left = [factory.acquire(pods), factory.acquire(nodes)];
    await time.advance(3_000);
    for (const { release } of left) release();

    const used = [factory.acquire(configMaps), factory.acquire(services)];
    await time.advance(5_000);
    const phases = () =>
      [...left, ...used].map(({ informer }) => `${informer.status.phase} ${informer.hasSynced}`);
    const watching = 'watching true';
    expect(phases()).toEqual(['queued true', 'queued true', watching, watching]);
    // Longer than any share: those that are used do not take turns with those that linger.
    await time.advance(40_000);
    expect(phases()).toEqual(['queued true', 'queued true', watching, watching]);
    expect(used.map(({ informer }) => informer.status.reconnects)).toEqual([0, 0]);

    create('web-1');
    used[0]?.release();
    const again = factory.acquire(pods);
    await time.advance(2_000);
    expect(again.informer).toBe(left[0]?.informer);
    expect(again.informer.indexer.size).toBe(2);
    expect(again.informer.status.phase).toBe('watching');
    expect(again.informer.status.relists).toBe(0);
    await factory.stop();
  });
});
