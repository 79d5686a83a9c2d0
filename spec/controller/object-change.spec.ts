/** Which changes of an informer a controller's sources receive. */
import type { KubernetesObject, Stored } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { objectChange } from '../../lib/controller/predicates.ts';

const stored = (uid: string): Stored<KubernetesObject> => ({
  metadata: { namespace: 'a', name: 'b', uid, resourceVersion: '1' },
});

describe('objectChange', () => {
  it('H56: an object that has left is no change, but one whose deletion shows when its successor arrives is deleted', () => {
    const set = { cause: 'rebalance', initial: false } as const;
    const gone = { id: 'u', key: 'a/b', previous: stored('u'), last: stored('u') };
    expect(objectChange(set, { ...gone, left: true })).toBeUndefined();
    // So the owner of the deleted object is queued, which its successor may not have.
    expect(objectChange(set, { ...gone, finalStateUnknown: true })).toMatchObject({
      ...{ type: 'deleted', key: 'a/b', last: stored('u') },
    });
  });
});
