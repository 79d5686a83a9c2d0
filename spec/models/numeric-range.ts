/** The judge of numeric options: each value of the complete range is used as documented, or refused by name. */
import { expect } from 'vitest';

const { NaN: none, POSITIVE_INFINITY: infinite, NEGATIVE_INFINITY: minus } = Number;
const VALUES: readonly unknown[] = [
  ...[0, -0, Number.MIN_VALUE, 0.5, 1, 1.5, 2 ** 31 - 1, 2 ** 31, 1e12, 2 ** 53 + 2, infinite],
  ...[-0.5, -1, -(2 ** 31), minus, none, '5'],
];

/** As errors show it. */
export const shown = (value: unknown) =>
  typeof value === 'string' ? JSON.stringify(value) : String(value);
export const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && !Number.isNaN(value);
export const atLeast = (min: number) => (value: unknown) => isNumber(value) && value >= min;
export const above = (min: number) => (value: unknown) => isNumber(value) && value > min;
export const wholeOrInfinite = (min: number) => (value: unknown) =>
  value === infinite || (Number.isInteger(value) && (value as number) >= min);

/** A numeric option, the values that it accepts, and a call that uses it. */
export interface NumericOption {
  readonly option: string;
  readonly takes: (value: unknown) => boolean;
  use(value: never): unknown;
}

/** Uses the option with each value of the range. */
export async function judgeRange({ option, takes, use }: NumericOption): Promise<void> {
  for (const value of VALUES) {
    let error: unknown;
    try {
      await use(value as never);
    } catch (thrown) {
      error = thrown;
    }
    const what = `${option}: ${String(value)}`;
    if (takes(value)) expect(error, what).toBeUndefined();
    else {
      expect(error, what).toBeInstanceOf(TypeError);
      expect(String(error)).toContain(`${option} is ${shown(value)}; it must be `);
    }
  }
}
