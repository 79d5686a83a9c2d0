/** Which updates are worth a reconcile. */
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
const came: ObjectChange<KubernetesObject> = {
  type: 'added',
  cause: 'watch',
  key: 'a/b',
  object: stored({}),
};
const went: ObjectChange<KubernetesObject> = {
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
  it.each(Object.entries(all))('N7: %s passes what comes and what goes', (_name, predicate) => {
    expect([predicate(came), predicate(went)]).toEqual([true, true]);
  });

  it('N7: a generation that stays drops an update of status, labels or finalizers', () => {
    expect(generationChanged(update({ generation: 1 }, { generation: 2 }))).toBe(true);
    const held = { generation: 1, labels: { a: 'b' }, finalizers: ['x/y'] };
    expect(generationChanged(update({ generation: 1 }, held))).toBe(false);
    expect(generationChanged(update({ generation: 1 }, { generation: 1 }, 'resync'))).toBe(false);
  });

  it('N7: a mark of deletion passes the generation, counted or not, and so does another object', () => {
    const marked = { generation: 1, deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(generationChanged(update({ generation: 1 }, marked))).toBe(true);
    const twin = update({ generation: 1, uid: 'a' }, { generation: 1, uid: 'b' });
    expect(generationChanged(twin)).toBe(true);
  });

  it('N7: kinds without a generation pass', () => {
    expect(generationChanged(update({ resourceVersion: '1' }, { resourceVersion: '2' }))).toBe(
      true,
    );
  });

  it('N7: a version that stays drops a resync', () => {
    const same = { resourceVersion: '7' };
    expect(resourceVersionChanged(update(same, same, 'resync'))).toBe(false);
    expect(resourceVersionChanged(update(same, { resourceVersion: '8' }))).toBe(true);
  });

  it('N7: labels and annotations, all or by name, added, changed or taken away', () => {
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

  it('N7: and, or and not combine them', () => {
    const status = update({ generation: 1 }, { generation: 1 });
    const resync = update({ generation: 1 }, { generation: 1 }, 'resync');
    const predicate = or(generationChanged, resynced);
    expect([predicate(status), predicate(resync)]).toEqual([false, true]);
    expect(and(generationChanged, resynced)(resync)).toBe(false);
    expect(not(generationChanged)(status)).toBe(true);
    expect([and()(status), or()(status)]).toEqual([true, false]);
  });
});
