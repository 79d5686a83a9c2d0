/** Does something so many times a second, evenly, whatever the timer's own pace. */

/** A pace that can be changed and stopped. */
export interface Pace {
  /** Times a second. */
  rate: number;
  stop(): void;
}

const BEAT_MS = 20;
/** After a standstill of the process, no more than this is made up for. */
const MOST_BEHIND_MS = 200;

/** Starts at once. */
export function createPace(act: () => void, rate: number): Pace {
  let owed = 0;
  let last = performance.now();
  const pace = { rate, stop: () => clearInterval(timer) };
  const timer = setInterval(() => {
    const now = performance.now();
    owed += (Math.min(now - last, MOST_BEHIND_MS) * pace.rate) / 1000;
    last = now;
    for (; owed >= 1; owed--) act();
  }, BEAT_MS);
  return pace;
}
