/** The indexer, its index functions and its tables. */

import {
  byAnnotation,
  byLabel,
  byLabels,
  byNamespace,
  byOwnerUid,
  createIndexer,
  type Indexer,
  type Indexers,
  type KubernetesObject,
  NAMESPACE_INDEX,
  type Snapshot,
  type StoreReader,
} from 'rx-informer';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type Pod, pod } from '../delta/pods.ts';
import * as fc from '../support/fast-check.ts';

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

const owner = (uid: string) => ({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid });
const object = {
  metadata: {
    name: 'web-0',
    namespace: 'shop',
    labels: { app: 'web', tier: 'front' },
    annotations: { 'example.com/team': 'a' },
    ownerReferences: [owner('u1'), owner('u2')],
  },
};

describe('index functions', () => {
  it('S2: index functions return the values of an object, and no values for missing fields', () => {
    expect(byNamespace(object)).toEqual(['shop']);
    expect(byNamespace({ metadata: { name: 'node' } })).toEqual(['']);
    expect(byNamespace({})).toEqual(['']);
    expect(byOwnerUid(object)).toEqual(['u1', 'u2']);
    expect(byLabel('app')(object)).toEqual(['web']);
    expect(byAnnotation('example.com/team')(object)).toEqual(['a']);
    expect(byLabels(object)).toEqual(['app=web', 'tier=front']);
    const functions = [byOwnerUid, byLabel('app'), byAnnotation('a'), byLabels];
    for (const func of functions) expect([func({}), func({ metadata: {} })]).toEqual([[], []]);
    const none = { metadata: { labels: null, annotations: null, ownerReferences: null } } as object;
    for (const func of functions) expect(func(none)).toEqual([]);
  });

  it('S2: index functions read only own properties', () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      expect(byLabel(name)({ metadata: { labels: {}, annotations: {} } })).toEqual([]);
      expect(byAnnotation(name)({ metadata: { labels: {}, annotations: {} } })).toEqual([]);
    }
    const odd = { metadata: { labels: JSON.parse('{"__proto__":"x","constructor":"y"}') } };
    expect(byLabel('__proto__')(odd)).toEqual(['x']);
    expect(byLabels(odd)).toEqual(['__proto__=x', 'constructor=y']);
  });

  it('S2: a store finds objects by the names of its index functions', () => {
    const indexer = createIndexer({ indexers: { [NAMESPACE_INDEX]: byNamespace, byLabels } });
    indexer.add(object);
    expect(indexer.indexKeys('namespace', 'shop')).toEqual(['shop/web-0']);
    expect(indexer.byIndex('byLabels', 'tier=front')).toEqual([object]);
  });
});

interface Tagged extends KubernetesObject {
  metadata: { name: string; labels: Record<string, string> };
  tags: readonly string[];
}
const tagged = (name: string, ...tags: string[]): Tagged => ({
  metadata: { name, labels: {} },
  tags,
});
const byTag = (object: Tagged) => object.tags;
const byFirst = (object: Tagged) => object.tags.slice(0, 1);
const fresh = () => createIndexer<Tagged>({ indexers: { byTag } });

describe('indices', () => {
  it('S2: index() returns each object that shares a value once (TestIndex)', () => {
    const indexer = fresh();
    const [a, b, c] = [tagged('a', 'x', 'y'), tagged('b', 'y'), tagged('c', 'z')];
    for (const object of [a, b, c]) indexer.add(object);
    expect(indexer.index('byTag', tagged('probe', 'x', 'y', 'w'))).toEqual([a, b]);
    expect(indexer.index('byTag', tagged('probe'))).toEqual([]);
  });

  it('S2: reading an unknown index throws an error that names the existing ones', () => {
    const indexer = fresh();
    const message = 'Index with name "none" does not exist. Existing indices: "byTag"';
    expect(() => indexer.byIndex('none', 'x')).toThrow(message);
    expect(() => indexer.index('none', tagged('a'))).toThrow(message);
    expect(() => indexer.indexKeys('none', 'x')).toThrow(message);
    expect(() => indexer.listIndexFuncValues('none')).toThrow(message);
    expect(() => createIndexer().byIndex('constructor', 'x')).toThrow('The store has no indices');
  });

  it.each<[string, unknown, boolean]>([
    ['nothing', undefined, true],
    ['null', null, true],
    ['a string', 'x', false],
    ['numbers', [1], false],
  ])('S1, S2: an index function returns %s', (_case, answer, fits) => {
    const indexer = createIndexer<Tagged>({ indexers: { odd: () => answer as string[] } });
    const add = () => indexer.add(tagged('a'));
    if (fits) add();
    else expect(add).toThrow('index "odd": its function must return an array of strings');
    expect(indexer.size).toBe(fits ? 1 : 0);
    expect(indexer.listIndexFuncValues('odd')).toEqual([]);
  });

  it('S2: indices that are added to a store with objects are filled (TestSharedInformer_Indexer, TestIndexer)', () => {
    const indexer = fresh();
    indexer.add(tagged('a', 'x', 'y'));
    indexer.addIndexers({ byFirst, ['__proto__']: byFirst });
    expect(indexer.indexKeys('byFirst', 'x')).toEqual(['a']);
    expect(indexer.indexKeys('__proto__', 'x')).toEqual(['a']);
    expect(Object.keys(indexer.getIndexers())).toEqual(['byTag', 'byFirst', '__proto__']);
    indexer.update(tagged('a', 'y'));
    expect(indexer.listIndexFuncValues('byFirst')).toEqual(['y']);
  });

  it('S2: if a name exists already or an index function throws, none of the indices is added', () => {
    const indexer = fresh();
    indexer.add(tagged('a', 'x'));
    const conflict = () => indexer.addIndexers({ byFirst, byTag: byFirst });
    expect(conflict).toThrow('indexer conflict: an index named "byTag" exists');
    const throws = () => {
      throw new Error('boom');
    };
    expect(() => indexer.addIndexers({ byFirst, throws })).toThrow('boom');
    expect(Object.keys(indexer.getIndexers())).toEqual(['byTag']);
    expect(indexer.indexKeys('byTag', 'x')).toEqual(['a']);
  });

  const names = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'toString', '');
  const name = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'hasOwnProperty');
  const object = fc.record({ name, tags: fc.array(names, { maxLength: 4 }) });
  const operation = fc.oneof(
    object.map((it) => ({ what: 'put', ...it }) as const),
    object.map((it) => ({ what: 'put', ...it }) as const),
    object.map((it) => ({ what: 'delete', ...it }) as const),
    fc.array(object).map((objects) => ({ what: 'replace', objects }) as const),
    fc.array(object, { maxLength: 3 }).map((objects) => ({ what: 'fail', objects }) as const),
    fc.constant({ what: 'index' } as const),
  );

  it('S1, S2, S4: after random writes the indices equal those computed from the objects (TestThreadSafeStoreIndexingFunctionsWithMultipleValues, TestThreadSafeStoreDeleteRemovesEmptySetsFromIndex)', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 25 }), (operations) => {
        const indexer = fresh();
        const indexers: Record<string, (object: Tagged) => readonly string[]> = { byTag };
        let model = new Map<string, Tagged>();
        for (const step of operations) {
          if (step.what === 'put') {
            const made = tagged(step.name, ...step.tags);
            model.set(step.name, made);
            indexer.update(made);
          } else if (step.what === 'delete') {
            model.delete(step.name);
            indexer.delete(step.name);
          } else if (step.what === 'replace') {
            const objects = step.objects.map((it) => tagged(it.name, ...it.tags));
            model = new Map(objects.map((it) => [it.metadata.name, it]));
            indexer.replace(objects);
          } else if (step.what === 'fail') {
            expect(() =>
              indexer.transaction((transaction) => {
                for (const it of step.objects) {
                  transaction.remove(it.name);
                  transaction.put(tagged(it.name, ...it.tags));
                }
                throw new Error('boom');
              }),
            ).toThrow('boom');
          } else if (!('byFirst' in indexers)) {
            indexers['byFirst'] = byFirst;
            indexer.addIndexers({ byFirst });
          }
          check(indexers, model, indexer);
        }
      }),
      { numRuns: 300 },
    );
  });

  function check(
    indexers: Indexers<Tagged>,
    model: ReadonlyMap<string, Tagged>,
    indexer: ReturnType<typeof fresh>,
  ): void {
    expect(new Map(indexer.list().map((it) => [it.metadata.name, it]))).toEqual(model);
    expect(indexer.list()).toBe(indexer.list());
    for (const [index, func] of Object.entries(indexers)) {
      const expected = new Map<string, Set<string>>();
      for (const [key, it] of model) {
        for (const value of func(it)) {
          expected.set(value, (expected.get(value) ?? new Set()).add(key));
        }
      }
      const values = indexer.listIndexFuncValues(index);
      expect([...values].sort()).toEqual([...expected.keys()].sort());
      for (const [value, keys] of expected) {
        expect(indexer.indexKeys(index, value)).toEqual([...keys].sort());
        const found = indexer.byIndex(index, value);
        expect(found).toBe(indexer.byIndex(index, value));
        expect(new Set(found)).toEqual(new Set([...keys].map((key) => model.get(key))));
        expect(found.every((it) => indexer.getByKey(it.metadata.name) === it)).toBe(true);
      }
    }
  }
});
