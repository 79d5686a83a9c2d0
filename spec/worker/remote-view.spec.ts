/** Tests what the view of a tab shows while its worker is lost and the next one answers. */
import { inTurn } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { RemoteView } from '../../lib/wire/remote-view.ts';
import type { RowDifference } from '../../lib/wire/row-difference.ts';
import { VirtualTime } from '../rx/virtual-time.ts';

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
