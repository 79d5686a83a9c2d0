import { changeSet } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';

const object = (name: string, resourceVersion: string) => ({
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion },
});

describe('changeSet', () => {
  it('orders deletions first, and has lists of each kind of change', () => {
    const [a, b, b2] = [object('a', '1'), object('b', '2'), object('b', '5')];
    const [c, d] = [object('c', '3'), object('d', '4')];
    const set = changeSet({
      added: [a],
      updated: [{ previous: b, object: b2 }],
      deleted: [c],
      missed: [d],
    });
    expect(set.changes).toEqual([
      { id: 'uid-c', key: 'shop/c', previous: c, last: c },
      { id: 'uid-d', key: 'shop/d', previous: d, last: d, finalStateUnknown: true },
      { id: 'uid-b', key: 'shop/b', previous: b, object: b2 },
      { id: 'uid-a', key: 'shop/a', object: a },
    ]);
    expect(set.deleted.map(({ uid, finalStateUnknown }) => [uid, finalStateUnknown])).toEqual([
      ['uid-c', false],
      ['uid-d', true],
    ]);
    expect(set).toMatchObject({
      added: [a],
      updated: [{ previous: b, object: b2 }],
      rev: 1,
      cause: 'watch',
      synced: true,
      reset: false,
      initial: false,
      resourceVersion: '1',
    });
  });

  it('uses the given fields', () => {
    expect(changeSet({ initial: true, synced: false, rev: 7, resourceVersion: '9' })).toMatchObject(
      {
        cause: 'initial',
        synced: false,
        rev: 7,
        resourceVersion: '9',
        changes: [],
      },
    );
    expect(changeSet({ cause: 'relist', reset: true })).toMatchObject({
      cause: 'relist',
      reset: true,
    });
  });

  it('refuses two changes of one object', () => {
    expect(() => changeSet({ added: [object('a', '1')], deleted: [object('a', '2')] })).toThrow(
      'two changes of "uid-a"',
    );
  });
});
