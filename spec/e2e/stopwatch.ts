/** Measures for the nightly tests. */

/** A stopwatch in seconds, on the monotonic clock. */
export function stopwatch(): () => number {
  const startedMs = performance.now();
  return () => (performance.now() - startedMs) / 1000;
}
