/** The queue in front of the store, what a list says is gone, and transformed objects: each that leaves it was transformed once. */
import {
  createClient,
  createListWatch,
  type Delta,
  defineResource,
  deltaFifo,
  type KubernetesObject,
  reflect,
  rememberedObjects,
} from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { of, Subject, throwError } from 'rxjs';
import { map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { compressions } from './compressions.ts';
import {
  added,
  bookmark,
  brief,
  deleted,
  gated,
  knowing,
  missed,
  type Pod,
  pod,
  replaced,
  replacing,
  updated,
} from './pods.ts';

describe('deltaFifo: order', () => {
  it('F1: a bookmark is a separate delta and stays behind earlier deltas (TestRealFIFO_ReplaceAtomic)', () => {
    for (const compression of ['none', 'latest'] as const) {
      const { send, pop } = gated({
        compression: compressions[compression],
        known: knowing(pod('c', 1)),
      });
      send(added(pod('a', 1)), bookmark(2), bookmark(3), added(pod('b', 4)));
      expect(pop()).toEqual(['+a@1 ^2 ^3 +b@4']);
      send(added(pod('d', 5)), replaced([pod('c', 1)], 6), replaced([pod('c', 1)], 7), bookmark(8));
      expect(pop()).toEqual(['+d@5 -d@5? [c@1]@6 [c@1]@7 ^8']);
    }
  });
});

describe('deltaFifo: folding', () => {
  // Faults, seed 1270: the deletion of the first object arrived after the second object.
  it.each(['none', 'latest'] as const)(
    'F2: a deletion that arrives after a newer object of that name, or after a later version, has no effect; compression %s',
    (compression) => {
      const known = knowing(pod('a', 10, 'first'), pod('b', 10));
      const { send, pop } = gated({ compression: compressions[compression], known });
      send(added(pod('a', 14, 'second')), deleted(pod('a', 13, 'first')));
      send(updated(pod('b', 16)), deleted(pod('b', 15)));
      expect(pop()).toEqual(['+a@14 ~b@16']);
      // A missed deletion carries an old state of the object that is deleted now.
      send(updated(pod('b', 18)), missed(pod('b', 15)));
      expect(pop().join()).toContain('-b@15?');
    },
  );
});

describe('deltaFifo: demand', () => {
  const values = {
    a: [added(pod('a', 1))],
    b: [updated(pod('a', 2))],
    c: [added(pod('c', 3))],
    d: [updated(pod('c', 4)), deleted(pod('a', 5))],
  };

  it('F7, F11: resyncs while the demand is closed are one resync, which leaves out keys with pending deltas', () => {
    marbles(({ hot, expectObservable }) => {
      const known = knowing(pod('a', 1), pod('c', 1), pod('k', 1));
      const open = hot('      -------o--o-', { o: 0 });
      const resync$ = hot('   -r--r----r-', { r: 0 });
      const source = hot('    --b--c-----', values);
      const result = source.pipe(deltaFifo({ known, ready: () => open, resync$ }), map(brief));
      expectObservable(result, '^----------!').toBe('-------x--y', {
        x: '~a@2 +c@3 =k@1',
        y: '=a@1 =c@1 =k@1',
      });
    });
  });

  it('F11: completion of the source delivers the waiting deltas; an error of the source or of the demand is passed on immediately', () => {
    const { source, send, pop, out } = gated();
    send(added(pod('a', 1)));
    source.complete();
    expect(out).toEqual([]);
    expect(pop()).toEqual(['+a@1', '|']);

    const failing = gated();
    failing.send(added(pod('a', 1)));
    failing.source.error('boom');
    expect(failing.out).toEqual(['error boom']);
    expect(failing.open.observed).toBe(false);

    const broken = gated({ ready: () => throwError(() => 'demand failed') });
    broken.send(added(pod('a', 1)));
    expect(broken.out).toEqual(['error demand failed']);
  });

  it('F11: a demand that completes without a value counts as open (TestRealFIFO_PopShouldUnblockWhenClosed)', () => {
    const { send, open, out } = gated();
    send(added(pod('a', 1)));
    open.complete();
    expect(out).toEqual(['+a@1']);
  });

  it('F11: unsubscribing drops the waiting deltas and unsubscribes from the source, the demand and the resync', () => {
    const { source, open, resync$, send, subscription, out } = gated();
    send(added(pod('a', 1)));
    subscription.unsubscribe();
    expect([source.observed, open.observed, resync$.observed]).toEqual([false, false, false]);
    open.next();
    expect(out).toEqual([]);
  });

  it('F11: the demand is not checked while nothing waits, and no batch is empty', () => {
    let asked = 0;
    const out: unknown[] = [];
    const source = new Subject<never[]>();
    const ready = () => {
      asked++;
      return null;
    };
    source
      .pipe(deltaFifo({ known: rememberedObjects(), ready, resync$: of(1) }))
      .subscribe((deltas) => out.push(deltas));
    expect(asked).toBe(1);
    source.next([]);
    expect([asked, out]).toEqual([1, []]);
  });

  it('F1, F11: deltas that a subscriber pushes while it handles a pop are delivered after it and resolved against its result', () => {
    const source = new Subject<readonly ReturnType<typeof added>[]>();
    const known = knowing();
    const out: string[] = [];
    let depth = 0;
    source.pipe(deltaFifo({ known })).subscribe((deltas) => {
      depth++;
      expect(depth).toBe(1);
      const text = brief(deltas);
      if (text === '+a@1') {
        source.next([added(pod('b', 2))]);
        source.next([deleted(pod('b', 3)), deleted(pod('a', 4))]);
      }
      for (const delta of deltas) {
        if (delta.type === 'added') known.set(delta.key, delta.object);
      }
      out.push(text);
      depth--;
    });
    source.next([added(pod('a', 1))]);
    expect(out).toEqual(['+a@1', '+b@2 -b@3 -a@4']);
  });

  it('F11: 30,000 synchronous deltas pass, with an open and with a closed demand', () => {
    const flood = Array.from({ length: 30_000 }, (_, at) => [added(pod(`p${at}`, at + 1))]);
    let popped = 0;
    of(...flood)
      .pipe(deltaFifo({ known: rememberedObjects() }))
      .subscribe((deltas) => {
        popped += deltas.length;
      });
    expect(popped).toBe(30_000);
    const closed = gated();
    for (const deltas of flood) closed.send(...deltas);
    expect(closed.pop()[0]?.split(' ')).toHaveLength(30_000);
    // Each delta is pushed while the one before is delivered, which must not recurse.
    const loop = new Subject<readonly ReturnType<typeof added>[]>();
    let turns = 0;
    loop.pipe(deltaFifo({ known: rememberedObjects() })).subscribe(() => {
      if (++turns < 30_000) loop.next([added(pod('a', turns + 1))]);
    });
    loop.next([added(pod('a', 1))]);
    expect(turns).toBe(30_000);
  });

  it('F12: each subscription has its own queue', () => {
    const source = new Subject<readonly ReturnType<typeof added>[]>();
    const open = new Subject<void>();
    const queue = source.pipe(
      deltaFifo({ known: rememberedObjects(), ready: () => open }),
      map(brief),
    );
    const [first, second]: [string[], string[]] = [[], []];
    queue.subscribe((text) => first.push(text));
    source.next([added(pod('a', 1))]);
    queue.subscribe((text) => second.push(text));
    source.next([deleted(pod('a', 2))]);
    open.next();
    expect([first, second]).toEqual([['+a@1 -a@2'], []]);
  });
});

describe('deltaFifo: a relist', () => {
  const listed = replaced([pod('foo', 5)], 0);
  const threeKnown = [pod('foo', 5), pod('bar', 6), pod('baz', 7)];
  it.each([
    ['deleted already', threeKnown, [deleted(pod('baz', 10)), listed], '-baz@10 -bar@6? [foo@5]@0'],
    [
      'added while the list waits',
      threeKnown,
      [added(pod('baz', 10)), listed],
      '+baz@10 -bar@6? -baz@10? [foo@5]@0',
    ],
    [
      'deleted and created again',
      threeKnown,
      [deleted(pod('bar', 6)), added(pod('bar', 100, 'bar2')), listed],
      '-bar@6 +bar@100 -bar@100? -baz@7? [foo@5]@0',
    ],
    [
      'newer in an earlier list',
      threeKnown,
      [replaced([pod('bar', 100), pod('foo', 5)], 0), listed],
      '-baz@7? [bar@100 foo@5]@0 -bar@100? [foo@5]@0',
    ],
    ['known only to the queue', [], [added(pod('baz', 10)), listed], '+baz@10 -baz@10? [foo@5]@0'],
  ])(
    'F4: a missing object is delivered as deleted, with the newest known state, if it was %s (TestRealFIFO_ReplaceMakesDeletions)',
    (_case, stored, deltas, expected) => {
      const { send, pop } = gated({ known: knowing(...stored) });
      send(...deltas);
      expect(pop()).toEqual([expected]);
    },
  );

  it('F12: a key that a part of a list gives is used only if it is the key of the object', () => {
    const { send, pop } = gated({ known: knowing(pod('a', 1), pod('b', 1)) });
    const keys = ['a', 'a', 'd/e'];
    send({ ...replacing([pod('a', 2), pod('b', 2), pod('c', 2)]), keys }, replaced([], 9));
    expect(pop()).toEqual(['[a@2 b@2 c@2]@9']);
  });

  it('F4: an object without a name is passed on for the store to refuse, and the others stay in order (TestRealFIFO_PopBrokenItemsInBatch)', () => {
    const broken = { metadata: { uid: 'x', resourceVersion: '1' } } as ReturnType<typeof pod>;
    for (const known of [knowing(), knowing(pod('z', 1))]) {
      const source = new Subject<Parameters<typeof brief>[0]>();
      const out: Parameters<typeof brief>[0][number][] = [];
      source.pipe(deltaFifo({ known })).subscribe((deltas) => out.push(...deltas));
      source.next([
        added(pod('k', 1)),
        replacing([broken, pod('a', 1), broken]),
        replaced([pod('b', 1), broken], 9),
      ]);
      const objects = out.flatMap((delta) => ('objects' in delta ? delta.objects : []));
      expect(objects.filter((object) => object === broken)).toHaveLength(3);
      expect(objects).toEqual(expect.arrayContaining([pod('a', 1), pod('b', 1)]));
      expect(out[0]).toEqual(added(pod('k', 1)));
      source.next([replaced([pod('b', 1)], 10)]);
      expect(out.at(-1)).toMatchObject(replaced([pod('b', 1)], 10));
    }
  });
});

describe('deltaFifo: the parts of a list', () => {
  it('F5: parts are passed on to an empty store as they arrive; a later list is held back until it is complete', () => {
    marbles(({ hot, expectObservable }) => {
      const source = hot('a-b-c---d-e-f|', {
        a: [replacing([pod('a', 1)])],
        b: [replacing([pod('b', 1)], { removed: ['a'] })],
        c: [replaced([pod('c', 1)], 5)],
        d: [replacing([pod('b', 6), pod('d', 6)])],
        e: [replacing([pod('e', 7)], { removed: ['d'] })],
        f: [replaced([pod('f', 7)], 9)],
      });
      expectObservable(source.pipe(deltaFifo({ known: rememberedObjects() }), map(brief))).toBe(
        'a-b-c-------f|',
        {
          a: '(a@1)',
          b: '(b@1)',
          c: '[c@1]@5 too',
          f: '-c@1? [b@6 e@7 f@7]@9',
        },
      );
    });
  });

  it('F9: a list of some shards misses no object of others', () => {
    const known = knowing(pod('mine', 1), pod('lost', 1), pod('other', 1));
    const { send, pop } = gated({ known });
    const within = {
      contains: ({ metadata }: KubernetesObject) => metadata?.name !== 'other',
      containsRefused: () => true,
    };
    send(replaced([pod('mine', 1)], 9, { within }));
    expect(pop()).toEqual(['-lost@1? [mine@1]@9']);
  });
});

const pods = defineResource<Pod>({
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
});

const event = (type: string, name: string, version: number) =>
  JSON.stringify({
    type,
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, uid: `u-${name}`, resourceVersion: String(version) },
    },
  });
const expired = JSON.stringify({
  type: 'ERROR',
  object: { kind: 'Status', code: 410, reason: 'Expired' },
});

/** A server with empty lists. Each watch sends its lines and then a 410. */
function server(watches: readonly (readonly string[])[]) {
  let version = 0;
  let watched = 0;
  return async (input: unknown) => {
    version += 20;
    if (!String(input).includes('watch=')) {
      const metadata = { resourceVersion: String(version) };
      return Response.json({ apiVersion: 'v1', kind: 'PodList', metadata, items: [] });
    }
    const lines = watches[watched++];
    if (lines === undefined) return await new Promise<Response>(() => {});
    return new Response([...lines, expired, ''].join('\n'));
  };
}

describe('deltaFifo after a transform', () => {
  it('D4, F4: every emitted state, also that of a tombstone, was transformed once (TestRealFIFO_transformer, TestSharedInformerTransformer, TestTransformingInformerRace)', async () => {
    const time = new VirtualTime();
    const fetch = server([
      [
        event('ADDED', 'foo', 110),
        event('ADDED', 'bar', 111),
        event('MODIFIED', 'foo', 112),
        event('DELETED', 'foo', 115),
      ],
      [event('ADDED', 'bar', 216)],
    ]);
    const client = createClient({ baseUrl: 'http://server', fetch, scheduler: time });
    const times = new Map<string, number>();
    const listWatch = createListWatch(client, pods, {
      scheduler: time,
      watchList: false,
      transform: (pod) => {
        const { name, resourceVersion } = pod.metadata;
        const state = `${name}@${resourceVersion}`;
        times.set(state, (times.get(state) ?? 0) + 1);
        return { ...pod, transformed: ((pod as { transformed?: number }).transformed ?? 0) + 1 };
      },
    });
    const open = new Subject<void>();
    const out: Delta<Pod>[] = [];
    const run = reflect(listWatch, { scheduler: time, random: () => 0, backoff: () => 0 })
      .pipe(deltaFifo({ known: rememberedObjects(), ready: () => open }))
      .subscribe((deltas) => out.push(...deltas));
    await time.advance(5_000);
    open.next();
    run.unsubscribe();
    const withMissing = out.flatMap((delta): readonly Delta<Pod>[] =>
      delta.type === 'replaced' ? (delta.missing ?? []) : [delta],
    );
    const objects = withMissing.flatMap((delta) => ('object' in delta ? [delta.object] : []));
    expect(brief(out)).toBe(
      '[]@20 +foo@110 +bar@111 ~foo@112 -foo@115 -bar@111? []@60 +bar@216 -bar@216? []@100',
    );
    expect(objects.map((pod) => (pod as { transformed?: number })?.transformed)).toEqual(
      objects.map(() => 1),
    );
    expect([...times.values()]).toEqual([1, 1, 1, 1, 1]);
    expect(objects).toHaveLength(7);
  });
});
