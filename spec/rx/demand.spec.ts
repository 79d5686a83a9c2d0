import {
  allOf,
  type ChangeSet,
  conflateByKey,
  type Demand,
  timeSlice,
  unlimited,
} from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import { EMPTY, of, Subject, throwError, timer } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { reliable, untilOpen } from '../../lib/rx/demand.ts';
import { type Pod, pod } from '../delta/pods.ts';
import { VirtualTime } from './virtual-time.ts';

describe('a combined demand', () => {
  it('X8: is open when all parts are open', () => {
    expect(allOf()()).toBeNull();
    expect(allOf(unlimited, unlimited)()).toBeNull();
    expect(allOf(unlimited, () => of(0))()).not.toBeNull();
  });

  it('X8: signals when a part signals, and asks all parts again, in order', () => {
    const first = new Subject<void>();
    const second = new Subject<void>();
    const closed = { first: true, second: true };
    const demand = allOf(
      () => (closed.first ? first : null),
      () => (closed.second ? second : null),
    );
    const received: unknown[] = [];
    const wait = () =>
      demand()?.subscribe({
        next: () => received.push('signal'),
        complete: () => received.push('|'),
      });
    wait();
    expect([first.observed, second.observed]).toEqual([true, false]);
    closed.first = false;
    first.next();
    expect([first.observed, received.splice(0)]).toEqual([false, ['signal', '|']]);
    wait();
    expect([first.observed, second.observed]).toEqual([false, true]);
    closed.first = true;
    closed.second = false;
    second.next();
    expect(received.splice(0)).toEqual(['signal', '|']);
    wait();
    expect([first.observed, second.observed]).toEqual([true, false]);
    closed.first = false;
    first.next();
    expect(demand()).toBeNull();
  });

  it('X8: keeps the signal of a part that only knows signals until the other parts are open', () => {
    const time = new VirtualTime();
    let full = true;
    const drained = new Subject<void>();
    const demand = allOf(
      () => timer(200, time),
      () => (full ? drained : null),
    );
    demand()?.subscribe();
    time.elapse(200);
    demand()?.subscribe();
    expect(drained.observed).toBe(true);
    full = false;
    drained.next();
    expect(demand()).toBeNull();
    expect(demand()).not.toBeNull();
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
    demand()?.subscribe();
    first.next();
    demand()?.subscribe().unsubscribe();
    expect([first.observed, second.observed]).toEqual([false, false]);
  });

  it('X8: does not ask the parts behind a closed one', () => {
    const behind = vi.fn<Demand>(() => null);
    allOf(() => of(0), behind)();
    expect(behind).not.toHaveBeenCalled();
  });
});

/** Counts the steps of a consumer that always has work, in 1000 ms of virtual time. */
function steps(demandOf: (time: VirtualTime) => Demand) {
  const time = new VirtualTime();
  const source = new Subject<ChangeSet<Pod>>();
  let asked = 0;
  const demand = demandOf(time);
  const delivered: number[] = [];
  const ready = () => {
    asked++;
    return demand();
  };
  const subscription = source
    .pipe(conflateByKey({ ready }))
    .subscribe(() => delivered.push(time.now()));
  for (let ms = 0; ms < 1_000; ms += 10) {
    source.next(changeSet({ added: [pod(`p${ms}`, 1)] }));
    time.elapse(10);
  }
  subscription.unsubscribe();
  return { delivered, asked, pending: time.pending };
}

describe('a demand', () => {
  it('X8: is asked again after its signal, and stays closed while it returns another Observable', () => {
    let isOpen = true;
    const signal = new Subject<void>();
    const source = new Subject<ChangeSet<Pod>>();
    const seen: number[] = [];
    source
      .pipe(conflateByKey({ ready: () => (isOpen ? null : signal) }))
      .subscribe(({ changes }) => seen.push(changes.length));
    const send = (name: string) => source.next(changeSet({ added: [pod(name, 1)] }));
    const reopen = () => {
      isOpen = true;
      signal.next();
      isOpen = false;
    };
    send('a');
    isOpen = false;
    send('b');
    reopen();
    send('c');
    for (let times = 0; times < 3; times++) signal.next();
    send('d');
    expect(seen).toEqual([1, 1]);
    reopen();
    expect(seen).toEqual([1, 1, 2]);
  });

  it('X8: a demand that counts its answers is served exactly as often as it says', () => {
    const counting = (time: VirtualTime): Demand => {
      let last = Number.NEGATIVE_INFINITY;
      return () => {
        const left = last + 200 - time.now();
        if (left > 0) return timer(left, time);
        last = time.now();
        return null;
      };
    };
    expect(steps(counting).delivered).toEqual([0, 200, 400, 600, 800, 1_000]);
    expect(steps((time) => allOf(counting(time))).delivered).toEqual([
      0, 200, 400, 600, 800, 1_000,
    ]);
    expect(steps((time) => allOf(allOf(unlimited), counting(time))).delivered).toEqual([
      0, 200, 400, 600, 800, 1_000,
    ]);
  });

  it('X8: a demand that always returns an Observable is served once per signal', () => {
    const paced = steps((time) => () => timer(200, time));
    expect(paced).toEqual({ delivered: [200, 400, 600, 800, 1000], asked: 10, pending: 0 });
    expect(steps((time) => allOf(() => timer(200, time))).delivered).toEqual(paced.delivered);
    let first = true;
    const thenPaced = (time: VirtualTime) => () => {
      if (!first) return timer(300, time);
      first = false;
      return null;
    };
    expect(steps(thenPaced).delivered).toEqual([0, 310, 610, 910]);
  });

  it('X8: a signal within `subscribe` counts as `null`, so nothing spins', () => {
    let times = 0;
    expect(steps(() => () => of(0)).delivered).toHaveLength(100);
    // It has shown that it can return `null` after a signal.
    const mixed = steps(
      (time) => () => (times++ === 1 ? null : times === 1 ? timer(5, time) : of(0)),
    );
    expect(mixed.delivered).toHaveLength(100);
  });

  it('X8: a transport and a watch that waits also ask again', async () => {
    const door = new Subject<void>();
    const answers = [door, null, door, door, null];
    const opened: number[] = [];
    const capacity = untilOpen(() => answers.shift() ?? null);
    capacity()?.subscribe({ complete: () => opened.push(answers.length) });
    door.next();
    capacity()?.subscribe({ complete: () => opened.push(answers.length) });
    door.next();
    door.next();
    expect(opened).toEqual([3, 0]);
    const failing = untilOpen(() => {
      if (opened.length < 3) return door;
      throw new Error('boom');
    });
    let failure: unknown;
    failing()?.subscribe({ error: (error) => (failure = error) });
    opened.push(0);
    door.next();
    expect(failure).toEqual(new Error('boom'));
  });

  it('R22: a demand that throws or errors is reported and counts as open', () => {
    const reported: unknown[] = [];
    let asked = 0;
    const broken = () => {
      asked++;
      if (asked % 2 === 0) throw 'thrown';
      return throwError(() => 'errored');
    };
    const capacity = untilOpen(reliable(broken, (error) => reported.push(error)));
    let opened = 0;
    for (let times = 0; times < 4; times++) {
      const wait = capacity();
      if (wait === null) opened++;
      else wait.subscribe({ complete: () => opened++ });
    }
    expect([opened, asked, reported]).toEqual([4, 4, ['errored', 'thrown', 'errored', 'thrown']]);
  });
});

describe('a time slice', () => {
  const sliced = () => {
    const time = new VirtualTime();
    return { time, demand: timeSlice({ budgetMs: 8, scheduler: time }) };
  };

  it('X8, X23: is open for its budget, yields for one turn, then starts a new slice', async () => {
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
