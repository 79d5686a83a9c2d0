/** Refused objects in an informer: when they are shown, accepted or removed, and what they cost. */
import {
  ApiError,
  createClient,
  createListWatch,
  createSharedInformer,
  type InformerStatus,
  type ListerWatcher,
  type SharedInformerOptions,
} from 'rx-informer';
import { type ConfigMap, configMaps, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { map, NEVER, timer } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { HandFedServer, type Thing, things } from '../support/hand-fed-server.ts';
import { eventually } from '../support/patience.ts';
import type { Pod } from '../support/scripted-list-watch.ts';

/**
 * An informer that refuses red things by its transform and blue things by an index function, until `recover` is called.
 */
function refusing(options: SharedInformerOptions<Thing> = {}) {
  const time = new VirtualTime();
  const server = new HandFedServer(time);
  const refuses = { red: true, blue: true };
  const judge = (thing: Thing, colour: 'red' | 'blue') => {
    if (thing.colour === colour && refuses[colour]) throw new Error(`${colour} is refused`);
    return thing;
  };
  const transform = (thing: Thing) => judge(thing, 'red');
  const source = createListWatch(server.client, things, { scheduler: time, transform });
  const informer = createSharedInformer(source, {
    scheduler: time,
    random: () => 0,
    backoff: () => 0,
    resyncPeriodMs: 1_000,
    initialList: 'pages',
    indexers: { colour: (thing) => [judge(thing, 'blue').colour] },
    ...options,
  });
  onTestFinished(() => informer.stop());
  informer.start();
  /** Sends all writes so far as one chunk. */
  const feed = () => {
    server.answer?.feed();
    time.elapse(0);
  };
  const recover = () => {
    Object.assign(refuses, { red: false, blue: false });
    time.elapse(1_000);
  };
  const shown = () => {
    const stored = informer.indexer
      .list()
      .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
    const refused = informer.status.refusedObjects?.map(({ key }) => `?${key.slice(5)}`) ?? [];
    return [...stored, ...refused].join(' ');
  };
  return { time, server, refuses, informer, feed, recover, shown };
}

describe('an informer that refuses objects', () => {
  it('I13: an object that is accepted at a resync during the first list satisfies only the wait for that object', async () => {
    const { server, informer, time, refuses } = refusing();
    server.answer?.fail(new Error('lost') as never);
    server.put('shop/k', 'red');
    for (let at = 0; at < 3; at++) server.put(`shop/other${at}`, 'plain');
    server.answer?.fail(new Error('lost') as never);
    time.elapse(0);
    const { length = 0 } = server.answer?.waiting ?? {};
    server.answer?.feed(length - 10);
    const settled: string[] = [];
    void informer.whenAtLeast('11').then(() => settled.push('at least 11'));
    void informer.whenObserved('shop/none', '11').then(() => settled.push('none'));
    const gone = { uid: 'u9', deleted: true } as const;
    void informer.whenObserved('shop/none', gone).then(() => settled.push('gone'));
    void informer.whenObserved('shop/k', '11').then(() => settled.push('k'));
    refuses.red = false;
    time.elapse(1_000);
    await time.advance(0);
    expect(informer.indexer.has('shop/k')).toBe(true);
    expect([settled, informer.hasSynced, informer.lastSyncResourceVersion]).toEqual([
      ['k'],
      false,
      '',
    ]);
    server.answer?.feed();
    await time.advance(0);
    expect(settled).toEqual(['k', 'at least 11', 'none', 'gone']);
  });
});

describe('a wait', () => {
  const observing = () => {
    const rig = refusing();
    rig.feed();
    const settled: string[] = [];
    const wait = (what: string, promise: Promise<unknown>) =>
      void promise.then(() => settled.push(what), String);
    return { ...rig, settled, wait };
  };

  it('I62: a later event does not satisfy a wait for a version while its object is refused', async () => {
    const { server, feed, settled, wait, informer, time, recover } = observing();
    for (const [name, colour] of [
      ['r', 'red'],
      ['b', 'blue'],
    ] as const)
      server.put(`shop/${name}`, colour);
    wait('r', informer.whenObserved('shop/r', '11'));
    wait('b', informer.whenObserved('shop/b', '12'));
    wait('all', informer.whenAtLeast('13'));
    server.put('shop/other', 'plain');
    feed();
    await time.advance(0);
    // Refused objects do not hold up a wait for the collection, because they may stay refused for ever.
    expect(settled).toEqual(['all']);
    recover();
    await time.advance(0);
    expect(settled).toEqual(['all', 'r', 'b']);
  });

  it('I62: a refused state, and a deletion whose state is refused, satisfy the waits that they end', async () => {
    const { server, feed, settled, wait, informer, time } = observing();
    server.put('shop/k', 'plain');
    server.put('shop/r', 'red');
    wait('all', informer.whenAtLeast('12'));
    feed();
    await time.advance(0);
    expect(settled).toEqual(['all']);
    server.put('shop/k', 'red');
    server.delete('shop/k');
    feed();
    wait(
      'gone',
      informer.whenObserved('shop/k', { uid: 'u1', deleted: true, resourceVersion: '14' }),
    );
    await time.advance(0);
    expect([...settled, informer.indexer.size]).toEqual(['all', 'gone', 0]);
  });

  it('I62: a refused object does not satisfy a wait for its deletion', async () => {
    const { server, feed, settled, wait, informer, time } = observing();
    server.put('shop/r', 'red');
    feed();
    wait('u1', informer.whenObserved('shop/r', { uid: 'u1', deleted: true }));
    wait('another', informer.whenObserved('shop/r', { uid: 'u0', deleted: true }));
    await time.advance(0);
    expect(settled).toEqual(['another']);
    server.delete('shop/r');
    feed();
    await time.advance(0);
    expect(settled).toEqual(['another', 'u1']);
  });
});

describe('an informer that refuses every object', () => {
  const COUNT = 6_000;
  const many = () => {
    const server = createFakeApiServer({ resources: [configMaps] });
    for (let at = 0; at < COUNT; at++) {
      server.objects.create(configMaps, { metadata: { name: `c${at}`, namespace: 'shop' } });
    }
    return createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  };
  const refuse = (): never => {
    throw new Error('never');
  };

  it.each<[string, { transform?: () => ConfigMap }, SharedInformerOptions<ConfigMap>]>([
    ['a transform', { transform: refuse }, {}],
    ['an index function', {}, { indexers: { never: refuse } }],
  ])(
    'I63: objects refused by %s are reported once per batch, at a cost in proportion to their number',
    async (_name, listed, options) => {
      const informer = createSharedInformer(createListWatch(many(), configMaps, listed), options);
      const statuses: InformerStatus[] = [];
      informer.status$.subscribe((status) => statuses.push(status));
      informer.start();
      await informer.whenSynced();
      expect(informer.status.refused).toBe(COUNT);
      expect(informer.status.refusedObjects).toHaveLength(10);
      expect(statuses.length).toBeLessThan(COUNT / 10);
      await informer.stop();
    },
  );

  it('I63, D7: items that are not objects of the resource are reported once per batch, too', async () => {
    const refusal = { reason: ApiError.local('Unexpected', 'a Node') };
    const source: ListerWatcher<Pod> = {
      watchList: false,
      list: ({ onRefused }) =>
        timer(1).pipe(
          map(() => {
            for (let at = 0; at < COUNT; at++) onRefused?.(refusal);
            return { items: [], metadata: { resourceVersion: '1' } };
          }),
        ),
      watch: () => NEVER,
    };
    const informer = createSharedInformer(source);
    const statuses: InformerStatus[] = [];
    informer.status$.subscribe((status) => statuses.push(status));
    informer.start();
    await informer.whenSynced();
    await eventually(() =>
      expect([statuses.at(-1)?.refusedItems, statuses.at(-1)?.lastRefusal]).toEqual([
        COUNT,
        refusal.reason,
      ]),
    );
    expect(statuses.length).toBeLessThan(10);
    await informer.stop();
  });

  it('I63: each item of a list without metadata is counted, with one error for a chunk', async () => {
    const body = `{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[${'{},'.repeat(COUNT - 1)}{}]}`;
    const headers = { 'content-type': 'application/json' };
    const client = createClient({
      baseUrl: 'http://fake',
      fetch: async () => new Response(body, { headers }),
    });
    const reasons = new Set<unknown>();
    const listWatch = createListWatch(client, pods, {
      onRefused: ({ reason }) => reasons.add(reason),
    });
    const informer = createSharedInformer({
      ...listWatch,
      watchList: false,
      watch: () => NEVER,
    });
    informer.start();
    await informer.whenSynced();
    await eventually(() => expect(informer.status.refusedItems).toBe(COUNT));
    expect([...reasons]).toEqual([informer.status.lastRefusal]);
    await informer.stop();
  });
});
