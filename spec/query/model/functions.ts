/** The functions that the steps of a random pipeline take as parameters. Some of them throw. */
import type { JoinOn } from 'rx-informer';
import type { Item } from '../world.ts';
import { attempt, type NaiveRow } from './step.ts';

export const PREDICATES: readonly ((object: Item) => boolean)[] = [
  ({ n }) => n > 3,
  ({ n }) => n % 2 === 0,
  () => true,
  () => false,
  ({ n, group }) => {
    if (n === 5) throw new Error('five');
    return group === 'a';
  },
];
export const PROJECTIONS: readonly ((object: Item) => Item | undefined)[] = [
  ({ metadata, n }) => ({ metadata, n: Math.min(n, 2), group: 'a' }),
  ({ metadata, n }) => ({ metadata, n, group: 'a' }),
  ({ metadata, n, group }) => ({ metadata, n: Math.floor(n / 2), group }),
  (object) => (object.n === 4 ? undefined : { ...object, n: 9 - object.n }),
  (object) => object,
  (object) => {
    if (object.n === 7) throw new Error('seven');
    return { ...object, group: 'b' };
  },
];
export const PARTS: readonly ((object: Item) => readonly Item[] | undefined)[] = [
  ({ metadata, n }) => [1, 2].map((each) => ({ metadata, n: n % (each + 1), group: `p${each}` })),
  (object) => (object.n === 2 ? undefined : [{ ...object, group: 'p1' }]),
  ({ metadata, n }) =>
    Array.from({ length: n % 4 }, (_, each) => ({ metadata, n, group: `p${each}` })),
  // Two rows with one id: the object is refused.
  (object) => (object.n > 5 ? [object, object] : [object]),
];
export const COMPARISONS: readonly ((one: Item, other: Item) => number)[] = [
  (one, other) => one.n - other.n,
  (one, other) => other.n - one.n,
  () => Number.NaN,
  (one, other) => {
    if (one.n === 6) throw new Error('six');
    if (other.n === 6) throw new Error('six');
    return one.group < other.group ? -1 : Number(one.group > other.group);
  },
];

export const JOINS: readonly (readonly [
  JoinOn<Item, Item>,
  (left: Item, right: Item) => boolean,
])[] = [
  [
    { left: ({ group }) => group, right: ({ group }) => group },
    (left, right) => left.group === right.group,
  ],
  [
    {
      left: ({ n, group }) => (n === 1 ? undefined : [group, String(n)]),
      right: ({ n }) => [String(n), 'a', 'b'],
    },
    // A join before may have made a group of a name such as '9', which is a key of a right row, too.
    (left, right) =>
      left.n !== 1 && (left.n === right.n || ['a', 'b', String(right.n)].includes(left.group)),
  ],
  [
    {
      left: ({ n }) => {
        if (n === 8) throw new Error('eight');
        return String(n % 3);
      },
      right: ({ n }) => {
        if (n === 2) throw new Error('two');
        return String(n % 3);
      },
    },
    (left, right) => {
      if (left.n === 8) throw new Error('eight');
      return right.n !== 2 && left.n % 3 === right.n % 3;
    },
  ],
];
/** Makes a row of a join that is an item again. */
export function joined(left: Item, right: readonly Item[]): Item | undefined {
  if (right.length === 5) throw new Error('five right rows');
  const names = right.map(({ metadata }) => metadata.name).join();
  return right.length === 4 ? undefined : { ...left, n: right.length % 10, group: names };
}

/** Makes a row of a join with one right row. */
export function joinedOne(left: Item, right: Item | undefined): Item | undefined {
  if (right?.n === 3) throw new Error('a right row of three');
  return right?.n === 4 ? undefined : { ...left, n: right?.n ?? 0 };
}

/** The rows in order, without those that the comparison does not stand. */
export function sorted(
  rows: readonly NaiveRow[],
  compare: (one: Item, other: Item) => number,
): NaiveRow[] {
  return rows
    .filter(({ object }) => attempt(() => compare(object, object)) !== undefined)
    .sort((one, other) => compare(one.object, other.object) || (one.id < other.id ? -1 : 1));
}
