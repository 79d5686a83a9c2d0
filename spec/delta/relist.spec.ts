import { deltaFifo, type KubernetesObject, rememberedObjects } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { Subject } from 'rxjs';
import { map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { compressions } from './compressions.ts';
import {
  added,
  bookmark,
  brief,
  deleted,
  gated,
  knowing,
  lost,
  pod,
  refusal,
  replaced,
  replacing,
  updated,
} from './pods.ts';

const abort = { type: 'replace-abort' } as const;

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

  it('F4: a relist is one `replaced`, after a tombstone for each known key that it does not contain (TestRealFIFO_ReplaceMakesDeletionsReplaced)', () => {
    const known = knowing(pod('a', 1), pod('b', 1), pod('c', 1));
    const { send, pop } = gated({ known });
    send(replaced([pod('b', 1), pod('n', 5)], 9));
    expect(pop()).toEqual(['-a@1? -c@1? [b@1 n@5]@9']);
  });

  it('F12: a key that a part of a list gives is used only if it is the key of the object', () => {
    const { send, pop } = gated({ known: knowing(pod('a', 1), pod('b', 1)) });
    const keys = ['a', 'a', 'd/e'];
    send({ ...replacing([pod('a', 2), pod('b', 2), pod('c', 2)]), keys }, replaced([], 9));
    expect(pop()).toEqual(['[a@2 b@2 c@2]@9']);
  });

  const stored = [pod('s', 1)];
  it.each([
    ['never popped', [], [added(pod('x', 2))], '+x@2 -x@2? []@9'],
    [
      'waiting in several states, of which the newest is delivered',
      [],
      [added(pod('x', 2)), updated(pod('x', 3))],
      '+x@2 ~x@3 -x@3? []@9',
    ],
    ['stored and changed since', stored, [updated(pod('s', 4))], '~s@4 -s@4? []@9'],
    [
      'stored and deleted already, without a second tombstone',
      stored,
      [deleted(pod('s', 4))],
      '-s@4 []@9',
    ],
    [
      'added and deleted, without a second tombstone',
      [],
      [added(pod('x', 2)), deleted(pod('x', 3))],
      '+x@2 -x@3 []@9',
    ],
    [
      'added, deleted and added again',
      [],
      [added(pod('x', 2)), deleted(pod('x', 3)), added(pod('x', 4, 'x2'))],
      '+x@2 -x@3 +x@4 -x@4? []@9',
    ],
    [
      'deleted without a state already, without a second tombstone',
      stored,
      [lost('s')],
      '-s@1? []@9',
    ],
  ])(
    'F4: a relist delivers one tombstone for a missing object that was %s (TestRealFIFOW_ReplaceMakesDeletionsForObjectsOnlyInQueue)',
    (_case, known, deltas, expected) => {
      const { send, pop } = gated({ known: knowing(...known) });
      send(...deltas, replaced([], 9));
      expect(pop()).toEqual([expected]);
    },
  );

  it('F4: several relists in a row deliver one tombstone per key (kubernetes/kubernetes#115620)', () => {
    const { send, pop } = gated({ known: knowing() });
    send(replaced([pod('a', 1), pod('b', 1)], 5), replaced([pod('b', 1)], 6), replaced([], 7));
    expect(pop()).toEqual(['[a@1 b@1]@5 -a@1? [b@1]@6 -b@1? []@7']);
    send(replaced([pod('a', 8)], 8));
    expect(pop()).toEqual(['[a@8]@8']);
  });

  it('F4, F2: a waiting deletion is delivered before the list (TestRealFIFO_replaceWithDeleteDeltaIn)', () => {
    for (const compression of ['none', 'latest'] as const) {
      const { send, pop } = gated({
        compression: compressions[compression],
        known: knowing(pod('a', 1)),
      });
      send(deleted(pod('a', 2)), replaced([pod('a', 3, 'a2')], 4));
      expect(pop()).toEqual(['-a@2 [a@3]@4']);
    }
  });

  it('F2: deltas are not folded across a relist (TestRealFIFO_addReplace, TestRealFIFO_ReplaceAtomic)', () => {
    const { send, pop } = gated({ compression: compressions.latest, known: knowing() });
    send(added(pod('a', 1)), updated(pod('a', 2)), replaced([pod('a', 3)], 4));
    send(updated(pod('a', 5)), updated(pod('a', 6)), replaced([pod('a', 6)], 7), bookmark(8));
    expect(pop()).toEqual(['+a@2 [a@3]@4 ~a@6 [a@6]@7 ^8']);
  });

  it('F4: a `replaced` that a source sends twice is two lists', () => {
    const { send, pop } = gated({ known: knowing() });
    const empty = replaced([], 9);
    send(added(pod('a', 1)), empty, added(pod('a', 2, 'a2')), empty);
    expect(pop()).toEqual(['+a@1 -a@1? []@9 +a@2 -a@2? []@9']);
  });

  it('F4: refused objects do not count as missing, whether a part or the end of the list contains them', () => {
    const known = knowing(pod('a', 1), pod('b', 1), pod('c', 1));
    const source = new Subject<Parameters<typeof brief>[0]>();
    const refused: unknown[] = [];
    source.pipe(deltaFifo({ known })).subscribe((deltas) => refused.push(brief(deltas)));
    source.next([
      replacing([pod('c', 2)], { refused: [refusal(pod('a', 2))] }),
      replaced([], 9, { refused: [refusal(pod('b', 2)), refusal(pod('c', 3))] }),
    ]);
    expect(refused).toEqual(['[xa@2 xb@2 xc@3]@9']);
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

  it('F5: parts are held back if other deltas wait, although the store is empty', () => {
    const { send, pop } = gated({ known: knowing() });
    send(added(pod('a', 1)), replacing([pod('b', 1)]), replaced([pod('c', 1)], 5));
    expect(pop()).toEqual(['+a@1 -a@1? [b@1 c@1]@5']);
  });

  it('F5: of two states of an object within one list, the second counts', () => {
    const flowing = gated();
    flowing.send(replacing([pod('a', 1), pod('b', 1)]), replacing([pod('a', 2)]), replaced([], 5));
    expect(flowing.pop()).toEqual(['(a@1 b@1) (a@2) []@5 too']);
    const holding = gated({ known: knowing(pod('z', 1)) });
    holding.send(replacing([pod('a', 1)]), replacing([pod('a', 2)]), replaced([], 5));
    expect(holding.pop()).toEqual(['-z@1? [a@2]@5']);
  });

  it('F5: an aborted list deletes nothing, and its parts do not reach the next list', () => {
    const { send, pop } = gated({ known: knowing(pod('a', 1)) });
    send(replacing([pod('b', 2)], { removed: ['a'], refused: [refusal(pod('c', 2))] }), abort);
    expect(pop()).toEqual([]);
    send(replacing([pod('d', 3)]), replaced([], 9));
    expect(pop()).toEqual(['-a@1? [d@3]@9']);
  });

  it('F5: objects that an aborted list passed on stay until a complete list does not contain them', () => {
    const source = new Subject<Parameters<typeof brief>[0]>();
    const out: string[] = [];
    source
      .pipe(deltaFifo({ known: rememberedObjects() }))
      .subscribe((deltas) => out.push(brief(deltas)));
    source.next([replacing([pod('a', 1), pod('b', 1)])]);
    source.next([abort]);
    source.next([replacing([pod('b', 1)])]);
    expect(out).toEqual(['(a@1 b@1)', '!']);
    source.next([replaced([], 9)]);
    expect(out[2]).toBe('-a@1? [b@1]@9');
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

  it('F9: a relist of one scope deletes nothing of another scope, and the parts of each scope are collected separately', () => {
    const known = knowing(
      pod('shop/a', 1),
      pod('shop/b', 1),
      pod('shopping/a', 1),
      pod('lab/a', 1),
    );
    const { send, pop } = gated({ known });
    send(
      replacing([pod('shop/c', 2)], { scope: 'shop' }),
      replacing([pod('lab/c', 2)], { scope: 'lab' }),
      { ...abort, scope: 'lab' },
      replaced([pod('shop/b', 1)], 9, { scope: 'shop' }),
    );
    expect(pop()).toEqual(['-shop/a@1? [shop/c@2 shop/b@1]@9']);
  });

  it('F5, F9: the parts of a scope without known objects are passed on, also if other scopes have objects', () => {
    const { send, pop } = gated({ known: knowing(pod('lab/a', 1)) });
    send(replacing([pod('shop/a', 1)], { scope: 'shop' }));
    expect(pop()).toEqual(['(shop/a@1)']);
  });
});

describe('deltaFifo: resync', () => {
  it('F7: a resync delivers every known key once, after the waiting deltas (TestRealFIFO_Resync, TestRealFIFO_ResyncAtomic)', () => {
    const { send, pop, resync$ } = gated({ known: knowing(pod('a', 1), pod('b', 1)) });
    resync$.next();
    resync$.next();
    expect(pop()).toEqual(['=a@1 =b@1']);
    send(added(pod('n', 2)));
    resync$.next();
    expect(pop()).toEqual(['+n@2 =a@1 =b@1']);
  });

  it('F7: a resync delivers nothing for a key that is unknown or has no object (TestRealFIFO_ResyncNonExisting)', () => {
    const known = knowing(pod('a', 1));
    const { send, pop, resync$ } = gated({
      known: { size: 2, get: (key) => known.get(key), keys: () => ['a', 'nothing'] },
    });
    resync$.next();
    expect(pop()).toEqual(['=a@1']);
    send(deleted(pod('a', 2)));
    resync$.next();
    expect(pop()).toEqual(['-a@2']);
  });

  it('F7: a resync delivers nothing for a key with pending deltas (TestRealFIFO_UpdateResyncRace)', () => {
    for (const compression of ['none', 'latest'] as const) {
      const known = knowing(pod('a', 1), pod('b', 1), pod('c', 1), pod('d', 1));
      const { send, pop, resync$ } = gated({ compression: compressions[compression], known });
      send(updated(pod('a', 2)));
      resync$.next();
      send(deleted(pod('b', 3)), updated(pod('c', 4)));
      expect(pop()).toEqual(['~a@2 -b@3 ~c@4 =d@1']);
      send(replaced([pod('a', 2)], 9));
      resync$.next();
      expect(pop()).toEqual(['-b@1? -c@1? -d@1? [a@2]@9']);
    }
  });
});
