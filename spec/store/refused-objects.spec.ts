import {
  applyDeltas,
  createIndexer,
  type Delta,
  deltaFifo,
  type WritableRefusedObjects,
} from 'rx-informer';
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createRefusedObjects } from '../../lib/store/refused-objects.ts';
import { compressions } from '../delta/compressions.ts';
import {
  added,
  deleted,
  gated,
  knowing,
  lost,
  type Pod,
  pod,
  refusal,
  refused,
  replaced,
  replacing,
  retry,
  updated,
  brief as words,
} from '../delta/pods.ts';
import { bad, refusing, storing } from './sets.ts';

const abort = { type: 'replace-abort' } as const;

const short = (it: Pod) => `${it.metadata.name}@${it.metadata.resourceVersion}`;

/** Writes the refused objects, the oldest first: `a@5`. */
function refusedOf(objects: WritableRefusedObjects): string {
  const all = objects.latest(objects.size).toReversed();
  return all.map(({ key, resourceVersion }) => `${key}@${resourceVersion}`).join(' ');
}

describe('the refused objects of a store', () => {
  it.each<[string, Delta<Pod>[], string, string]>([
    ['accepted, then refused', [updated(pod('a', 5)), refused(pod('a', 6))], 'a@5', 'a@6'],
    ['refused, then accepted', [refused(pod('a', 5)), updated(pod('a', 6))], 'a@6', ''],
    ['refused twice', [refused(pod('a', 5)), refused(pod('a', 6))], 'a@1', 'a@6'],
    ['refused, then deleted', [refused(pod('a', 5)), deleted(pod('a', 6))], '', ''],
    ['unknown, refused, then deleted', [refused(pod('n', 5)), deleted(pod('n', 6))], 'a@1', ''],
    ['unknown, refused, then lost', [refused(pod('n', 5)), lost('n')], 'a@1', ''],
    [
      'refused with another UID than the stored object, which stays',
      [refused(pod('a', 5, 'a2')), refused(pod('n', 6))],
      'a@1',
      'a@5 n@6',
    ],
    [
      'refused as a successor, before the deletion of its predecessor',
      [refused(pod('a', 6, 'a2')), deleted(pod('a', 5))],
      '',
      'a@6',
    ],
    [
      'refused, then accepted at an older version',
      [refused(pod('a', 6)), updated(pod('a', 5))],
      'a@5',
      'a@6',
    ],
    [
      'accepted, then refused at an older version',
      [updated(pod('a', 6)), refused(pod('a', 5))],
      'a@6',
      '',
    ],
    [
      'refused, then refused at an older version',
      [refused(pod('a', 6)), refused(pod('a', 5))],
      'a@1',
      'a@6',
    ],
    ['refused in the state that is stored', [refused(pod('a', 1))], 'a@1', ''],
    ['refused by the store, then deleted', [added(bad('b', 5)), deleted(bad('b', 6))], 'a@1', ''],
    ['refused by the store', [added(bad('b', 5)), added(pod('c', 6))], 'a@1 c@6', 'b@5'],
    ['refused by the store, then lost', [added(bad('b', 5)), lost('b')], 'a@1', ''],
  ])('S23, F3: an object that is %s', (_case, deltas, stored, kept) => {
    for (const batches of [[deltas], deltas.map((delta) => [delta])]) {
      for (const compression of ['none', 'latest'] as const) {
        const indexer = createIndexer<Pod>({ indexers: { strict: refusing } });
        indexer.add(pod('a', 1));
        const source = new Subject<readonly Delta<Pod>[]>();
        source
          .pipe(
            deltaFifo({ known: indexer, compression: compressions[compression] }),
            applyDeltas(indexer),
          )
          .subscribe();
        for (const batch of batches) source.next(batch);
        expect(indexer.list().map(short).join(' ')).toBe(stored);
        expect(refusedOf(indexer.refused)).toBe(kept);
      }
    }
  });

  it('S23: a complete list replaces the refused objects of its scope', () => {
    const { indexer, send } = storing([pod('shop/a', 1), pod('lab/a', 1)]);
    send(refused(pod('shop/b', 5)), refused(pod('shop/c', 5)), refused(pod('lab/b', 5)));
    send(replaced([pod('shop/c', 6)], 9, { scope: 'shop', refused: [refusal(pod('shop/a', 7))] }));
    expect(refusedOf(indexer.refused)).toBe('lab/b@5 shop/a@7');
    expect(indexer.listKeys()).toEqual(['shop/a', 'lab/a', 'shop/c']);
    send(replaced([], 10));
    expect([refusedOf(indexer.refused), indexer.size]).toEqual(['', 0]);
  });

  it('S23: the refused objects of a list are kept, also if the list is older than the stored objects', () => {
    const { indexer, send } = storing([pod('a', 50)]);
    send(replaced([], 20, { trustVersions: false, refused: [refusal(pod('a', 10))] }));
    expect(refusedOf(indexer.refused)).toBe('a@10');
    expect(send(retry)).toEqual(['watch* ~a@50>10']);
    expect(refusedOf(indexer.refused)).toBe('');
  });

  it('S23, F5: refused objects of an aborted list are kept until a complete list does not contain them', () => {
    const { indexer, send } = storing(undefined);
    send(replacing([], { refused: [refusal(pod('a', 1)), refusal(pod('b', 1))] }));
    send(abort);
    expect(refusedOf(indexer.refused)).toBe('a@1 b@1');
    send(replacing([], { refused: [refusal(pod('b', 2))] }));
    send(replaced([], 9, { flowed: true }));
    expect(refusedOf(indexer.refused)).toBe('b@2');
  });

  it('S23: a refused object that is deleted or accepted while the list streams is not kept', () => {
    const { indexer, send } = storing(undefined);
    send(replacing([], { refused: [refusal(pod('a', 1)), refusal(pod('b', 1))] }));
    send(replacing([pod('b', 2)], { removed: ['a'] }));
    expect([refusedOf(indexer.refused), indexer.listKeys()]).toEqual(['', ['b']]);
  });

  it('S24: a retry stores the objects that are accepted now, and moves no version', () => {
    let refuses = true;
    const indexers = {
      indexers: {
        strict: (it: Pod) => {
          if (refuses && it.metadata.uid === 'bad') throw new Error('no');
          return [];
        },
      },
    };
    const { indexer, send, refusals } = storing([pod('a', 1)], {}, indexers);
    const stubborn = { ...refusal(pod('s', 5)), retry: () => refusing(bad('s', 5)) };
    send(added(bad('b', 7)), { type: 'refused', key: 's', refused: stubborn });
    send(refused(pod('a', 8)));
    expect(send(retry)).toEqual(['watch* ~a@1>8']);
    expect([refusedOf(indexer.refused), refusals.length]).toEqual(['b@7 s@5', 2]);
    expect(indexer.refused.get('s')?.reason.message).toBe('s: bad object');
    refuses = false;
    const { resourceVersion } = indexer;
    expect(send(retry)).toEqual(['watch* +b@7']);
    expect(refusedOf(indexer.refused)).toBe('s@5');
    expect(indexer.resourceVersion).toBe(resourceVersion);
  });

  it('S24: before the first list a retry neither makes the store synced nor moves its version', () => {
    const { indexer, send } = storing(undefined);
    send(replacing([pod('b', 9)], { refused: [refusal(pod('a', 5))] }));
    expect(send(retry)).toEqual(['watch +a@5']);
    expect([indexer.synced, indexer.resourceVersion]).toEqual([false, '']);
  });

  it('S24: a retry leaves out objects that a list in progress has not contained yet', () => {
    const { indexer, send } = storing(undefined);
    send(refused(pod('gone', 5)));
    send(replacing([pod('b', 9)]));
    expect(send(retry)).toEqual([]);
    expect(refusedOf(indexer.refused)).toBe('gone@5');
    send(replaced([], 10, { flowed: true }));
    expect([refusedOf(indexer.refused), indexer.listKeys()]).toEqual(['', ['b']]);
  });

  it('S24: an object stays refused if the retry returns an object with another key', () => {
    const { indexer, send } = storing([]);
    send({ type: 'refused', key: 'a', refused: { ...refusal(pod('a', 5)), retry: () => 7 } });
    expect(send(retry, retry)).toEqual([]);
    expect(refusedOf(indexer.refused)).toBe('a@5');
  });

  it('S12: an object without a key is reported, and not kept', () => {
    const nameless = { metadata: { uid: 'x', resourceVersion: '1' } } as Pod;
    const { indexer, send, refusals } = storing([]);
    expect(send(replaced([nameless, pod('a', 1)], 5))).toEqual(['relist* +a@1']);
    expect([refusals.length, refusals[0]?.key, indexer.refused.size]).toEqual([1, '', 0]);
  });

  it('S23: the latest refused objects are shown first, whatever was released before', () => {
    const refusedObjects = createRefusedObjects();
    for (let at = 0; at < 1_000; at++) refusedObjects.set(refusal(pod(`p${at}`, at + 1)));
    const shown = () => refusedObjects.latest(3).map(({ key }) => key);
    expect(shown()).toEqual(['p999', 'p998', 'p997']);
    refusedObjects.release('p998');
    refusedObjects.set(refusal(pod('p5', 2_000)));
    expect(shown()).toEqual(['p5', 'p999', 'p997']);
    refusedObjects.release('p5');
    refusedObjects.release('p0');
    expect([refusedObjects.release('p0'), refusedObjects.size, shown()[0]]).toEqual([
      false,
      997,
      'p999',
    ]);
    refusedObjects.clear();
    expect([refusedObjects.size, shown(), [...refusedObjects.keys()]]).toEqual([0, [], []]);
    refusedObjects.set(refusal(pod('a', 1)));
    expect(shown()).toEqual(['a']);
  });
});

describe('deltaFifo: refusals', () => {
  it.each<[string, 'none' | 'latest', Delta<Pod>[], string]>([
    ['that keeps its place', 'none', [updated(pod('a', 2)), refused(pod('a', 3))], '~a@2 xa@3'],
    [
      'after an accepted state',
      'latest',
      [updated(pod('a', 2)), refused(pod('a', 3))],
      '~a@2 xa@3',
    ],
    [
      'before a newer accepted state',
      'latest',
      [refused(pod('a', 2)), updated(pod('a', 3))],
      '~a@3',
    ],
    [
      'before an older accepted state',
      'latest',
      [refused(pod('a', 3)), updated(pod('a', 2))],
      '~a@2 xa@3',
    ],
    ['before a deletion', 'latest', [refused(pod('a', 2)), deleted(pod('a', 3))], '-a@3'],
    [
      'of an unknown object, before its deletion',
      'latest',
      [refused(pod('n', 2)), deleted(pod('n', 3))],
      '',
    ],
    [
      'of a successor, before the deletion of its predecessor',
      'latest',
      [refused(pod('a', 3, 'a2')), deleted(pod('a', 2))],
      '-a@2 xa@3',
    ],
    [
      'before another refusal of its key',
      'latest',
      [refused(pod('a', 2)), refused(pod('b', 3)), refused(pod('a', 4))],
      'xa@4 xb@3',
    ],
  ])('R23: a refusal %s, with compression %s', (_case, compression, deltas, expected) => {
    const { send, pop } = gated({
      compression: compressions[compression],
      known: knowing(pod('a', 1)),
    });
    send(...deltas);
    expect(pop().join('')).toBe(expected);
  });

  it('F1: a retry is delivered once, after all waiting deltas', () => {
    const { send, pop, resync$ } = gated({ known: knowing(pod('a', 1), pod('b', 1)) });
    send(retry, updated(pod('a', 2)), retry, deleted(pod('c', 3)));
    resync$.next();
    send(refused(pod('b', 4)));
    expect(pop()).toEqual(['~a@2 xb@4 *']);
    expect(pop()).toEqual([]);
    send(retry);
    expect(pop()).toEqual(['*']);
  });

  it('F3: the deletion of a refused object is passed on, because its key is known', () => {
    const alone = gated();
    alone.send(refused(pod('a', 2)), deleted(pod('a', 3)));
    expect([alone.pop(), alone.unknown]).toEqual([['xa@2 -a@3'], []]);
    alone.send(deleted(pod('a', 4)));
    expect([alone.pop(), alone.unknown]).toEqual([[], ['a']]);
    const before = gated({
      known: Object.assign(knowing(), { refused: new Map([['a', refusal(pod('a', 2))]]) }),
    });
    before.send(lost('a'), lost('b'));
    expect([before.pop(), before.unknown]).toEqual([['-a?'], ['b']]);
  });

  it('F3: after a list the deletions of exactly its refused objects are passed on', () => {
    const known = Object.assign(knowing(), { refused: new Map([['a', refusal(pod('a', 2))]]) });
    const { send, pop, unknown } = gated({ known });
    send(replaced([], 9, { refused: [refusal(pod('b', 8))] }), lost('a'), lost('b'));
    expect([pop(), unknown]).toEqual([['[xb@8]@9 -b?'], ['a']]);
  });

  it('F3, S8: a deletion event with a refused state deletes nothing that is newer', () => {
    const end = (version: string): Delta<Pod> => ({
      type: 'deleted',
      key: 'a',
      finalStateUnknown: true,
      resourceVersion: version,
    });
    const { send, indexer, source } = storing([pod('a', 9)]);
    const out: string[] = [];
    deltaFifo<Pod>({ known: indexer })(source).subscribe((deltas) => out.push(words(deltas)));
    expect(send(end('8'))).toEqual([]);
    expect(out).toEqual([]);
    expect(send(end('10'))).toEqual(['watch* -a@9?']);
  });

  it('F5: the abort of a list is passed on if its parts were passed on', () => {
    const flowing = gated();
    flowing.send(replacing([], { refused: [refusal(pod('a', 1))] }), abort);
    expect(flowing.pop()).toEqual(['(xa@1) !']);
    const holding = gated({ known: knowing(pod('z', 1)) });
    holding.send(replacing([], { refused: [refusal(pod('a', 1))] }), abort);
    expect(holding.pop()).toEqual([]);
  });
});
