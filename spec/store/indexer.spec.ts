import {
  byNamespace,
  createIndexer,
  type Indexer,
  type Snapshot,
  type StoreReader,
} from 'rx-informer';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type Pod, pod } from '../delta/pods.ts';

const byVersion = (object: Pod) => [object.metadata.resourceVersion];
const boom = () => {
  throw new Error('boom');
};

/** Everything that a reader can see. */
function all(indexer: Indexer<Pod>) {
  return {
    keys: indexer.listKeys(),
    list: [...indexer.list()],
    size: indexer.size,
    rev: indexer.rev,
    resourceVersion: indexer.resourceVersion,
    synced: indexer.synced,
    snapshot: indexer.snapshot$.value,
    indices: Object.keys(indexer.getIndexers()).map((name) =>
      [...indexer.listIndexFuncValues(name)].sort().map((value) => indexer.indexKeys(name, value)),
    ),
  };
}

describe('indexer: objects', () => {
  it('S2: objects are added, updated, read, listed and deleted (TestCache)', () => {
    const indexer = createIndexer<Pod>({ indexers: { namespace: byNamespace } });
    const [a, b, a2] = [pod('shop/a', 1), pod('b', 2), pod('shop/a', 3)];
    indexer.add(a);
    indexer.add(b);
    expect(indexer.list()).toEqual([a, b]);
    expect([...indexer.keys()]).toEqual(['shop/a', 'b']);
    expect(indexer.byIndex('namespace', '')).toEqual([b]);
    // `add` and `update` do the same.
    indexer.add(a2);
    expect(indexer.getByKey('shop/a')).toBe(a2);
    indexer.update(a);
    indexer.update(pod('c', 4));
    expect([indexer.get('shop/a'), indexer.get(a2), indexer.get(pod('c', 9))]).toEqual([
      a,
      a,
      pod('c', 4),
    ]);
    expect([indexer.has('c'), indexer.has('x'), indexer.get('x')]).toEqual([
      true,
      false,
      undefined,
    ]);
    indexer.delete(a2);
    indexer.delete('c');
    expect(indexer.listKeys()).toEqual(['b']);
    expect(indexer.size).toBe(1);
  });

  it('S11: a replace exchanges the complete contents and sets the version (TestThreadSafeStoreRV)', () => {
    const indexer = createIndexer<Pod>({ indexers: { byVersion } });
    indexer.add(pod('a', 1));
    indexer.replace([pod('b', 2), pod('c', 2), pod('c', 3)], '9');
    expect(indexer.listKeys()).toEqual(['b', 'c']);
    expect(indexer.listIndexFuncValues('byVersion')).toEqual(['2', '3']);
    expect([indexer.resourceVersion, indexer.synced, indexer.rev]).toEqual(['9', true, 2]);
    indexer.transaction((transaction) => transaction.mark({ resourceVersion: '12' }));
    expect([indexer.resourceVersion, indexer.rev]).toEqual(['12', 2]);
    indexer.clear();
    expect(all(indexer)).toMatchObject({ keys: [], size: 0, resourceVersion: '', synced: false });
    expect(indexer.listIndexFuncValues('byVersion')).toEqual([]);
  });

  it('S1: a write of an object without a key changes nothing (TestKeyError)', () => {
    const indexer = createIndexer<Pod>({ indexers: { byVersion } });
    indexer.add(pod('a', 1));
    const before = all(indexer);
    const nameless = { metadata: { uid: 'x', resourceVersion: '1' } } as Pod;
    expect(() => indexer.add(nameless)).toThrow('has no metadata.name');
    expect(() => indexer.update(nameless)).toThrow(TypeError);
    expect(() => indexer.delete(nameless)).toThrow(TypeError);
    expect(() => indexer.replace([pod('b', 1), nameless])).toThrow(TypeError);
    expect(all(indexer)).toEqual(before);
    expect(indexer.snapshot$.value).toBe(before.snapshot);
  });

  it('S1: if one of several index functions throws, the write changes nothing (TestCacheTransactionShouldIndexErrors)', () => {
    const refuses = (object: Pod) => (object.metadata.uid === 'bad' ? boom() : ['x']);
    const bad = pod('b', 9, 'bad');
    for (const indexers of [
      { byVersion, refuses },
      { refuses, byVersion },
    ]) {
      const indexer = createIndexer<Pod>({ indexers });
      indexer.replace([pod('a', 1), pod('b', 2)], '5');
      const before = all(indexer);
      expect(() => indexer.add(bad)).toThrow('boom');
      expect(() => indexer.replace([pod('c', 1), bad], '9')).toThrow('boom');
      expect(() =>
        indexer.transaction((transaction) => {
          transaction.put(pod('c', 3));
          transaction.put(pod('a', 3));
          transaction.remove('c');
          transaction.put(pod('b', 4));
          transaction.mark({ resourceVersion: '9' });
          transaction.put(bad);
        }),
      ).toThrow('boom');
      expect(all(indexer)).toEqual(before);
      expect(indexer.byIndex('byVersion', '1')).toEqual([pod('a', 1)]);
    }
  });

  it('S1: a failed transaction restores the objects that it removed', () => {
    const indexer = createIndexer<Pod>({ indexers: { byVersion } });
    indexer.replace([pod('a', 1), pod('b', 1)], '5');
    expect(() =>
      indexer.transaction((transaction) => {
        transaction.remove('a');
        transaction.put(pod('a', 7));
        transaction.remove('a');
        transaction.remove('b');
        boom();
      }),
    ).toThrow('boom');
    expect([...indexer.listKeys()].sort()).toEqual(['a', 'b']);
    expect(indexer.indexKeys('byVersion', '1')).toEqual(['a', 'b']);
    expect(indexer.listIndexFuncValues('byVersion')).toEqual(['1']);
    expect([indexer.rev, indexer.size]).toEqual([1, 2]);
  });

  it('S4: two reads without a change in between return the same frozen array', () => {
    const indexer = createIndexer<Pod>({ indexers: { namespace: byNamespace } });
    indexer.replace([pod('shop/a', 1), pod('lab/b', 1)], '5');
    const [list, shop, lab] = [
      indexer.list(),
      indexer.byIndex('namespace', 'shop'),
      indexer.byIndex('namespace', 'lab'),
    ];
    indexer.transaction((transaction) => transaction.mark({ resourceVersion: '6' }));
    indexer.transaction((transaction) => transaction.mark({ touched: true }));
    indexer.delete('nobody');
    indexer.resync();
    expect(indexer.list()).toBe(list);
    expect(indexer.snapshot$.value.list()).toBe(list);
    expect(indexer.byIndex('namespace', 'shop')).toBe(shop);
    indexer.update(pod('shop/a', 2));
    expect(indexer.list()).not.toBe(list);
    expect(indexer.byIndex('namespace', 'shop')).toEqual([pod('shop/a', 2)]);
    expect(indexer.byIndex('namespace', 'lab')).toBe(lab);
    for (const answer of [list, shop, indexer.byIndex('namespace', 'none')]) {
      expect(() => (answer as Pod[]).push(pod('x', 1))).toThrow(TypeError);
    }
    expect(shop).toEqual([pod('shop/a', 1)]);
  });
});

describe('indexer: snapshots', () => {
  it('S5: `snapshot$` emits synchronously on subscription, then once per commit', () => {
    const indexer = createIndexer<Pod>();
    const seen: StoreReader<Pod>[] = [];
    indexer.snapshot$.subscribe((snapshot) => seen.push(snapshot));
    expect(seen).toHaveLength(1);
    expect(indexer.snapshot$.getValue()).toBe(seen[0]);
    indexer.transaction((transaction) => {
      transaction.put(pod('a', 1));
      transaction.put(pod('b', 1));
      transaction.remove('a');
    });
    indexer.delete('nobody');
    indexer.transaction((transaction) => transaction.mark({ resourceVersion: '4' }));
    indexer.transaction((transaction) => transaction.mark({ synced: true }));
    indexer.transaction((transaction) => transaction.mark({ touched: true }));
    expect(
      seen.map(({ rev, size, synced, resourceVersion }) => [rev, size, synced, resourceVersion]),
    ).toEqual([
      [0, 0, false, ''],
      [1, 1, false, ''],
      [2, 1, true, '4'],
      [3, 1, true, '4'],
    ]);
    expect(seen[3]?.get('b')).toBe(indexer.get('b'));
    indexer.addIndexers({ byVersion });
    expect(seen[3]?.byIndex('byVersion', '1')).toEqual([pod('b', 1)]);
  });

  it('S50: a reader that was emitted earlier reads the present state; an array that it returned earlier does not change', () => {
    const indexer = createIndexer<Pod>({ indexers: { namespace: byNamespace } });
    indexer.add(pod('shop/a', 1));
    const reader = indexer.snapshot$.value;
    const kept = reader.list();
    indexer.add(pod('shop/b', 2));
    expect([reader.rev, reader.size]).toEqual([1, 1]);
    expect(reader.list()).toBe(indexer.list());
    expect(reader.get('shop/b')).toEqual(pod('shop/b', 2));
    expect(reader.byIndex('namespace', 'shop')).toHaveLength(2);
    expect(kept).toEqual([pod('shop/a', 1)]);
    expectTypeOf<Snapshot<Pod>>().toEqualTypeOf<StoreReader<Pod>>();
  });

  it('S5: when a reader is emitted, its list(), byIndex() and get() show its commit', () => {
    const indexer = createIndexer<Pod>({ indexers: { namespace: byNamespace } });
    const seen: string[] = [];
    const names = (objects: readonly Pod[]) => objects.map(({ metadata }) => metadata?.name).join();
    indexer.snapshot$.subscribe((snapshot) => {
      const got = snapshot.get('shop/web')?.metadata?.resourceVersion;
      const found = names(snapshot.byIndex('namespace', 'shop'));
      seen.push(`${names(snapshot.list())}|${found}|${got}`);
    });
    indexer.add(pod('shop/web', 1));
    indexer.add(pod('shop/db', 2));
    indexer.update(pod('shop/web', 3));
    indexer.delete('shop/db');
    indexer.replace([pod('shop/api', 4)]);
    expect(seen).toEqual([
      '||undefined',
      'web|web|1',
      'web,db|web,db|1',
      'web,db|web,db|3',
      'web|web|3',
      'api|api|undefined',
    ]);
  });

  it('S5: all observers see the same order, with one emission per commit, also for writes made in a callback', () => {
    const indexer = createIndexer<Pod>();
    const [first, second]: [number[], [number, number][]] = [[], []];
    indexer.snapshot$.subscribe(({ rev }) => {
      first.push(rev);
      if (rev !== 1) return;
      indexer.add(pod('b', 2));
      expect(indexer.size).toBe(2);
      indexer.add(pod('c', 3));
      indexer.delete('a');
    });
    indexer.snapshot$.subscribe(({ rev, size }) => second.push([rev, size]));
    indexer.add(pod('a', 1));
    expect(first).toEqual([0, 1, 2, 3, 4]);
    expect(second).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 2],
    ]);
    expect(indexer.snapshot$.value.rev).toBe(indexer.rev);
  });
});
