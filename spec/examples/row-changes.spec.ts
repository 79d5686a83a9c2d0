/** Tests that the page's stream of a worker's rows has exactly their changes, whatever happens to the rows. */

import type { Stored, View, ViewSnapshot } from 'rx-informer';
import { expect, test } from 'vitest';
import { changesOf } from '../../examples/dashboard/page/cluster/row-changes.ts';
import * as fc from '../support/fast-check.ts';

interface Row {
  readonly id: string;
  readonly value: number;
}

/** A view whose rows the test sets. */
function settableView() {
  const listeners = new Set<() => void>();
  let snapshot = {
    rows: [],
    total: 0,
    synced: false,
    status: { refusedRows: [] },
  } as ViewSnapshot<Row>;
  const view = {
    getSnapshot: () => snapshot,
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as View<Row>;
  const show = (rows: readonly Row[], synced = true) => {
    snapshot = { ...snapshot, rows: rows as readonly Stored<Row>[], synced };
    for (const each of listeners) each();
  };
  return { view, show };
}

test('the sets have the changes between the rows, deletions first, each with the former row', () => {
  const states = fc.array(
    fc.uniqueArray(fc.record({ id: fc.nat(90), value: fc.nat(1) }), {
      selector: ({ id }) => id,
      maxLength: 90,
    }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(states, fc.boolean(), (given, isSorted) => {
      const { view, show } = settableView();
      const held = new Map<string, Row>();
      const rows = new Map<string, Row>();
      changesOf(view, (row) => row.id).subscribe(({ reset, changes, added, deleted }) => {
        if (reset) held.clear();
        const firstKept = changes.findIndex(({ object }) => object !== undefined);
        const lastGone = changes.findLastIndex(({ object }) => object === undefined);
        expect(firstKept === -1 || lastGone < firstKept).toBe(true);
        expect(new Set(changes.map(({ id }) => id)).size).toBe(changes.length);
        for (const { id, previous, object } of changes) {
          expect(previous).toBe(held.get(id));
          expect(object).not.toBe(previous);
          if (object === undefined) held.delete(id);
          else held.set(id, object);
        }
        expect(added.length + deleted.length).toBeLessThanOrEqual(changes.length);
      });
      for (const state of given) {
        const order = isSorted ? state.toSorted((one, other) => one.id - other.id) : state;
        const next = order.map(({ id, value }) => {
          const former = rows.get(String(id));
          const row = former?.value === value ? former : { id: String(id), value };
          rows.set(row.id, row);
          return row;
        });
        show(next);
        expect(held).toEqual(new Map(next.map((row) => [row.id, row])));
      }
    }),
  );
});

test('the sets stay synced while another worker is started, and a set without changes reports synced', () => {
  const { view, show } = settableView();
  const seen: unknown[] = [];
  changesOf(view, (row) => row.id).subscribe(({ synced, reset, changes }) =>
    seen.push([synced, reset, changes.length]),
  );
  const rows = [{ id: 'a', value: 1 }];
  show(rows, false);
  show(rows, true);
  show(rows, false);
  show([...rows, { id: 'b', value: 1 }], false);
  expect(seen).toEqual([
    [false, true, 0],
    [false, false, 1],
    [true, false, 0],
    [true, false, 1],
  ]);
});
