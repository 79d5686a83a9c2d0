/** Rows that an operator keeps out because a user's function threw. */
import { liveFilter, liveMap, liveSort, type RefusedRow, toView } from 'rx-informer';
import { BehaviorSubject, config } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { allReported } from '../../support/errors.ts';
import { type Item, World } from '../world.ts';

afterEach(() => {
  config.onUnhandledError = null;
});

const set = (name: string, n: number) => ({ name, what: 'set', n, group: 'a' }) as const;
const refusing =
  (refused: number) =>
  ({ n }: Item): boolean => {
    if (n === refused) throw new Error(`refuses ${n}`);
    return true;
  };
function worldOf(...numbers: number[]): World {
  const world = new World();
  world.reset(numbers.map((n) => ({ name: `n${n}`, n })));
  return world;
}
function reports(): string[] {
  const reported: string[] = [];
  config.onUnhandledError = (error) => reported.push(String(error));
  return reported;
}

describe('rows that are refused', () => {
  it('Q23: stand in the status of the view, with operator, id, key and error', async () => {
    const reported = reports();
    const world = worldOf(1, 2);
    const view = toView(
      liveMap(({ n }: Item) => {
        if (n === 4) throw new Error('maps no 4');
        return { n };
      })(liveFilter<Item>(refusing(2))(world.changes$)),
    );
    const shown: (readonly RefusedRow[])[] = [];
    const leave = view.subscribe(() => shown.push(view.getSnapshot().status.refusedRows));
    const refusedRows = () => view.getSnapshot().status.refusedRows;
    const uid = (name: string) => world.items.get(name)?.metadata.uid;
    const two = {
      operator: 'liveFilter',
      id: uid('n2'),
      key: 'n2',
      error: new Error('refuses 2'),
    };
    expect(refusedRows()).toEqual([two]);
    expect(view.getSnapshot().rows).toEqual([{ n: 1 }]);
    world.commit([set('n1', 4)]);
    const one = { operator: 'liveMap', id: uid('n1'), key: 'n1', error: new Error('maps no 4') };
    expect(refusedRows()).toEqual(expect.arrayContaining([two, one]));
    // The view shows the rows and what was refused in one snapshot.
    expect([shown.length, shown[0]?.length]).toEqual([1, 2]);
    leave();
    await allReported();
    expect(reported).toEqual([]);
  });

  it('Q23: are tried again when their object changes, and forgotten when it is deleted', () => {
    const world = worldOf(2, 3, 4);
    const view = toView(liveFilter<Item>(refusing(2))(world.changes$));
    view.subscribe(() => undefined);
    const refusedRows = () => view.getSnapshot().status.refusedRows.map(({ key }) => key);
    expect(refusedRows()).toEqual(['n2']);
    world.commit([set('n2', 5), set('n3', 2), set('n4', 2)]);
    expect(refusedRows()).toEqual(['n3', 'n4']);
    world.commit([{ ...set('n3', 0), what: 'delete' }]);
    expect(refusedRows()).toEqual(['n4']);
    world.reset([{ name: 'n2', n: 5 }]);
    expect(refusedRows()).toEqual([]);
    expect(view.getSnapshot().rows.map(({ n }) => n)).toEqual([5]);
  });

  it('Q23: are tried again when a parameter changes, also in a sort', () => {
    const world = worldOf(2, 3);
    const predicate$ = new BehaviorSubject(refusing(2));
    const compare$ = new BehaviorSubject((one: Item, other: Item) => {
      if (one.n === 3 || other.n === 3) throw new Error('no 3');
      return one.n - other.n;
    });
    const filtered = liveFilter<Item>(predicate$)(world.changes$);
    const view = toView(liveSort<Item>(compare$)(filtered));
    view.subscribe(() => undefined);
    const shown = () => [
      view.getSnapshot().rows.map(({ n }) => n),
      view.getSnapshot().status.refusedRows.map(({ operator, key }) => `${operator} ${key}`),
    ];
    expect(shown()).toEqual([[], ['liveFilter n2', 'liveSort n3']]);
    predicate$.next(refusing(7));
    expect(shown()).toEqual([[2], ['liveSort n3']]);
    compare$.next((one, other) => other.n - one.n);
    expect(shown()).toEqual([[3, 2], []]);
  });

  it('Q23: are reported once if no view shows them', async () => {
    const reported = reports();
    const world = worldOf(1, 2);
    const subscription = liveFilter<Item>(refusing(2))(world.changes$).subscribe();
    world.commit([set('n1', 5)]);
    world.commit([set('n1', 6)]);
    await allReported();
    expect(reported).toEqual(['Error: refuses 2']);
    world.commit([set('n2', 3)]);
    world.commit([set('n2', 2)]);
    await allReported();
    // Another state of the object is another failure.
    expect(reported).toEqual(['Error: refuses 2', 'Error: refuses 2']);
    subscription.unsubscribe();
  });

  it('Q23: are gone from the status when the view has no subscriber any more', () => {
    const world = worldOf(2);
    const view = toView(liveFilter<Item>(refusing(2))(world.changes$));
    const leave = view.subscribe(() => undefined);
    expect(view.getSnapshot().status.refusedRows).toHaveLength(1);
    leave();
    view.subscribe(() => undefined);
    expect(view.getSnapshot().status.refusedRows).toHaveLength(1);
  });

  it('Q23: are forgotten when a function unsubscribes from the stream', async () => {
    reports();
    const world = worldOf();
    let leaves = true;
    const refused = refusing(2);
    const view = toView(
      liveFilter<Item>((object) => {
        if (object.n === 3 && leaves) leave();
        return refused(object);
      })(world.changes$),
    );
    const leave = view.subscribe(() => undefined);
    world.commit([set('a', 2), set('b', 3)]);
    leaves = false;
    world.commit([{ ...set('a', 2), what: 'delete' }]);
    await allReported();
    view.subscribe(() => undefined);
    expect(view.getSnapshot().status.refusedRows).toEqual([]);
  });
});
