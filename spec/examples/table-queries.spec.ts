/** Tests the live queries of the dashboard's table against filtering, sorting and counting from scratch. */

import {
  type ChangeSet,
  conflateByKey,
  liveMap,
  liveShare,
  type Stored,
  snapshotOf,
} from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import { changeSet } from 'rx-informer/testing';
import { BehaviorSubject, Subject } from 'rxjs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type PageState, readPage } from '../../examples/dashboard/page/cluster/page-state.ts';
import { type Row, rowsName, type Sort } from '../../examples/dashboard/page/kinds/kind.ts';
import { nodeKind } from '../../examples/dashboard/page/kinds/nodes.ts';
import { byValue, orderOf } from '../../examples/dashboard/page/kinds/order.ts';
import { podKind, podRow } from '../../examples/dashboard/page/kinds/pods.ts';
import { quotaKind } from '../../examples/dashboard/page/kinds/quotas.ts';
import { treeKind } from '../../examples/dashboard/page/kinds/tree.ts';
import { deploymentKind, statefulSetKind } from '../../examples/dashboard/page/kinds/workloads.ts';
import { testOf } from '../../examples/dashboard/page/table/filter.ts';
import { shownColumns } from '../../examples/dashboard/page/table/shown-columns.ts';
import { TableQueries } from '../../examples/dashboard/page/table/table-queries.ts';
import * as fc from '../support/fast-check.ts';

// A clock that stands still, so that every answer is computed in one slice.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Filter = Pick<PageState, 'filter' | 'namespace' | 'tone' | 'status'>;

const sortKeys = ['name', 'namespace', 'status', 'ready', 'restarts', 'createdMs', 'owner'];

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
        filter: fc.constantFrom('', 'pod-1', 'ns-a pod', 'nothing'),
        namespace: fc.constantFrom('', 'ns-b'),
        tone: fc.constantFrom('', 'bad'),
        status: fc.constantFrom('', 'Running'),
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

/** The queries of a table whose pods the test changes. */
function open(kind = podKind) {
  const changes$ = new Subject<ChangeSet<Pod>>();
  const page$ = new BehaviorSubject(readPage(''));
  const rows$ = changes$.pipe(
    conflateByKey(),
    liveMap((pod: Stored<Pod>) => podRow(pod)),
    liveShare(),
  );
  const queries = new TableQueries(kind, rows$, rows$, page$);
  const stop = queries.start();
  return { changes$, page$, queries, stop };
}

const matches = ({ filter, namespace, tone, status }: Filter) => {
  const hasWords = testOf(filter.split(' '));
  return {
    found: hasWords,
    inNamespace: (row: Row) => hasWords(row) && (namespace === '' || row.namespace === namespace),
    matching: (row: Row) =>
      matches({ filter, namespace, tone: '', status: '' }).inNamespace(row) &&
      (tone === '' || row.tone === tone) &&
      (status === '' || row.status === status),
  };
};

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

function expectEqual(
  queries: TableQueries,
  page: PageState,
  model: ReadonlyMap<string, Pod>,
): void {
  const { range$, table } = queries;
  const all = [...model.values()].map((pod) => podRow(pod));
  const { found, inNamespace, matching } = matches(page);
  const compare = orderOf(page.sort ?? podKind.sort, podKind.columns);
  const wanted = all.filter(matching).sort((a, b) => compare(a, b) || byValue(a.uid, b.uid));
  const { offset, limit } = range$.value;
  const { rows, total } = table.getSnapshot();
  expect([total, rows]).toEqual([wanted.length, wanted.slice(offset, offset + limit)]);
  expect(queries.order$.value?.slice() ?? []).toEqual(wanted);
  const count = (test: (row: Row) => boolean, key: (row: Row) => string) => {
    const counted = all.filter(test);
    return [...new Set(counted.map(key))].sort().map((value) => {
      const group = counted.filter((row) => key(row) === value);
      const bad = group.filter(({ tone }) => tone === 'bad').length;
      return { key: value, count: group.length, bad };
    });
  };
  // Each count is narrowed by the choices before it, and not by its own.
  const shownCounts = (['all', 'shown', 'namespaces', 'tones', 'statuses'] as const).map(
    (name) => queries.counts[name].getSnapshot().rows,
  );
  expect(shownCounts).toEqual([
    count(
      () => true,
      () => 'all',
    ),
    count(matching, () => 'shown'),
    count(found, ({ namespace }) => namespace),
    count(inNamespace, ({ tone }) => tone),
    count(inNamespace, ({ status }) => status),
  ]);
}

test('rows and counts are equal to those that are filtered, sorted and counted from scratch', () => {
  fc.assert(
    fc.property(fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 12 }), (batches) => {
      const { changes$, page$, queries, stop } = open();
      const model = new Map<string, Pod>();
      let version = 0;
      for (const batch of batches) {
        const before = new Map(model);
        for (const each of batch) {
          if (each.do === 'sort') page$.next({ ...page$.value, sort: each.sort });
          else if (each.do === 'filter') page$.next({ ...page$.value, ...each.filter });
          else if (each.do === 'scroll') queries.range$.next(each);
          else if (each.do === 'remove') model.delete(`uid-${each.slot}`);
          else {
            const pod = podIn(each.slot, each.restarts, each.phase, ++version);
            model.set(`uid-${each.slot}`, pod);
          }
        }
        changes$.next(difference(before, model, version));
        expectEqual(queries, page$.value, model);
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
});

test('a pod that cannot be read is left out and reported, until it can be read', () => {
  const { changes$, queries } = open();
  const { table, counts: views } = queries;
  const odd = { ...podIn(1, 0, 'Running', 1), status: { containerStatuses: 'none' } };
  const previous = odd as unknown as Pod;
  changes$.next(changeSet({ added: [previous, podIn(2, 0, 'Running', 2)] }));
  expect(table.getSnapshot().rows.map(({ uid }) => uid)).toEqual(['uid-2']);
  const { refusedRows } = table.getSnapshot().status;
  const counts = () => [views.tones, views.all].map((view) => view.getSnapshot().rows[0]?.count);
  expect(counts()).toEqual([1, 1]);
  expect(refusedRows).toMatchObject([{ operator: 'liveMap', id: 'uid-1', key: 'ns-b/pod-1' }]);
  changes$.next(changeSet({ updated: [{ previous, object: podIn(1, 0, 'Running', 3) }] }));
  expect(table.getSnapshot().status.refusedRows).toEqual([]);
  expect(counts()).toEqual([2, 2]);
});

test('a reset replaces all rows', () => {
  const { changes$, page$, queries } = open();
  changes$.next(changeSet({ added: [podIn(1, 0, 'Running', 1), podIn(2, 0, 'Failed', 2)] }));
  changes$.next(changeSet({ reset: true, added: [podIn(3, 0, 'Running', 3)] }));
  expectEqual(queries, page$.value, new Map([['uid-3', podIn(3, 0, 'Running', 3)]]));
});

test('the counts and the table of a page change in one turn', () => {
  const { changes$, queries } = open();
  const { table } = queries;
  const { all, statuses } = queries.counts;
  changes$.next(changeSet({ added: [podIn(1, 0, 'Running', 1)] }));
  const seen: unknown[] = [];
  const page = snapshotOf([table, all, statuses]);
  page.snapshots$.subscribe(([{ total }, { rows: counts }, { rows: groups }]) => {
    seen.push([total, counts[0]?.count, groups[0]?.count]);
  });
  changes$.next(changeSet({ added: [podIn(2, 0, 'Running', 2)] }));
  expect(seen).toEqual([
    [1, 1, 1],
    [2, 2, 2],
  ]);
});

test('the chosen namespace does not filter a kind whose objects are in no namespace', () => {
  for (const [kind, total] of [
    [podKind, 0],
    [nodeKind, 1],
  ] as const) {
    const { changes$, page$, queries } = open(kind);
    page$.next({ ...page$.value, namespace: 'elsewhere' });
    changes$.next(changeSet({ added: [podIn(1, 0, 'Running', 1)] }));
    expect(queries.table.getSnapshot().total, kind.id).toBe(total);
  }
});

test('the Pods show why they are in trouble if they are filtered so, unless the user chose columns', () => {
  const ids = (isTrouble: boolean, chosen?: readonly string[]) =>
    shownColumns(podKind, chosen, { isTrouble }).map(({ id }) => id);
  expect(ids(true)).toContain('why');
  expect(ids(false)).not.toContain('why');
  expect(ids(true)).toEqual(expect.arrayContaining(ids(false)));
  expect(ids(true, ['name', 'node'])).toEqual(['name', 'node']);
  // The reason needs the room of the images.
  const ofDeployments = (isTrouble: boolean) =>
    shownColumns(deploymentKind, undefined, { isTrouble }).map(({ id }) => id);
  expect(ofDeployments(false)).toContain('image');
  expect(ofDeployments(true)).not.toContain('image');
  expect(ofDeployments(true)).toContain('why');
});

test('a single row has a singular', () => {
  expect([0, 1, 2].map((count) => rowsName(statefulSetKind, count))).toEqual([
    'StatefulSets',
    'StatefulSet',
    'StatefulSets',
  ]);
  expect([rowsName(quotaKind, 1), rowsName(treeKind, 1)]).toEqual(['Quota', 'application']);
});
