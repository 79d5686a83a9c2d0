/** Which updates pass the predicates. */
import {
  and,
  annotationsChanged,
  generationChanged,
  type KubernetesObject,
  labelsChanged,
  not,
  type ObjectChange,
  type ObjectMeta,
  or,
  resourceVersionChanged,
  resynced,
  type Stored,
} from 'rx-informer';
import { describe, expect, it } from 'vitest';

const stored = (metadata: ObjectMeta): Stored<KubernetesObject> => ({
  metadata: { name: 'b', uid: 'b', resourceVersion: '', ...metadata },
});

function update(
  previous: ObjectMeta,
  object: ObjectMeta,
  cause: ObjectChange<KubernetesObject>['cause'] = 'watch',
): ObjectChange<KubernetesObject> {
  return {
    type: 'updated',
    cause,
    key: 'a/b',
    previous: stored(previous),
    object: stored(object),
  };
}
const addition: ObjectChange<KubernetesObject> = {
  type: 'added',
  cause: 'watch',
  key: 'a/b',
  object: stored({}),
};
const deletion: ObjectChange<KubernetesObject> = {
  type: 'deleted',
  cause: 'watch',
  key: 'a/b',
  previous: stored({}),
};

describe('predicates', () => {
  const all = {
    generationChanged,
    resourceVersionChanged,
    labelsChanged: labelsChanged(),
    annotationsChanged: annotationsChanged('x'),
    resynced,
  };
  it.each(Object.entries(all))('N7: %s passes additions and deletions', (_name, predicate) => {
    expect([predicate(addition), predicate(deletion)]).toEqual([true, true]);
  });

  it('N7: generationChanged drops an update of status, labels or finalizers', () => {
    expect(generationChanged(update({ generation: 1 }, { generation: 2 }))).toBe(true);
    const held = { generation: 1, labels: { a: 'b' }, finalizers: ['x/y'] };
    expect(generationChanged(update({ generation: 1 }, held))).toBe(false);
    expect(generationChanged(update({ generation: 1 }, { generation: 1 }, 'resync'))).toBe(false);
  });

  it('N7: generationChanged passes the mark of a deletion, with and without a new generation, and another object', () => {
    const marked = { generation: 1, deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(generationChanged(update({ generation: 1 }, marked))).toBe(true);
    const twin = update({ generation: 1, uid: 'a' }, { generation: 1, uid: 'b' });
    expect(generationChanged(twin)).toBe(true);
  });

  it('N7: generationChanged passes kinds without a generation', () => {
    expect(generationChanged(update({ resourceVersion: '1' }, { resourceVersion: '2' }))).toBe(
      true,
    );
  });

  it('N7: resourceVersionChanged drops a resync', () => {
    const same = { resourceVersion: '7' };
    expect(resourceVersionChanged(update(same, same, 'resync'))).toBe(false);
    expect(resourceVersionChanged(update(same, { resourceVersion: '8' }))).toBe(true);
  });

  it('N7: labelsChanged and annotationsChanged pass additions, changes and removals, of all or by name', () => {
    const change = update({ labels: { a: '1', b: '1' } }, { labels: { a: '1', b: '2' } });
    expect([
      labelsChanged()(change),
      labelsChanged('a')(change),
      labelsChanged('b')(change),
    ]).toEqual([true, false, true]);
    expect(labelsChanged()(update({ labels: { a: '1' } }, {}))).toBe(true);
    expect(labelsChanged('constructor')(update({}, { labels: {} }))).toBe(false);
    expect(annotationsChanged()(change)).toBe(false);
    expect(annotationsChanged('x')(update({}, { annotations: { x: '' } }))).toBe(true);
  });

  it('N7: and, or, not combine predicates', () => {
    const status = update({ generation: 1 }, { generation: 1 });
    const resync = update({ generation: 1 }, { generation: 1 }, 'resync');
    const predicate = or(generationChanged, resynced);
    expect([predicate(status), predicate(resync)]).toEqual([false, true]);
    expect(and(generationChanged, resynced)(resync)).toBe(false);
    expect(not(generationChanged)(status)).toBe(true);
    expect([and()(status), or()(status)]).toEqual([true, false]);
  });
});
