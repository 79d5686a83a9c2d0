/** The judge of numeric options: each value of the complete range is used as documented, or refused by name. */
import { expect } from 'vitest';

const { NaN: none, POSITIVE_INFINITY: infinite, NEGATIVE_INFINITY: minus } = Number;
const { MIN_VALUE: least, MAX_VALUE: most, MAX_SAFE_INTEGER: safe } = Number;
const VALUES: readonly unknown[] = [
  ...[0, -0, least, 0.5, 1, 1.5, 2, 10, 500, 999, 999.9, 1_000, 1_000.5, 2 ** 31 - 1, 2 ** 31],
  ...[1e12, safe, 2 ** 53, 2 ** 53 + 2, 1e21, most, infinite],
  ...[-0.5, -1, -(2 ** 31), minus, none, '5'],
];

/** What is no number of 0 or more. */
export const NEVER_A_NUMBER = [none, -1, -0.5, minus, '5'] as const;

/** As errors show it. */
export const shown = (value: unknown) =>
  typeof value === 'string' ? JSON.stringify(value) : String(value);
export const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && !Number.isNaN(value);
export const atLeast = (min: number) => (value: unknown) => isNumber(value) && value >= min;
export const above = (min: number) => (value: unknown) => isNumber(value) && value > min;
export const within = (min: number, max: number) => (value: unknown) =>
  atLeast(min)(value) && (value as number) <= max;
export const whole = (min: number) => (value: unknown) =>
  Number.isInteger(value) && (value as number) >= min;
/** What survives as a number of JSON. */
export const sentWhole = (min: number) => (value: unknown) =>
  Number.isSafeInteger(value) && (value as number) >= min;
export const neverOrASecond = (value: unknown) =>
  isNumber(value) && (value === 0 || value >= 1_000);
export const wholeOrInfinite = (min: number) => (value: unknown) =>
  value === infinite || whole(min)(value);

/** A numeric option, the values that it accepts, and a call that uses it. */
export interface NumericOption {
  readonly option: string;
  readonly takes: (value: unknown) => boolean;
  /** Values at its bounds, besides those of the range; or instead of them, if others would break another option. */
  readonly bounds?: readonly unknown[];
  readonly only?: readonly unknown[];
  use(value: never): unknown;
}

/** Options that one function takes, each judged by itself. */
export const optionsOf = <L extends object>(
  names: readonly string[],
  takes: NumericOption['takes'],
  use: (options: never) => unknown,
  more: L = {} as L,
) =>
  names.map((option) => ({
    ...{ option, takes, ...more },
    use: (value: never) => use({ [option]: value } as never),
  }));

/** Uses the option with each value of the range. */
export async function judgeRange({
  option,
  takes,
  use,
  bounds = [],
  only,
}: NumericOption): Promise<void> {
  for (const value of only ?? [...VALUES, ...bounds]) {
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
