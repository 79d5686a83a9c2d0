/** The virtual time of `rx-informer/testing`, as a scheduler, with clocks that move without promises or without timers. */
import { createVirtualTime } from 'rx-informer/testing';
import type { VirtualTimeScheduler } from 'rxjs';

interface VirtualClock extends VirtualTimeScheduler {
  readonly pending: number;
  advance(ms: number): Promise<void>;
  runNext(until: number): boolean;
}

/** The class of the public scheduler, so that the same specs run on the packed library. */
const PublicClock = createVirtualTime().scheduler.constructor as new () => VirtualClock;

/** Lets virtual time pass until the promise has settled, or until the check neither throws nor returns `false`. */
export async function passUntil<R>(
  pass: (ms: number) => Promise<void>,
  wanted: Promise<R> | (() => R),
): Promise<R> {
  if (wanted instanceof Promise) {
    let open = true;
    const close = () => {
      open = false;
    };
    wanted.then(close, close);
    await passUntil(pass, () => !open);
    return wanted;
  }
  for (let step = 0; ; step++) {
    await pass(step < 1_000 ? 1 : 100);
    try {
      const result = wanted();
      if (result !== false) return result;
      if (step === 10_000) throw new Error(`it never happened: ${wanted}`);
    } catch (error) {
      if (step === 10_000) throw error;
    }
  }
}

export class VirtualTime extends PublicClock {
  /** As `advance`, but synchronously, for code without promises. */
  elapse(ms: number): void {
    const until = this.frame + ms;
    while (this.runNext(until));
    this.frame = until;
  }

  /** Lets time pass until the promise has settled, or until the check neither throws nor returns `false`. */
  until<R>(wanted: Promise<R> | (() => R)): Promise<R> {
    return passUntil((ms) => this.advance(ms), wanted);
  }

  /** Moves only the clock, as after a sleep: due actions run late. */
  jump(ms: number): void {
    this.frame += ms;
  }
}
