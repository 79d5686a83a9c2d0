/** Groupings of a random pipeline, each beside its naive definition over all rows. */
import { type Aggregate, type Aggregates, avg, count, distinct, max, min, sum } from 'rx-informer';
import type { Item } from './world.ts';

type Key = (object: Item) => string | undefined | readonly string[];

export const KEYS: readonly Key[] = [
  ({ group }) => group,
  ({ n, group }) => [group, n % 2 === 0 ? 'even' : 'odd', group],
  ({ n }) => (n > 6 ? undefined : String(n % 3)),
  ({ n, group }) => {
    if (n === 2) throw new Error('two');
    return n === 3 ? [] : group;
  },
  () => 'all',
];

/** A sum by hand, which refuses to add 8 and fails when it removes 1. */
const careful: Aggregate<Item, number, number, number> = {
  value: ({ n }) => n,
  initial: () => 0,
  add: (total, n) => {
    if (n === 8) throw new Error('eight');
    return total + n;
  },
  remove: (total, n) => {
    if (n === 1) throw new Error('one');
    return total - n;
  },
  result: (total) => {
    if (total === 13) throw new Error('thirteen');
    return total;
  },
};

type Results = Readonly<Record<'rows' | 'total' | 'least' | 'most' | 'mean' | 'all', unknown>>;

const ALL = {
  rows: count<Item>(({ n }) => n !== 4),
  total: sum(({ n }: Item) => (n === 5 ? undefined : n / 10)),
  least: min(({ n }: Item) => (n === 5 ? undefined : n)),
  most: max(({ n, group }: Item) => `${group}${n}`),
  mean: avg(({ n }: Item) => (n === 5 ? undefined : n)),
  all: distinct(({ n }: Item) => (n === 5 ? null : n)),
};
export const AGGREGATES: readonly Aggregates<Item>[] = [
  ALL,
  { rows: count(), careful },
  {
    total: sum(({ n }: Item) => {
      if (n === 6) throw new Error('six');
      return n;
    }),
  },
];

/** Makes a row of the pipeline, in which `n` stays small, from the row of a group. */
export function groupRow(row: Readonly<Record<string, unknown>>): Item {
  const { key, ...results } = row;
  const name = key as string;
  const numbers = Object.values(results).map((each) => (typeof each === 'number' ? each : 0));
  const n = Math.round(10 * numbers.reduce((one, other) => one + other, 0)) % 10;
  return { metadata: { name, uid: name }, n, group: JSON.stringify(results) };
}

function allOf(items: readonly Item[]): Results {
  const numbers = items.map(({ n }) => n).filter((n) => n !== 5);
  const texts = items.map(({ n, group }) => `${group}${n}`).sort();
  const total = numbers.reduce((one, other) => one + other, 0);
  return {
    rows: items.filter(({ n }) => n !== 4).length,
    total: rationalSum(numbers),
    least: numbers.length === 0 ? undefined : Math.min(...numbers),
    most: texts.at(-1),
    mean: numbers.length === 0 ? undefined : total / numbers.length,
    all: [...new Set(numbers)].sort((one, other) => one - other),
  };
}

/** The number nearest to the sum of the tenths, whose exact values are integers of 2^-60. */
function rationalSum(tenths: readonly number[]): number {
  const unit = 2 ** 60;
  const exact = tenths.reduce((one, other) => one + BigInt((other / 10) * unit), 0n);
  return Number(exact) / unit;
}

/** The rows of the groups of these items, computed from scratch. */
export function naiveGroups(
  items: readonly Item[],
  keyOf: Key,
  aggregates: (typeof AGGREGATES)[number],
): Item[] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const refused =
      ('careful' in aggregates && item.n === 8) || (!('rows' in aggregates) && item.n === 6);
    let keys: ReturnType<Key>;
    try {
      keys = keyOf(item);
    } catch {
      continue;
    }
    if (refused || keys === undefined) continue;
    for (const key of new Set(typeof keys === 'string' ? [keys] : keys)) {
      groups.set(key, [...(groups.get(key) ?? []), item]);
    }
  }
  const rows: Item[] = [];
  for (const [key, members] of groups) {
    const total = members.reduce((one, { n }) => one + n, 0);
    if (aggregates === ALL) rows.push(groupRow({ key, ...allOf(members) }));
    else if (!('careful' in aggregates)) rows.push(groupRow({ key, total }));
    else if (total !== 13) rows.push(groupRow({ key, rows: members.length, careful: total }));
  }
  return rows;
}
