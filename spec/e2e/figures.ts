/** Prints the measured figures of a run, which docs/internals/reliability.md quotes. */

/** Prints one line of figures. */
export function figures(disaster: string, measured: Readonly<Record<string, unknown>>): void {
  const words = Object.entries(measured).map(([name, value]) => {
    const shown = typeof value === 'number' ? Math.round(value * 10) / 10 : value;
    return `${name} ${shown}`;
  });
  process.stdout.write(`figures: ${disaster}: ${words.join(', ')}\n`);
}
