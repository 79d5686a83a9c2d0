/** Operators that make a row of several rows, or have several sources. */
import {
  type ChangeSet,
  type JoinOn,
  liveFilter,
  liveGroupBy,
  liveJoin,
  liveMap,
  liveUnion,
} from 'rx-informer';
import { isObservable, type Observable, VirtualTimeScheduler } from 'rxjs';
import { map } from 'rxjs/operators';
import { AGGREGATES, groupRow, KEYS, naiveGroups } from '../grouping.ts';
import type { Item } from '../world.ts';
import { JOINS, joined, joinedOne, PREDICATES } from './functions.ts';
import { Parameter } from './parameter.ts';
import { attempt, type Make, type NaiveRow, rowsOfWorld, type Sets, unordered } from './step.ts';

const group: Make = (start, { scheduler, varies }) => {
  const key = new Parameter(KEYS, start, varies);
  const aggregates = new Parameter(AGGREGATES, start, varies);
  return {
    name: 'group',
    takes: 'unordered',
    get isWaiting() {
      return key.isWaiting || aggregates.isWaiting;
    },
    apply: (source) => {
      const groups = liveGroupBy<Item, (typeof AGGREGATES)[number]>(key.given, aggregates.given, {
        scheduler,
      });
      return liveMap(groupRow, { scheduler })(groups(source as never)) as unknown as Sets;
    },
    naive: ({ rows }) => {
      const objects = rows.map(({ object }) => object);
      return unordered(
        naiveGroups(objects, key.value, aggregates.value).map((object) => {
          const { name } = object.metadata;
          return { id: name, key: name, object };
        }),
      );
    },
    turn: (to) => {
      key.turn(to);
      aggregates.turn(to);
    },
  };
};

type JoinWay = (typeof JOINS)[number];
const ONLY_ON = ([on]: JoinWay) => on;

/** The naive answer of a join, with the right rows ordered by id. */
function naiveJoin(
  left: readonly NaiveRow[],
  right: readonly NaiveRow[],
  matches: JoinWay[1],
  make: (left: Item, right: readonly Item[]) => Item | undefined,
) {
  const byId = [...right].sort((one, other) => (one.id < other.id ? -1 : 1));
  return unordered(
    left.flatMap(({ id, key, object }) => {
      const made = attempt(() => {
        // The key of a left row may throw even if there is no right row.
        matches(object, object);
        const found = byId.filter((each) => matches(object, each.object));
        return make(
          object,
          found.map((each) => each.object),
        );
      });
      return made === undefined ? [] : [{ id, key, object: made }];
    }),
  );
}

/** Makes rows of an inner join only if there is a right row. */
function typed(type: 'left' | 'inner', make: typeof joined): typeof joined {
  return (left, right) => (type === 'inner' && right.length === 0 ? undefined : make(left, right));
}

/** A clock that stands still, so that the right side is never computed in slices of its own. */
const STILL = new VirtualTimeScheduler();
const isRight = ({ n }: Item) => n % 4 !== 0;

const join: Make = (start, { scheduler, varies }) => {
  const way = new Parameter<JoinWay>(JOINS, start, varies);
  const type = start % 2 === 0 ? 'left' : 'inner';
  return {
    name: 'join',
    takes: 'unordered',
    get isWaiting() {
      return way.isWaiting;
    },
    apply: (source) => {
      const right$ = liveFilter<Item>(isRight, { scheduler: STILL })(source as never);
      const { given } = way;
      const on = isObservable(given) ? given.pipe(map(ONLY_ON)) : ONLY_ON(given);
      const options = { on, type, project: joined, scheduler } as const;
      return liveJoin<Item, Item, typeof type, false, Item>(
        right$,
        options,
      )(source as never) as Sets;
    },
    naive: ({ rows }) => {
      const right = rows.filter(({ object }) => isRight(object));
      return naiveJoin(rows, right, way.value[1], typed(type, joined));
    },
    turn: (to) => way.turn(to),
  };
};

const joinOther: Make = (start, { scheduler, varies, other }) => {
  const way = new Parameter<JoinWay>(JOINS, start, varies);
  const type = start % 2 === 0 ? 'left' : 'inner';
  return {
    name: 'join other',
    takes: 'unordered',
    hasOther: true,
    get isWaiting() {
      return way.isWaiting;
    },
    apply: (source) => {
      const { given } = way;
      const on = isObservable(given) ? given.pipe(map(ONLY_ON)) : ONLY_ON(given);
      const options = { on, type, one: true, project: joinedOne, scheduler } as const;
      return liveJoin<Item, Item, typeof type, true, Item>(
        other.changes$,
        options,
      )(source as never) as Sets;
    },
    naive: ({ rows }) => {
      const make = typed(type, (left, right) => joinedOne(left, right[0]));
      return naiveJoin(rows, rowsOfWorld(other), way.value[1], make);
    },
    turn: (to) => way.turn(to),
  };
};

interface Labelled {
  readonly metadata: { readonly labels: { readonly rest: string } };
  readonly of: Item;
}
const SELECTORS: readonly ((object: Item) => Record<string, string> | undefined)[] = [
  ({ n }) => (n === 0 ? undefined : { rest: String(n % 3) }),
  ({ n }) => (n === 1 ? {} : { rest: String(n % 2) }),
  ({ n }) => {
    if (n === 9) throw new Error('nine');
    return { rest: '0' };
  },
];

const joinLabels: Make = (start, { scheduler, varies, other }) => {
  const selector = new Parameter(SELECTORS, start, varies);
  return {
    name: 'join labels',
    takes: 'unordered',
    hasOther: true,
    get isWaiting() {
      return selector.isWaiting;
    },
    apply: (source) => {
      const labelled = liveMap<Item, Labelled>(
        (of) => ({ metadata: { labels: { rest: String(of.n % 3) } }, of }),
        { scheduler },
      )(other.changes$);
      const { given } = selector;
      type On = JoinOn<Item, Labelled>;
      const onOf = (each: (typeof SELECTORS)[number]): On => ({
        selectorOf: (left: Item) => {
          const matchLabels = each(left);
          return matchLabels && { matchLabels };
        },
        acrossNamespaces: true,
      });
      const on = isObservable(given) ? given.pipe(map(onOf)) : onOf(given);
      const project = (left: Item, right: readonly Labelled[]) =>
        joined(
          left,
          right.map(({ of }) => of),
        );
      return liveJoin<Item, Labelled, 'left', false, Item>(labelled, { on, project, scheduler })(
        source as never,
      ) as Sets;
    },
    naive: ({ rows }) => {
      const matches = (left: Item, right: Item) => {
        const labels = selector.value(left);
        if (labels === undefined) return false;
        return labels['rest'] === undefined || labels['rest'] === String(right.n % 3);
      };
      return naiveJoin(rows, rowsOfWorld(other), matches, joined);
    },
    turn: (to) => selector.turn(to),
  };
};

const named = (name: string) => (row: NaiveRow) => ({
  ...row,
  id: `${name}/${row.id}`,
  key: `${name}/${row.key}`,
});

const union: Make = (start, { scheduler, varies }) => {
  const predicate = new Parameter(PREDICATES, start, varies, false);
  return {
    name: 'union',
    takes: 'unordered',
    apply: (source) =>
      liveUnion(
        {
          all: source as Observable<ChangeSet<Item>>,
          some: liveFilter<Item>(predicate.given, { scheduler })(source as never),
        },
        { scheduler },
      ) as Sets,
    naive: ({ rows }) => {
      const some = rows.filter(({ object }) => attempt(() => predicate.value(object)) === true);
      return unordered([...rows.map(named('all')), ...some.map(named('some'))]);
    },
    turn: (to) => predicate.turn(to),
  };
};

const unionOther: Make = (_start, { other, scheduler }) => ({
  name: 'union other',
  takes: 'unordered',
  hasOther: true,
  apply: (source) =>
    liveUnion(
      { here: source as Observable<ChangeSet<Item>>, there: other.changes$ },
      { scheduler },
    ) as Sets,
  naive: ({ rows }) =>
    unordered([...rows.map(named('here')), ...rowsOfWorld(other).map(named('there'))]),
  turn: () => undefined,
});

export const SEVERAL_STEPS: readonly Make[] = [
  group,
  join,
  joinOther,
  joinLabels,
  union,
  unionOther,
];
