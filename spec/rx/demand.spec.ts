import { allOf, type Demand, timeSlice, unlimited } from 'rx-informer';
import { EMPTY, of, Subject } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { VirtualTime } from './virtual-time.ts';

describe('a combined demand', () => {
  it('X8: is open when all parts are open', () => {
    expect(allOf()()).toBeNull();
    expect(allOf(unlimited, unlimited)()).toBeNull();
    expect(allOf(unlimited, () => of(0))()).not.toBeNull();
  });

  it('X8: opens once, after the last part has opened, and asks the later parts again', () => {
    const first = new Subject<void>();
    const second = new Subject<void>();
    let full = true;
    const demand = allOf(
      () => first,
      () => (full ? second : null),
    );
    const received: unknown[] = [];
    const wait = () =>
      demand()?.subscribe({
        next: () => received.push('capacity'),
        complete: () => received.push('|'),
      });
    wait();
    expect([first.observed, second.observed]).toEqual([true, false]);
    first.next();
    expect([first.observed, second.observed, received]).toEqual([false, true, []]);
    second.next();
    expect([second.observed, received]).toEqual([false, ['capacity', '|']]);
    full = false;
    wait();
    first.next();
    expect(received).toEqual(['capacity', '|', 'capacity', '|']);
  });

  it('X8: treats a completion as capacity', () => {
    const received: unknown[] = [];
    const demand = allOf(
      () => EMPTY,
      () => EMPTY,
    );
    demand()?.subscribe((value) => received.push(value));
    expect(received.length).toBe(1);
  });

  it('X8: unsubscribes from its parts when it is unsubscribed', () => {
    const first = new Subject<void>();
    const second = new Subject<void>();
    const demand = allOf(
      () => first,
      () => second,
    );
    demand()?.subscribe().unsubscribe();
    const waiting = demand()?.subscribe();
    first.next();
    waiting?.unsubscribe();
    expect([first.observed, second.observed]).toEqual([false, false]);
  });

  it('X8: does not ask the parts behind a closed one', () => {
    const behind = vi.fn<Demand>(() => null);
    allOf(() => of(0), behind)();
    expect(behind).not.toHaveBeenCalled();
  });
});

describe('a time slice', () => {
  const sliced = () => {
    const time = new VirtualTime();
    return { time, demand: timeSlice({ budgetMs: 8, scheduler: time }) };
  };

  it('X8: is open for its budget, yields for one turn, then starts a new slice', async () => {
    const { time, demand } = sliced();
    const asked: boolean[] = [];
    for (let ms = 0; ms < 20; ms++) {
      asked.push(demand() === null);
      time.jump(1);
    }
    // 8 ms of work, one turn, and 8 ms again from the first call after it.
    expect(asked.map((wait, at) => (wait ? -1 : at)).filter((at) => at >= 0)).toEqual([8, 17]);
  });

  it('X8: also yields after one long piece of work', () => {
    const { time, demand } = sliced();
    expect(demand()).toBeNull();
    time.jump(500);
    expect(demand()).not.toBeNull();
    time.jump(500);
    expect(demand()).toBeNull();
    time.jump(500);
    expect(demand()).not.toBeNull();
  });

  it('X8: treats a clock that is set back as a new slice', () => {
    const { time, demand } = sliced();
    time.jump(100);
    expect(demand()).toBeNull();
    time.jump(-50);
    expect(demand()).toBeNull();
  });

  it('X8: yields for one action of the scheduler', async () => {
    const { time, demand } = sliced();
    demand();
    time.jump(8);
    const received: string[] = [];
    demand()?.subscribe({
      next: () => received.push('capacity'),
      complete: () => received.push('|'),
    });
    expect([received, time.pending]).toEqual([[], 1]);
    await time.advance(0);
    expect([received, time.pending]).toEqual([['capacity', '|'], 0]);
    time.jump(8);
    demand();
    time.jump(8);
    demand()?.subscribe().unsubscribe();
    expect(time.pending).toBe(0);
  });
});
