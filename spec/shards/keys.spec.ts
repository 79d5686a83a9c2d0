/**
 * The memory of deletions of a controller in shards, and the filter of a list in progress, by owner: an object may move to another shard and
 * be deleted while the list is read.
 */

import type { KubernetesObject, ShardFilter } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { DeletedKeys, OthersDeletions } from '../../lib/shards/deleted-keys.ts';
import { ListedKeys } from '../../lib/shards/reflect/listed-keys.ts';

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

const objectOf = (name: string, shard: string): KubernetesObject => ({
  metadata: {
    namespace: 'a',
    name,
    uid: `uid of ${name}`,
    resourceVersion: '5',
    labels: { shard },
  },
});
const filter = {
  contains: ({ metadata }) => metadata?.labels?.['shard'] === 'own',
  containsRefused: () => true,
} as Partial<ShardFilter> as ShardFilter;
const end = {
  type: 'replaced' as const,
  ...{ objects: [], resourceVersion: '9', trustVersions: true },
};
/** Every object was in these shards before. */
const known = {
  get: (key: string) => objectOf(key.slice(2), 'own'),
  refused: () => undefined,
} as never;

/** The keys that the deltas report as having left for another shard. */
function left(deltas: readonly { readonly type: string }[]): readonly string[] {
  return deltas.flatMap((delta) =>
    'resolve' in delta
      ? [...(delta as { resolve(of: never): Iterable<{ key: string }> }).resolve(known)].map(
          ({ key }) => key,
        )
      : [],
  );
}

describe('a list by owner', () => {
  it('H53: an object that is in another shard has left, and one that is deleted while the list is read has not', () => {
    const keys = new ListedKeys('owner', undefined);
    keys.part({ type: 'replacing', objects: [objectOf('x', 'other')] }, filter);
    keys.part({ type: 'replacing', objects: [objectOf('y', 'other')] }, filter);
    keys.part({ type: 'replacing', objects: [], removed: ['a/x'] }, filter);
    expect(left(keys.end(end, filter))).toEqual(['a/y']);
  });
});
