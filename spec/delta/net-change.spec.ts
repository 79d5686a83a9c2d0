import type { Change } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import {
  foldChange,
  foldDeletion,
  foldState,
  Net,
  seenBefore,
  unfold,
} from '../../lib/delta/net-change.ts';
import * as fc from '../support/fast-check.ts';

interface Thing {
  readonly text: string;
}
const thing = (text: string): Thing => ({ text });
type Changes = readonly Change<Thing>[];

function fold(...sets: readonly Changes[]): Change<Thing>[] {
  const nets = new Map<string, Net<Thing>>();
  for (const change of sets.flat()) {
    const net = nets.get(change.key) ?? new Net(change.key, seenBefore(change));
    nets.set(change.key, net);
    foldChange(net, change);
  }
  return unfold(nets.values());
}

const byId = (changes: Changes) => [...changes].sort((a, b) => (a.id < b.id ? -1 : 1));
const [a1, a2, a3, b1] = [thing('a1'), thing('a2'), thing('a3'), thing('b1')];
const add = (id: string, object: Thing, key = 'k'): Change<Thing> => ({ id, key, object });
const update = (id: string, previous: Thing, object: Thing, key = 'k'): Change<Thing> => {
  return { id, key, previous, object };
};
const remove = (id: string, previous: Thing, last = previous, key = 'k'): Change<Thing> => {
  return { id, key, previous, last };
};
const leave = (id: string, previous: Thing, last = previous, key = 'k'): Change<Thing> => {
  return { ...remove(id, previous, last, key), left: true };
};
const miss = (id: string, previous: Thing, last = previous): Change<Thing> => {
  return { ...remove(id, previous, last), finalStateUnknown: true };
};

/** Random steps on four keys, grouped into the change sets of one consumer. */
const history = fc.array(
  fc.array(
    fc.record({
      key: fc.constantFrom('k0', 'k1', 'k2', 'k3'),
      what: fc.constantFrom(
        ...(['put', 'put', 'put', 'delete', 'miss', 'recreate', 'resync'] as const),
        ...(['leave', 'leave', 'return'] as const),
      ),
    }),
    { maxLength: 5 },
  ),
  { maxLength: 12, size: 'max' },
);
type Steps = typeof history extends fc.Arbitrary<infer H> ? H : never;

interface Played {
  readonly sets: Changes[];
  readonly fates: ReadonlyMap<string, string[]>;
  readonly truth: Map<string, Thing>;
}

function play(steps: Steps): Played {
  const there = new Map<string, { id: string; object: Thing }>();
  /** The UIDs of objects that have left, by key, and the fates of each UID in their order. */
  const away = new Map<string, string>();
  const fates = new Map<string, string[]>();
  const note = (id: string, fate: string) => fates.set(id, [...(fates.get(id) ?? []), fate]);
  let count = 0;
  const sets = steps.map((set) => {
    const deletions: Change<Thing>[] = [];
    const others: Change<Thing>[] = [];
    const used = new Set<string>();
    for (const { key, what } of set) {
      if (used.has(key)) continue;
      used.add(key);
      const old = there.get(key);
      const object = thing(`${key}.${++count}`);
      const end = () => {
        there.delete(key);
        if (old === undefined) return;
        if (what === 'leave') {
          away.set(key, old.id);
          note(old.id, 'left');
          deletions.push(leave(old.id, old.object, old.object, key));
          return;
        }
        note(old.id, 'deleted');
        const change = remove(old.id, old.object, thing(`${object.text}.end`), key);
        deletions.push(what === 'delete' ? change : { ...change, finalStateUnknown: true });
      };
      if (what === 'resync') {
        if (old) others.push(update(old.id, old.object, old.object, key));
      } else if (what === 'put' && old) {
        there.set(key, { id: old.id, object });
        others.push(update(old.id, old.object, object, key));
      } else {
        end();
        if (what === 'delete' || what === 'miss' || what === 'leave') continue;
        const returning = what === 'return' && old === undefined ? away.get(key) : undefined;
        const id = returning ?? `u${count}`;
        away.delete(key);
        note(id, 'there');
        there.set(key, { id, object });
        others.push(add(id, object, key));
      }
    }
    return [...deletions, ...others];
  });
  return { sets, fates, truth: new Map([...there].map(([key, { object }]) => [key, object])) };
}

/**
 * Compares two folds of one history. An object that left, came back and was then deleted is told of as one or the
 * other, and both are true: a fold of its return and its deletion is empty, so nothing of them is left to fold.
 */
function expectSame(one: Changes, other: Changes, fates: ReadonlyMap<string, string[]>): void {
  const told = (changes: Changes) =>
    byId(changes).map((change) => {
      const ends = new Set(fates.get(change.id)?.filter((fate) => fate !== 'there'));
      if (change.object !== undefined || ends.size < 2) return change;
      return { id: change.id, key: change.key, previous: change.previous };
    });
  expect(told(one)).toEqual(told(other));
}

/** Applies changes to a consumer's view; every `previous` must be the state that the view had. */
function consume(view: Map<string, Thing>, changes: Changes): void {
  for (const { key, previous, object } of changes) {
    expect(view.get(key)).toBe(previous);
    if (object === undefined) view.delete(key);
    else view.set(key, object);
  }
}

describe('net change', () => {
  it('S15: folding sets one by one and folding their folds give the same result', () => {
    fc.assert(
      fc.property(history, fc.array(fc.nat(11)), (steps, cuts) => {
        const { sets, fates } = play(steps);
        const at = [...new Set([0, ...cuts, sets.length])].sort((x, y) => x - y);
        const groups = at.slice(1).map((end, index) => sets.slice(at[index], end));
        const folds = groups.map((group) => fold(...group));
        expectSame(fold(...folds), fold(...sets), fates);
      }),
      { numRuns: 1000 },
    );
  });

  it('S15: a consumer that takes folds at random points ends in the true state, and every `previous` is the state it had', () => {
    fc.assert(
      fc.property(history, fc.array(fc.nat(4), { minLength: 1 }), (steps, sizes) => {
        const { sets, truth } = play(steps);
        const view = new Map<string, Thing>();
        for (let at = 0, turn = 0; at < sets.length; turn++) {
          const end = at + 1 + (sizes[turn % sizes.length] ?? 0);
          consume(view, fold(...sets.slice(at, end)));
          at = end;
        }
        expect(view).toEqual(truth);
      }),
      { numRuns: 500 },
    );
  });

  it('H53: a fold tells of a deletion only if the object was deleted, and that it left only if it left', () => {
    fc.assert(
      fc.property(history, fc.nat(11), (steps, from) => {
        const { sets, fates } = play(steps);
        for (const { id, object, left } of fold(...sets.slice(from))) {
          if (object !== undefined) continue;
          expect(fates.get(id)).toContain(left === true ? 'left' : 'deleted');
          if (fates.get(id)?.includes('left') === false) expect(left).toBeUndefined();
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each<[string, Changes[], Changes]>([
    [
      'leave, arrive, delete',
      [[leave('u1', a1)], [add('u1', a2)], [remove('u1', a2, a3)]],
      [remove('u1', a1, a3)],
    ],
    [
      'delete, another object arrives and leaves',
      [[remove('u1', a1, a2)], [add('u2', b1)], [leave('u2', b1)]],
      [remove('u1', a1, a2)],
    ],
  ])('H53: %s', (_story, sets, expected) => {
    expect(fold(...sets)).toEqual(expected);
  });

  it('S7: deletions are first, the others are in the order in which keys first changed, and no id occurs twice', () => {
    const changes = fold(
      [add('u1', a1, 'one')],
      [update('u2', a1, a2, 'two'), remove('u3', a1, a1, 'three')],
      [remove('u4', a1, a1, 'four'), add('u5', b1, 'four')],
    );
    expect(changes.map(({ id, object }) => `${object ? '+' : '-'}${id}`)).toEqual([
      '-u3',
      '-u4',
      '+u1',
      '+u2',
      '+u5',
    ]);
    fc.assert(
      fc.property(history, (steps) => {
        const folded = fold(...play(steps).sets);
        expect(new Set(folded.map(({ id }) => id)).size).toBe(folded.length);
        const firstOther = folded.findIndex(({ object }) => object !== undefined);
        const behind = firstOther < 0 ? [] : folded.slice(firstOther);
        expect(behind.every(({ object }) => object !== undefined)).toBe(true);
      }),
    );
  });

  it('S7: a tombstone carries the newest state of its own UID, and says whether the deletion was missed', () => {
    const end = (...steps: ((net: Net<Thing>) => void)[]) => {
      const net = new Net('k', { id: 'u1', object: a1 });
      for (const step of steps) step(net);
      return unfold([net])[0];
    };
    const state = (id: string, object: Thing) => (net: Net<Thing>) => foldState(net, id, object);
    const deletion = (id: string, object: Thing, unknown: boolean) => (net: Net<Thing>) =>
      foldDeletion(net, { id, object }, unknown);
    const leaving = (id: string, object: Thing) => (net: Net<Thing>) =>
      foldDeletion(net, { id, object }, false, true);

    expect(end(deletion('u1', a2, false))).toEqual(remove('u1', a1, a2));
    expect(end(state('u1', a2), deletion('u1', a2, true))).toEqual(miss('u1', a1, a2));
    // The deletion of its successor is not its own.
    expect(end(deletion('u1', a2, false), state('u2', b1), deletion('u2', b1, true))).toEqual(
      remove('u1', a1, a2),
    );
    expect(end(state('u1', a2), deletion('u2', b1, false))).toEqual(miss('u1', a1, a2));
    expect(end(state('u2', b1), deletion('u2', b1, false))).toEqual(miss('u1', a1, a1));
    // Another object has left, and this one had left and come back before another one replaced it.
    expect(end(state('u1', a2), leaving('u2', b1))).toEqual(miss('u1', a1, a2));
    expect(end(leaving('u1', a2), state('u1', a3), state('u2', b1))).toEqual(miss('u1', a1, a3));
    // The deletion event arrives after the deletion was noticed.
    expect(end(deletion('u1', a1, true), deletion('u1', a3, false))).toEqual(remove('u1', a1, a3));
    // The same UID exists again (a restored etcd), then another object replaces it.
    expect(end(deletion('u1', a2, false), state('u1', a3), state('u2', b1))).toEqual(
      miss('u1', a1, a3),
    );
  });
});
