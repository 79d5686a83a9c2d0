/** Tests an informer as the source of a collection of TanStack DB. */
import { createLiveQueryCollection, eq } from '@tanstack/db';
import { createClient, createListWatch, createSharedInformer } from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/patience.ts';
import { collectionOf } from './tanstack-db.ts';

function cluster(count: number) {
  const server = createFakeApiServer();
  for (let at = 0; at < count; at += 1) server.objects.create(pods, newPod(`pod-${at}`));
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  const informer = createSharedInformer(createListWatch(client, pods));
  onTestFinished(() => informer.stop());
  return { server, informer };
}

function newPod(name: string): Pod {
  return { metadata: { namespace: 'shop', name }, status: { phase: 'Running' } };
}

const key = (name: string) => ({ namespace: 'shop', name });

type Event = readonly [type: string, name: string];

describe('TanStack DB', () => {
  it('V45: a collection has the objects of the informer, and follows it', async () => {
    const { server, informer } = cluster(3);
    const collection = collectionOf(informer);
    await collection.preload();
    expect(collection.size).toBe(3);
    server.objects.modify(pods, key('pod-1'), (draft) => {
      draft.status = { phase: 'Failed' };
    });
    server.objects.delete(pods, key('pod-2'));
    server.objects.create(pods, newPod('pod-3'));
    await eventually(() => {
      const found = collection.toArray.map(({ metadata, status }) => [
        metadata.name,
        status?.phase,
      ]);
      expect(found.sort()).toEqual([
        ['pod-0', 'Running'],
        ['pod-1', 'Failed'],
        ['pod-3', 'Running'],
      ]);
    });
    await collection.cleanup();
  });

  it('V45: a relist writes only what changed, and a recreated object is another row', async () => {
    const { server, informer } = cluster(1_000);
    const collection = collectionOf(informer);
    await collection.preload();
    const events: Event[] = [];
    const subscription = collection.subscribeChanges(
      (changes) => {
        for (const { type, value } of changes) events.push([type, value.metadata.name]);
      },
      { includeInitialState: true },
    );
    expect(events.splice(0)).toHaveLength(1_000);
    server.faults.dropWatches();
    for (const name of ['pod-0', 'pod-1', 'pod-2']) server.objects.delete(pods, key(name));
    server.objects.create(pods, newPod('pod-2'));
    server.objects.compact();
    await eventually(() => expect(informer.status).toMatchObject({ relists: 1, synced: true }));
    await eventually(() => expect(collection.size).toBe(998));
    expect(events.sort()).toEqual([
      ['delete', 'pod-0'],
      ['delete', 'pod-1'],
      ['delete', 'pod-2'],
      ['insert', 'pod-2'],
    ]);
    subscription.unsubscribe();
    await collection.cleanup();
  });

  it('V45: a collection that is used again after its cleanup has what changed in between', async () => {
    const { server, informer } = cluster(2);
    const collection = collectionOf(informer);
    await collection.preload();
    await collection.cleanup();
    server.objects.delete(pods, key('pod-0'));
    server.objects.create(pods, newPod('pod-2'));
    await collection.preload();
    await eventually(() =>
      expect(collection.toArray.map(({ metadata }) => metadata.name).sort()).toEqual([
        'pod-1',
        'pod-2',
      ]),
    );
    await collection.cleanup();
  });

  it('V45: a live query of TanStack DB follows the cluster', async () => {
    const { server, informer } = cluster(5);
    const collection = collectionOf(informer);
    const failed = createLiveQueryCollection((query) =>
      query
        .from({ pod: collection })
        .where(({ pod: { status } }) => eq(status?.phase, 'Failed'))
        .select(({ pod: { metadata } }) => ({ name: metadata.name })),
    );
    await failed.preload();
    expect(failed.size).toBe(0);
    server.objects.modify(pods, key('pod-3'), (draft) => {
      draft.status = { phase: 'Failed' };
    });
    await eventually(() => expect(failed.toArray.map(({ name }) => name)).toEqual(['pod-3']));
    await failed.cleanup();
    await collection.cleanup();
  });
});
