/** Ranges of hashes: their bounds, their set operations, and the 64 slots of equal size into which hashes are divided. */
import { formatHash, type Hash64 } from './hash.ts';

/** A range of hashes. The bounds have the form that a shard selector requires, so ranges can be stored as JSON. */
export interface ShardRange {
  /** The first hash of the range: `0x` and 16 lower-case hexadecimal digits. */
  readonly start: string;
  /** The first hash after the range. The end of the last range is `0x10000000000000000`. */
  readonly end: string;
}

/** The number of slots. A slot is a range of 2^58 hashes. */
export const SHARD_SLOTS = 64;

const BOUND = /^0x(?:[0-9a-f]{16}|10000000000000000)$/;

/** Whether one bound is below another. Bounds of equal length are in the order of their digits. */
function isBelow(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}

/** Reads a bound. Throws a `TypeError` if it does not have the form that the server requires. */
export function parseBound(bound: string): Hash64 {
  if (typeof bound !== 'string' || !BOUND.test(bound)) {
    throw new TypeError(
      `shard range: a bound is ${JSON.stringify(bound)}; it must be '0x' with 16 lower-case hexadecimal digits, or '0x10000000000000000'`,
    );
  }
  const low = bound.length - 8;
  return {
    high: Number.parseInt(bound.slice(2, low), 16),
    low: Number.parseInt(bound.slice(low), 16),
  };
}

/**
 * Validates ranges, sorts them and joins those that touch or overlap, so that ranges with the same hashes are equal.
 * Throws a `TypeError` if a bound is invalid or a range is empty.
 */
export function joinRanges(ranges: Iterable<ShardRange>): readonly ShardRange[] {
  const sorted = [...ranges];
  for (const { start, end } of sorted) {
    parseBound(start);
    parseBound(end);
    if (!isBelow(start, end)) {
      throw new TypeError(`shard range: the start ${start} must be less than the end ${end}`);
    }
  }
  sorted.sort((a, b) => (a.start === b.start ? 0 : isBelow(a.start, b.start) ? -1 : 1));
  const joined: ShardRange[] = [];
  for (const { start, end } of sorted) {
    const last = joined.at(-1);
    if (last === undefined || isBelow(last.end, start)) joined.push({ start, end });
    else if (isBelow(last.end, end)) joined[joined.length - 1] = { start: last.start, end };
  }
  return joined;
}

/** The hashes of `a` that are not in `b`. Both are joined ranges, and so is the result. */
export function withoutRanges(
  a: readonly ShardRange[],
  b: readonly ShardRange[],
): readonly ShardRange[] {
  let rest = a;
  for (const cut of b) {
    rest = rest.flatMap(({ start, end }) => {
      if (!isBelow(start, cut.end) || !isBelow(cut.start, end)) return [{ start, end }];
      const parts: ShardRange[] = [];
      if (isBelow(start, cut.start)) parts.push({ start, end: cut.start });
      if (isBelow(cut.end, end)) parts.push({ start: cut.end, end });
      return parts;
    });
  }
  return rest;
}

/** The hashes that are in both. Both are joined ranges, and so is the result. */
export function commonRanges(
  a: readonly ShardRange[],
  b: readonly ShardRange[],
): readonly ShardRange[] {
  return withoutRanges(a, withoutRanges(a, b));
}

/** Which part of all hashes joined ranges contain, from 0 to 1. */
export function shareOf(ranges: readonly ShardRange[]): number {
  const at = (bound: string) => {
    const { high, low } = parseBound(bound);
    return high / 2 ** 32 + low / 2 ** 64;
  };
  return ranges.reduce((sum, { start, end }) => sum + at(end) - at(start), 0);
}

/** Whether two lists of joined ranges contain the same hashes. */
export function sameRanges(a: readonly ShardRange[], b: readonly ShardRange[]): boolean {
  if (a.length !== b.length) return false;
  return a.every(({ start, end }, at) => start === b[at]?.start && end === b[at]?.end);
}

function slotBound(slot: number): string {
  return formatHash({ high: slot * 0x400_0000, low: 0 });
}

/** The slot of a hash, 0 to 63: its first six bits. */
export function slotOf({ high }: Hash64): number {
  return high >>> 26;
}

/**
 * The fewest ranges that consist of these slots: neighbouring slots are one range. Throws a `TypeError` on a slot that
 * is not an integer from 0 to 63.
 *
 * @example
 * ```ts
 * import { shardRanges } from 'rx-informer';
 *
 * shardRanges([0, 1, 63]);
 * // => [{ start: '0x0000000000000000', end: '0x0800000000000000' },
 * //     { start: '0xfc00000000000000', end: '0x10000000000000000' }]
 * ```
 */
export function shardRanges(slots: Iterable<number>): readonly ShardRange[] {
  const ranges = [...slots].map((slot) => {
    if (!Number.isInteger(slot) || slot < 0 || slot >= SHARD_SLOTS) {
      throw new TypeError(`shardRanges: a slot is ${slot}; it must be an integer from 0 to 63`);
    }
    return { start: slotBound(slot), end: slotBound(slot + 1) };
  });
  return joinRanges(ranges);
}
