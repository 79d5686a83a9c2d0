/** Tests `createShardedInformer` by owner: objects that get another owner, and objects whose owner is unknown. */
import {
  addEventHandler,
  createClient,
  createListWatch,
  createPollingListWatch,
  createShardedInformer,
  type InitialList,
  type ListRequest,
  type ListWatchOptions,
  ownerReferenceOf,
  type ShardedInformerOptions,
  shardRanges,
  shardSlotOf,
} from 'rx-informer';
import { type ConfigMap, configMaps, replicaSets } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { BehaviorSubject } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { Gate } from './shard-rig.ts';

interface Options {
  readonly listWatch?: ListWatchOptions<ConfigMap>;
  readonly informer?: Partial<ShardedInformerOptions<ConfigMap>>;
  readonly pollMs?: number;
}

/** Owns `web` and not `db`. */
function rig({ listWatch = {}, informer: options = {}, pollMs }: Options = {}) {
  const time = new VirtualTime();
  const fake = createFakeApiServer({ scheduler: time });
  const client = createClient({ baseUrl: 'http://fake', fetch: fake.fetch, scheduler: time });
  const owners = (...names: readonly string[]) =>
    names.map((name) =>
      ownerReferenceOf({ metadata: { namespace: 'shop', name, uid: `${name}-uid` } }, replicaSets),
    );
  const create = (name: string, ...of: readonly string[]) =>
    fake.objects.create(configMaps, {
      metadata: { namespace: 'shop', name, ownerReferences: owners(...of) },
    });
  const give = (name: string, ...to: readonly string[]) =>
    fake.objects.modify(configMaps, { namespace: 'shop', name }, ({ metadata }) => {
      if (metadata !== undefined) metadata.ownerReferences = owners(...to);
    });
  create('mine', 'web');
  create('moves', 'web');
  create('other', 'db');
  const of = (...names: readonly string[]) =>
    shardRanges(names.map((name) => shardSlotOf(`${name}-uid`)));
  const ranges$ = new BehaviorSubject(of('web'));
  const plain = createListWatch(client, configMaps, { scheduler: time, ...listWatch });
  const lists = new Gate();
  const source = {
    ...plain,
    list: (request: ListRequest<ConfigMap>) => lists.pass(plain.list(request)),
  };
  const informer = createShardedInformer(
    pollMs === undefined
      ? source
      : createPollingListWatch(source, { intervalMs: pollMs, scheduler: time }),
    { backoff: () => 5, scheduler: time, ...options, shards: { by: 'owner', ranges$ } },
  );
  onTestFinished(() => informer.stop());
  const calls: string[] = [];
  addEventHandler(informer, {
    onAdd: (_, { key }) => calls.push(`+${key}`),
    onDelete: ({ key }) => calls.push(`-${key}`),
    onLeave: ({ key }) => calls.push(`<${key}`),
  });
  const start = async () => {
    informer.start();
    await time.until(informer.whenSynced());
    await time.until(() => expect(informer.status.live).toBe(true));
    calls.length = 0;
  };
  const keys = () => [...informer.indexer.listKeys()].sort();
  return { time, fake, informer, ranges$, of, create, give, calls, start, keys, lists };
}

describe('a sharded informer by owner', () => {
  it.each<[string, Options]>([
    ['in pages', { informer: { initialList: 'pages' as InitialList } }],
    ['as a stream', { informer: { initialList: 'stream' as InitialList } }],
    ['by a poll', { pollMs: 20 }],
  ])(
    'H62: an object that got another owner while nothing was watched leaves with the next list (%s), and a deleted one is deleted',
    async (_, options) => {
      const { time, fake, create, give, calls, start, keys } = rig(options);
      create('gone', 'web');
      create('replaced', 'web');
      await start();
      fake.faults.expireWatches();
      give('moves', 'db');
      for (const name of ['gone', 'replaced']) {
        fake.objects.delete(configMaps, { namespace: 'shop', name });
      }
      create('replaced', 'db');
      fake.objects.compact();
      await time.until(() => expect(keys()).toEqual(['shop/mine']));
      expect(calls.sort()).toEqual(['-shop/gone', '-shop/replaced', '<shop/moves']);
    },
  );

  it('H62: an object that was refused is tried again only in the shard of its owner', async () => {
    let isRefusing = true;
    const { time, informer, ranges$, of, start, keys } = rig({
      listWatch: {
        transform: (object) => {
          if (isRefusing) throw new Error('no');
          return object;
        },
      },
      informer: { resyncPeriodMs: 1_000 },
    });
    await start();
    const refused = () => informer.status.refusedObjects?.map(({ key }) => key).sort() ?? [];
    expect(refused()).toEqual(['shop/mine', 'shop/moves']);
    ranges$.next(of('web', 'db'));
    await time.until(() => expect(refused()).toEqual(['shop/mine', 'shop/moves', 'shop/other']));
    ranges$.next(of('db'));
    await time.until(() => expect(refused()).toEqual(['shop/other']));
    isRefusing = false;
    await time.until(() => expect(keys()).toEqual(['shop/other']));
  });

  it('H62: an object leaves with a new owner also if that state, or its last state, is refused', async () => {
    let isRefusing = false;
    const { time, fake, informer, give, create, calls, start, keys } = rig({
      listWatch: {
        transform: (object) => {
          if (isRefusing) throw new Error('no');
          return object;
        },
      },
    });
    await start();
    isRefusing = true;
    give('moves', 'db');
    await time.until(() => expect(keys()).toEqual(['shop/mine']));
    for (const name of ['mine', 'other'])
      fake.objects.delete(configMaps, { namespace: 'shop', name });
    await time.until(() => expect(keys()).toEqual([]));
    isRefusing = false;
    create('last', 'web');
    await time.until(() => expect(keys()).toEqual(['shop/last']));
    expect(calls).toEqual(['<shop/moves', '-shop/mine', '+shop/last']);
    expect(informer.status.refusedObjects).toBeUndefined();
    expect(informer.status.unknownDeletions).toBe(0);
  });

  it('H55, H62: an object that has left through held shards does not come back in the state of the list of others', async () => {
    const { time, fake, informer, ranges$, of, create, give, calls, start, keys, lists } = rig();
    await start();
    lists.shut();
    ranges$.next(of('web', 'db'));
    await time.until(() => expect(fake.requests.at(-1)?.use).toBe('list'));
    await time.advance(20);
    // The list is answered already, with the state in which its shard arrives.
    give('other', 'web');
    await time.until(() => expect(keys()).toContain('shop/other'));
    give('other', 'cache');
    await time.until(() => expect(keys()).not.toContain('shop/other'));
    create('last', 'db');
    lists.open();
    await time.until(() => expect(keys()).toContain('shop/last'));
    await time.until(() => expect(informer.status.live).toBe(true));
    expect(calls).toEqual(['+shop/other', '<shop/other', '+shop/last']);
  });

  it('H62: of several owners the controller counts, and an object without one is in no shard', async () => {
    const { time, fake, create, start, keys } = rig();
    create('orphan');
    const two = create('two', 'db', 'web');
    await start();
    expect(keys()).toEqual(['shop/mine', 'shop/moves']);
    fake.objects.modify(
      configMaps,
      two.metadata as { namespace: string; name: string },
      (draft) => {
        const [db] = draft.metadata?.ownerReferences ?? [];
        if (db !== undefined) delete db.controller;
      },
    );
    await time.until(() => expect(keys()).toEqual(['shop/mine', 'shop/moves', 'shop/two']));
  });

  it('H54: ranges that leave cause no other watch, because a server cannot select by owner', async () => {
    const { time, fake, ranges$, of, start, keys } = rig();
    ranges$.next(of('web', 'db'));
    await start();
    ranges$.next(of('web'));
    await time.advance(5_000);
    expect(keys()).toEqual(['shop/mine', 'shop/moves']);
    expect(fake.requests.filter(({ use }) => use === 'watch')).toHaveLength(1);
  });
});
