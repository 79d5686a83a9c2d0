/** Calls a function at an even rate, whatever the resolution of the timer. */

export interface Pace {
  /** Calls per second. */
  rate: number;
  stop(): void;
}

const TICK_MS = 20;
/** After a pause of the process, at most this much time is caught up on, in milliseconds. */
const MOST_BEHIND_MS = 200;

/** Starts immediately. */
export function createPace(act: () => void, rate: number): Pace {
  let owed = 0;
  let last = performance.now();
  const pace = { rate, stop: () => clearInterval(timer) };
  const timer = setInterval(() => {
    const now = performance.now();
    owed += (Math.min(now - last, MOST_BEHIND_MS) * pace.rate) / 1000;
    last = now;
    for (; owed >= 1; owed--) act();
  }, TICK_MS);
  return pace;
}
