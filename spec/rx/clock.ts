/** Clocks that a test sets while timers run: the clock of a scheduler, and the clock of the system. */
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { vi } from 'vitest';
import { VirtualTime } from './virtual-time.ts';

/** A scheduler with a separate clock, which may be ahead, be set, stand still, or run faster or slower than `base`. */
export class Clock implements SchedulerLike {
  readonly #base: SchedulerLike;
  readonly #rate: number;
  #aheadMs: number;
  #stoodMs: number | undefined;

  constructor(base: SchedulerLike, aheadMs = 0, rate = 1) {
    this.#base = base;
    this.#aheadMs = aheadMs;
    this.#rate = rate;
  }

  set(byMs: number): void {
    this.#aheadMs += byMs;
  }

  /** From now on the clock stands still. Timers go on. */
  halt(): void {
    this.#stoodMs = this.#base.now();
  }

  now(): number {
    return (this.#stoodMs ?? this.#base.now()) * this.#rate + this.#aheadMs;
  }

  schedule: SchedulerLike['schedule'] = (work, delay = 0, state) =>
    this.#base.schedule(work, delay / this.#rate, state as never);
}

/** Time that a test controls, and a clock that it sets. */
export interface SettableClock {
  readonly scheduler: SchedulerLike;
  /** Lets time pass: timers fire and the clock advances. */
  pass(ms: number): Promise<void>;
  /** Sets the clock by `byMs`; no time passes. */
  set(byMs: number): void;
  restore(): void;
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Creates a settable clock: the system clock under rxjs's own scheduler, or the clock of a user's scheduler. */
export const CLOCKS: Record<string, () => SettableClock> = {
  'the clock of the system': () => {
    vi.useFakeTimers({
      toFake: ['Date', 'performance', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'],
    });
    return {
      scheduler: asyncScheduler,
      async pass(ms) {
        await settle();
        await vi.advanceTimersByTimeAsync(ms);
        await settle();
      },
      set: (byMs) => vi.setSystemTime(asyncScheduler.now() + byMs),
      restore: () => vi.useRealTimers(),
    };
  },
  'the clock of a scheduler': () => {
    const time = new VirtualTime();
    const clock = new Clock(time, 1e12);
    return {
      scheduler: clock,
      async pass(ms) {
        await time.advance(ms);
        await settle();
      },
      set: (byMs) => clock.set(byMs),
      restore: () => undefined,
    };
  },
};
