/** The memory of deletions of a controller in shards. */
import { describe, expect, it } from 'vitest';
import { DeletedKeys, OthersDeletions } from '../../lib/shards/deleted-keys.ts';

describe('DeletedKeys', () => {
  it('H10: deletions that nobody asks for, for example because a predicate drops them, do not fill the memory', () => {
    const deleted = new DeletedKeys();
    deleted.note('queued', 1);
    expect(deleted.get('queued')).toEqual({ slot: 1 });
    for (let at = 0; at < 5_000; at++) {
      deleted.beginSet();
      deleted.note(`dropped-${at}`, 2);
    }
    expect(deleted.size).toBe(1_002);
    deleted.beginSet();
    expect(deleted.size).toBe(1_001);
    expect(deleted.get('queued')).toEqual({ slot: 1 });
    expect(deleted.get('dropped-0')).toBeUndefined();
    expect(deleted.get('dropped-4999')).toEqual({ slot: 2 });
  });

  it('H10: a key that is deleted again has another deletion, which the end of the former reconcile does not forget', () => {
    const deleted = new DeletedKeys();
    deleted.note('web', 1);
    const former = deleted.get('web');
    expect(deleted.get('web')).toBe(former);
    deleted.note('web', 1);
    expect(deleted.get('web')).not.toBe(former);
  });

  it('H10: all deletions of one set are remembered until the next one', () => {
    const deleted = new DeletedKeys();
    deleted.beginSet();
    for (let at = 0; at < 5_000; at++) deleted.note(`gone-${at}`, 3);
    for (let at = 0; at < 4_999; at++) expect(deleted.get(`gone-${at}`)).toEqual({ slot: 3 });
    deleted.beginSet();
    expect(deleted.size).toBe(5_000);
  });

  it('H10: deletions of lost slots, of done keys and of keys that exist again are forgotten', () => {
    const deleted = new DeletedKeys();
    for (const [slot, key] of ['lost', 'kept', 'done', 'lost-unasked'].entries()) {
      deleted.note(key, slot);
      if (key !== 'lost-unasked') deleted.get(key);
    }
    deleted.keep((slot) => slot === 1 || slot === 2);
    deleted.forget('done');
    expect(deleted.size).toBe(1);
    expect(deleted.get('kept')).toEqual({ slot: 1 });
  });
});

describe('OthersDeletions', () => {
  it('H18: deletions of other members are remembered for the given time, unless their slots are gained or their keys exist again', () => {
    const others = new OthersDeletions();
    for (const [slot, key] of ['a', 'b', 'c', 'd'].entries()) others.note(key, slot, 10 + slot);
    others.note('a', 0, 20);
    others.forget('c');
    others.age(11);
    expect(others.size).toBe(2);
    expect(others.take(new Set([0, 1]))).toEqual([['a', 0]]);
    expect(others.take(new Set([0, 1, 2, 3]))).toEqual([['d', 3]]);
    expect(others.size).toBe(0);
  });
});
