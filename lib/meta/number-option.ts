/**
 * Numbers that somebody gives as options, looked at when they are given: NaN is neither more nor less than anything, so
 * that a limit of NaN would be none, and a wait of NaN none either.
 */

/** What an option may be. */
export interface NumberRange {
  readonly min: number;
  /** Counts something: whole numbers, and Infinity. */
  readonly whole?: boolean;
  /** Goes to a server: whole numbers that it can read, which Infinity is not. */
  readonly sent?: boolean;
}

function isWithin(value: unknown, { min, whole = false, sent = false }: NumberRange): boolean {
  if (typeof value !== 'number' || !(value >= min)) return false;
  if (Number.isSafeInteger(value)) return true;
  return value === Number.POSITIVE_INFINITY ? !sent : !sent && !whole;
}

/** Throws a `TypeError` that names the option, unless the value is left out or in its range. */
export function checkNumber(who: string, name: string, value: unknown, range: NumberRange): void {
  if (value === undefined || isWithin(value, range)) return;
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
  const { min, whole = false, sent = false } = range;
  const what = whole || sent ? 'whole number' : 'number';
  const least = min === Number.NEGATIVE_INFINITY ? '' : ` of at least ${min}`;
  throw new TypeError(`${who}: ${name} is ${shown}; it must be a ${what}${least}`);
}
