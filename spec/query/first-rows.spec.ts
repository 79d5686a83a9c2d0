/** The window of a query that data alone describe, which holds few rows, over many that come, move and go. */
import {
  createClient,
  createInformerFactory,
  createLiveQueries,
  defineResource,
  type KubernetesObject,
  type LiveQuery,
  liveQuery,
} from 'rx-informer';
import { createFakeApiServer } from 'rx-informer/testing';
import { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { answerOf } from '../../lib/query/live-query/answer.ts';
import type { FirstRows } from '../../lib/query/live-query/first-rows.ts';
import { conjunctsOf, predicateOf } from '../../lib/query/live-query/predicate.ts';
import * as fc from '../support/fast-check.ts';
import { eventually } from '../support/patience.ts';
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
    { weight: 3, arbitrary: fc.integer({ min: 80, max: 300 }).map((first) => ({ first })) },
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
    {
      weight: 3,
      arbitrary: fc.tuple(fc.constantFrom(0, 3, 300, 450), fc.nat(9)).map((page) => ({ page })),
    },
    { weight: 1, arbitrary: fc.nat(3).map((left) => ({ left })) },
    { weight: 1, arbitrary: fc.constantFrom('again', 'set').map((all) => ({ all })) },
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 6 }).map((slices) => ({ slices })) },
  ),
  { minLength: 8, maxLength: 25 },
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

/** Queries that differ in their windows, over one source. */
class Pages {
  readonly world = new World();
  readonly scheduler = new SlicesOfTime();
  readonly open: { readonly query: LiveQuery; readonly mirror: Mirror<unknown> }[] = [];
  subscriptions = 0;
  readonly #source: Observable<unknown>;
  #rows: FirstRows | undefined;

  constructor(objects: number) {
    this.world.reset(NAMES.slice(0, objects).map((name, at) => ({ name, n: at % 20 })));
    this.#source = new Observable((subscriber) => {
      this.subscriptions++;
      return this.world.changes$.subscribe(subscriber as never);
    });
  }

  ask(query: LiveQuery): void {
    const predicates = conjunctsOf(query.where).map((each) => predicateOf(each, {}));
    const share = (make: () => FirstRows) => {
      this.#rows ??= make();
      return this.#rows;
    };
    const { scheduler } = this;
    const answer = answerOf(query, this.#source as never, predicates, { scheduler }, share);
    this.open.push({ query, mirror: new Mirror(answer) });
  }

  check(): void {
    for (const { query, mirror } of this.open) {
      if (mirror.error !== undefined) throw mirror.error;
      if (this.scheduler.waiting > 0) continue;
      const { ids, total } = expected(this.world, query);
      expect([mirror.ids(), mirror.sets.at(-1)?.total]).toEqual([ids, total]);
      for (const row of mirror.objects() as (KubernetesObject & Item)[]) {
        expect(row).toBe(this.world.items.get(row.metadata.name));
      }
    }
  }

  leave(at: number): void {
    for (const { mirror } of this.open.splice(at, 1)) {
      mirror.expectKeptOrders();
      mirror.subscription.unsubscribe();
    }
  }
}

describe('the window of a query over many rows', () => {
  it('Q65, Q20, Q21, Q26, Q70: after each set each window is that of all present rows, also when its rows have run out and while it is computed', () => {
    const seen = { read: 0, waited: 0, waitedLater: 0, grown: 0 };
    fc.assert(
      fc.property(
        queries,
        fc.constantFrom(0, 20, 600, 600, 600),
        events,
        fc.boolean(),
        (query, objects, steps, completes) => {
          const pages = new Pages(objects);
          const { world, scheduler, open } = pages;
          pages.ask(query);
          seen.waited += scheduler.waiting;
          pages.check();
          for (const each of steps) {
            const { subscriptions } = pages;
            if ('steps' in each) world.commit(each.steps as never);
            else if ('all' in each) {
              const what = each.all as 'set';
              world.commit(NAMES.map((name, at) => ({ name, what, n: at % 20, group: 'a' })));
            } else if ('first' in each) {
              const first = liveQuery({ ...query, limit: each.first } as never) as LiveQuery;
              const gone = new Set(expected(world, first).ids);
              const names = [...world.items.values()].filter(({ metadata }) =>
                gone.has(metadata.uid),
              );
              world.commit(
                names.map(({ metadata: { name } }) => ({ name, what: 'delete', n: 0, group: 'a' })),
              );
            } else if ('slices' in each) scheduler.run(each.slices);
            else if ('page' in each) {
              const [offset, limit] = each.page;
              pages.ask(liveQuery({ ...query, offset, limit } as never) as LiveQuery);
              seen.grown += pages.subscriptions - subscriptions;
            } else if ('left' in each) pages.leave(each.left);
            else {
              const left = NAMES.filter((_, at) => at % 20 !== each.reset);
              world.reset(left.map((name, at) => ({ name, n: (at * each.reset) % 20 })));
            }
            if (open.some(({ mirror }) => mirror.sets.length > 0)) {
              seen.waitedLater += scheduler.waiting;
            }
            pages.check();
          }
          seen.read += pages.subscriptions - 1;
          if (completes) {
            world.complete();
            scheduler.run();
            for (const { mirror } of open) {
              if (mirror.error !== undefined) throw mirror.error;
              expect(mirror.completed).toBe(true);
            }
          } else {
            scheduler.run();
            pages.check();
            while (open.length > 0) pages.leave(0);
          }
          scheduler.run();
          expect(scheduler.waiting).toBe(0);
        },
      ),
      { numRuns: 100 },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(5);
  });

  it('Q70: another page of a query that runs is read from the rows of that query', () => {
    const pages = new Pages(600);
    const page = (offset: number) =>
      liveQuery({ from: things, orderBy: { path: 'n' }, offset, limit: 20 } as never) as LiveQuery;
    pages.ask(page(0));
    pages.scheduler.run();
    expect(pages.subscriptions).toBe(1);
    for (const offset of [20, 40, 60, 120]) {
      pages.ask(page(offset));
      expect(pages.scheduler.waiting).toBe(0);
      pages.check();
    }
    expect(pages.subscriptions).toBe(1);
    // Those that follow are not known, and the others show their rows meanwhile.
    pages.ask(page(500));
    expect([pages.subscriptions, pages.open.at(-1)?.mirror.sets.length]).toEqual([2, 0]);
    pages.scheduler.run();
    pages.check();
    const sets = pages.open.map(({ mirror }) => mirror.sets);
    expect(sets.map(({ length }) => length)).toEqual([1, 1, 1, 1, 1, 1]);
    for (const [first] of sets) {
      expect([first?.reset, first?.cause, first?.initial]).toEqual([true, 'snapshot', true]);
    }
  });

  it('Q98: a query with a limit makes changes of the rows that it may keep alone, also after a commit', async () => {
    const server = createFakeApiServer({ resources: [things] });
    const add = (name: string) =>
      server.objects.create(things, { metadata: { name, namespace: 'a' } });
    for (let at = 0; at < 2_000; at++) add(`n${at}`);
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const factory = createInformerFactory(client);
    const { indexer } = factory.informer(things);
    factory.start();
    await factory.whenSynced();
    let keys = 0;
    const { keyOf } = indexer;
    Object.assign(indexer, {
      keyOf: (object: KubernetesObject) => {
        keys++;
        return keyOf(object as never);
      },
    });
    const queries = createLiveQueries(factory, { lingerMs: 0 });
    for (const text of ['9', '11', '1']) {
      add(`n9${text}x`);
      await eventually(() => indexer.getByKey(`a/n9${text}x`) !== undefined);
      keys = 0;
      const where = { path: 'metadata.name', contains: text };
      const query = liveQuery({
        from: things,
        where,
        orderBy: { path: 'metadata.name' },
        limit: 3,
      });
      const view = queries.view(query);
      const leave = view.subscribe(() => undefined);
      await eventually(() => view.getSnapshot().synced);
      const { rows, total } = view.getSnapshot();
      leave();
      const names = indexer.list().map(({ metadata }) => metadata?.name ?? '');
      const found = names.filter((name) => name.includes(text)).sort();
      expect([total, rows.map(({ metadata }) => metadata?.name)]).toEqual([
        found.length,
        found.slice(0, 3),
      ]);
      expect(keys).toBeLessThanOrEqual(Math.min(found.length, 600));
    }
    factory.stop();
  });
});
