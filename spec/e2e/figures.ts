/** Measures a run, and prints its figures, which docs/internals/reliability.md quotes. */

/** A stopwatch in seconds, on the monotonic clock. */
export function stopwatch(): () => number {
  const startedMs = performance.now();
  return () => (performance.now() - startedMs) / 1000;
}

/** Prints one line of figures. */
export function figures(disaster: string, measured: Readonly<Record<string, unknown>>): void {
  const words = Object.entries(measured).map(([name, value]) => {
    const shown = typeof value === 'number' ? Math.round(value * 10) / 10 : value;
    return `${name} ${shown}`;
  });
  process.stdout.write(`figures: ${disaster}: ${words.join(', ')}\n`);
}
