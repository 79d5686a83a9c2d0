import { exponentialBackoff } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import {
  asyncScheduler,
  config,
  NEVER,
  Observable,
  type SchedulerAction,
  type SchedulerLike,
  Subject,
  type Subscription,
} from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { Drain } from '../../lib/rx/drain.ts';
import { gather } from '../../lib/rx/gather.ts';
import { idleTimeout } from '../../lib/rx/idle-timeout.ts';
import { longTimer, looseTimer } from '../../lib/rx/long-timer.ts';
import { lease } from '../../lib/rx/sharing/lease.ts';
import { timingOf } from '../../lib/rx/timing.ts';
import { allReported } from '../support/errors.ts';
import * as fc from '../support/fast-check.ts';
import { VirtualTime } from './virtual-time.ts';

describe('a lease', () => {
  it('I70: reports the end of its run even if the run throws while it is unsubscribed', async () => {
    const reported: unknown[] = [];
    config.onUnhandledError = (error) => reported.push(error);
    const log: string[] = [];
    const run = new Observable(() => () => {
      throw new Error('teardown');
    });
    const shared = lease(run, {
      lingerMs: 0,
      scheduler: new VirtualTime(),
      drain: new Drain(),
      onStart: () => log.push('start'),
      onEnd: (why) => log.push(why),
    });
    shared.acquire()();
    shared.acquire();
    shared.end();
    await allReported();
    config.onUnhandledError = null;
    expect(log).toEqual(['start', 'linger', 'start', 'ended']);
    expect(reported).toHaveLength(2);
  });

  it('I5: reports a run that completes, also while it starts', () => {
    marbles(({ cold, scheduler, flush }) => {
      for (const frames of ['--|', '|']) {
        const log: string[] = [];
        const shared = lease(cold(frames), {
          lingerMs: 5,
          scheduler,
          drain: new Drain(),
          onStart: () => log.push('start'),
          onEnd: (why) => log.push(why),
        });
        const release = shared.acquire();
        flush();
        release();
        expect([log, shared.active]).toEqual([['start', 'complete'], false]);
      }
    });
  });
});

describe('the backoff', () => {
  it('X4: doubles from 800 ms to 30 s', () => {
    const backoff = exponentialBackoff();
    const waits = [0, 1, 2, 3, 4, 5, 6, 7].map((attempt) => backoff(attempt, 0));
    expect(waits).toEqual([800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
  });

  it('X4: adds up to the same time again, never decreases, and accepts attempt numbers of any size', () => {
    const backoff = exponentialBackoff();
    const anAttempt = fc.oneof(fc.nat(50), fc.nat(), fc.constant(Number.MAX_SAFE_INTEGER));
    fc.assert(
      fc.property(
        anAttempt,
        fc.double({ min: 0, max: 0.999_999, noNaN: true }),
        (attempt, random) => {
          const least = backoff(attempt, 0);
          const wait = backoff(attempt, random);
          expect(Number.isInteger(wait)).toBe(true);
          expect(wait).toBeGreaterThanOrEqual(least);
          expect(wait).toBeLessThanOrEqual(2 * least);
          expect(backoff(attempt + 1, random)).toBeGreaterThanOrEqual(wait);
        },
      ),
    );
  });

  it('X4: accepts other parameters', () => {
    const backoff = exponentialBackoff({ baseMs: 10, factor: 3, capMs: 50, jitter: 0 });
    expect([0, 1, 2, 2_000].map((attempt) => backoff(attempt, 0.9))).toEqual([10, 30, 50, 50]);
    expect(exponentialBackoff({ baseMs: 0 })(2_000, 0.5)).toBe(0);
  });

  it('X4: uses the default scheduler and random source', () => {
    expect(timingOf({})).toEqual({ scheduler: asyncScheduler, random: Math.random });
  });
});

describe('a long timer', () => {
  const DAY = 86_400_000;

  it.each([0, 1, 2 ** 31 - 2, 2 ** 31 - 1, 2 ** 31, 30 * DAY, 365 * DAY])(
    'X5: waits %i ms with timers of at most 2^31 - 1 ms',
    async (delayMs) => {
      const time = new VirtualTime();
      const asked: number[] = [];
      const schedule = time.schedule.bind(time) as SchedulerLike['schedule'];
      time.schedule = ((work, delay = 0, state) => {
        asked.push(delay);
        return schedule(work as never, delay, state as never);
      }) as SchedulerLike['schedule'];
      const received: unknown[] = [];
      longTimer(delayMs, time).subscribe({
        next: (value) => received.push([value, time.now()]),
        complete: () => received.push('|'),
      });
      await time.advance(delayMs - 1);
      if (delayMs > 0) expect(received).toEqual([]);
      await time.advance(2);
      expect(received).toEqual([[0, delayMs], '|']);
      expect(Math.max(...asked)).toBeLessThan(2 ** 31);
    },
  );

  it.each([0, 2 ** 31 - 1, 2 ** 31, 30 * DAY, 365 * DAY])(
    'X5: one that keeps no process alive waits %i ms, too, and unsubscribing cancels it',
    async (delayMs) => {
      const time = new VirtualTime();
      const fired: number[] = [];
      looseTimer(delayMs, time, () => fired.push(time.now()));
      const left = looseTimer(delayMs + 1, time, () => fired.push(-1));
      if (delayMs > 0) await time.advance(delayMs - 1);
      expect(fired).toEqual([]);
      left.unsubscribe();
      await time.advance(5);
      expect([fired, time.pending]).toEqual([[delayMs], 0]);
      looseTimer(Number.POSITIVE_INFINITY, time, () => fired.push(-1));
      expect(time.pending).toBe(0);
    },
  );

  it('X5: fires immediately after a negative delay, and unsubscribing cancels it', async () => {
    const time = new VirtualTime();
    const received: unknown[] = [];
    longTimer(-5, time).subscribe((value) => received.push(value));
    longTimer(40 * DAY, time)
      .subscribe((value) => received.push(value))
      .unsubscribe();
    expect(time.pending).toBe(1);
    await time.advance(1);
    expect([received, time.pending]).toEqual([[0], 0]);
  });
});

describe('an idle timeout', () => {
  interface Given {
    readonly limitMs?: number;
    readonly waitingMs?: () => number | undefined;
    readonly pauseLimitMs?: number;
    readonly isQueued?: (value: string) => boolean;
  }
  const watchdog = (scheduler: SchedulerLike, given: Given = {}) =>
    idleTimeout<string>({
      scheduler,
      limitMs: () => given.limitMs ?? 30,
      waitingMs: given.waitingMs ?? (() => undefined),
      pauseLimitMs: given.pauseLimitMs ?? 100,
      checkMs: 10,
      isQueued: given.isQueued ?? (() => false),
      error: (reason, idleMs) => new Error(`${reason} ${idleMs}`),
    });

  it('X6: passes all values through, and errors when the source is silent for the limit', () => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const source = cold('a 19ms b 49ms c');
      expectObservable(source.pipe(watchdog(scheduler))).toBe(
        'a 19ms b 29ms #',
        undefined,
        new Error('silence 30'),
      );
      expectObservable(cold('-a|').pipe(watchdog(scheduler))).toBe('-a|');
      expectObservable(cold('-a#').pipe(watchdog(scheduler))).toBe('-a#');
    });
  });

  it('X6: does not count time without an outstanding read', () => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const now = () => scheduler.now();
      const waitingMs = () => (now() >= 20 && now() < 80 ? now() - 20 : undefined);
      const source = cold('a').pipe(watchdog(scheduler, { waitingMs }));
      // 20 ms of silence before the pause, and the remaining 10 ms after it.
      expectObservable(source).toBe('a 89ms #', undefined, new Error('silence 30'));
    });
  });

  it('X6: a pause that begins with a value does not prolong the limit', () => {
    marbles(({ cold, expectObservable, scheduler }) => {
      // A reader pauses for a turn after each value; the check at 20 ms falls into that turn.
      const waitingMs = () => (scheduler.now() === 20 ? 0 : undefined);
      const source = cold('a 19ms b').pipe(watchdog(scheduler, { waitingMs }));
      expectObservable(source).toBe('a 19ms b 29ms #', undefined, new Error('silence 30'));
    });
  });

  it('X6: limits the pause of the reader', () => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const waitingMs = () => (scheduler.now() >= 20 ? scheduler.now() - 20 : undefined);
      const source = cold('a').pipe(watchdog(scheduler, { waitingMs, pauseLimitMs: 50 }));
      expectObservable(source).toBe('a 69ms #', undefined, new Error('pause 50'));
    });
  });

  it('X6: does not count time before the request was sent', () => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const isQueued = (value: string) => value === 'q';
      const source = cold('q 199ms s').pipe(watchdog(scheduler, { isQueued }));
      expectObservable(source).toBe('q 199ms s 29ms #', undefined, new Error('silence 30'));
    });
  });

  it('X6: counts a forward jump of the clock as silence, and ignores a clock that is set back', async () => {
    const jumping = async (ms: number) => {
      const time = new VirtualTime();
      const errors: string[] = [];
      const run = NEVER.pipe(watchdog(time, { limitMs: 86_400_000 })).subscribe({
        error: (error: Error) => errors.push(error.message),
      });
      await time.advance(5_000);
      time.jump(ms);
      await time.advance(6_000);
      run.unsubscribe();
      expect(time.pending).toBe(0);
      return errors;
    };
    expect(await jumping(3_600_000)).toEqual(['clock-jump 3605000']);
    expect(await jumping(15_000)).toEqual([]);
    expect(await jumping(-4_000)).toEqual([]);
  });

  it('X6: treats a value after a jump as proof that the connection is alive', async () => {
    const time = new VirtualTime();
    const errors: string[] = [];
    const source = new Subject<string>();
    const subscription = source.pipe(watchdog(time, { limitMs: 100_000 })).subscribe({
      error: (error: Error) => errors.push(error.message),
    });
    await time.advance(5);
    time.jump(60_000);
    source.next('a');
    await time.advance(1_000);
    expect(errors).toEqual([]);
    subscription.unsubscribe();
    expect(time.pending).toBe(0);
  });

  it('X6: keeps only one timer, for any duration', async () => {
    const time = new VirtualTime();
    const made: Subscription[] = [];
    const schedule = time.schedule.bind(time) as SchedulerLike['schedule'];
    time.schedule = (<T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: number) => {
      const action = schedule(work as never, delay);
      made.push(action);
      return action;
    }) as SchedulerLike['schedule'];
    const subscription = NEVER.pipe(watchdog(time, { limitMs: 1e9 })).subscribe();
    await time.advance(10_000);
    expect(made.length).toBe(1_001);
    expect(made.filter(({ closed }) => !closed).length).toBe(1);
    subscription.unsubscribe();
    expect(made.filter(({ closed }) => !closed)).toEqual([]);
  });
});

describe('gather', () => {
  it('X7: passes the first value after an idle turn on, and gathers the others until the event loop turns', () => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const values: Record<string, number[]> = { a: [1], b: [2], c: [], d: [3], e: [4] };
      expectObservable(cold('(cabcd)---c--(ed)|', values).pipe(gather(scheduler))).toBe(
        '(ax)---------(ed)|',
        { a: [1], x: [2, 3], e: [4], d: [3] },
      );
    });
  });

  it('X7: emits held values before an error and before the completion', () => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const values = { a: [1], b: [2], c: [3] };
      const held = { a: [1], x: [2, 3] };
      expectObservable(cold('(abc|)', values).pipe(gather(scheduler))).toBe('(ax|)', held);
      expectObservable(cold('(abc#)', values).pipe(gather(scheduler))).toBe('(ax#)', held);
    });
  });

  it('X7: after a batch the next values wait, too, until nothing arrived in a turn', async () => {
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const received: (readonly number[])[] = [];
    const source = new Subject<readonly number[]>();
    source.pipe(gather(asyncScheduler)).subscribe((value) => received.push(value));
    for (const values of [[1], [2]]) source.next(values);
    await turn();
    for (const values of [[3], [4]]) source.next(values);
    expect(received).toEqual([[1], [2]]);
    await turn();
    expect(received).toEqual([[1], [2], [3, 4]]);
    await turn();
    source.next([5]);
    expect(received).toEqual([[1], [2], [3, 4], [5]]);
  });

  it('X7: values that the subscriber causes come after the value that it handles', () => {
    const time = new VirtualTime();
    const received: (readonly number[])[] = [];
    const source = new Subject<readonly number[]>();
    source.pipe(gather(time)).subscribe((values) => {
      if (values[0] === 1) source.next([2]);
      received.push(values);
    });
    source.next([1]);
    expect(received).toEqual([[1]]);
    source.complete();
    expect(received).toEqual([[1], [2]]);
  });

  it('X7: drops held values when it is unsubscribed', () => {
    const time = new VirtualTime();
    const received: unknown[] = [];
    const source = new Subject<readonly number[]>();
    const run = source.pipe(gather(time)).subscribe((value) => received.push(value));
    source.next([1]);
    source.next([2]);
    run.unsubscribe();
    expect([received, time.pending]).toEqual([[[1]], 0]);
  });

  it('X7: waits for one turn of the real event loop, without a timer', async () => {
    const timeouts = vi.spyOn(globalThis, 'setTimeout');
    const source = new Subject<readonly number[]>();
    const received: (readonly number[])[] = [];
    source.pipe(gather(asyncScheduler)).subscribe((value) => received.push(value));
    source.next([1]);
    source.next([2]);
    await Promise.resolve();
    source.next([3]);
    expect(received).toEqual([[1]]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(received).toEqual([[1], [2, 3]]);
    expect(timeouts).not.toHaveBeenCalled();
    timeouts.mockRestore();
  });
});
