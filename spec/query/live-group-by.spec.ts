/** `liveGroupBy` and its aggregates. */

import {
  type Aggregate,
  type Aggregates,
  avg,
  type ChangeSet,
  type ChangeStream,
  count,
  distinct,
  liveGroupBy,
  max,
  min,
  sum,
  toView,
} from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import { BehaviorSubject, config, type Observable, of } from 'rxjs';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { allReported } from '../support/errors.ts';
import * as fc from '../support/fast-check.ts';
import { isProduction } from '../support/production.ts';
import { Mirror } from './mirror.ts';
import { type Item, item, type Step, World } from './world.ts';

const set = (name: string, n: number, group = 'a'): Step => ({ name, what: 'set', n, group });
const drop = (name: string): Step => ({ name, what: 'delete', n: 0, group: '' });

let reported: unknown[] = [];
beforeEach(() => {
  reported = [];
  config.onUnhandledError = (error) => reported.push(error);
});
afterEach(() => {
  config.onUnhandledError = null;
});

/** The rows of the groups of a world after each commit. */
function grouped<const A extends Aggregates<Item>>(
  aggregates: A,
  key: Parameters<typeof liveGroupBy<Item, A>>[0] = ({ group }) => group,
) {
  const world = new World();
  const stream = world.changes$.pipe(liveGroupBy<Item, A>(key, aggregates));
  const mirror = new Mirror(stream);
  return {
    world,
    mirror,
    stream,
    rows: (...steps: Step[]) => {
      if (steps.length > 0) world.commit(steps);
      return mirror.objects();
    },
  };
}

describe('groups', () => {
  it.skipIf(isProduction)('Q90: the row of a group and the list of distinct are frozen', () => {
    const { rows } = grouped({ names: distinct(({ metadata }) => metadata.name) });
    const [row] = rows(set('x', 1), set('y', 1)) as unknown as [{ names: readonly string[] }];
    expect(() => (row.names as string[]).reverse()).toThrow(TypeError);
    expect([row, row.names].map(Object.isFrozen)).toEqual([true, true]);
    expect(rows(set('z', 1))).toEqual([{ key: 'a', names: ['x', 'y', 'z'] }]);
  });

  it('Q30: leave out rows of the key undefined, and count a row once in each key of an array', () => {
    const { rows } = grouped({ n: sum(({ n }) => n) }, ({ n, group }) =>
      n === 0 ? undefined : [group, 'all', group],
    );
    expect(rows(set('x', 1), set('y', 2, 'b'), set('z', 0))).toEqual([
      { key: 'a', n: 1 },
      { key: 'all', n: 3 },
      { key: 'b', n: 2 },
    ]);
    expect(rows(set('x', 4), set('y', 0))).toEqual([
      { key: 'a', n: 4 },
      { key: 'all', n: 4 },
    ]);
  });

  it('Q31: keep the object of their row until a result changes', () => {
    const groups: Aggregate<Item, ReadonlySet<string>, string, readonly string[]> = {
      value: ({ group }) => group,
      initial: () => [],
      add: (all, group) => [...all, group],
      remove: (all, group) => all.toSpliced(all.indexOf(group), 1),
      result: (all) => new Set(all),
    };
    const both = { parities: distinct(({ n }: Item) => n % 2), groups, total: count() };
    const { rows, mirror } = grouped(both, () => 'all');
    const [first] = rows(set('x', 1), set('y', 2));
    expect(first).toEqual({ key: 'all', parities: [0, 1], groups: new Set(['a']), total: 2 });
    const sets = mirror.sets.length;
    expect(rows(set('x', 3), set('y', 4))[0]).toBe(first);
    expect(rows(set('x', 2), set('y', 1))[0]).toBe(first);
    expect(mirror.sets).toHaveLength(sets);
    // A result that stays keeps its object, too.
    const [second] = rows(set('z', 1));
    expect(second?.total).toBe(3);
    expect([second?.parities, second?.groups]).toEqual([first?.parities, first?.groups]);
    expect(second?.parities).toBe(first?.parities);
    expect(second?.groups).toBe(first?.groups);
  });

  it('Q31: keep the object of their row if new aggregates or a new key give the same results', () => {
    const key$ = new BehaviorSubject(({ group }: Item) => group);
    const aggregates$ = new BehaviorSubject({ n: count<Item>() });
    const world = new World();
    const mirror = new Mirror(world.changes$.pipe(liveGroupBy(key$, aggregates$)));
    world.commit([set('x', 1), set('y', 1, 'b'), set('z', 2, 'c')]);
    const before = mirror.objects();
    const sets = mirror.sets.length;
    aggregates$.next({ n: count() });
    expect(mirror.objects().map((row, at) => row === before[at])).toEqual([true, true, true]);
    expect(mirror.sets).toHaveLength(sets);
    key$.next(({ group }) => (group === 'c' ? 'b' : group));
    expect(mirror.objects()).toEqual([
      { key: 'a', n: 1 },
      { key: 'b', n: 2 },
    ]);
    expect(mirror.objects()[0]).toBe(before[0]);
    expect([mirror.sets.length, mirror.sets.at(-1)?.cause]).toEqual([sets + 1, 'query']);
  });

  it('Q37: refuse a key and aggregates that are none, by name', () => {
    expect(() => liveGroupBy('node' as never, {})).toThrow(
      new TypeError(
        'liveGroupBy: key is "node"; it must be a function, or an Observable of functions',
      ),
    );
    expect(() => liveGroupBy(() => 'a', null as never)).toThrow(/^liveGroupBy: aggregates is null/);
    expect(() => liveGroupBy(() => 'a', { key: count() })).toThrow(/named 'key'/);
    expect(() => liveGroupBy(() => 'a', { n: {} as never })).toThrow(
      /^liveGroupBy: the aggregate 'n' has no function 'initial'/,
    );
    expect(() => sum('n' as never)).toThrow(/^sum: its argument is "n"; it must be a function/);
    const { mirror } = grouped({ n: count() }, of(5) as never);
    expect(() => mirror.ids()).toThrow(/^liveGroupBy: key is 5/);
  });

  it('Q30: have rows typed by their aggregates, also where the rows are inferred in a pipe', () => {
    const changes$ = of(changeSet({ added: [item('x', 'u', 2)] })) as ChangeStream<Item>;
    const stream = changes$.pipe(
      liveGroupBy(({ group }) => group, {
        rows: count(({ n }) => n > 1),
        total: sum(({ n }) => n),
        name: min(({ metadata }) => metadata.name),
        names: distinct(({ metadata }) => metadata.name),
      }),
    );
    const view = toView(stream);
    view.subscribe(() => undefined);
    const [row] = view.getSnapshot().rows;
    expect(row).toEqual({ key: 'a', rows: 1, total: 2, name: 'x', names: ['x'] });
    expectTypeOf(row?.key).toEqualTypeOf<string | undefined>();
    expectTypeOf(row?.total).toEqualTypeOf<number | undefined>();
    expectTypeOf(row?.name).toEqualTypeOf<string | undefined>();
    expectTypeOf(row?.names).toEqualTypeOf<readonly string[] | undefined>();
    // @ts-expect-error the aggregates have no such result
    expect(row?.nonsense).toBe(undefined);
    // @ts-expect-error text cannot be added up
    sum(({ metadata }: Item) => metadata.name);
  });
});

describe('functions that throw', () => {
  function viewOf(stream: Observable<ChangeSet<unknown>>) {
    const view = toView(stream);
    view.subscribe(() => undefined);
    const refusedRows = () =>
      view
        .getSnapshot()
        .status.refusedRows.map(({ operator, key, error }) => [operator, key, String(error)]);
    return { rows: () => view.getSnapshot().rows, refusedRows };
  }

  it('Q23: keep their row out of every group until it changes', () => {
    const { world, stream, rows } = grouped(
      {
        n: count(),
        total: sum(({ n }) => {
          if (n === 7) throw new Error('seven');
          if (n === 8) return '8' as never;
          return n === 6 ? (6n as never) : n;
        }),
      },
      ({ n, group }) => (n === 9 ? (9 as never) : group),
    );
    const view = viewOf(stream);
    expect(rows(set('x', 1), set('y', 7), set('z', 8), set('w', 6), set('v', 9))).toEqual([
      { key: 'a', n: 1, total: 1 },
    ]);
    expect(view.refusedRows()).toEqual([
      ['liveGroupBy', 'y', 'Error: seven'],
      ['liveGroupBy', 'z', 'TypeError: sum: the value of a row is "8", which it cannot take'],
      ['liveGroupBy', 'w', 'TypeError: sum: the value of a row is 6n, which it cannot take'],
      [
        'liveGroupBy',
        'v',
        'TypeError: liveGroupBy: a key is 9; it must be text, undefined, or an array of texts',
      ],
    ]);
    world.commit([set('x', 7), set('y', 2), drop('z'), drop('w'), drop('v')]);
    expect(rows()).toEqual([{ key: 'a', n: 1, total: 2 }]);
    expect(view.refusedRows()).toEqual([['liveGroupBy', 'x', 'Error: seven']]);
  });

  it('Q23: in `add` or `remove` leave no wrong state behind', async () => {
    const list: Aggregate<Item, string, number, number[]> = {
      value: ({ n }) => n,
      initial: () => [],
      add: (all, n) => {
        all.push(n);
        if (n === 7) throw new Error('seven');
        return all;
      },
      remove: (all, n) => {
        if (n === 3) throw new Error('three');
        all.splice(all.indexOf(n), 1);
        return all;
      },
      result: (all) => [...all].sort().join(),
    };
    const { stream, rows } = grouped({ n: count(), list });
    const view = viewOf(stream);
    expect(rows(set('x', 1), set('y', 7), set('z', 3))).toEqual([{ key: 'a', n: 2, list: '1,3' }]);
    expect(view.refusedRows()).toEqual([['liveGroupBy', 'y', 'Error: seven']]);
    expect(rows(set('x', 2), set('y', 5))).toEqual([{ key: 'a', n: 3, list: '2,3,5' }]);
    expect(rows(drop('z'), set('x', 7))).toEqual([{ key: 'a', n: 1, list: '5' }]);
    expect(view.refusedRows()).toEqual([['liveGroupBy', 'x', 'Error: seven']]);
    await allReported();
    expect(new Set(reported.map(String))).toEqual(new Set(['Error: three']));
  });

  it('Q23: in `remove` are reported, because no row can be kept out for them', async () => {
    const stuck: Aggregate<Item, number, Item, number> = {
      initial: () => 0,
      add: (n) => n + 1,
      remove: () => {
        throw new Error('stuck');
      },
      result: (n) => n,
    };
    const { rows } = grouped({ stuck });
    rows(set('x', 1), set('y', 1));
    expect(rows(drop('x'))).toEqual([{ key: 'a', stuck: 1 }]);
    await allReported();
    expect(reported.map(String)).toEqual(['Error: stuck']);
  });

  it('Q23: in `result` keep the group out until it changes', () => {
    const odd: Aggregate<Item, number, Item, number> = {
      initial: () => 0,
      add: (n) => n + 1,
      remove: (n) => n - 1,
      result: (n) => {
        if (n === 2) throw new Error('two');
        return n;
      },
    };
    const { stream, rows } = grouped({ odd });
    const view = viewOf(stream);
    expect(rows(set('x', 1), set('y', 1), set('z', 1, 'b'))).toEqual([{ key: 'b', odd: 1 }]);
    expect(view.refusedRows()).toEqual([['liveGroupBy', 'a', 'Error: two']]);
    expect(rows(drop('x'))).toEqual([
      { key: 'a', odd: 1 },
      { key: 'b', odd: 1 },
    ]);
    expect(view.refusedRows()).toEqual([]);
    rows(set('x', 1));
    expect(rows(drop('x'), drop('y'))).toEqual([{ key: 'b', odd: 1 }]);
    expect(view.refusedRows()).toEqual([]);
  });
});

type Value = number | undefined | null;

/** The state after the changes, of which `true` adds a value and `false` removes the oldest value like it. */
function stateAfter<R, S>(aggregate: Aggregate<Value, R, Value, S>, values: readonly Value[]) {
  const read = (value: Value) => aggregate.value?.(value as never, 0) as Value;
  let state = aggregate.initial();
  for (const value of values) state = aggregate.add(state, read(value));
  return {
    result: () => aggregate.result(state),
    add: (value: Value) => {
      state = aggregate.add(state, read(value));
    },
    remove: (value: Value) => {
      state = aggregate.remove(state, read(value));
    },
  };
}

/** The number nearest to the exact sum of numbers, by rational arithmetic. */
function exactSum(values: readonly number[]): number {
  const shift = 1074n;
  const exact = values.reduce((total, value) => {
    const [mantissa, exponent] = partsOf(value);
    return total + mantissa * 2n ** BigInt(exponent + 1074);
  }, 0n);
  return nearest(exact, shift);
}

function partsOf(value: number): [bigint, number] {
  let mantissa = value;
  let exponent = 0;
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    exponent--;
  }
  return [BigInt(mantissa), exponent];
}

function nearest(exact: bigint, shift: bigint): number {
  const sign = exact < 0n ? -1 : 1;
  let rest = exact < 0n ? -exact : exact;
  let exponent = -Number(shift);
  let isInexact = false;
  // Keeps 60 bits and one for those that were dropped, so that the conversion rounds as the exact value would.
  const bits = rest.toString(2).length;
  if (bits > 60) {
    const dropped = BigInt(bits - 60);
    isInexact = (rest & ((1n << dropped) - 1n)) !== 0n;
    rest >>= dropped;
    exponent += bits - 60;
  }
  return sign * Number(rest * 2n + (isInexact ? 1n : 0n)) * 2 ** (exponent - 1);
}

const number = fc.oneof(
  fc.integer({ min: -9, max: 9 }),
  fc.maxSafeInteger(),
  fc.integer({ min: -99, max: 99 }).map((n) => n / 10),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }).filter((n) => n === 0 || Math.abs(n) > 1e-200),
);
const value: fc.Arbitrary<Value> = fc.oneof(
  { weight: 8, arbitrary: number },
  { weight: 2, arbitrary: fc.constantFrom(undefined, null) },
  { weight: 2, arbitrary: fc.constantFrom(Number.NaN, Infinity, -Infinity, -0, 1e300, 2 ** 53) },
);

const BUILT_IN: readonly (readonly [string, Aggregate<Value, unknown, never, never>])[] = [
  ['count', count<Value>() as never],
  ['count of some', count<Value>((n) => Number(n) > 0) as never],
  ['sum', sum<Value>((n) => n) as never],
  ['avg', avg<Value>((n) => n) as never],
  ['min', min<Value, number>((n) => n) as never],
  ['max', max<Value, number>((n) => n) as never],
  ['distinct', distinct<Value, number>((n) => n) as never],
];

describe('aggregates', () => {
  it.each(BUILT_IN)('Q20: removing from %s undoes adding, in any order', (_name, each) => {
    const aggregate = each as unknown as Aggregate<Value, unknown, Value, unknown>;
    fc.assert(
      fc.property(
        fc.array(value, { maxLength: 12 }),
        fc.array(value, { maxLength: 12 }),
        fc.infiniteStream(fc.nat()),
        (kept, removed, random) => {
          const next = () => random.next().value as number;
          const steps = [
            ...kept.map((of) => ({ of, leaves: undefined })),
            ...removed.map((of) => ({ of, leaves: next() })),
          ].sort(() => (next() % 2) - 0.5);
          const state = stateAfter(aggregate, []);
          const open: Value[] = [];
          for (const { of, leaves } of steps) {
            state.add(of);
            if (leaves === undefined) continue;
            open.push(of);
            if (leaves % 3 > 0) state.remove(open.splice(leaves % open.length, 1)[0]);
          }
          for (const of of open) state.remove(of);
          expect(state.result()).toEqual(stateAfter(aggregate, kept).result());
        },
      ),
      { numRuns: 300 },
    );
  });

  it('Q20: a group whose rows are all replaced in one set has no rounding errors of those that left', () => {
    const naive: Aggregate<Item, number, number, number> = {
      value: ({ n }) => n,
      initial: () => 0,
      add: (total, n) => total + n,
      remove: (total, n) => total - n,
      result: (total) => total,
    };
    const { rows } = grouped({ naive });
    rows(set('x', 1e17), set('y', 1));
    expect(rows(drop('x'), drop('y'), set('z', 5))).toEqual([{ key: 'a', naive: 5 }]);
  });

  it('Q20: integers beyond 2^53 that have left do not change how a sum is rounded', () => {
    const large = [-4461028724325594, -4599256783154440];
    const kept = [8, -4.131612685093237e-9, -2.8];
    const state = stateAfter(
      sum<Value>((n) => n),
      [...large, ...kept],
    );
    for (const n of large) state.remove(n);
    expect(state.result()).toBe(exactSum(kept));
  });

  it('Q33: a sum is the number nearest to the exact sum', () => {
    fc.assert(
      fc.property(fc.array(number, { maxLength: 30 }), (values) => {
        const small = values.filter((n) => Math.abs(n) < 1e9);
        expect(
          stateAfter(
            sum<Value>((n) => n),
            small,
          ).result(),
        ).toBe(exactSum(small) + 0);
      }),
    );
    const of = (...values: number[]) =>
      stateAfter(
        sum<Value>((n) => n),
        values,
      ).result();
    expect(of(0.1, 0.2, 0.3, -0.3, -0.2)).toBe(0.1);
    expect(of(1e100, 1, -1e100)).toBe(1);
    expect(of(1e300, 1e200, 0.1, -1e300, -1e200)).toBe(0.1);
    expect(of(...Array.from({ length: 10 }, () => 0.1))).toBe(1);
  });

  it('Q33: a sum of integers is exact beyond 2^53, as far as a number can show it', () => {
    const state = stateAfter(
      sum<Value>((n) => n),
      [2 ** 53 - 1, 1, 1, 1],
    );
    expect(state.result()).toBe(2 ** 53 + 2);
    state.remove(2 ** 53 - 1);
    expect(state.result()).toBe(3);
    state.add(0.5);
    expect(state.result()).toBe(3.5);
  });

  it('Q34: undefined and null are not counted; NaN and infinities show as long as they are there', () => {
    const nothing = [undefined, null];
    const all = (values: readonly Value[]) =>
      BUILT_IN.slice(2).map(([, each]) => stateAfter(each as never, values).result());
    expect(all(nothing)).toEqual([0, undefined, undefined, undefined, []]);
    expect(all([1, ...nothing, 3])).toEqual([4, 2, 1, 3, [1, 3]]);
    const NaNs = [Number.NaN, Number.NaN, Number.NaN, Number.NaN];
    expect(all([1, Number.NaN, 3])).toEqual([...NaNs, [1, 3, Number.NaN]]);
    expect(all([1, Infinity])).toEqual([Infinity, Infinity, 1, Infinity, [1, Infinity]]);
    expect(all([Infinity, -Infinity]).slice(0, 2)).toEqual([Number.NaN, Number.NaN]);
    const { rows } = grouped({ total: sum(({ n }) => n), least: min(({ n }) => n) });
    expect(rows(set('x', 1), set('y', Number.NaN))).toEqual([
      { key: 'a', total: Number.NaN, least: Number.NaN },
    ]);
    expect(rows(set('y', 2))).toEqual([{ key: 'a', total: 3, least: 1 }]);
  });

  it('Q35: min, max and distinct order numbers, then texts by code units, then booleans', () => {
    const of = distinct<{ v: number | string | bigint | boolean }, never>(({ v }) => v as never);
    const values = [true, 'b', 10, 'B', 2n, 2, -0, 0, 'ä', false, 9, 2n];
    let state = of.initial();
    for (const v of values) state = of.add(state, of.value?.({ v } as never, 0));
    expect(of.result(state)).toEqual([0, 2, 2n, 9, 10, 'B', 'b', 'ä', false, true]);
    const { rows } = grouped({
      first: min(({ metadata }) => metadata.name),
      last: max(({ metadata }) => metadata.name),
    });
    expect(rows(set('c', 1), set('a', 1), set('b', 1))).toEqual([
      { key: 'a', first: 'a', last: 'c' },
    ]);
    expect(rows(drop('a'), drop('c'))).toEqual([{ key: 'a', first: 'b', last: 'b' }]);
  });

  it('Q35: min, max and distinct hold for thousands of values', () => {
    const values = Array.from({ length: 3000 }, (_, at) => (at * 7919) % 3001);
    const states = BUILT_IN.slice(4).map(([, each]) => stateAfter(each as never, values));
    const sorted = [...values].sort((one, other) => one - other);
    for (const [at, gone] of values.entries()) {
      for (const state of states) state.remove(gone);
      sorted.splice(sorted.indexOf(gone), 1);
      if (at % 97 !== 0) continue;
      expect(states.map((state) => state.result())).toEqual([sorted[0], sorted.at(-1), sorted]);
    }
  });

  it('Q23: a group that is refused stays listed when a row of the same id is read', () => {
    const world = new World();
    const failing: Aggregate<Item, number, boolean, number> = {
      ...count(({ n }) => n > 0),
      result: () => {
        throw new Error('no result');
      },
    };
    const view = toView(
      liveGroupBy(({ metadata }: Item) => metadata.uid, { failing })(world.changes$),
    );
    view.subscribe(() => undefined);
    world.commit([set('a', 1)]);
    const refusedRows = () => view.getSnapshot().status.refusedRows.length;
    expect(refusedRows()).toBe(1);
    // The value is the same, so the result is not asked for again.
    world.commit([set('a', 2)]);
    expect([view.getSnapshot().rows.length, refusedRows()]).toEqual([0, 1]);
    world.commit([drop('a')]);
    expect(refusedRows()).toBe(0);
  });
});
