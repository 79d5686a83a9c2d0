/** How deeply nested a value may be that is sent to a tab. */

/**
 * The most levels of a value. A copy of a deeper one overflows the stack of a browser or of Node, from about 1,700 levels on, when it
 * is sent or when it is received, and then no row of the message arrives. An API server accepts 10,000.
 */
const MOST_LEVELS = 500;

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Whether a value has too many levels. Each part is read once, because parts may be shared or contain themselves. */
export function isTooDeep(value: unknown): boolean {
  let layer: readonly object[] = isNested(value) ? [value] : [];
  let seen: Set<object> | undefined;
  try {
    for (let level = 1; layer.length > 0; level++) {
      if (level > MOST_LEVELS) return true;
      const next: object[] = [];
      for (const each of layer) {
        for (const part of Object.values(each)) {
          if (!isNested(part)) continue;
          seen ??= new Set();
          if (seen.has(part)) continue;
          seen.add(part);
          next.push(part);
        }
      }
      layer = next;
    }
  } catch {
    // A getter that throws, which the copy reports.
  }
  return false;
}

/** The error of a value that has too many levels. `what` names it. */
export function tooDeep(what: string): RangeError {
  return new RangeError(
    `${what} cannot be sent to a tab, because it has more than ${MOST_LEVELS} levels of nested fields; select fields above them`,
  );
}
