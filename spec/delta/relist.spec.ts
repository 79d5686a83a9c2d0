import { deltaFifo, type KubernetesObject, rememberedObjects } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { Subject } from 'rxjs';
import { map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';

import { added, brief, deleted, gated, knowing, pod, replaced, replacing } from './pods.ts';

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
