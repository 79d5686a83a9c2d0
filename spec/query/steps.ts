/** The operators that a random pipeline is made of, each beside its naive definition over complete rows. */
import {
  type AnyChangeSet,
  type ChangeSet,
  conflateByKey,
  type JoinOn,
  liveFilter,
  liveFlatMap,
  liveGroupBy,
  liveJoin,
  liveMap,
  liveMergeMap,
  liveShare,
  liveSort,
  liveTop,
  liveUnion,
  liveUntil,
  liveWindow,
} from 'rx-informer';
import { BehaviorSubject, defer, type Observable, of, type SchedulerLike } from 'rxjs';
import { map } from 'rxjs/operators';
import { AGGREGATES, groupRow, KEYS, naiveGroups } from './grouping.ts';
import type { Item } from './world.ts';

/** A row of a naive answer. */
export interface NaiveRow {
  readonly id: string;
  readonly key: string;
  readonly object: Item;
}

/** A naive answer: rows, and whether their order counts. */
export interface NaiveAnswer {
  readonly rows: readonly NaiveRow[];
  readonly ordered: boolean;
  readonly total: number;
}

export type Sets = Observable<AnyChangeSet<Item, unknown>>;

/** One operator of a pipeline. `turn` changes its parameter, to the value that a number selects. */
export interface PipelineStep {
  readonly name: string;
  /** Whether it takes an ordered stream only, or an unordered one only. */
  readonly takes: 'ordered' | 'unordered' | 'any';
  apply(source: Sets): Sets;
  naive(before: NaiveAnswer): NaiveAnswer;
  turn(to: number): void;
}

const PREDICATES: readonly ((object: Item) => boolean)[] = [
  ({ n }) => n > 3,
  ({ n }) => n % 2 === 0,
  () => true,
  () => false,
  ({ n, group }) => {
    if (n === 5) throw new Error('five');
    return group === 'a';
  },
];
const METADATA = new Map<string, Item['metadata']>();
/** The same metadata object for each state of an object, so that rows of equal fields are the same row. */
function kept({ name, uid }: Item['metadata']): Item['metadata'] {
  const id = `${name}/${uid}`;
  const metadata = METADATA.get(id) ?? { name, uid };
  METADATA.set(id, metadata);
  return metadata;
}

const PROJECTIONS: readonly ((object: Item) => Item | undefined)[] = [
  ({ metadata, n }) => ({ metadata: kept(metadata), n: Math.min(n, 2), group: 'a' }),
  ({ metadata, n }) => ({ metadata: kept(metadata), n, group: 'a' }),
  ({ metadata, n, group }) => ({ metadata, n: Math.floor(n / 2), group }),
  (object) => (object.n === 4 ? undefined : { ...object, n: 9 - object.n }),
  (object) => object,
  (object) => {
    if (object.n === 7) throw new Error('seven');
    return { ...object, group: 'b' };
  },
];
const PARTS: readonly ((object: Item) => readonly Item[] | undefined)[] = [
  ({ metadata, n }) => [1, 2].map((each) => ({ metadata, n: n % (each + 1), group: `p${each}` })),
  (object) => (object.n === 2 ? undefined : [{ ...object, group: 'p1' }]),
  ({ metadata, n }) =>
    Array.from({ length: n % 4 }, (_, each) => ({ metadata, n, group: `p${each}` })),
  // Two rows with one id: the object is rejected.
  (object) => (object.n > 5 ? [object, object] : [object]),
];
const COMPARISONS: readonly ((one: Item, other: Item) => number)[] = [
  (one, other) => one.n - other.n,
  (one, other) => other.n - one.n,
  () => Number.NaN,
  (one, other) => {
    if (one.n === 6) throw new Error('six');
    if (other.n === 6) throw new Error('six');
    return one.group < other.group ? -1 : Number(one.group > other.group);
  },
];

const JOINS: readonly (readonly [JoinOn<Item, Item>, (left: Item, right: Item) => boolean])[] = [
  [
    { left: ({ group }) => group, right: ({ group }) => group },
    (left, right) => left.group === right.group,
  ],
  [
    {
      left: ({ n, group }) => (n === 1 ? undefined : [group, String(n)]),
      right: ({ n }) => [String(n), 'a', 'b'],
    },
    (left, right) =>
      left.n !== 1 && (left.n === right.n || left.group === 'a' || left.group === 'b'),
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
function joined(left: Item, right: readonly Item[]): Item | undefined {
  if (right.length === 5) throw new Error('five right rows');
  const names = right.map(({ metadata }) => metadata.name).join();
  return right.length === 4 ? undefined : { ...left, n: right.length % 10, group: names };
}

function pick<T>(values: readonly T[], at: number): T {
  return values[at % values.length] as T;
}

function attempt<R>(evaluate: () => R): R | undefined {
  try {
    return evaluate();
  } catch {
    return undefined;
  }
}

function sorted(
  rows: readonly NaiveRow[],
  compare: (one: Item, other: Item) => number,
): NaiveRow[] {
  return rows
    .filter(({ object }) => attempt(() => compare(object, object)) !== undefined)
    .sort((one, other) => compare(one.object, other.object) || (one.id < other.id ? -1 : 1));
}

type Make = (start: number, scheduler: SchedulerLike) => PipelineStep;

export const STEPS: readonly Make[] = [
  (start, scheduler) => {
    const predicate$ = new BehaviorSubject(pick(PREDICATES, start));
    return {
      name: 'filter',
      takes: 'unordered',
      apply: (source) => liveFilter<Item>(predicate$, { scheduler })(source as never) as Sets,
      naive: ({ rows, ordered }) => {
        const left = rows.filter(({ object }) => attempt(() => predicate$.value(object)) === true);
        return { rows: left, ordered, total: left.length };
      },
      turn: (to) => predicate$.next(pick(PREDICATES, to)),
    };
  },
  (start, scheduler) => {
    const project$ = new BehaviorSubject(pick(PROJECTIONS, start));
    return {
      name: 'map',
      takes: 'any',
      apply: (source) =>
        liveMap<Item, Item, unknown>(project$, { scheduler })(source) as unknown as Sets,
      naive: ({ rows, ordered, total }) => {
        const left = rows.flatMap(({ id, key, object }) => {
          const made = attempt(() => project$.value(object));
          return made === undefined ? [] : [{ id, key, object: made }];
        });
        return { rows: left, ordered, total: total - (rows.length - left.length) };
      },
      turn: (to) => project$.next(pick(PROJECTIONS, to)),
    };
  },
  (start, scheduler) => {
    const compare$ = new BehaviorSubject(pick(COMPARISONS, start));
    return {
      name: 'sort',
      takes: 'any',
      apply: (source) => liveSort<Item>(compare$, { scheduler })(source) as Sets,
      naive: ({ rows }) => {
        const left = sorted(rows, compare$.value);
        return { rows: left, ordered: true, total: left.length };
      },
      turn: (to) => compare$.next(pick(COMPARISONS, to)),
    };
  },
  (start, scheduler) => {
    const window$ = new BehaviorSubject(start);
    const offset$ = new BehaviorSubject(start % 7);
    const limit$ = new BehaviorSubject(start % 11);
    return {
      name: 'window',
      takes: 'ordered',
      apply: (source) => liveWindow(offset$, limit$, { scheduler })(source as never) as Sets,
      naive: ({ rows, total }) => {
        const { value: offset } = offset$;
        return { rows: rows.slice(offset, offset + limit$.value), ordered: true, total };
      },
      turn: (to) => {
        window$.next(to);
        if (to % 2 === 0) offset$.next(to % 7);
        else limit$.next(to % 11);
      },
    };
  },
  (start, scheduler) => {
    const n$ = new BehaviorSubject(start % 9);
    const compare = pick(COMPARISONS, start);
    return {
      name: 'top',
      takes: 'any',
      apply: (source) => liveTop<Item>(n$, compare, { scheduler })(source) as Sets,
      naive: ({ rows }) => {
        const left = sorted(rows, compare);
        return { rows: left.slice(0, n$.value), ordered: true, total: left.length };
      },
      turn: (to) => n$.next(to % 9),
    };
  },
  (start, scheduler) => {
    const key$ = new BehaviorSubject(pick(KEYS, start));
    const aggregates$ = new BehaviorSubject(pick(AGGREGATES, start));
    return {
      name: 'group',
      takes: 'unordered',
      apply: (source) => {
        const group = liveGroupBy<Item, (typeof AGGREGATES)[number]>(key$, aggregates$, {
          scheduler,
        });
        return liveMap(groupRow, { scheduler })(group(source as never)) as unknown as Sets;
      },
      naive: ({ rows }) => {
        const objects = rows.map(({ object }) => object);
        const left = naiveGroups(objects, key$.value, aggregates$.value).map((object) => {
          const { name } = object.metadata;
          return { id: name, key: name, object };
        });
        return { rows: left, ordered: false, total: left.length };
      },
      turn: (to) => {
        key$.next(pick(KEYS, to));
        aggregates$.next(pick(AGGREGATES, to));
      },
    };
  },
  (start, scheduler) => {
    const join$ = new BehaviorSubject(pick(JOINS, start));
    const type = start % 2 === 0 ? 'left' : 'inner';
    const isRight = ({ n }: Item) => n % 4 !== 0;
    return {
      name: 'join',
      takes: 'unordered',
      apply: (source) => {
        const right$ = liveFilter<Item>(isRight)(source as never);
        const on = join$.pipe(map(([each]) => each));
        const options = { on, type, project: joined, scheduler } as const;
        return liveJoin<Item, Item, typeof type, false, Item>(
          right$,
          options,
        )(source as never) as Sets;
      },
      naive: ({ rows, ordered }) => {
        const byId = rows.filter(({ object }) => isRight(object));
        byId.sort((one, other) => (one.id < other.id ? -1 : 1));
        const left = rows.flatMap(({ id, key, object }) => {
          const made = attempt(() => {
            const [, matches] = join$.value;
            // The key of a left row may throw even if there is no right row.
            matches(object, object);
            const found = byId.filter((right) => matches(object, right.object));
            const isOut = type === 'inner' && found.length === 0;
            return isOut
              ? undefined
              : joined(
                  object,
                  found.map((right) => right.object),
                );
          });
          return made === undefined ? [] : [{ id, key, object: made }];
        });
        return { rows: left, ordered, total: left.length };
      },
      turn: (to) => join$.next(pick(JOINS, to)),
    };
  },
  (start, scheduler) => {
    const predicate$ = new BehaviorSubject(pick(PREDICATES, start));
    const other = pick(PREDICATES, start + 1);
    const isIn = ({ object }: NaiveRow) =>
      attempt(() => predicate$.value(object)) === true || attempt(() => other(object)) === true;
    return {
      name: 'union',
      takes: 'unordered',
      apply: (source) => {
        // Shared, because a step before may make the objects, and would make others for each filter.
        const shared$ = (source as Observable<ChangeSet<Item>>).pipe(liveShare());
        return liveUnion([
          shared$.pipe(liveFilter<Item>(predicate$, { scheduler })),
          shared$.pipe(liveFilter<Item>(other)),
        ]) as Sets;
      },
      naive: ({ rows, ordered }) => {
        const left = rows.filter(isIn);
        return { rows: left, ordered, total: left.length };
      },
      turn: (to) => predicate$.next(pick(PREDICATES, to)),
    };
  },
  (start, scheduler) => {
    const predicate$ = new BehaviorSubject(pick(PREDICATES, start));
    return {
      name: 'named union',
      takes: 'unordered',
      apply: (source) =>
        liveUnion({
          all: source as Observable<ChangeSet<Item>>,
          some: liveFilter<Item>(predicate$, { scheduler })(source as never),
        }) as Sets,
      naive: ({ rows, ordered }) => {
        const some = rows.filter(({ object }) => attempt(() => predicate$.value(object)) === true);
        const named = (name: string) => (row: NaiveRow) => ({
          ...row,
          id: `${name}/${row.id}`,
          key: `${name}/${row.key}`,
        });
        const left = [...rows.map(named('all')), ...some.map(named('some'))];
        return { rows: left, ordered, total: left.length };
      },
      turn: (to) => predicate$.next(pick(PREDICATES, to)),
    };
  },
  () => ({
    name: 'conflate',
    takes: 'any',
    apply: (source) => conflateByKey<Item, unknown>()(source) as unknown as Sets,
    naive: (before) => before,
    turn: () => undefined,
  }),
  (start, scheduler) => {
    const project$ = new BehaviorSubject(pick(PARTS, start));
    return {
      name: 'flatMap',
      takes: 'unordered',
      apply: (source) =>
        liveFlatMap<Item, Item>(project$, { scheduler, idOf: ({ group }) => group })(
          source as never,
        ) as unknown as Sets,
      naive: ({ rows, ordered }) => {
        const left = rows.flatMap(({ id, key, object }) => {
          const parts = project$.value(object) ?? [];
          const ids = new Set(parts.map(({ group }) => group));
          // Two rows with one id, or a row without one: the object is rejected.
          if (ids.size < parts.length || ids.has('')) return [];
          return parts.map((part) => ({
            id: `${id}/${part.group}`,
            key: `${key}/${part.group}`,
            object: part,
          }));
        });
        return { rows: left, ordered, total: left.length };
      },
      turn: (to) => project$.next(pick(PARTS, to)),
    };
  },
  (start, scheduler) => {
    const project$ = new BehaviorSubject(pick(PROJECTIONS, start));
    return {
      name: 'mergeMap',
      takes: 'unordered',
      apply: (source) =>
        // Each state of an object has an Observable of its own, so the row is a function of the object.
        liveMergeMap<Item, Item>(
          project$.pipe(
            map((project) => (object: Item) => defer(() => of(project(object) as Item))),
          ),
          { scheduler, key: (object) => object },
        )(source as never) as unknown as Sets,
      naive: ({ rows, ordered }) => {
        const left = rows.flatMap(({ id, key, object }) => {
          const made = attempt(() => project$.value(object));
          return made === undefined ? [] : [{ id, key, object: made }];
        });
        return { rows: left, ordered, total: left.length };
      },
      turn: (to) => project$.next(pick(PROJECTIONS, to)),
    };
  },
  (_start, scheduler) => ({
    name: 'until',
    takes: 'any',
    apply: (source) =>
      liveUntil<Item, unknown>(
        ({ n }, nowMs) => {
          if (n === 8) throw new Error('eight');
          return nowMs + n - 4;
        },
        { scheduler },
      )(source) as unknown as Sets,
    naive: ({ rows, ordered, total }) => {
      const left = rows.filter(({ object: { n } }) => n !== 8);
      return { rows: left, ordered, total: total - (rows.length - left.length) };
    },
    turn: () => undefined,
  }),
  () => ({
    name: 'share',
    takes: 'any',
    apply: (source) => liveShare()(source) as unknown as Sets,
    naive: (before) => before,
    turn: () => undefined,
  }),
];
