/** `liveFlatMap`: several rows for each row. */
import { liveFlatMap, toView } from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Mirror } from './mirror.ts';

interface Part {
  readonly name?: string;
  readonly type?: string;
  readonly n?: number;
}
const pod = (uid: string, ...parts: readonly (Part | string)[]) => ({
  metadata: { name: `pod-${uid}`, uid, namespace: 'shop' },
  parts,
});
type Pod = ReturnType<typeof pod>;

function flat(...first: Pod[]) {
  const sets = new Subject<ReturnType<typeof changeSet<Pod>>>();
  const rows = liveFlatMap<Pod, Part | string>(({ parts }) => parts)(sets);
  const mirror = new Mirror(rows);
  const view = toView(rows);
  view.subscribe(() => undefined);
  sets.next(changeSet({ added: first, reset: true }));
  return { sets, mirror, refusedRows: () => view.getSnapshot().status.refusedRows };
}

describe('liveFlatMap', () => {
  it('Q50: the id of a row is uid/id and its key key/id, by name, type or the string itself', () => {
    const { mirror } = flat(pod('u1', { name: 'a' }, { type: 'example.com/Ready' }, 'finalizer'));
    expect([...mirror.rows.values()].map(({ id, key }) => [id, key])).toEqual([
      ['u1/a', 'shop/pod-u1/a'],
      ['u1/example.com%2FReady/', 'shop/pod-u1/example.com/Ready'],
      ['u1/finalizer', 'shop/pod-u1/finalizer'],
    ]);
  });

  it('Q50: rows of two objects never share an id, whatever contains a slash', () => {
    const names = ['b/c', 'c', 'b%2Fc', 'b%2Fc/', '/', '//', '%2F/'];
    const rows = names.map((name) => ({ name }));
    const all = ['a', 'a/b', 'a/b%2Fc/', 'a/'].map((uid, at) => {
      const { metadata, parts } = pod(uid, ...rows);
      return { metadata: { ...metadata, name: `pod-${at}` }, parts };
    });
    const { sets, mirror, refusedRows } = flat(...all);
    expect([mirror.rows.size, refusedRows().length]).toEqual([names.length * all.length, 0]);
    sets.next(changeSet({ deleted: all.slice(0, 1) }));
    expect(mirror.rows.size).toBe(names.length * (all.length - 1));
  });

  it('Q50: a row that is equal to the former one is kept, and only the others are emitted', () => {
    const before = pod('u1', { name: 'a', n: 1 }, { name: 'b', n: 1 }, { name: 'c' });
    const now = pod('u1', { name: 'b', n: 2 }, { name: 'a', n: 1 }, { name: 'd' });
    const { sets, mirror } = flat(before);
    sets.next(changeSet({ updated: [{ previous: before, object: now }] }));
    const changes = mirror.sets[1]?.changes.map(({ id, previous, object }) => [
      id,
      previous,
      object,
    ]);
    expect(changes).toEqual([
      ['u1/c', { name: 'c' }, undefined],
      ['u1/b', { name: 'b', n: 1 }, { name: 'b', n: 2 }],
      ['u1/d', undefined, { name: 'd' }],
    ]);
    expect(mirror.rows.get('u1/a')?.object).toBe(before.parts[0]);
    sets.next(changeSet({ deleted: [now] }));
    expect(mirror.objects()).toEqual([]);
  });

  it('names what replaces the removed option equals', () => {
    const options = { idOf: () => 'a', equals: () => true };
    expect(() => liveFlatMap(() => [1], options)).toThrow(
      new TypeError(
        'liveFlatMap: the option equals was removed; append liveMap((row) => row, { equals })',
      ),
    );
  });

  it('Q50: two rows with one id, or a row without one, reject their object and say what to do', () => {
    const twice = pod('u1', { name: 'a' }, { name: 'a' });
    const { sets, mirror, refusedRows } = flat(twice, pod('u2', { n: 1 }), pod('u3', 'ok'));
    expect(mirror.ids()).toEqual(['u3/ok']);
    expect(refusedRows().map(({ operator, id, key }) => [operator, id, key])).toEqual([
      ['liveFlatMap', 'u1', 'shop/pod-u1'],
      ['liveFlatMap', 'u2', 'shop/pod-u2'],
    ]);
    expect(refusedRows().map(({ error }) => (error as Error).message)).toEqual([
      'liveFlatMap: two rows of shop/pod-u1 have the id "a"; return different ids with the option idOf',
      'liveFlatMap: a row of shop/pod-u2 has no id, because it has neither a name nor a type; return one with the option idOf',
    ]);
    const healed = pod('u1', { name: 'a' });
    sets.next(changeSet({ updated: [{ previous: twice, object: healed }] }));
    expect([mirror.ids(), refusedRows().length]).toEqual([['u1/a', 'u3/ok'], 1]);
    sets.next(changeSet({ updated: [{ previous: healed, object: twice }] }));
    expect([mirror.ids(), refusedRows().length]).toEqual([['u3/ok'], 2]);
  });
});
