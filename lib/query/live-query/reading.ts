/** How values are read before they are compared: as text, numbers, times or quantities. */

import { parseQuantity } from '../../meta/quantity.ts';
import type { Scalar } from '../../meta/typed-path.ts';
import type { CompareAs } from './where.ts';

/** A value as it is compared. Values of different types are different, and none of them is less. */
export type Comparable = string | number | bigint | boolean;

/** Reads a value; `undefined` if it cannot be read so. */
export type Reading = (value: unknown) => Comparable | undefined;

const NUMBER = /^[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
/** RFC 3339. The group has the digits of the microseconds after the milliseconds. */
const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,3}(\d{0,3})\d*)?(?:[Zz]|[+-]\d\d:\d\d)$/;

function readText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function readNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && NUMBER.test(value) ? Number(value) : undefined;
}

function readTime(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  const time = typeof value === 'string' ? TIME.exec(value) : null;
  if (time === null) return undefined;
  // biome-ignore lint/style/noRestrictedGlobals: parses a date, reads no clock
  const atMs = Date.parse(time[0]);
  // Kubernetes has microseconds (MicroTime), which fit into a number of milliseconds since 1970 as its fraction.
  return Number.isNaN(atMs) ? undefined : atMs + Number(`0.${time[1] ?? ''}`);
}

function readBoolean(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

const READINGS: Readonly<Record<CompareAs, Reading>> = {
  text: readText,
  number: readNumber,
  time: readTime,
  quantity: readQuantity,
};

/** The names of the readings, for messages. */
export const COMPARE_AS = /* @__PURE__ */ Object.keys(READINGS) as readonly CompareAs[];

export function isCompareAs(value: unknown): value is CompareAs {
  return typeof value === 'string' && Object.hasOwn(READINGS, value);
}

/** The reading that is meant by a value if none is named. */
export function defaultAs(value: Scalar): CompareAs | undefined {
  if (typeof value === 'string') return 'text';
  return typeof value === 'number' ? 'number' : undefined;
}

export function readingOf(as: CompareAs | undefined): Reading {
  return as === undefined ? readBoolean : READINGS[as];
}

/** Reads a value as what it is. */
export function readAsIs(value: unknown): Comparable | undefined {
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean'
    ? (value as Scalar)
    : undefined;
}

const RANKS = ['boolean', 'number', 'bigint', 'string'];

/** Compares two values: truth values, then numbers, then text by code units. */
export function compareRead(one: Comparable, other: Comparable): number {
  if (one === other) return 0;
  if (typeof one === typeof other) return one < other ? -1 : 1;
  return RANKS.indexOf(typeof one) - RANKS.indexOf(typeof other);
}

function readQuantity(value: unknown): bigint | undefined {
  try {
    return parseQuantity(value as string | number).nanos;
  } catch {
    return undefined;
  }
}
