/** `liveShare`: one subscription to a live stream for all its subscribers. */
import {
  type ChangeSet,
  createSharedInformer,
  liveFilter,
  liveJoin,
  liveShare,
  liveUnion,
  toView,
} from 'rx-informer';
import { config, merge, Observable, Subject } from 'rxjs';
import { finalize } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { allReported } from '../support/errors.ts';
import { isProduction } from '../support/production.ts';
import { added, modified, pod, scriptedListWatch } from '../support/scripted-list-watch.ts';
import { Mirror } from './mirror.ts';
import { type Item, type Step, World } from './world.ts';

const set = (name: string, n: number): Step => ({ name, what: 'set', n, group: 'a' });

function counted(world: World) {
  const count = { open: 0, opened: 0 };
  const source = new Observable<ChangeSet<Item>>((subscriber) => {
    count.open++;
    count.opened++;
    subscriber.add(() => count.open--);
    subscriber.add(world.changes$.subscribe(subscriber));
  });
  return { count, source };
}
const numbers = (mirror: Mirror<Item>) => mirror.objects().map(({ n }) => n);

describe('liveShare', () => {
  it('Q54: all subscribers share one subscription, and a late one first gets the state as a reset set', () => {
    const world = new World();
    world.reset([{ name: 'a', n: 1 }]);
    const { count, source } = counted(world);
    const shared = liveShare()(source);
    const one = new Mirror(shared);
    world.commit([set('b', 2)]);
    const late = new Mirror(shared);
    expect([numbers(late), late.sets.length, count.opened]).toEqual([[1, 2], 1, 1]);
    const [first] = late.sets;
    const { cause, initial, rev } = first as NonNullable<typeof first>;
    expect([cause, initial, rev]).toEqual(['snapshot', true, one.sets.at(-1)?.rev]);
    world.commit([set('a', 3)]);
    world.reset([{ name: 'b', n: 2 }]);
    expect([numbers(one), numbers(late)]).toEqual([[2], [2]]);
    expect([one.sets.length, late.sets.length]).toEqual([4, 3]);
    one.subscription.unsubscribe();
    expect(count.open).toBe(1);
    late.subscription.unsubscribe();
    expect(count.open).toBe(0);
    expect(numbers(new Mirror(shared))).toEqual([2]);
    expect(count.opened).toBe(2);
  });

  it('Q54: completes and errors as the source does; the next subscriber subscribes again', () => {
    let source = new Subject<ChangeSet<Item>>();
    const shared = liveShare()(new Observable<ChangeSet<Item>>((to) => source.subscribe(to)));
    const [one, two] = [new Mirror(shared), new Mirror(shared)];
    const ended = source;
    source = new Subject();
    ended.complete();
    expect([one.completed, two.completed, source.observed]).toEqual([true, true, false]);
    const failing = new Mirror(shared);
    expect(source.observed).toBe(true);
    source.error(new Error('boom'));
    expect(failing.error).toEqual(new Error('boom'));
  });

  it('Q54, I70: a teardown that throws is reported, and the other subscribers complete', async () => {
    const reported: string[] = [];
    config.onUnhandledError = (error) => reported.push(String(error));
    const source = new Subject<ChangeSet<Item>>();
    const shared = liveShare()(source);
    const cleanup = () => {
      throw new Error('cleanup');
    };
    shared.pipe(finalize(cleanup)).subscribe();
    const other = new Mirror(shared);
    source.complete();
    await allReported();
    config.onUnhandledError = null;
    expect([other.completed, source.observed]).toEqual([true, false]);
    expect(reported).toEqual([expect.stringContaining('cleanup')]);
  });

  it('Q54: carries what the operators before it refused, and checks its source', () => {
    const world = new World();
    world.reset([{ name: 'a', n: 1 }]);
    const refusing = liveFilter<Item>(() => {
      throw new Error('no');
    })(world.changes$);
    const view = toView(liveShare()(refusing));
    view.subscribe(() => undefined);
    expect(view.getSnapshot().status.refusedRows.map(({ key }) => key)).toEqual(['a']);
    if (isProduction) return;
    const mixed = new Mirror(liveShare()(merge(world.changes$, new World().changes$)));
    expect(String(mixed.error)).toMatch(/^Error: liveShare: its source emitted two first sets/);
  });

  it('Q54: one of several informers that was stopped and runs again gives its rows to all subscribers', async () => {
    const [sourceA, sourceB] = [scriptedListWatch(), scriptedListWatch()];
    const [a, b] = [
      createSharedInformer(sourceA, { lingerMs: 0 }),
      createSharedInformer(sourceB, { lingerMs: 0 }),
    ];
    const joined = a.changes$.pipe(
      liveJoin(b.changes$, {
        on: { left: () => 'all', right: () => 'all' },
        project: (left, right) => ({
          names: [left, ...right].map(({ metadata }) => metadata.name),
        }),
      }),
    );
    const names = (rows: readonly { readonly names: readonly string[] }[]) =>
      rows.map((row) => row.names.join());
    const shared = joined.pipe(liveShare());
    const view = toView(shared);
    view.subscribe(() => undefined);
    const one = new Mirror(shared);
    sourceA.listed(1, pod('a', 1));
    sourceB.listed(1, pod('old', 1));
    expect([names(one.objects()), names(view.getSnapshot().rows)]).toEqual([['a,old'], ['a,old']]);
    await b.stop();
    expect([names(one.objects()), one.completed]).toEqual([['a,old'], false]);
    const requests = sourceA.asked.length;
    b.start();
    sourceB.listed(2, pod('new', 2));
    const late = new Mirror(shared);
    expect([names(one.objects()), names(late.objects())]).toEqual([['a,new'], ['a,new']]);
    expect(view.getSnapshot()).toMatchObject({ rows: [{ names: ['a', 'new'] }], synced: true });
    // The other informer has run all the time.
    expect([a.status.generation, sourceA.asked.length]).toEqual([1, requests]);
    sourceB.send(modified(pod('new', 3)), added(pod('newer', 4)));
    expect([names(one.objects()), names(late.objects())]).toEqual([
      ['a,new,newer'],
      ['a,new,newer'],
    ]);
    expect(names(view.getSnapshot().rows)).toEqual(['a,new,newer']);
    await Promise.all([a.stop(), b.stop()]);
    expect([one.completed, late.completed]).toEqual([true, true]);
  });

  it('Q54: leaves every informer with its last subscriber, also after one has run again', async () => {
    const [sourceA, sourceB] = [scriptedListWatch(), scriptedListWatch()];
    const a = createSharedInformer(sourceA, { lingerMs: 0 });
    const b = createSharedInformer(sourceB, { lingerMs: 0 });
    const view = toView(liveUnion({ a: a.changes$, b: b.changes$ }).pipe(liveShare()));
    const leave = view.subscribe(() => undefined);
    for (const source of [sourceA, sourceB]) source.listed(1, pod('web', 1));
    await b.stop();
    b.start();
    sourceB.listed(2, pod('web', 2));
    expect(view.getSnapshot().synced).toBe(true);
    leave();
    expect([a.status.phase, b.status.phase]).toEqual(['idle', 'watching']);
    await b.stop();
  });

  it('Q54: a late subscriber stays if the others leave while it gets its first set', () => {
    const world = new World();
    world.reset([{ name: 'a', n: 1 }]);
    const { count, source } = counted(world);
    const shared = liveShare()(source);
    const one = shared.subscribe();
    const sizes: number[] = [];
    const late = shared.subscribe(({ changes }) => {
      one.unsubscribe();
      sizes.push(changes.length);
    });
    world.commit([set('b', 2), set('c', 3)]);
    expect([sizes, count.open, count.opened]).toEqual([[1, 2], 1, 1]);
    late.unsubscribe();
    expect(count.open).toBe(0);
  });
});
