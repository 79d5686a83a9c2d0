/**
 * Finds what JSON would lose or change: messages are JSON, so that every port can carry them, and a row means the same on both
 * sides.
 */

/**
 * The most levels of a value. A copy of a deeper one overflows the stack of a browser or of Node, from about 1,700 levels on, when it
 * is sent or when it is received, and then no row of the message arrives. An API server accepts 10,000.
 */
const MOST_LEVELS = 500;

const TOO_DEEP = 'nested over 500 levels deep';

/** What JSON loses or changes, such as `a Date` or `NaN`, and the names that lead to it. */
type LostPart = readonly [what: string, ...path: string[]];

/** The first part of a value that JSON would lose or change; `undefined` if there is none. A value that contains itself is nested too deep. */
export function lostPart(value: unknown, level = 1, inList = false): LostPart | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : [String(value)];
  // JSON leaves it out of an object.
  if (value === undefined) return inList ? ['undefined'] : undefined;
  if (typeof value === 'function') return ['a function'];
  const isList = Array.isArray(value);
  const type = Object.prototype.toString.call(value).slice(8, -1);
  try {
    const { toJSON } = value as { readonly toJSON?: unknown };
    if (!isList && (type !== 'Object' || typeof toJSON === 'function')) return [`a ${type}`];
    if (level > MOST_LEVELS) return [TOO_DEEP];
    for (const [name, part] of Object.entries(isList ? [...value] : value)) {
      const lost = lostPart(part, level + 1, isList);
      if (lost !== undefined) return [lost[0], name, ...lost.slice(1)];
    }
  } catch {
    return ['a getter that throws'];
  }
  return undefined;
}

/**
 * Why no message can carry a value; `undefined` if one can. `what` names the value, `most` limits the characters of its JSON, and
 * `measured` receives how many those of a limited one are.
 */
export function unsendable(
  what: () => string,
  value: unknown,
  most: number = Number.POSITIVE_INFINITY,
  measured?: (length: number) => void,
): Error | undefined {
  const lost = lostPart(value);
  if (lost === undefined) {
    if (most === Number.POSITIVE_INFINITY) return undefined;
    const { length } = JSON.stringify(value) ?? '';
    measured?.(length);
    if (length <= most) return undefined;
    return new RangeError(
      `${what()} cannot be sent, because its JSON has ${length} characters, and a row may have ${most}; select some of its fields`,
    );
  }
  const [lostType, ...path] = lost;
  if (lostType === TOO_DEEP) {
    return new RangeError(
      `${what()} cannot be sent, because it is ${TOO_DEEP}; select fields above these levels`,
    );
  }
  return new TypeError(
    `${what()} cannot be sent, because ${path.join('.') || 'it'} is ${lostType}; select data of JSON`,
  );
}
