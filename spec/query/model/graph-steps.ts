/** What a node of a random graph computes: a step of a pipeline, or an operator over two nodes. */
import { type ChangeSet, type JoinOn, liveJoin, liveUnion } from 'rx-informer';
import { isObservable, type Observable } from 'rxjs';
import { map } from 'rxjs/operators';
import { SlicesOfTime } from '../engine/slices-of-time.ts';
import type { Item } from '../world.ts';
import { Parameter } from './parameter.ts';
import { ROW_STEPS } from './row-steps.ts';
import { SEVERAL_STEPS } from './several-steps.ts';
import {
  type NaiveAnswer,
  type NaiveRow,
  plainly,
  type Sets,
  type Surroundings,
  unordered,
} from './step.ts';

/** A step of a pipeline is one that uses one source only. */
export interface GraphStep {
  readonly name: string;
  readonly hasOther?: boolean;
  apply(one: Sets, other: Sets): Sets;
  naive(one: NaiveAnswer, other: NaiveAnswer): NaiveAnswer;
  turn(to: number): void;
}

export type MakeGraphStep = (start: number, around: Surroundings) => GraphStep;

type KeyOf = (object: Item) => string | undefined | readonly string[];
interface Way {
  readonly left: KeyOf;
  readonly right: KeyOf;
}
const WAYS: readonly Way[] = [
  { left: ({ group }) => group, right: ({ group }) => group },
  { left: ({ n }) => String(n), right: ({ n }) => String((n + 1) % 10) },
  {
    left: ({ n, group }) => (n === 3 ? undefined : [group, String(n)]),
    right: ({ n, group }) => [String(n), group.slice(0, 1)],
  },
];
const onOf = (way: Way): JoinOn<Item, Item> => way as JoinOn<Item, Item>;

/** The first right row shows whether they are ordered by id. */
function counted(left: Item, right: readonly Item[]): Item {
  return { ...left, n: right.length % 10, group: right[0]?.group ?? 'none' };
}

function keys(key: ReturnType<KeyOf>): readonly string[] {
  if (key === undefined) return [];
  return typeof key === 'string' ? [key] : key;
}

/** The right rows by key, because hundreds of rows are too many to compare each with each. */
function byKey(rows: readonly NaiveRow[], keyOf: KeyOf): Map<string, NaiveRow[]> {
  const found = new Map<string, NaiveRow[]>();
  for (const row of rows) {
    for (const key of new Set(keys(keyOf(row.object)))) {
      const ofKey = found.get(key);
      if (ofKey === undefined) found.set(key, [row]);
      else ofKey.push(row);
    }
  }
  return found;
}

const join: MakeGraphStep = (start, { scheduler }) => {
  const way = new Parameter(WAYS, start, false);
  const type = start % 2 === 0 ? 'left' : 'inner';
  return {
    name: 'join',
    hasOther: true,
    apply: (left$, right$) => {
      const { given } = way;
      const on = isObservable(given) ? given.pipe(map(onOf)) : onOf(given);
      return liveJoin<Item, Item, typeof type, false, Item>(right$ as Observable<ChangeSet<Item>>, {
        on,
        type,
        project: counted,
        scheduler,
      })(left$ as never) as Sets;
    },
    naive: ({ rows }, others) => {
      const found = byKey(others.rows, way.value.right);
      return unordered(
        rows.flatMap(({ id, key, object }) => {
          const own = keys(way.value.left(object)).flatMap((each) => found.get(each) ?? []);
          const right = [...new Set(own)].sort((one, other) => (one.id < other.id ? -1 : 1));
          if (type === 'inner' && right.length === 0) return [];
          const objects = right.map((each) => each.object);
          return [{ id, key, object: counted(object, objects) }];
        }),
      );
    },
    turn: (to) => way.turn(to),
  };
};

const named = (name: string) => (row: NaiveRow) => ({
  ...row,
  id: `${name}/${row.id}`,
  key: `${name}/${row.key}`,
});

const both: MakeGraphStep = (_start, { scheduler }) => ({
  name: 'both',
  hasOther: true,
  apply: (one, other) =>
    liveUnion({ one, other } as Record<string, Observable<ChangeSet<Item>>>, {
      scheduler,
    }) as Sets,
  naive: (one, other) =>
    unordered([...one.rows.map(named('one')), ...other.rows.map(named('other'))]),
  turn: () => undefined,
});

/** Steps with timers, or with a source of their own. */
const OTHERS = ['until', 'due', 'join', 'join other', 'join labels', 'union other'];
const OF_ONE: readonly MakeGraphStep[] = [...ROW_STEPS, ...SEVERAL_STEPS].filter(
  (make) => !OTHERS.includes(make(0, plainly(new SlicesOfTime())).name),
);

/** Operators over two nodes as often as they are needed for a graph that is more than a line. */
export const GRAPH_STEPS: readonly MakeGraphStep[] = [...OF_ONE, join, both, join, both, join];
