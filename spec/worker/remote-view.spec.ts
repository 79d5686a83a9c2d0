/**
 * Tests what the view of a tab shows while its worker is lost and the next one answers, and its rows: random differences against a plain list,
 * and the parts that stay the same objects.
 */

import { createChangeSet } from 'rx-informer';
import { inTurn } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { ListOrder, type PlacedRow } from '../../lib/query/order/list-order.ts';
import { RemoteRows } from '../../lib/wire/remote-rows.ts';
import { RemoteView } from '../../lib/wire/remote-view.ts';
import type { RowDifference } from '../../lib/wire/row-difference.ts';
import { RowDifferences } from '../../lib/wire/row-differences.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import * as fc from '../support/fast-check.ts';

const WATCHING = { refusedRows: [], phase: 'watching', live: true };
const LISTING = { refusedRows: [], phase: 'listing', live: false };

function difference(ids: string, synced: boolean, status: object = WATCHING): RowDifference {
  const rows = [...ids].map((id, at) => [id, at, { id }] as const);
  return { reset: true, rows, total: ids.length, synced, status: { ...status } };
}

function viewOf() {
  const view = new RemoteView({
    scheduler: new VirtualTime(),
    heardMs: () => 7,
    ask: () => undefined,
    leave: () => undefined,
  });
  let calls = 0;
  view.subscribe(() => calls++);
  const shown = () => {
    const { rows, synced, stale = false, status } = view.getSnapshot();
    const ids = rows.map((row) => (row as { readonly id: string }).id).join('');
    return [ids, synced, stale, status.phase];
  };
  return { view, shown, calls: () => calls };
}

describe('the view of a tab', () => {
  it('B1: shows rows that are not all as soon as they come, if there were none before', () => {
    const { view, shown } = viewOf();
    view.lose({ refusedRows: [], phase: 'backoff' });
    expect(shown()).toEqual(['', false, false, 'backoff']);
    view.take(difference('', false, LISTING));
    view.take(difference('a', false));
    expect(shown()).toEqual(['a', false, false, 'watching']);
    view.take(difference('ab', true));
    expect(shown()).toEqual(['ab', true, false, 'watching']);
  });

  it.each(['ab', ''])(
    'B7: keeps the rows "%s" of a worker that was lost until the answer of the next one is complete',
    (ids) => {
      const { view, shown } = viewOf();
      view.take(difference(ids, true));
      view.lose(undefined);
      expect(shown()).toEqual([ids, false, ids !== '', 'connecting']);
      view.take(difference('', false, LISTING));
      view.take(difference('b', false, LISTING));
      expect(shown()).toEqual([ids, false, ids !== '', 'listing']);
      view.take(difference('bc', true));
      expect(shown()).toEqual(['bc', true, false, 'watching']);
    },
  );

  it('B7: drops the rows of a worker that was lost if the server refuses them to the next one', () => {
    const { view, shown } = viewOf();
    view.take(difference('ab', true));
    view.lose(undefined);
    const blocked = { ...LISTING, phase: 'backoff', blocked: 'forbidden' };
    view.take(difference('', false, blocked));
    expect(shown()).toEqual(['', false, false, 'backoff']);
  });

  it('E3: keeps the rows of a former epoch only while the next one has the same access, if it tells one', () => {
    const { view, shown } = viewOf();
    const some = (message: string) => ({ ...LISTING, access: { message } });
    view.take(difference('ab', true, some('a, b')));
    view.lose(undefined);
    view.take(difference('', false, LISTING));
    view.take(difference('a', false, some('a, b')));
    view.lose(undefined);
    view.take(difference('', false, LISTING));
    expect(shown()).toEqual(['ab', false, true, 'listing']);
    view.take(difference('a', false, some('a')));
    expect(shown()).toEqual(['a', false, false, 'listing']);
    const painted = viewOf();
    // Rows without a status are those of a page before.
    painted.view.take({ ...difference('ab', true), status: undefined as never });
    painted.view.lose(undefined);
    painted.view.take(difference('a', false, some('a')));
    expect(painted.shown()).toEqual(['ab', false, true, 'listing']);
  });

  it('B1: shows no complete answer while the informers of the worker start again', () => {
    const { view, shown } = viewOf();
    view.take(difference('ab', true));
    const blocked = { ...LISTING, phase: 'backoff', blocked: 'forbidden' };
    for (const status of [LISTING, blocked]) {
      view.take(difference('ab', false, status));
      expect(shown()).toEqual(['ab', false, false, status.phase]);
    }
  });

  it('B4: keeps the rows of a query that is refused later, which are as old as the refusal', () => {
    const { view, shown } = viewOf();
    view.take(difference('ab', true));
    view.refuse(new Error('too deep'));
    expect(shown()).toEqual(['ab', true, false, 'stopped']);
    expect(view.getSnapshot()).toMatchObject({
      error: { message: 'too deep' },
      status: { live: false, staleSinceMs: 7, error: { message: 'too deep' } },
    });
    view.lose(undefined, 9);
    expect(shown()).toEqual(['ab', false, true, 'connecting']);
    expect(view.getSnapshot().error).toBeUndefined();
    expect(view.getSnapshot().status.staleSinceMs).toBe(7);
  });

  it('B4: has no error once a query that was refused is answered, and keeps its rows until then', () => {
    const { view, shown } = viewOf();
    view.take(difference('ab', true));
    view.refuse(new Error('too deep'));
    view.take(difference('c', false, LISTING));
    expect(view.getSnapshot().error).toBeUndefined();
    expect(shown()).toEqual(['ab', false, true, 'listing']);
    view.take(difference('cd', true));
    expect(shown()).toEqual(['cd', true, false, 'watching']);
  });

  it('Q16: tells its listeners once a turn', () => {
    const { view, calls } = viewOf();
    let ofRow = 0;
    view.select('a').subscribe(() => ofRow++);
    inTurn(() => {
      view.take(difference('a', true));
      view.take(difference('ab', true));
      expect([calls(), ofRow]).toEqual([0, 0]);
    });
    expect([calls(), ofRow]).toEqual([1, 1]);
    inTurn(() => view.take(difference('abc', true)));
    expect([calls(), ofRow]).toEqual([2, 1]);
  });
});

const head = { total: 0, synced: true } as const;
const rowsWith = (row: unknown) => {
  const rows = new RemoteRows();
  rows.apply({ reset: true, rows: [['a', 0, row]], ...head });
  return rows;
};

describe('the rows of a tab', () => {
  it('B2: parts of a changed row that are equal stay the same objects', () => {
    const former = { labels: { app: 'shop' }, list: [{ n: 1 }, { n: 2 }], at: new Date(1), n: 0 };
    const rows = rowsWith(former);
    rows.apply({ rows: [['a', 0, structuredClone({ ...former, n: -0 })]], ...head });
    const now = rows.get('a') as typeof former;
    expect(now).not.toBe(former);
    expect(now.labels).toBe(former.labels);
    expect(now.list).toBe(former.list);
    expect(Object.is(now.n, -0)).toBe(true);
    rows.apply({
      rows: [['a', 0, { ...structuredClone(former), list: [{ n: 1 }], at: new Date(2) }]],
      ...head,
    });
    const last = rows.get('a') as typeof former;
    expect(last.list).toEqual([{ n: 1 }]);
    expect(last.list[0]).toBe(former.list[0]);
    expect(last.at).toEqual(new Date(2));
    const same = structuredClone({ labels: { app: 'shop' } });
    const equal = rowsWith(same);
    equal.apply({ reset: true, rows: [['a', 0, structuredClone(same)]], ...head });
    expect(equal.get('a')).toBe(same);
  });

  it('B2: a member named __proto__ changes no prototype', () => {
    const read = (text: string): unknown => JSON.parse(text);
    const rows = rowsWith(read('{"__proto__":{"admin":true},"n":{"x":1}}'));
    rows.apply({
      rows: [['a', 0, read('{"__proto__":{"admin":true},"n":{"x":1}}')]],
      ...head,
    });
    const row = rows.get('a') as { readonly admin?: boolean };
    expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
    expect(row.admin).toBeUndefined();
    expect(JSON.stringify(row)).toBe('{"__proto__":{"admin":true},"n":{"x":1}}');
  });

  it('B2: a row that moves without a change is the only one that is sent', () => {
    const differences = new RowDifferences('toWire', () => undefined);
    const setOf = (ids: string, reset: boolean, changed: readonly string[] = []) => {
      const placed = [...ids].map((id) => ({ id, key: id, object: id.toUpperCase() }));
      const order = new ListOrder(placed as never);
      const changes = changed.map((id) => ({ id, key: id, previous: 'x', object: 'y' }));
      return differences.of({ reset, synced: true, changes, order } as never);
    };
    setOf('abcdef', true);
    expect(setOf('acdefb', false).rows).toEqual([['b', 5, 'B']]);
    expect(setOf('bacdef', false).rows).toEqual([['b', 0, 'B']]);
    // The place of a changed row says enough.
    expect(setOf('abcdef', false, ['b']).rows).toEqual([['b', 1, 'y']]);
    expect(setOf('abcdef', false).rows).toBeUndefined();
  });

  it('B2: any series of sets, ordered or not, also of moves without a change, gives the rows of the last one', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const sets = fc.array(fc.dictionary(id, fc.nat(3), { noNullPrototype: true }), {
      maxLength: 8,
    });
    const property = fc.property(
      fc.boolean(),
      fc.constantFrom(1, 2, 4),
      fc.array(fc.boolean()),
      sets,
      (isOrdered, hidden, resets, all) => {
        // A row may show nothing of what it is sorted by, so that it moves without a change.
        const rowOf = (value: number | undefined) => Math.floor((value ?? 0) / hidden);
        const states = new Map<string, PlacedRow<number>>();
        // As in the order of a query, one state of a row is one object.
        const placed = (name: string, object: number) => {
          const state = states.get(`${name} ${object}`) ?? { id: name, key: name, object };
          states.set(`${name} ${object}`, state as PlacedRow<number>);
          return state as PlacedRow<number>;
        };
        const differences = new RowDifferences('toWire', () => undefined);
        const rows = new RemoteRows();
        let before: Readonly<Record<string, number>> = {};
        let known: string[] = [];
        for (const [at, now] of all.entries()) {
          const reset = resets[at] ?? at === 0;
          const sorted = Object.keys(now).sort(
            (one, other) => (now[one] ?? 0) - (now[other] ?? 0) || (one < other ? -1 : 1),
          );
          const order = new ListOrder(sorted.map((name) => placed(name, rowOf(now[name]))));
          const names = reset
            ? Object.keys(now)
            : [...new Set([...Object.keys(before), ...Object.keys(now)])];
          const changes = names
            .filter(
              (name) =>
                reset ||
                !(name in before && name in now) ||
                rowOf(before[name]) !== rowOf(now[name]),
            )
            .map((name) => ({
              id: name,
              key: name,
              ...(!reset && name in before && { previous: rowOf(before[name]) }),
              ...(name in now && { object: rowOf(now[name]) }),
            }))
            .sort((one, other) => Number('object' in one) - Number('object' in other));
          const cause = 'watch' as const;
          const common = {
            rev: at,
            cause,
            reset,
            synced: true,
            initial: false,
            resourceVersion: '',
          };
          const set = createChangeSet(
            { ...common, ...(isOrdered && { order, total: sorted.length }) } as never,
            changes as never,
          );
          const difference = differences.of(set as never);
          rows.apply({ ...difference, total: differences.total, synced: true });
          if (isOrdered) expect(rows.ids).toEqual(sorted);
          known = reset ? [] : known.filter((name) => name in now);
          known.push(
            ...changes
              .map(({ id: name }) => name)
              .filter((name) => name in now && !known.includes(name)),
          );
          const expected = isOrdered ? sorted : known;
          expect(rows.list).toEqual(expected.map((name) => rowOf(now[name])));
          expect(rows.total).toBe(expected.length);
          before = now;
        }
      },
    );
    fc.assert(property, { numRuns: 500 });
  });
});
