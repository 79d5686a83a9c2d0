import { allOf, type Demand, timeSlice, unlimited } from 'rx-informer';
import { EMPTY, of, Subject } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { VirtualTime } from './virtual-time.ts';

describe('a demand made of several', () => {
  it('X8: is open when all are', () => {
    expect(allOf()()).toBeNull();
    expect(allOf(unlimited, unlimited)()).toBeNull();
    expect(allOf(unlimited, () => of(0))()).not.toBeNull();
  });

  it('X8: opens once, when the last has opened, and asks those behind again', () => {
    const first = new Subject<void>();
    const second = new Subject<void>();
    let full = true;
    const demand = allOf(
      () => first,
      () => (full ? second : null),
    );
    const told: unknown[] = [];
    const wait = () =>
      demand()?.subscribe({ next: () => told.push('room'), complete: () => told.push('|') });
    wait();
    expect([first.observed, second.observed]).toEqual([true, false]);
    first.next();
    expect([first.observed, second.observed, told]).toEqual([false, true, []]);
    second.next();
    expect([second.observed, told]).toEqual([false, ['room', '|']]);
    full = false;
    wait();
    first.next();
    expect(told).toEqual(['room', '|', 'room', '|']);
  });

  it('X8: takes a completion as room', () => {
    const told: unknown[] = [];
    const demand = allOf(
      () => EMPTY,
      () => EMPTY,
    );
    demand()?.subscribe((value) => told.push(value));
    expect(told.length).toBe(1);
  });

  it('X8: lets go of all when nobody waits any more', () => {
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

  it('X8: does not ask those behind one that is closed', () => {
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

  it('X8: gives room for its budget, then asks for a turn, then anew', async () => {
    const { time, demand } = sliced();
    const asked: boolean[] = [];
    for (let ms = 0; ms < 20; ms++) {
      asked.push(demand() === null);
      time.jump(1);
    }
    // 8 ms of work, a turn, and 8 ms again from the first question after it.
    expect(asked.map((room, at) => (room ? -1 : at)).filter((at) => at >= 0)).toEqual([8, 17]);
  });

  it('X8: asks for a turn after one long piece of work too', () => {
    const { time, demand } = sliced();
    expect(demand()).toBeNull();
    time.jump(500);
    expect(demand()).not.toBeNull();
    time.jump(500);
    expect(demand()).toBeNull();
    time.jump(500);
    expect(demand()).not.toBeNull();
  });

  it('X8: takes a clock set back as a new slice', () => {
    const { time, demand } = sliced();
    time.jump(100);
    expect(demand()).toBeNull();
    time.jump(-50);
    expect(demand()).toBeNull();
  });

  it('X8: the turn is one action of the scheduler', async () => {
    const { time, demand } = sliced();
    demand();
    time.jump(8);
    const told: string[] = [];
    demand()?.subscribe({ next: () => told.push('room'), complete: () => told.push('|') });
    expect([told, time.pending]).toEqual([[], 1]);
    await time.advance(0);
    expect([told, time.pending]).toEqual([['room', '|'], 0]);
    time.jump(8);
    demand();
    time.jump(8);
    demand()?.subscribe().unsubscribe();
    expect(time.pending).toBe(0);
  });
});
