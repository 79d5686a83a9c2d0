/** Tests `createShardedInformer`: calls and failures in the middle of a move of shards. */
import {
  addEventHandler,
  audit,
  createClient,
  createListWatch,
  createShardedInformer,
  type KubernetesObject,
  type ListerWatcher,
  shardRanges,
  shardSlotOf,
  type WatchSignal,
} from 'rx-informer';
import { type ConfigMap, configMaps } from 'rx-informer/resources';
import { BehaviorSubject, NEVER, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { of, shardRig } from './shard-rig.ts';

const first = Array.from({ length: 32 }, (_, slot) => slot);
const all = Array.from({ length: 64 }, (_, slot) => slot);

/** A UID in the first or in the second half of the slots. */
function uidIn(half: 'first' | 'second'): string {
  for (let at = 0; ; at++) if (shardSlotOf(`u${at}`) < 32 === (half === 'first')) return `u${at}`;
}

describe('a move of shards', () => {
  it('H58: a refresh that a handler requests while shards arrive resolves, and other shards arrive later', async () => {
    const { time, informer, ranges$, start, keys } = shardRig();
    await start();
    const results: string[] = [];
    addEventHandler(informer, {
      onAdd: (_, { cause }) => {
        if (cause !== 'rebalance') return;
        informer.refresh().then(
          () => results.push('refreshed'),
          (error) => results.push(String(error)),
        );
      },
    });
    ranges$.next(of('bar', 'cart', 'dock'));
    await time.until(() => expect(results).toEqual(['refreshed']));
    ranges$.next(of('bar', 'cart', 'dock', 'shop'));
    await time.until(() => expect(keys()).toContain('shop/one'));
  });

  it('H55: shards also arrive if the others were listed by a streaming list, whose watch goes on', async () => {
    const { time, ranges$, start, keys, told } = shardRig({
      informer: { initialList: 'stream' },
    });
    await start();
    ranges$.next(of('bar', 'cart', 'dock'));
    await time.until(() => expect(keys()).toContain('dock/one'));
    expect(told).toEqual(['rebalance +dock/one']);
  });

  it('F9: a list that ends because its shards have left does not make a later list forget deletions', async () => {
    // Without a filtering server the first page has only objects of others, while the store is empty.
    const { time, fake, informer, ranges$, start, keys, gates, isLive } = shardRig({
      server: { shardedListAndWatch: false },
      informer: { pageSize: 1 },
      own: ['empty'],
    });
    await start();
    gates.pages.shut();
    informer.refresh().catch(() => undefined);
    await time.advance(30);
    ranges$.next([]);
    gates.pages.open();
    ranges$.next(of('bar', 'cart'));
    await time.until(() => expect(keys()).toEqual(['bar/one', 'cart/one']));
    await isLive();
    fake.faults.dropWatches();
    fake.objects.delete(configMaps, { namespace: 'cart', name: 'one' });
    fake.objects.compact();
    await time.until(() => expect(informer.status.relists).toBe(1));
    await time.until(() => expect(keys()).toEqual(['bar/one']));
  });

  it('F9, H58: objects in the first page of a list whose shards leave before the last page are not stored again', async () => {
    const { time, informer, ranges$, start, keys, told, gates } = shardRig({
      informer: { pageSize: 1 },
    });
    await start();
    gates.pages.shut();
    const refreshed = informer.refresh();
    await time.advance(30);
    ranges$.next(of('cart'));
    gates.pages.open();
    await time.until(refreshed);
    expect(keys()).toEqual(['cart/one']);
    expect(told).toEqual(['rebalance <bar/one']);
  });

  it.each([
    ['of held shards that stay', 'first' as const],
    ['of other shards', 'second' as const],
  ])(
    'H58: a name that an object %s takes during a streaming list is stored or removed with that object',
    async (_, successor) => {
      const ranges$ = new BehaviorSubject(shardRanges(successor === 'first' ? all : first));
      const signals = new Subject<WatchSignal<KubernetesObject>>();
      const listerWatcher: ListerWatcher<KubernetesObject> = {
        list: () => NEVER,
        watch: () => signals,
      };
      const informer = createShardedInformer(listerWatcher, {
        initialList: 'stream',
        shards: { by: 'uid', ranges$ },
      });
      informer.start();
      const object = (uid: string, resourceVersion: string) => ({
        metadata: { name: 'x', namespace: 'a', uid, resourceVersion },
      });
      const key = 'a/x';
      const before = object(uidIn(successor === 'first' ? 'second' : 'first'), '5');
      const after = object(uidIn(successor), '7');
      signals.next({ kind: 'opened' });
      signals.next({ kind: 'events', events: [{ type: 'ADDED', key, object: before }] });
      signals.next({
        kind: 'events',
        events: [
          { type: 'DELETED', key, object: before, resourceVersion: '6' },
          { type: 'ADDED', key, object: after },
        ],
      });
      ranges$.next(shardRanges(first));
      const end = { type: 'BOOKMARK', resourceVersion: '9', initialEventsEnd: true } as const;
      signals.next({ kind: 'events', events: [end] });
      await informer.whenSynced();
      expect(informer.indexer.list()).toEqual(successor === 'first' ? [after] : []);
      await informer.stop();
    },
  );

  it('H56: an informer that is stopped while its objects leave has no timers left', async () => {
    const { time, informer, ranges$ } = shardRig();
    addEventHandler(informer, { onLeave: () => void informer.stop() });
    informer.start();
    await time.advance(1_000);
    expect(informer.indexer.size).toBe(2);
    ranges$.next(of('bar'));
    await time.advance(0);
    expect(informer.isStopped).toBe(true);
    expect(time.pending).toBe(0);
    expect(ranges$.observed).toBe(false);
  });

  it('H58: no shard is requested before the end of a Retry-After that another request was answered with', async () => {
    const { time, fake, informer, ranges$, keys } = shardRig();
    informer.start();
    await time.advance(2_000);
    fake.faults.failNext({ use: 'watch' }, { status: 429, retryAfterSeconds: 10 });
    fake.faults.closeWatches();
    await time.advance(100);
    expect(informer.status.error?.code).toBe(429);
    fake.clearRequests();
    ranges$.next(of('bar', 'dock'));
    await time.advance(9_800);
    expect(fake.requests).toEqual([]);
    expect(informer.status.shards?.arriving).toEqual(of('dock'));
    await time.advance(2_000);
    expect(keys()).toEqual(['bar/one', 'dock/one']);
    expect(informer.status.live).toBe(true);
    await informer.stop();
    expect(time.pending).toBe(0);
  });

  it.each(['hangs', 'fails'])(
    'H54: the end of an informer ends the list of a shard that arrives, also if that %s',
    async (how) => {
      const { time, fake, informer, ranges$, start } = shardRig();
      await start();
      if (how === 'hangs') fake.faults.neverAnswer({ use: 'list' });
      else fake.faults.failNext({ use: 'list' }, { status: 500, times: 1_000 });
      ranges$.next(of('bar', 'cart', 'dock'));
      await time.advance(100);
      expect(informer.status.shards?.arriving).toEqual(of('dock'));
      await informer.stop();
      fake.clearRequests();
      await time.advance(60_000);
      expect([fake.requests, fake.openWatches, time.pending]).toEqual([[], [], 0]);
    },
  );

  it('H56, H58: an object that is refused when its shard leaves is not tried again', async () => {
    let isRefusing = false;
    const { time, fake, informer, ranges$, start, keys } = shardRig({
      informer: { resyncPeriodMs: 1_000 },
      listWatch: {
        transform: (object: ConfigMap) => {
          if (isRefusing && object.metadata?.namespace === 'cart') throw new Error('no');
          return object;
        },
      },
    });
    await start();
    isRefusing = true;
    fake.objects.modify(configMaps, { namespace: 'cart', name: 'one' }, (draft) => {
      draft.data = { text: 'refused' };
    });
    await time.until(() => expect(informer.status.refusedObjects).toHaveLength(1));
    ranges$.next(of('bar'));
    expect(keys()).toEqual(['bar/one']);
    await time.until(() => expect(informer.status.refusedObjects ?? []).toEqual([]));
    isRefusing = false;
    await time.advance(1_300);
    expect(keys()).toEqual(['bar/one']);
  });

  it('H54: an audit is refused, because it would take the objects of other shards for lost', () => {
    const client = createClient({ baseUrl: 'http://fake' });
    const options = {
      audit: audit({ periodMs: 60_000 }),
      shards: { by: 'uid', ranges$: NEVER } as const,
    };
    expect(() => createShardedInformer(createListWatch(client, configMaps), options)).toThrow(
      /audit is not supported/,
    );
  });
});
