/**
 * Parses quantities such as `100m` and `1.5Gi`. The amount is a bigint, because amounts of memory exceed 2^53 and tenths
 * of a core have no exact `number`. client-go: apimachinery/pkg/api/resource (quantity.go, suffix.go).
 */

/** The amount of a quantity. Two amounts are compared by their `nanos`, which is exact. */
export interface ParsedQuantity {
  /** The exact amount in units of 1e-9, the smallest that the API server keeps. */
  readonly nanos: bigint;
  /** The number nearest to the amount: cores of CPU, bytes of memory. It is exact for integers up to 2^53. */
  readonly value: number;
  /** Thousandths of the amount, rounded away from 0 to an integer as kubectl shows CPU: millicores. */
  readonly milli: number;
}

const DECIMAL_SUFFIXES: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY_SUFFIXES: Readonly<Record<string, number>> = {
  Ki: 10,
  Mi: 20,
  Gi: 30,
  Ti: 40,
  Pi: 50,
  Ei: 60,
};

const FORM = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([a-zA-Z]*)(?:(?<=[eE])([+-]?[0-9]+))?$/;
const NANO_DIGITS = 9;
const NANOS = 1_000_000_000n;
const NANOS_A_MILLI = 1_000_000n;
/** 2^63 - 1, which caps amounts with a binary suffix. */
const MOST_BINARY = 9_223_372_036_854_775_807_000_000_000n;
/** The largest number of digits before the decimal point. No `number` has more. */
const MOST_DIGITS = 309;

class ExactQuantity implements ParsedQuantity {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }

  get value(): number {
    const whole = this.nanos / NANOS;
    const rest = this.nanos % NANOS;
    if (rest === 0n) return Number(whole);
    // Read as decimal text, which is rounded once.
    return Number(`${this.nanos}e-9`);
  }

  get milli(): number {
    return Number(divideAwayFromZero(this.nanos, NANOS_A_MILLI));
  }
}

/** The quantity of an exact amount in units of 1e-9, such as a sum of other quantities' `nanos`. */
export function quantityOfNanos(nanos: bigint): ParsedQuantity {
  return new ExactQuantity(nanos);
}

/** The results of earlier calls: objects repeat few texts many times. */
const parsed = /* @__PURE__ */ new Map<string, ParsedQuantity>();
const MOST_PARSED = 1000;
/** A longer text is no quantity of a server, and its digits would take a time that grows with their square. */
const LONGEST = 1_000;
const LONGEST_KEPT = 32;

/**
 * Parses a quantity as the API server does: a decimal number with a suffix `n`, `u`, `m`, `k`, `M`, `G`, `T`, `P`, `E`,
 * `Ki`, `Mi`, `Gi`, `Ti`, `Pi` or `Ei`, or with an exponent such as `e3`. The amount is exact down to 1e-9; a smaller rest
 * is rounded away from 0, so that what asks for something is never 0. Amounts with a binary suffix are capped at 2^63 - 1.
 * A JSON number is taken as its text.
 *
 * Throws a `TypeError` if the text is not a quantity, has no digits, or has more than 309 digits before the decimal
 * point.
 *
 * @example
 * ```ts
 * import { parseQuantity } from 'rx-informer';
 *
 * parseQuantity('1.5Gi').value; // => 1610612736
 * parseQuantity('100m').value; // => 0.1
 * parseQuantity('100m').milli; // => 100
 * parseQuantity('0.1').nanos === parseQuantity('100m').nanos; // => true
 * ```
 */
export function parseQuantity(text: string | number): ParsedQuantity {
  const form = typeof text === 'number' ? String(text) : text;
  if (typeof form !== 'string') refuse(text, 'it must be text or a number');
  if (form.length > LONGEST) refuse(text, `it has more than ${LONGEST} characters`);
  const known = parsed.get(form);
  if (known !== undefined) return known;
  const quantity = new ExactQuantity(nanosOf(form));
  if (form.length > LONGEST_KEPT) return quantity;
  if (parsed.size >= MOST_PARSED) parsed.clear();
  parsed.set(form, quantity);
  return quantity;
}

function nanosOf(text: string): bigint {
  const match = FORM.exec(text);
  if (match === null) refuse(text, 'it must be a number with a suffix, such as 100m or 1.5Gi');
  const [, sign, whole = '', fraction = '', letters = '', exponent] = match;
  if (whole === '' && fraction === '') refuse(text, 'it has no digits');
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const binary = ownValue(BINARY_SUFFIXES, letters);
  let amount: bigint;
  if (binary === undefined) {
    const power = powerOf(text, letters, exponent);
    amount = scaled(text, digits, power - fraction.length);
  } else {
    if (exponent !== undefined) refuse(text, 'it has a suffix and an exponent');
    amount = scaled(text, digits, -fraction.length, 2n ** BigInt(binary));
    if (amount > MOST_BINARY) amount = MOST_BINARY;
  }
  return sign === '-' ? -amount : amount;
}

/** The value of a name that the record itself has; text such as `constructor` is not one. */
function ownValue(record: Readonly<Record<string, number>>, name: string): number | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** The power of ten of a decimal suffix or exponent. */
function powerOf(text: string, letters: string, exponent: string | undefined): number {
  if (exponent !== undefined) {
    if (letters.length === 1) return Number(exponent);
  } else {
    const power = ownValue(DECIMAL_SUFFIXES, letters);
    if (power !== undefined) return power;
  }
  return refuse(text, `it has no suffix '${letters}${exponent ?? ''}'`);
}

/** Digits × 10^power × factor in units of 1e-9, rounded away from 0. */
function scaled(text: string, digits: string, power: number, factor = 1n): bigint {
  if (digits === '') return 0n;
  if (digits.length + power > MOST_DIGITS) refuse(text, 'it is too large');
  const nanoPower = power + NANO_DIGITS;
  // Not computed if it is far below 1e-9, because the exponent may be of any size.
  if (digits.length + nanoPower < -30) return 1n;
  const product = BigInt(digits) * factor;
  if (nanoPower >= 0) return product * 10n ** BigInt(nanoPower);
  return divideAwayFromZero(product, 10n ** BigInt(-nanoPower));
}

function divideAwayFromZero(amount: bigint, by: bigint): bigint {
  const quotient = amount / by;
  if (quotient * by === amount) return quotient;
  return amount < 0n ? quotient - 1n : quotient + 1n;
}

function refuse(text: unknown, why: string): never {
  const shown = typeof text === 'string' ? JSON.stringify(text.slice(0, 40)) : String(text);
  throw new TypeError(`quantity: ${shown} is not valid; ${why}`);
}
