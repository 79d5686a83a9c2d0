/** Tests that the rows of the dashboard's table keep their places while their order is held. */
import { type ChangeSet, liveMap, liveShare, type Stored } from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import { changeSet } from 'rx-informer/testing';
import { BehaviorSubject, Subject } from 'rxjs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readPage } from '../../examples/dashboard/page/cluster/page-state.ts';
import { podKind, podRow } from '../../examples/dashboard/page/kinds/pods.ts';
import { TableQueries } from '../../examples/dashboard/page/table/table-queries.ts';

// A clock that stands still, so that every answer is computed in one slice.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pod = (name: string, phase = 'Running'): Pod => ({
  metadata: { uid: name, name, namespace: 'shop' },
  spec: { containers: [{ name: 'main' }] },
  status: { phase },
});

/** A table of three pods. */
function open(search = '') {
  const changes$ = new Subject<ChangeSet<Pod>>();
  const page$ = new BehaviorSubject(readPage(search));
  const rows$ = changes$.pipe(
    liveMap((each: Stored<Pod>) => podRow(each)),
    liveShare(),
  );
  const queries = new TableQueries(podKind, rows$, rows$, page$);
  const stop = queries.start();
  changes$.next(changeSet({ added: [pod('b'), pod('c'), pod('d')] }));
  const shown = () => {
    const held = queries.held$.value;
    const rows = (held ?? queries.order$.value)?.slice() ?? [];
    return rows.map((row) => `${row.name} ${row.status}${held?.isGone(row) ? ' (gone)' : ''}`);
  };
  const update = (before: Pod, after: Pod) =>
    changes$.next(changeSet({ updated: [{ previous: before, object: after }] }));
  return { changes$, page$, queries, stop, shown, update };
}

test('rows that come, leave or move wait, and values change, until the order is released', () => {
  const { changes$, queries, shown, update, stop } = open('?sort=status');
  queries.hold();
  update(pod('d'), pod('d', 'Failed'));
  changes$.next(changeSet({ added: [pod('a', 'Failed')] }));
  changes$.next(changeSet({ deleted: [pod('c')] }));
  expect(shown()).toEqual(['b Not ready', 'c Not ready (gone)', 'd Failed']);
  expect(queries.held$.value?.waiting).toBe(3);
  expect(queries.held$.value?.indexOf('d')).toBe(2);
  update(pod('d', 'Failed'), pod('d'));
  expect(queries.held$.value?.waiting).toBe(2);
  update(pod('d'), pod('d', 'Failed'));
  queries.release();
  expect(shown()).toEqual(['a Failed', 'd Failed', 'b Not ready']);
  stop();
});

test('another filter or sort shows its rows at once', () => {
  const { page$, queries, shown, update, stop } = open('?sort=status');
  queries.hold();
  update(pod('d'), pod('d', 'Failed'));
  page$.next({ ...page$.value, sort: { key: 'name', descending: true } });
  expect(shown()).toEqual(['d Failed', 'c Not ready', 'b Not ready']);
  queries.hold();
  page$.next({ ...page$.value, filter: 'shop/c' });
  expect(shown()).toEqual(['c Not ready']);
  queries.hold();
  stop();
  expect(queries.held$.value).toBeUndefined();
});
