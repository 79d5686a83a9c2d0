/**
 * Ranges of hashes: the hash by which objects are divided into shards, FNV-1a with 64 bits over the bytes of a text,
 * as kube-apiserver computes it for `shardSelector`; the bounds of ranges, their set operations, and the 64 slots of
 * equal size into which hashes are divided. apimachinery: pkg/sharding/hash.go, HashField.
 */

import { check, checkedText, checkedWhole } from '../../checks/checked-option.ts';

/** A hash, or a bound of a range of hashes, as two unsigned halves. The bound 2^64 has the high half 2^32. */
export interface Hash64 {
  readonly high: number;
  readonly low: number;
}

/** The prime is 2^40 + 435. */
const PRIME_LOW = 435;

/** The bytes of a text in UTF-8, one per character. */
function utf8(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}

/**
 * The hash of a text. Other characters than ASCII are hashed as UTF-8, as Go does. The state consists of two halves of
 * 32 bits instead of a BigInt, which takes two thirds of the time even in V8, where BigInt is fast.
 */
export function hash64(text: string, isUtf8 = false): Hash64 {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  let seen = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text.charCodeAt(at);
    seen |= byte;
    low ^= byte;
    const first = (low & 0xffff) * PRIME_LOW;
    const second = (low >>> 16) * PRIME_LOW + (first >>> 16);
    high = (Math.imul(high, PRIME_LOW) + (low << 8) + (second >>> 16)) | 0;
    low = (second << 16) | (first & 0xffff);
  }
  if (seen > 0x7f && !isUtf8) return hash64(utf8(text), true);
  return { high: high >>> 0, low: low >>> 0 };
}

function hex(half: number): string {
  return half.toString(16).padStart(8, '0');
}

/** Writes a hash or a bound as a shard selector contains it: `0x` and 16 digits, or `0x10000000000000000` for 2^64. */
function formatHash({ high, low }: Hash64): string {
  return `0x${hex(high)}${hex(low)}`;
}

/**
 * The hash by which kube-apiserver divides objects into shards, as `0x` and 16 hexadecimal digits: FNV-1a with 64 bits.
 *
 * @example
 * ```ts
 * import { shardHash } from 'rx-informer';
 *
 * shardHash('shop'); // => '0x46dc5e18e28e2409'
 * ```
 */
export function shardHash(text: string): string {
  return formatHash(hash64(text));
}

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
  const must = "'0x' with 16 lower-case hexadecimal digits, or '0x10000000000000000'";
  checkedText(bound, 'shard range: a bound', BOUND, must);
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
    check(isBelow(start, end), 'shard range: the start', start, `less than the end (${end})`);
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
    checkedWhole(slot, 'shardRanges: a slot', 0, SHARD_SLOTS - 1);
    return { start: slotBound(slot), end: slotBound(slot + 1) };
  });
  return joinRanges(ranges);
}
