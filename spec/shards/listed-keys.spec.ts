/** The filter of a list in progress, by owner: an object may move to another shard and be deleted while the list is read. */
import type { KubernetesObject, ShardFilter } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { ListedKeys } from '../../lib/shards/reflect/listed-keys.ts';

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
