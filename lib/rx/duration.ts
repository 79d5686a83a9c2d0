/** Durations that are given as options, in milliseconds. */

/** The duration as given. Throws a `TypeError` that names it if it is negative or not a number. */
export function checkedDuration(durationMs: number, name: string): number {
  if (typeof durationMs === 'number' && durationMs >= 0) return durationMs;
  throw new TypeError(`${name} is ${durationMs}; it must be 0 or more milliseconds`);
}
