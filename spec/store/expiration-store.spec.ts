/**
 * Tests the expiration store with the cases of client-go's tools/cache/expiration_cache_test.go, and against a model
 * that removes expired objects immediately.
 */

import { createExpirationStore, type ExpirationStoreOptions, ttlPolicy } from 'rx-informer';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';

interface Item {
  readonly id: string;
  readonly value: string;
}

const keyOf = (item: Item) => item.id;
const byValue = (item: Item) => [item.value];
const foo: Item = { id: 'foo', value: 'bar' };

function storeOf(how: { ttlMs: number } | { neverExpire: ReadonlySet<string> }) {
  const scheduler = new VirtualTimeScheduler();
  const options: ExpirationStoreOptions<Item> =
    'ttlMs' in how
      ? { ttlMs: how.ttlMs, keyOf, scheduler, indexers: { value: byValue } }
      : { policy: ({ key }) => !how.neverExpire.has(key), keyOf, scheduler };
  const store = createExpirationStore(options);
  return { store, scheduler };
}

describe('an expiration store', () => {
  it('S19: an object at exactly its time to live has not expired, and a time to live of 0 or less never expires (TestTTLPolicy)', () => {
    const entry = { key: 'foo', object: foo, writtenMs: 1_000 };
    const isExpired = ttlPolicy(30_000);
    expect(isExpired(entry, 1_000)).toBe(false);
    expect(isExpired(entry, 31_000)).toBe(false);
    expect(isExpired(entry, 31_001)).toBe(true);
    for (const ttlMs of [0, -1]) expect(ttlPolicy(ttlMs)(entry, 31_001)).toBe(false);
  });

  it('S19: a write restarts the time to live, and an index shows only objects that have not expired', () => {
    const { store, scheduler } = storeOf({ ttlMs: 10 });
    const [a, b, c] = ['a', 'b', 'c'].map((id) => ({ id, value: 'x' })) as [Item, Item, Item];
    store.replace([a, b]);
    scheduler.frame = 8;
    store.update(a);
    store.add(c);
    scheduler.frame = 11;
    expect(store.byIndex('value', 'x')).toEqual([a, c]);
    expect(store.listKeys()).toEqual(['a', 'c']);
    scheduler.frame = 18;
    expect(store.has('a')).toBe(true);
    scheduler.frame = 19;
    expect(store.byIndex('value', 'x')).toEqual([]);
    expect(() => store.byIndex('other', 'x')).toThrow('does not exist');
  });

  it('S19: a policy receives the key, the object, the time of the write and the present time', () => {
    const scheduler = new VirtualTimeScheduler();
    const calls: unknown[] = [];
    const policy = (...call: unknown[]) => {
      calls.push(call);
      return false;
    };
    const store = createExpirationStore<Item>({ policy, keyOf, scheduler });
    scheduler.frame = 3;
    store.add(foo);
    scheduler.frame = 5;
    store.has('foo');
    expect(calls).toEqual([[{ key: 'foo', object: foo, writtenMs: 3 }, 5]]);
  });

  it('S1, S19: a failed write changes neither the objects nor their times to live', () => {
    const scheduler = new VirtualTimeScheduler();
    const picky = (item: Item) => {
      if (item.value === 'bad') throw new Error('refused');
      return [item.value];
    };
    const store = createExpirationStore({ ttlMs: 10, keyOf, scheduler, indexers: { picky } });
    store.add(foo);
    scheduler.frame = 6;
    expect(() => store.update({ id: 'foo', value: 'bad' })).toThrow('refused');
    expect(() => store.replace([{ id: 'foo', value: 'bad' }])).toThrow('refused');
    expect(store.getByKey('foo')).toEqual(foo);
    scheduler.frame = 11;
    expect(store.getByKey('foo')).toBeUndefined();
  });

  it('S19: except for its keys, the store returns the same as one that removes expired objects immediately (TestTTLExpirationBasic)', () => {
    const id = fc.constantFrom('a', 'b', 'c');
    const item = fc.record({ id, value: fc.constantFrom('x', 'y') });
    const step = fc.oneof(
      fc.record({ do: fc.constant('add' as const), item }),
      fc.record({ do: fc.constant('replace' as const), items: fc.array(item, { maxLength: 3 }) }),
      fc.record({ do: fc.constant('delete' as const), id }),
      fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 4 }) }),
      fc.record({ do: fc.constant('get' as const), id }),
      fc.record({ do: fc.constant('list' as const) }),
      fc.record({ do: fc.constant('byIndex' as const), value: fc.constantFrom('x', 'y', 'z') }),
    );
    const ttl = fc.integer({ min: -1, max: 6 });
    fc.assert(
      fc.property(ttl, fc.array(step, { maxLength: 40 }), (ttlMs, steps) => {
        const { store, scheduler } = storeOf({ ttlMs });
        const model = new Map<string, { item: Item; atMs: number }>();
        const alive = () =>
          [...model.values()]
            .filter(({ atMs }) => ttlMs <= 0 || scheduler.now() - atMs <= ttlMs)
            .map((each) => each.item);
        const sorted = (items: readonly Item[]) =>
          [...items].sort((a, b) => a.id.localeCompare(b.id));
        const put = (each: Item) => model.set(each.id, { item: each, atMs: scheduler.now() });
        for (const each of steps) {
          if (each.do === 'add') {
            store.add(each.item);
            put(each.item);
          } else if (each.do === 'replace') {
            store.replace(each.items);
            model.clear();
            each.items.forEach(put);
          } else if (each.do === 'delete') {
            store.delete(each.id);
            model.delete(each.id);
          } else if (each.do === 'wait') scheduler.frame += each.ms;
          else if (each.do === 'get') {
            const expected = alive().find((other) => other.id === each.id);
            expect(store.getByKey(each.id)).toBe(expected);
            expect(store.get({ id: each.id, value: 'another' })).toBe(expected);
            expect(store.listKeys().includes(each.id)).toBe(expected !== undefined);
          } else if (each.do === 'list') {
            expect(sorted(store.list())).toEqual(sorted(alive()));
            expect(store.size).toBe(alive().length);
          } else {
            const expected = alive().filter(({ value }) => value === each.value);
            expect(sorted(store.byIndex('value', each.value))).toEqual(sorted(expected));
          }
          const keys = store.listKeys();
          expect(alive().every((other) => keys.includes(other.id))).toBe(true);
          expect(keys.every((key) => model.has(key))).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});
