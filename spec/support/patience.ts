/**
 * The only module of the tests that waits in real time. It waits until a condition holds and judges nothing by a clock: its limit
 * is one that only a hang reaches, on any machine and beside any other work.
 */

/** What only a hang reaches, in milliseconds. For limits of browsers, processes and connections, too. */
export const HANG_MS = 5 * 60_000;

/** The limit of a test or a hook: longer than that of a wait, so that the wait says what did not happen. */
export const TEST_HANG_MS = HANG_MS + 60_000;

/** Kept, because a test may replace the timers by its own. */
const { setTimeout: startTimer, performance: clock } = globalThis;

/**
 * Resolves with the result of `check` as soon as it neither throws, rejects nor returns `false`.
 *
 * @throws what `check` threw last, or an error that names `what`, when it hangs.
 */
export async function eventually<R>(check: () => R | Promise<R>, what?: string): Promise<R> {
  const endMs = clock.now() + HANG_MS;
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    let failure: unknown;
    try {
      const result = await check();
      if (result !== false) return result;
    } catch (error) {
      failure = error;
    }
    if (clock.now() > endMs) throw failure ?? new Error(`it never happened: ${what ?? check}`);
    await new Promise<void>((resolve) => startTimer(resolve, pauseMs));
  }
}

/** Lets others work for a moment, so that a load is not as fast as the machine. No verdict may depend on how long it lasts. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => startTimer(resolve, 20));
}
