import {
  byAnnotation,
  byLabel,
  byLabels,
  byNamespace,
  byOwnerUid,
  createIndexer,
  NAMESPACE_INDEX,
} from 'rx-informer';
import { describe, expect, it } from 'vitest';

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
