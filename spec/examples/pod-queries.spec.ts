/** Tests the live queries of the dashboard against filtering, sorting and counting from scratch. */
import fc from 'fast-check';
import { type ChangeSet, conflateByKey, snapshotOf } from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import { changeSet } from 'rx-informer/testing';
import { Subject } from 'rxjs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Filter, testOf } from '../../examples/dashboard/page/pods/filter.ts';
import { orderOf, type Sort, type SortKey } from '../../examples/dashboard/page/pods/order.ts';
import { PodQueries } from '../../examples/dashboard/page/pods/pod-queries.ts';
import { podRow } from '../../examples/dashboard/page/pods/pod-row.ts';
import { versionHash, withHash } from '../../examples/dashboard/shared/fingerprint.ts';

// A clock that stands still, so that every answer is computed in one slice.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const sortKeys: readonly SortKey[] = ['name', 'namespace', 'status', 'restarts', 'age', 'owner'];

type Step =
  | { readonly do: 'put'; readonly slot: number; readonly restarts: number; readonly phase: string }
  | { readonly do: 'remove'; readonly slot: number }
  | { readonly do: 'sort'; readonly sort: Sort }
  | { readonly do: 'filter'; readonly filter: Filter }
  | { readonly do: 'scroll'; readonly offset: number; readonly limit: number };

const slot = fc.nat(15);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      slot,
      restarts: fc.nat(3),
      phase: fc.constantFrom('Running', 'Pending', 'Failed'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), slot }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('scroll' as const),
      offset: fc.nat(12),
      limit: fc.nat(20),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('sort' as const),
      sort: fc.record({ key: fc.constantFrom(...sortKeys), descending: fc.boolean() }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('filter' as const),
      filter: fc.record({
        text: fc.constantFrom('', 'pod-1', 'ns-a', 'nothing'),
        phase: fc.constantFrom('', 'Running'),
        namespace: fc.constantFrom('', 'ns-b'),
        trouble: fc.boolean(),
      }),
    }),
  },
);

function podIn(place: number, restarts: number, phase: string, version: number): Pod {
  const state = { name: 'main', image: '', imageID: '', ready: phase === 'Running' };
  return {
    metadata: {
      uid: `uid-${place}`,
      name: `pod-${place}`,
      namespace: place % 2 === 0 ? 'ns-a' : 'ns-b',
      resourceVersion: String(version),
      creationTimestamp: new Date(1_700_000_000_000 + (place % 4) * 1000).toISOString(),
    },
    spec: { containers: [{ name: 'main' }] },
    status: { phase, containerStatuses: [{ ...state, restartCount: restarts }] },
  };
}

/** The queries of a page whose pods the test changes. */
function open() {
  const changes$ = new Subject<ChangeSet<Pod>>();
  const queries = new PodQueries(changes$.pipe(conflateByKey()));
  const stop = queries.start();
  return { changes$, queries, stop };
}

/** Compares as the table does, and pods that the table considers equal by UID. */
function expected(model: ReadonlyMap<string, Pod>, filter: Filter, sort: Sort) {
  const compare = orderOf(sort);
  return [...model.values()]
    .map((pod) => podRow(pod))
    .filter(testOf(filter))
    .sort((a, b) => compare(a, b) || (a.uid < b.uid ? -1 : 1));
}

/** The change set from one state to another. */
function difference(
  before: ReadonlyMap<string, Pod>,
  now: ReadonlyMap<string, Pod>,
  version: number,
): ChangeSet<Pod> {
  const ids = new Set([...before.keys(), ...now.keys()]);
  const changed = [...ids].filter((id) => before.get(id) !== now.get(id));
  return changeSet({
    synced: true,
    resourceVersion: String(version),
    added: changed.flatMap((id) => (before.has(id) ? [] : [now.get(id) as Pod])),
    updated: changed.flatMap((id) => {
      const [previous, object] = [before.get(id), now.get(id)];
      return previous && object ? [{ previous, object }] : [];
    }),
    deleted: changed.flatMap((id) => (now.has(id) ? [] : [before.get(id) as Pod])),
  });
}

function expectEqual(queries: PodQueries, model: ReadonlyMap<string, Pod>): void {
  const { filter$, sort$, range$, table, totals } = queries;
  const all = [...model.values()].map((pod) => podRow(pod));
  const matching = expected(model, filter$.value, sort$.value);
  const { offset, limit } = range$.value;
  const { rows, total } = table.getSnapshot();
  expect([total, rows]).toEqual([matching.length, matching.slice(offset, offset + limit)]);
  expect(queries.order$.value?.slice() ?? []).toEqual(matching);
  const count = (key: 'phase' | 'namespace' | 'tone') =>
    [...new Set(all.map((row) => row[key]))]
      .sort()
      .map((value) => ({ key: value, count: all.filter((row) => row[key] === value).length }));
  expect(queries.phases.getSnapshot().rows).toEqual(count('phase'));
  expect(queries.namespaces.getSnapshot().rows).toEqual(count('namespace'));
  expect(queries.tones.getSnapshot().rows).toEqual(count('tone'));
  const hashes = [...model].map(([uid, pod]) =>
    versionHash(uid, pod.metadata?.resourceVersion ?? ''),
  );
  const fingerprint = hashes.reduce(withHash, 0);
  const expectedTotals = all.length === 0 ? [] : [{ key: 'all', pods: all.length, fingerprint }];
  expect(totals.getSnapshot().rows).toEqual(expectedTotals);
}

test('rows and counts are equal to those that are filtered, sorted and counted from scratch', () => {
  fc.assert(
    fc.property(fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 12 }), (batches) => {
      const { changes$, queries, stop } = open();
      const model = new Map<string, Pod>();
      let version = 0;
      for (const batch of batches) {
        const before = new Map(model);
        for (const each of batch) {
          if (each.do === 'sort') queries.sort$.next(each.sort);
          else if (each.do === 'filter') queries.filter$.next(each.filter);
          else if (each.do === 'scroll') queries.range$.next(each);
          else if (each.do === 'remove') model.delete(`uid-${each.slot}`);
          else {
            const pod = podIn(each.slot, each.restarts, each.phase, ++version);
            model.set(`uid-${each.slot}`, pod);
          }
        }
        const set = difference(before, model, version);
        changes$.next(set);
        expectEqual(queries, model);
        // A set without changes is not passed on.
        const shown = queries.received$.value.resourceVersion;
        if (set.changes.length > 0) expect(shown).toBe(String(version));
      }
      stop();
    }),
    { numRuns: 200 },
  );
});

test('a pod whose columns have not changed keeps its row', () => {
  const { changes$, queries } = open();
  const before = podIn(1, 0, 'Running', 1);
  const object = podIn(1, 0, 'Running', 2);
  changes$.next(changeSet({ added: [before] }));
  const { rows } = queries.table.getSnapshot();
  expect(rows).toHaveLength(1);
  changes$.next(changeSet({ updated: [{ previous: before, object }] }));
  expect(queries.table.getSnapshot().rows).toBe(rows);
  expect(queries.pods.select('uid-1').getSnapshot()).toBe(object);
  expect(queries.totals.getSnapshot().rows[0]?.fingerprint).toBe(versionHash('uid-1', '2'));
});

test('a pod that cannot be read is left out and reported, until it can be read', () => {
  const { changes$, queries } = open();
  const { table, tones, totals } = queries;
  const odd = { ...podIn(1, 0, 'Running', 1), status: { containerStatuses: 'none' } };
  const previous = odd as unknown as Pod;
  changes$.next(changeSet({ added: [previous, podIn(2, 0, 'Running', 2)] }));
  expect(table.getSnapshot().rows.map(({ uid }) => uid)).toEqual(['uid-2']);
  const { rejected } = table.getSnapshot().status;
  const counts = () => [tones.getSnapshot().rows[0]?.count, totals.getSnapshot().rows[0]?.pods];
  expect(counts()).toEqual([1, 2]);
  expect(rejected).toMatchObject([{ operator: 'liveMap', id: 'uid-1', key: 'ns-b/pod-1' }]);
  changes$.next(changeSet({ updated: [{ previous, object: podIn(1, 0, 'Running', 3) }] }));
  expect(table.getSnapshot().status.rejected).toEqual([]);
  expect(counts()).toEqual([2, 2]);
});

test('a reset replaces all rows', () => {
  const { changes$, queries } = open();
  changes$.next(changeSet({ added: [podIn(1, 0, 'Running', 1), podIn(2, 0, 'Failed', 2)] }));
  changes$.next(changeSet({ reset: true, added: [podIn(3, 0, 'Running', 3)] }));
  expectEqual(queries, new Map([['uid-3', podIn(3, 0, 'Running', 3)]]));
});

test('the counts and the table of a page change in one turn', () => {
  const { changes$, queries } = open();
  const { table, totals, phases } = queries;
  changes$.next(changeSet({ added: [podIn(1, 0, 'Running', 1)] }));
  const seen: unknown[] = [];
  const page = snapshotOf([table, totals, phases]);
  page.snapshots$.subscribe(([{ total }, { rows: counts }, { rows: groups }]) => {
    seen.push([total, counts[0]?.pods, groups[0]?.count]);
  });
  changes$.next(changeSet({ added: [podIn(2, 0, 'Running', 2)] }));
  expect(seen).toEqual([
    [1, 1, 1],
    [2, 2, 2],
  ]);
});
