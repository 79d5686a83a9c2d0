/** Methods that work after a caller has destructured them. */
import {
  createClient,
  createController,
  createExpirationStore,
  createIndexer,
  createLister,
  createListWatch,
  createMutationCache,
  createResourceClient,
  createSharedInformer,
  toView,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';

describe('destructured methods', () => {
  it('I102: the methods of a view and of its rows work unbound', async () => {
    const server = createFakeApiServer();
    const made = server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const informer = createSharedInformer(createListWatch(client, pods));
    const view = informer.changes$.pipe(toView());
    const { getSnapshot, subscribe, select } = view;
    let calls = 0;
    const leave = subscribe(() => calls++);
    await informer.whenSynced();
    expect(getSnapshot().rows.map(({ metadata }) => metadata.name)).toEqual(['web']);
    const { getSnapshot: getRow } = select(made.metadata.uid);
    expect([getRow()?.metadata.name, calls > 0]).toEqual(['web', true]);
    const { next, return: end } = view[Symbol.asyncIterator]();
    expect((await next()).value).toHaveLength(1);
    await end?.();
    leave();
    await informer.stop();
  });

  it('I102: the methods of an informer, the readers of a store, a lister and a client work unbound', async () => {
    const server = createFakeApiServer();
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const { create, get } = createResourceClient(client, pods);
    await create({ metadata: { namespace: 'shop', name: 'web' } });
    expect((await get('shop/web')).metadata.name).toBe('web');
    const informer = createSharedInformer(createListWatch(client, pods));
    const { start, stop, whenSynced, indexer } = informer;
    start();
    await whenSynced();
    const { get: read, list: readAll, byIndex: readIndex } = indexer.snapshot$.value;
    expect(indexer.getByKey('shop/web')).toBe(read('shop/web'));
    expect(indexer.list()).toBe(readAll());
    expect(readIndex('namespace', 'shop')).toHaveLength(1);
    const { list: listAll, get: getOne, find, namespace } = createLister(informer, pods);
    expect(listAll()).toEqual([getOne('shop/web')]);
    expect(namespace('shop').find('web')).toBe(find('shop/web'));
    await stop();
  });

  it('I102: the methods of caches and controllers work unbound', async () => {
    const expiring = createExpirationStore({ ttlMs: 1_000 });
    const { add: put, has } = expiring;
    put({ metadata: { name: 'web' } });
    expect(has('web')).toBe(true);
    const { mutation, getByKey } = createMutationCache(createIndexer());
    mutation({ metadata: { name: 'web', uid: 'u', resourceVersion: '5' } });
    expect(getByKey('web')).toBeUndefined();
    const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
    const informer = createSharedInformer(createListWatch(client, pods));
    const { start, stop, whenReady } = createController({ for: informer, reconcile: () => {} });
    start();
    await whenReady();
    await stop();
    await informer.stop();
  });
});
