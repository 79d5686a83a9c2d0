/** Laws of algebra: two ways to write one answer, compared after each event. */

import {
  type AnyChangeSet,
  type ChangeSet,
  conflateByKey,
  count,
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
import { config, type Observable, of } from 'rxjs';
import { beforeAll, describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';
import { Mirror } from './mirror.ts';
import { COMPARISONS, PREDICATES, PROJECTIONS } from './model/functions.ts';
import { type Simple, simpleOf } from './model/scenario.ts';
import { attempt, pick } from './model/step.ts';
import { type Item, World } from './world.ts';

type Source = Observable<ChangeSet<Item>>;
type Rows = Observable<AnyChangeSet<unknown, unknown>>;
type Law = (source: Source, at: number, size: number) => readonly [Rows, Rows];

const holds = (predicate: (object: Item) => boolean) => (object: Item) =>
  attempt(() => predicate(object)) === true;
const sort = (at: number) => liveSort<Item>(pick(COMPARISONS, at));

const LAWS: Readonly<Record<string, Law>> = {
  'a filter of a filter is the filter of both': (source, at) => {
    const [one, other] = [pick(PREDICATES, at), pick(PREDICATES, at >> 3)];
    return [
      source.pipe(liveFilter(one), liveFilter(other)),
      source.pipe(liveFilter<Item>((object) => holds(one)(object) && holds(other)(object))),
    ];
  },
  'a map of a map is the map of the composition': (source, at) => {
    const [one, other] = [pick(PROJECTIONS, at), pick(PROJECTIONS, at >> 3)];
    const both = (object: Item) => {
      const made = one(object);
      return made === undefined ? undefined : other(made);
    };
    return [
      source.pipe(liveMap<Item, Item>(one), liveMap<Item, Item>(other)),
      source.pipe(liveMap<Item, Item>(both)),
    ];
  },
  'a filter of a map is the map of a filter': (source, at) => {
    const [project, predicate] = [pick(PROJECTIONS, at), pick(PREDICATES, at >> 3)];
    const before = (object: Item) => {
      const made = attempt(() => project(object));
      return made !== undefined && holds(predicate)(made);
    };
    return [
      source.pipe(liveMap<Item, Item>(project), liveFilter(predicate)),
      source.pipe(liveFilter<Item>(before), liveMap<Item, Item>(project)),
    ];
  },
  'a sort of a sort is the last sort': (source, at) => [
    source.pipe(sort(at & 1), sort(at & 1 ? 0 : 1)),
    source.pipe(sort(at & 1 ? 0 : 1)),
  ],
  'an unbounded window changes nothing': (source, at) => [
    source.pipe(sort(at), liveWindow(0, Number.POSITIVE_INFINITY)),
    source.pipe(sort(at)),
  ],
  'liveTop is liveSort and the first rows of it': (source, at, size) => [
    source.pipe(liveTop<Item>(size, pick(COMPARISONS, at))),
    source.pipe(sort(at), liveWindow(0, size)),
  ],
  'a window of a window is a window': (source, at, size) => [
    source.pipe(sort(at), liveWindow(at % 4, size + 2), liveWindow(2, at % 9)),
    source.pipe(sort(at), liveWindow((at % 4) + 2, Math.min(size, at % 9))),
  ],
  'a window of a map is the map of a window': (source, at, size) => {
    const next = ({ n }: Item) => n + 1;
    return [
      source.pipe(sort(at), liveMap(next), liveWindow(at % 4, size)),
      source.pipe(sort(at), liveWindow(at % 4, size), liveMap(next)),
    ];
  },
  'a filter of a union is the union of the filters': (source, at) => {
    const filter = liveFilter<Item>(pick(PREDICATES, at));
    const top = source.pipe(liveFilter(pick(PREDICATES, at >> 3)));
    return [
      liveUnion({ all: source, top }).pipe(filter),
      liveUnion({ all: source.pipe(filter), top: top.pipe(filter) }),
    ];
  },
  'an inner join is the left join without its empty rows': (source) => {
    const on = { left: ({ n }: Item) => String(n), right: ({ n }: Item) => String(n + 1) };
    const size = ({ right }: { readonly right: readonly Item[] }) => right.length;
    const isJoined = liveFilter<{ readonly right: readonly Item[] }>(
      ({ right }) => right.length > 0,
    );
    return [
      source.pipe(liveJoin(source, { on, type: 'inner' }), liveMap(size)),
      source.pipe(liveJoin(source, { on }), isJoined, liveMap(size)),
    ];
  },
  'liveMergeMap of one value is liveMap': (source, at) => {
    const project = pick(PROJECTIONS, at);
    return [
      source.pipe(
        liveMergeMap<Item, Item>((object) => of(project(object) as Item), {
          key: (object) => object,
        }),
      ),
      source.pipe(liveMap<Item, Item>(project)),
    ];
  },
  'a row without a time, sharing and folding change nothing': (source, at) => {
    const filtered = source.pipe(liveFilter(pick(PREDICATES, at)));
    return [
      filtered.pipe(
        liveUntil(() => undefined),
        liveShare(),
        conflateByKey(),
      ),
      filtered,
    ];
  },
};

function perform(world: World, event: Simple): void {
  if (event.do === 'commit') world.commit(event.steps);
  else if (event.do === 'reset') world.reset(event.items);
}

const events = fc.array(simpleOf(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']), {
  maxLength: 30,
  size: 'max',
});

beforeAll(() => {
  config.onUnhandledError = () => undefined;
});

describe('the algebra of live operators', () => {
  it.each(Object.keys(LAWS))('Q27: %s', (name) => {
    const law = LAWS[name] as Law;
    fc.assert(
      fc.property(fc.nat(50), fc.nat(9), events, (at, size, all) => {
        const world = new World(true);
        const [one, other] = law(world.changes$, at, size).map((each) => new Mirror(each, true));
        for (const event of all) {
          perform(world, event);
          expect(one?.ids()).toEqual(other?.ids());
          expect([...(one?.rows ?? [])].sort()).toEqual([...(other?.rows ?? [])].sort());
          expect(one?.sets.at(-1)?.total).toBe(other?.sets.at(-1)?.total);
        }
        one?.subscription.unsubscribe();
        other?.subscription.unsubscribe();
      }),
      { numRuns: 30 },
    );
  });

  it('Q20: the counts of groups add up to the rows, and so do the parts of objects', () => {
    fc.assert(
      fc.property(events, (all) => {
        const world = new World(true);
        const groups = new Mirror(
          world.changes$.pipe(liveGroupBy(({ group }) => group, { rows: count() })),
        );
        const parts = new Mirror(
          world.changes$.pipe(
            liveFlatMap(({ n }) => Array.from({ length: n }, (_, part) => ({ name: `p${part}` }))),
          ),
        );
        for (const event of all) {
          perform(world, event);
          const items = [...world.items.values()];
          const sum = (of: readonly number[]) => of.reduce((one, each) => one + each, 0);
          expect(sum(groups.objects().map(({ rows }) => rows))).toBe(items.length);
          expect(groups.rows.size).toBe(new Set(items.map(({ group }) => group)).size);
          expect(parts.rows.size).toBe(sum(items.map(({ n }) => n)));
        }
      }),
      { numRuns: 50 },
    );
  });
});
