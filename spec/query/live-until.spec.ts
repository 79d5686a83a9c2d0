/** `liveUntil`: rows that are evaluated again at a time. */
import { liveFilter, liveMap, liveSort, liveUntil, type RowOrder, toView } from 'rx-informer';

import { BehaviorSubject, config } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CLOCKS, type SettableClock } from '../rx/clock.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { Mirror } from './mirror.ts';
import { type Item, type Step, World } from './world.ts';

let clock: SettableClock | undefined;
afterEach(() => clock?.restore());
const set = (name: string, n: number): Step => ({ name, what: 'set', n, group: 'a' });

describe('liveUntil', () => {
  it('Q52: the next operator evaluates a row again at exactly its time, rows of one time in one set', () => {
    const scheduler = new VirtualTime();
    const world = new World();
    world.reset([5, 5, 9, 0].map((n, at) => ({ name: `i${at}`, n })));
    const timed = liveUntil<Item>(({ n }) => n, { scheduler })(world.changes$);
    const repeats = new Mirror(timed);
    const due = new Mirror(liveFilter<Item>(({ n }, nowMs) => nowMs >= n, { scheduler })(timed));
    const seen: (readonly [number, number])[] = [];
    for (let ms = 0; ms <= 10; ms++) {
      if (ms > 0) scheduler.elapse(1);
      seen.push([due.rows.size, due.sets.length]);
    }
    expect(seen.map(([rows]) => rows)).toEqual([1, 1, 1, 1, 1, 3, 3, 3, 3, 4, 4]);
    expect(seen.at(-1)).toEqual([4, 3]);
    const { cause, changes, initial } = repeats.sets[1] as (typeof repeats.sets)[number];
    expect([cause, changes.length, initial]).toEqual(['time', 2, false]);
    for (const { previous, object } of changes) expect(previous).toBe(object);
    // The function is asked again, and its times are not after now.
    expect(scheduler.pending).toBe(0);
  });

  it('Q52: after its time the function is asked again; one timer for all rows', () => {
    const scheduler = new VirtualTime();
    const world = new World();
    world.reset(Array.from({ length: 50 }, (_, at) => ({ name: `i${at}`, n: at % 7 })));
    const everySecond = liveUntil<Item>((_, nowMs) => nowMs + 1_000, { scheduler });
    const ages = new Mirror(
      liveMap((_: Item, nowMs) => nowMs, { scheduler })(everySecond(world.changes$)),
    );
    expect(scheduler.pending).toBe(1);
    scheduler.elapse(3_500);
    expect(new Set(ages.objects())).toEqual(new Set([3_000]));
    expect([ages.sets.length, scheduler.pending]).toEqual([4, 1]);
    ages.subscription.unsubscribe();
    expect(scheduler.pending).toBe(0);
  });

  it('Q52, Q20: a row of an order is made again at its time, and stands where it stood', () => {
    const scheduler = new VirtualTime();
    const world = new World();
    world.reset(Array.from({ length: 50 }, (_, at) => ({ name: `i${at}`, n: at })));
    const ages = new Mirror(
      world.changes$.pipe(
        liveSort((one, other) => other.n - one.n, { scheduler }),
        liveUntil(({ n }: Item) => n * 10, { scheduler }),
        liveMap(({ n }: Item, nowMs) => `${n} ${n * 10 <= nowMs ? 'old' : 'new'}`, { scheduler }),
      ),
    );
    for (const ms of [0, 45, 300, 500]) {
      scheduler.elapse(ms - scheduler.now());
      const expected = Array.from({ length: 50 }, (_, at) => 49 - at);
      const ageOf = (n: number) => `${n} ${n * 10 <= ms ? 'old' : 'new'}`;
      expect(ages.objects()).toEqual(expected.map(ageOf));
    }
    ages.subscription.unsubscribe();
  });

  it('Q52: undefined, a time not after now and Infinity need no timer; a deleted row is not due', () => {
    const scheduler = new VirtualTime();
    const world = new World();
    const times = [undefined, 0, -5, Number.NaN, Number.POSITIVE_INFINITY];
    const mirror = new Mirror(
      liveUntil<Item>(({ n }) => (n < 5 ? times[n] : n), { scheduler })(world.changes$),
    );
    world.commit([0, 1, 2, 3, 4].map((n) => set(`i${n}`, n)));
    expect([scheduler.pending, mirror.rows.size]).toEqual([0, 5]);
    world.commit([set('i0', 9), set('i1', 8)]);
    expect(scheduler.pending).toBe(1);
    world.commit([{ ...set('i0', 0), what: 'delete' }, set('i1', 0)]);
    expect(scheduler.pending).toBe(0);
  });

  it('Q52: a throw or a value that is no number keeps the row out; an ordered stream stays ordered', () => {
    const scheduler = new VirtualTime();
    const world = new World();
    world.reset([3, 1, 2].map((n) => ({ name: `i${n}`, n })));
    const sorted = liveSort<Item>((one, other) => one.n - other.n)(world.changes$);
    const timed = liveUntil<Item, RowOrder<Item>>(
      ({ n }) => {
        if (n === 2) throw new Error('no 2');
        return n === 4 ? (new Date(9) as never) : n * 10;
      },
      { scheduler },
    )(sorted);
    const view = toView(timed);
    view.subscribe(() => undefined);
    const mirror = new Mirror(timed);
    expect(mirror.objects().map(({ n }) => n)).toEqual([1, 3]);
    expect(mirror.sets[0]?.total).toBe(2);
    world.commit([set('i2', 0), set('i3', 4)]);
    expect(mirror.objects().map(({ n }) => n)).toEqual([0, 1]);
    expect(
      view.getSnapshot().status.refusedRows.map(({ error }) => (error as Error).message),
    ).toEqual([
      expect.stringMatching(
        /^liveUntil: what the function returned is .*; it must be milliseconds since the Unix epoch, or undefined$/,
      ),
    ]);
    scheduler.elapse(10);
    expect(mirror.sets.at(-1)?.cause).toBe('time');
    mirror.expectKeptOrders();
  });

  it('Q52: a row that is kept out because the function throws leaves with its new state', () => {
    // What no view shows is reported, after the test.
    config.onUnhandledError = () => undefined;
    const world = new World();
    world.reset([{ name: 'a', n: 1 }]);
    const timed = liveUntil<Item>(
      ({ n }) => {
        if (n === 2) throw new Error('no 2');
        return undefined;
      },
      { scheduler: new VirtualTime() },
    )(world.changes$);
    const mirror = new Mirror(timed);
    world.commit([set('a', 2)]);
    expect(mirror.sets.at(-1)?.deleted.map(({ object }) => object.n)).toEqual([2]);
  });

  it.each(Object.keys(CLOCKS))(
    'Q52: a row waits until the clock shows its time, if %s is set back',
    async (kind) => {
      clock = (CLOCKS[kind] as () => SettableClock)();
      const { scheduler, pass, set: move } = clock;
      const start = scheduler.now();
      const world = new World();
      world.reset([{ name: 'a', n: 1_000 }]);
      const timed = liveUntil<Item>(({ n }) => start + n, { scheduler })(world.changes$);
      const due = new Mirror(
        liveFilter<Item>(({ n }, nowMs) => nowMs >= start + n, { scheduler })(timed),
      );
      await pass(500);
      move(-60_000);
      await pass(60_000);
      expect(due.rows.size).toBe(0);
      await pass(500);
      expect(due.rows.size).toBe(1);
      due.subscription.unsubscribe();
    },
  );

  it.each(Object.keys(CLOCKS))(
    'Q52: a row is evaluated within a minute after its time has passed in a sleep of the machine (%s)',
    async (kind) => {
      clock = (CLOCKS[kind] as () => SettableClock)();
      const { scheduler, pass, set: move } = clock;
      const start = scheduler.now();
      const hourMs = 3_600_000;
      const world = new World();
      world.reset([{ name: 'a', n: hourMs }]);
      const timed = liveUntil<Item>(({ n }) => start + n, { scheduler })(world.changes$);
      const due = new Mirror(
        liveFilter<Item>(({ n }, nowMs) => nowMs >= start + n, { scheduler })(timed),
      );
      await pass(90_000);
      // Timers stand still meanwhile.
      move(8 * hourMs);
      await pass(60_000);
      expect(due.rows.size).toBe(1);
      due.subscription.unsubscribe();
    },
  );

  it('Q52: a time in many years needs few timers', () => {
    const scheduler = new VirtualTime();
    const timers = vi.spyOn(scheduler, 'schedule');
    const world = new World();
    const yearsMs = 100 * 365 * 86_400_000;
    world.reset([{ name: 'a', n: yearsMs }]);
    const timed = new Mirror(liveUntil<Item>(({ n }) => n, { scheduler })(world.changes$));
    scheduler.elapse(yearsMs);
    expect(timed.sets.map(({ cause }) => cause)).toEqual(['snapshot', 'time']);
    expect(timers.mock.calls.length).toBeLessThan(200_000);
  });

  it('Q52: a row whose timer is late is evaluated again, though a new function or a reset ignores its time', () => {
    for (const late of ['function', 'reset', 'both']) {
      const scheduler = new VirtualTime();
      const world = new World();
      world.reset([{ name: 'a', n: 5 }]);
      const timeOf = () => (object: Item) => object.n;
      const timeOf$ = new BehaviorSubject(timeOf());
      // Before the timer of the operator, which is due at the same time.
      scheduler.schedule(() => {
        if (late !== 'reset') timeOf$.next(timeOf());
        if (late !== 'function') world.reset([{ name: 'a', n: 5 }]);
      }, 5);
      const timed = liveUntil<Item>(timeOf$, { scheduler })(world.changes$);
      const due = new Mirror(liveFilter<Item>(({ n }, nowMs) => nowMs >= n, { scheduler })(timed));
      const start = due.rows.size;
      scheduler.elapse(5);
      expect([late, start, due.ids().length]).toEqual([late, 0, 1]);
    }
  });

  it('Q52: leaves no timer if the function unsubscribes', () => {
    const scheduler = new VirtualTime();
    const world = new World();
    const timed = liveUntil<Item>(
      () => {
        subscription.unsubscribe();
        return 1_000;
      },
      { scheduler },
    );
    const subscription = timed(world.changes$).subscribe();
    world.commit([set('a', 1)]);
    expect(scheduler.pending).toBe(0);
  });
});
