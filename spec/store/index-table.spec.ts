import { createIndexer, type Indexers, type KubernetesObject } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';

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
