/** Tests `createShardedInformer`: what is requested, stored and told while ranges arrive and leave. */
import {
  addEventHandler,
  type ChangeSet,
  createClient,
  createController,
  createListWatch,
  createMetadataListWatch,
  createShardedInformer,
  filteringEventHandler,
  type OwnedShards,
  ownerReferenceOf,
  type ShardRange,
  shardRanges,
  shardSlotOf,
} from 'rx-informer';
import { type ConfigMap, configMaps, replicaSets } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServerOptions } from 'rx-informer/testing';
import { BehaviorSubject, delayWhen, NEVER, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { of, shardRig } from './shard-rig.ts';

function rig({
  own = ['bar', 'cart'],
  shards,
  ...server
}: FakeApiServerOptions & { own?: readonly string[]; shards?: OwnedShards } = {}) {
  const all = shardRig({ own, shards, server });
  const { time, fake, informer } = all;
  const sets: ChangeSet<ConfigMap>[] = [];
  const touch = (namespace: string, text: string) =>
    fake.objects.modify(configMaps, { namespace, name: 'one' }, (draft) => {
      draft.data = { text };
    });
  const selectors = (use: 'list' | 'watch') =>
    fake.requests
      .filter((request) => request.use === use)
      .map(({ query }) => query['shardSelector'] ?? null);
  const start = async () => {
    informer.changes$.subscribe((set) => sets.push(set));
    informer.start();
    await time.until(informer.whenSynced());
    await all.isLive();
  };
  const told = (from = 0) =>
    sets.slice(from).flatMap((set) => {
      const { cause, added, updated, deleted, left } = set;
      const named = (sign: string, objects: readonly { metadata: { namespace?: string } }[]) =>
        objects.map(({ metadata }) => `${cause} ${sign}${metadata.namespace}`);
      return [
        ...named(
          '-',
          deleted.map(({ object }) => object),
        ),
        ...named(
          '<',
          left.map(({ object }) => object),
        ),
        ...named(
          '~',
          updated.map(({ object }) => object),
        ),
        ...named('+', added),
      ];
    });
  return { ...all, touch, selectors, start, told, sets };
}

describe('createShardedInformer', () => {
  it('H54: each page of a list and each watch selects the owned ranges, and the store has only their objects', async () => {
    const { start, keys, selectors } = rig({ pageSizeMax: 1 });
    await start();
    expect(keys()).toEqual(['bar/one', 'cart/one']);
    const [selector] = selectors('list');
    expect(selector).toMatch(/^shardRange\(object\.metadata\.namespace, '0x/);
    expect(selectors('list').length).toBeGreaterThan(1);
    expect(new Set([...selectors('list'), ...selectors('watch')])).toEqual(new Set([selector]));
  });

  it('H54, H60: if the server ignores the selector, the client filters lists and events, and the status says so', async () => {
    const { time, fake, informer, start, keys, touch, told } = rig({ shardedListAndWatch: false });
    await start();
    expect(keys()).toEqual(['bar/one', 'cart/one']);
    touch('dock', 'x');
    fake.objects.delete(configMaps, { namespace: 'shop', name: 'one' });
    touch('bar', 'x');
    await time.until(() => expect(told()).toContain('watch ~bar'));
    expect(told()).toEqual(['initial +bar', 'initial +cart', 'watch ~bar']);
    expect(informer.status.shards).toMatchObject({ serverFilters: false });
    expect(informer.status.shards?.message).toContain('the server sends all objects');
    expect(informer.status.unknownDeletions).toBe(0);
  });

  it('H60: if the server says that it has filtered, the status says so', async () => {
    const { informer, start } = rig();
    await start();
    expect(informer.status.shards).toEqual({
      holds: of('bar', 'cart'),
      arriving: [],
      serverFilters: true,
      message: 'the server filters, and so does the client',
    });
  });

  it('H60: a list of metadata does not say that it was filtered; many UIDs in the ranges do', async () => {
    const time = new VirtualTime();
    const server = createFakeApiServer({ shardedListAndWatch: true, scheduler: time });
    for (let at = 0; at < 100; at++) {
      server.objects.create(configMaps, { metadata: { namespace: 'shop', name: `n${at}` } });
    }
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
    for (const [by, known] of [
      ['uid', true],
      ['namespace', undefined],
    ] as const) {
      const ranges$ = new BehaviorSubject(
        by === 'uid'
          ? shardRanges([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
          : of('shop'),
      );
      const informer = createShardedInformer(createMetadataListWatch(client, configMaps), {
        shards: { by, ranges$ },
        scheduler: time,
      });
      informer.start();
      await time.until(informer.whenSynced());
      expect(informer.indexer.size).toBeGreaterThan(10);
      expect(informer.status.shards?.serverFilters).toBe(known);
      await informer.stop();
    }
  });

  it('H55: of ranges that arrive only these are listed, at the newest version, and one watch over all follows', async () => {
    const { time, fake, informer, start, keys, ranges$, selectors, told, sets } = rig();
    await start();
    const from = sets.length;
    fake.clearRequests();
    ranges$.next(of('bar', 'cart', 'dock'));
    await time.until(() => expect(keys()).toEqual(['bar/one', 'cart/one', 'dock/one']));
    await time.until(() => expect(informer.status.live).toBe(true));
    expect(told(from)).toEqual(['rebalance +dock']);
    expect(selectors('list')).toEqual([
      `shardRange(object.metadata.namespace, '${of('dock')[0]?.start}', '${of('dock')[0]?.end}')`,
    ]);
    expect(selectors('watch')).toHaveLength(1);
    expect(selectors('watch')[0]?.split('||')).toHaveLength(3);
    const [list] = fake.requests.filter(({ use }) => use === 'list');
    expect(list?.query).not.toHaveProperty('resourceVersion');
    expect(fake.openWatches).toHaveLength(1);
  });

  it('H55: an object whose name was taken over in another shard while the ranges were listed does not come back', async () => {
    // Two shards by UID: the first object is in one, its successor of the same name in the other.
    let uid = 0;
    const time = new VirtualTime();
    const fake = createFakeApiServer({ shardedListAndWatch: true, scheduler: time });
    const metadata = { namespace: 'shop', name: 'one' };
    const create = (wanted: boolean) => {
      for (;;) {
        fake.objects.create(configMaps, { metadata });
        const made = fake.objects.get(configMaps, metadata);
        uid++;
        if (shardSlotOf(made?.metadata.uid ?? '') < 32 === wanted) return made?.metadata.uid;
        fake.objects.delete(configMaps, metadata);
      }
    };
    const half = (first: number) => Array.from({ length: 32 }, (_, slot) => first + slot);
    create(false);
    const ranges$ = new BehaviorSubject(shardRanges(half(0)));
    const client = createClient({ baseUrl: 'http://fake', fetch: fake.fetch, scheduler: time });
    const listWatch = createListWatch(client, configMaps);
    const release = new Subject<void>();
    let isHeld = false;
    const informer = createShardedInformer(
      {
        ...listWatch,
        list: (request) => {
          const answer$ = listWatch.list(request);
          return isHeld ? answer$.pipe(delayWhen(() => release)) : answer$;
        },
      },
      { shards: { by: 'uid', ranges$ }, scheduler: time },
    );
    informer.start();
    await time.until(informer.whenSynced());
    await time.until(() => expect(informer.status.live).toBe(true));
    const deleted: string[] = [];
    addEventHandler(informer, { onDelete: (gone) => deleted.push(gone.uid) });
    isHeld = true;
    ranges$.next(shardRanges([...half(0), ...half(32)]));
    await time.until(() => expect(fake.requests.at(-1)?.use).toBe('list'));
    await time.advance(20);
    fake.objects.delete(configMaps, metadata);
    const successor = create(true);
    await time.until(() => expect(informer.indexer.getByKey('shop/one')).toBeDefined());
    release.next();
    await time.until(() => expect(informer.status.shards?.arriving).toEqual([]));
    await time.until(() => expect(informer.status.live).toBe(true));
    expect(informer.indexer.getByKey('shop/one')?.metadata.uid).toBe(successor);
    expect(deleted).not.toContain(successor);
    expect(uid).toBeGreaterThan(1);
    await informer.stop();
  });

  it('H56: objects of ranges that leave are told of as left, not as deleted, and a controller queues no key', async () => {
    const { time, informer, start, keys, ranges$, told, sets } = rig();
    const calls: string[] = [];
    const handler = {
      onAdd: ({ metadata }: ConfigMap) => calls.push(`+${metadata?.namespace}`),
      onDelete: ({ key }: { key: string }) => calls.push(`-${key}`),
      onLeave: ({ key }: { key: string }) => calls.push(`<${key}`),
    };
    addEventHandler(informer, handler);
    addEventHandler(
      informer,
      filteringEventHandler({ filter: ({ metadata }) => metadata.namespace === 'cart', handler }),
    );
    const deleted: string[] = [];
    informer.deleted$.subscribe(({ key }) => deleted.push(key));
    const reconciled: string[] = [];
    const controller = createController({
      name: 'test',
      for: informer,
      reconcile: async (key) => {
        reconciled.push(key);
        return undefined;
      },
    });
    await start();
    controller.start();
    await time.until(() => expect(reconciled.sort()).toEqual(['bar/one', 'cart/one']));
    const from = sets.length;
    ranges$.next(of('bar'));
    expect(keys()).toEqual(['bar/one']);
    expect(told(from)).toEqual(['rebalance <cart']);
    expect(calls).toEqual(['+bar', '+cart', '+cart', '<cart/one', '<cart/one']);
    expect(deleted).toEqual([]);
    await time.advance(30);
    expect(reconciled).toHaveLength(2);
    await controller.stop();
  });

  it('H59: before the first ranges nothing is requested; without ranges the informer is synced, and a refresh resolves', async () => {
    const waiting = rig({ shards: { by: 'uid', ranges$: NEVER } });
    waiting.informer.start();
    await waiting.time.advance(60_000);
    expect(waiting.fake.requests).toEqual([]);
    expect(waiting.informer.status).toMatchObject({
      synced: false,
      waitingFor: 'the shards of this replica are not known yet',
    });
    await waiting.informer.stop();

    const { time, fake, informer, start, keys, ranges$ } = rig({ own: [] });
    await start();
    expect(fake.requests).toEqual([]);
    await time.until(informer.refresh());
    ranges$.next(of('bar'));
    await time.until(() => expect(keys()).toEqual(['bar/one']));
    ranges$.next([]);
    expect(keys()).toEqual([]);
    expect(informer.status).toMatchObject({ synced: true, live: true });
    await time.until(() => expect(fake.openWatches).toEqual([]));
  });

  it('H60: a server that refuses the selector is asked without it, once, and the status quotes the server', async () => {
    const { fake, informer, start, keys, selectors } = rig();
    const message = 'invalid shard selector: the grammar is another one';
    fake.faults.failNext({ use: 'list' }, { status: 500, message });
    await start();
    expect(keys()).toEqual(['bar/one', 'cart/one']);
    expect(selectors('list')).toEqual([expect.stringContaining('shardRange'), null]);
    expect(selectors('watch')).toEqual([null]);
    expect(informer.status.error).toBeUndefined();
    expect(informer.status.shards).toMatchObject({ serverFilters: false });
    expect(informer.status.shards?.message).toContain(message);
  });

  it('H62: owned objects are in the shard of the UID of their controller, and leave with another controller', async () => {
    const time = new VirtualTime();
    const fake = createFakeApiServer({ shardedListAndWatch: true, scheduler: time });
    const client = createClient({ baseUrl: 'http://fake', fetch: fake.fetch, scheduler: time });
    const owner = (name: string, uid: string) =>
      ownerReferenceOf({ metadata: { namespace: 'shop', name, uid } }, replicaSets);
    const create = (name: string, owners: ReturnType<typeof owner>[]) =>
      fake.objects.create(configMaps, {
        metadata: { namespace: 'shop', name, ownerReferences: owners },
      });
    create('mine', [owner('web', 'web-uid')]);
    create('other', [owner('db', 'db-uid')]);
    create('orphan', []);
    expect(shardSlotOf('web-uid')).not.toBe(shardSlotOf('db-uid'));
    const informer = createShardedInformer(createListWatch(client, configMaps), {
      shards: { by: 'owner', ranges$: new BehaviorSubject(of('web-uid')) },
    });
    const calls: string[] = [];
    addEventHandler(informer, {
      onDelete: ({ key }) => calls.push(`-${key}`),
      onLeave: ({ key }) => calls.push(`<${key}`),
    });
    informer.start();
    await time.until(informer.whenSynced());
    expect(informer.indexer.listKeys()).toEqual(['shop/mine']);
    expect(fake.requests.every(({ query }) => query['shardSelector'] === undefined)).toBe(true);
    expect(informer.status.shards).toMatchObject({ serverFilters: false });
    await time.until(() => expect(informer.status.live).toBe(true));
    fake.objects.modify(configMaps, { namespace: 'shop', name: 'mine' }, ({ metadata }) => {
      if (metadata !== undefined) metadata.ownerReferences = [owner('db', 'db-uid')];
    });
    await time.until(() => expect(informer.indexer.size).toBe(0));
    expect(calls).toEqual(['<shop/mine']);
    await informer.stop();
  });

  it('H59: ranges that are invalid, and an error of their stream, are reported, and the shards stay', async () => {
    const ranges$ = new Subject<readonly ShardRange[]>();
    const { time, informer, keys } = rig({ shards: { by: 'namespace', ranges$ } });
    const reported: unknown[] = [];
    const listener = (error: unknown) => reported.push(String(error));
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', listener);
    informer.start();
    ranges$.next(of('bar'));
    await time.until(informer.whenSynced());
    ranges$.next([{ start: '1', end: '2' }]);
    ranges$.error(new Error('the ring is gone'));
    await time.until(() => expect(reported).toHaveLength(2));
    process.removeListener('uncaughtException', listener);
    for (const other of others) process.on('uncaughtException', other);
    expect(reported[0]).toContain('shard range');
    expect(reported[1]).toContain('the ring is gone');
    expect(keys()).toEqual(['bar/one']);
    await informer.stop();
    const shards = { by: 'name', ranges$ } as never;
    expect(() => rig({ shards })).toThrow("'uid', 'namespace' or 'owner'");
  });

  it('H54: a second after ranges have left, the watch selects no more than is held', async () => {
    const { time, fake, start, ranges$, selectors } = rig();
    await start();
    ranges$.next(of('bar'));
    expect(selectors('watch')).toHaveLength(1);
    await time.until(() => expect(selectors('watch')).toHaveLength(2));
    expect(selectors('watch')[1]?.split('||')).toHaveLength(1);
    expect(selectors('list')).toHaveLength(1);
    await time.until(() => expect(fake.openWatches).toHaveLength(1));
  });
});
