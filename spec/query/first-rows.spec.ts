/** The window of a query that data alone describe, which holds few rows, over many that come, move and go. */
import { defineResource, type KubernetesObject, type LiveQuery, liveQuery } from 'rx-informer';
import { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { answerOf } from '../../lib/query/live-query/answer.ts';
import { conjunctsOf, predicateOf } from '../../lib/query/live-query/predicate.ts';
import * as fc from '../support/fast-check.ts';
import { SlicesOfTime } from './engine/slices-of-time.ts';
import { Mirror } from './mirror.ts';
import { type Item, World } from './world.ts';

const things = defineResource({
  group: 'example.com',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
});

/** Many times the rows that are held. */
const NAMES = Array.from({ length: 700 }, (_, at) => `n${at}`);

const events = fc.array(
  fc.oneof(
    // Of the rows that come first, so that those that are held run out.
    { weight: 3, arbitrary: fc.nat(300).map((first) => ({ first })) },
    {
      weight: 4,
      arbitrary: fc
        .array(
          fc.record({
            name: fc.constantFrom(...NAMES),
            what: fc.constantFrom('set', 'delete', 'recreate', 'again'),
            n: fc.nat(20),
            group: fc.constantFrom('a', 'b', 'c'),
          }),
          { maxLength: 40 },
        )
        .map((steps) => ({ steps })),
    },
    { weight: 1, arbitrary: fc.nat(20).map((reset) => ({ reset })) },
    { weight: 1, arbitrary: fc.nat(9).map((again) => ({ again })) },
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 6 }).map((slices) => ({ slices })) },
  ),
  { maxLength: 12 },
);

const queries = fc
  .record({
    where: fc.constantFrom(
      undefined,
      { path: 'n', gte: 5 },
      { or: [{ path: 'group', eq: 'a' }, { not: { path: 'n', lt: 15 } }] },
    ),
    orderBy: fc.constantFrom(
      { path: 'n' },
      { path: 'n', direction: 'desc' },
      [{ path: 'group', direction: 'desc' }, { path: 'metadata.name' }],
      { path: 'n', as: 'text' },
    ),
    limit: fc.nat(9),
    offset: fc.constantFrom(0, 0, 3, 650),
  })
  .map((spec) => liveQuery({ from: things, ...spec } as never) as LiveQuery);

type Query = LiveQuery;

/** The rows that a query has, by the operators that hold all rows. */
function expected(world: World, query: Query): { ids: string[]; total: number } {
  const { where, orderBy = [], limit = 0, offset = 0 } = query;
  const predicates = conjunctsOf(where).map((each) => predicateOf(each, {}));
  const rows = [...world.items.values()].filter((item) => predicates.every((is) => is(item, 0)));
  const paths = orderBy as readonly { path: string; direction?: 'desc'; as?: 'text' }[];
  const valueAt = (item: Item, path: string, as: string | undefined) => {
    const value = path === 'metadata.name' ? item.metadata.name : item[path as 'n' | 'group'];
    return as === 'text' ? String(value) : value;
  };
  rows.sort((one, other) => {
    for (const { path, direction, as } of paths) {
      const [left, right] = [valueAt(one, path, as), valueAt(other, path, as)];
      if (left !== right) return left < right === (direction === undefined) ? -1 : 1;
    }
    return one.metadata.uid < other.metadata.uid ? -1 : 1;
  });
  const ids = rows.slice(offset, offset + limit).map(({ metadata }) => metadata.uid);
  return { ids, total: rows.length };
}

describe('the window of a query over many rows', () => {
  it('Q65, Q20, Q21, Q26: after each set it is that of all present rows, also when its rows have run out and while it is computed', () => {
    const seen = { read: 0, waited: 0, laterWaited: 0 };
    fc.assert(
      fc.property(
        queries,
        fc.constantFrom(0, 20, 600, 600, 600),
        events,
        fc.boolean(),
        (query, objects, all, completes) => {
          const scheduler = new SlicesOfTime();
          const world = new World();
          world.reset(NAMES.slice(0, objects).map((name, at) => ({ name, n: at % 20 })));
          let subscriptions = 0;
          const source = new Observable((subscriber) => {
            subscriptions++;
            return world.changes$.subscribe(subscriber as never);
          });
          const predicates = conjunctsOf(query.where).map((each) => predicateOf(each, {}));
          const mirror = new Mirror(
            answerOf(query as never, source as never, predicates, { scheduler }),
          );
          const check = () => {
            if (mirror.error !== undefined) throw mirror.error;
            if (scheduler.waiting > 0) return;
            const { ids, total } = expected(world, query);
            expect([mirror.ids(), mirror.sets.at(-1)?.total]).toEqual([ids, total]);
            for (const row of mirror.objects() as (KubernetesObject & Item)[]) {
              expect(row).toBe(world.items.get(row.metadata.name));
            }
          };
          seen.waited += scheduler.waiting;
          check();
          for (const each of all) {
            if ('steps' in each) world.commit(each.steps as never);
            else if ('again' in each) {
              world.commit(NAMES.map((name) => ({ name, what: 'again', n: 0, group: 'a' })));
            } else if ('first' in each) {
              const { ids } = expected(
                world,
                liveQuery({ ...query, limit: each.first } as never) as LiveQuery,
              );
              const gone = new Set(ids);
              const names = [...world.items.values()].filter(({ metadata }) =>
                gone.has(metadata.uid),
              );
              world.commit(
                names.map(({ metadata: { name } }) => ({ name, what: 'delete', n: 0, group: 'a' })),
              );
            } else if ('slices' in each) scheduler.run(each.slices);
            else {
              world.reset(
                NAMES.filter((_, at) => at % 20 !== each.reset).map((name, at) => ({
                  name,
                  n: (at * each.reset) % 20,
                })),
              );
            }
            if (mirror.sets.length > 0) seen.laterWaited += scheduler.waiting;
            check();
          }
          if (completes) {
            world.complete();
            scheduler.run();
            if (mirror.error !== undefined) throw mirror.error;
            expect(mirror.completed).toBe(true);
          } else {
            scheduler.run();
            check();
            mirror.expectKeptOrders();
            mirror.subscription.unsubscribe();
            scheduler.run();
          }
          expect(scheduler.waiting).toBe(0);
          seen.read += subscriptions - 1;
        },
      ),
      { numRuns: 120 },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(5);
  }, 60_000);
});
