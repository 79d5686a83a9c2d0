/** Methods that work after a caller has destructured them. */
import {
  createClient,
  createController,
  createExpirationStore,
  createIndexer,
  createLister,
  createListWatch,
  createMutationCache,
  createPriorityQueue,
  createResourceClient,
  createSharedInformer,
  toView,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';

describe('destructured methods', () => {
  it('Q10: the methods of a view and of its rows work unbound', async () => {
    const server = createFakeApiServer();
    const made = server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const informer = createSharedInformer(createListWatch(client, pods));
    const {
      getSnapshot,
      subscribe,
      select,
      [Symbol.asyncIterator]: rows,
    } = informer.changes$.pipe(toView());
    let calls = 0;
    const leave = subscribe(() => calls++);
    await informer.whenSynced({ timeoutMs: 5_000 });
    expect(getSnapshot().map(({ metadata }) => metadata.name)).toEqual(['web']);
    const { getSnapshot: getRow } = select(made.metadata.uid);
    expect([getRow()?.metadata.name, calls > 0]).toEqual(['web', true]);
    const { next, return: end } = rows();
    expect((await next()).value).toHaveLength(1);
    await end?.();
    leave();
    await informer.stop();
  });

  it('I102: the methods of an informer, a store, its readers, a lister and a client work unbound', async () => {
    const server = createFakeApiServer();
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const { create, get } = createResourceClient(client, pods);
    await create({ metadata: { namespace: 'shop', name: 'web' } });
    expect((await get('shop/web')).metadata.name).toBe('web');
    const informer = createSharedInformer(createListWatch(client, pods));
    const { start, stop, whenSynced, indexer } = informer;
    start();
    await whenSynced({ timeoutMs: 5_000 });
    const { getByKey, list, byIndex, has } = indexer;
    const { get: read, list: readAll, byIndex: readIndex } = indexer.snapshot$.value;
    expect(getByKey('shop/web')).toBe(read('shop/web'));
    expect([list(), byIndex('namespace', 'shop')]).toEqual([readAll(), list()]);
    expect([readIndex('namespace', 'shop').length, has('shop/web')]).toEqual([1, true]);
    const { list: listAll, get: getOne, find, namespace } = createLister(informer, pods);
    expect(listAll()).toEqual([getOne('shop/web')]);
    expect(namespace('shop').find('web')).toBe(find('shop/web'));
    await stop();
  });

  it('I102: the methods of stores, queues and controllers work unbound', async () => {
    const { add, list, byIndex } = createIndexer({
      indexers: { kind: ({ kind }) => [kind ?? ''] },
    });
    add({ kind: 'Pod', metadata: { name: 'web' } });
    expect([list().length, byIndex('kind', 'Pod').length]).toEqual([1, 1]);
    const expiring = createExpirationStore({ ttlMs: 1_000 });
    const { add: put, has } = expiring;
    put({ metadata: { name: 'web' } });
    expect(has('web')).toBe(true);
    const { mutation, getByKey } = createMutationCache(createIndexer());
    mutation({ metadata: { name: 'web', uid: 'u', resourceVersion: '5' } });
    expect(getByKey('web')).toBeUndefined();
    const queue = createPriorityQueue();
    const { add: enqueue, addAfter, get, done, shutDown } = queue;
    enqueue('a');
    addAfter('b', 60_000);
    const key = await get();
    done('a');
    expect([key, queue.len]).toEqual(['a', 0]);
    shutDown();
    const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
    const informer = createSharedInformer(createListWatch(client, pods));
    const { start, stop } = createController({ for: informer, reconcile: () => {} });
    start();
    await stop();
    await informer.stop();
  });
});
