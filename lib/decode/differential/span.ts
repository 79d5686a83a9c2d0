/**
 * `Span`, the positions of the members of one object or array in its JSON text. The positions of nested objects and
 * arrays are found when they are needed first, because most of them never change.
 */

import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfString,
  endOfValue,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from '../json-scan.ts';
import { parseText, textOf } from '../json-text.ts';

/** Positions are relative to the first byte of the object or array, so a span moves with its text. */
export interface Span {
  /** The names of the members; `undefined` for an array. */
  readonly keys: readonly string[] | undefined;
  /** Where the value of each member begins, and the position after it. */
  readonly starts: number[];
  readonly ends: number[];
  /** The spans of the values that are objects or arrays, as far as they were needed. */
  readonly inner: (Span | undefined)[];
  length: number;
}

/**
 * Returns the span of the object or array that begins at `at`, in valid JSON. Returns `undefined` for what is unusual:
 * white space, a repeated name, and the name `__proto__`.
 */
export function spanOf(bytes: Uint8Array, at: number, to: number): Span | undefined {
  const isArray = bytes[at] === OPEN_ARRAY;
  if (!isArray && bytes[at] !== OPEN_OBJECT) return undefined;
  const close = isArray ? CLOSE_ARRAY : CLOSE_OBJECT;
  const keys: string[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  let next = at + 1;
  while (bytes[next] !== close) {
    if (starts.length > 0 && bytes[next++] !== COMMA) return undefined;
    if (!isArray) {
      const end = bytes[next] === QUOTE ? endOfString(bytes, next, to) : -1;
      if (end < 0 || bytes[end] !== COLON) return undefined;
      keys.push(parseText(textOf(bytes, next, end), 'a name') as string);
      next = end + 1;
    }
    starts.push(next - at);
    next = endOfValue(bytes, next, to);
    if (next < 0) return undefined;
    ends.push(next - at);
  }
  if (keys.includes('__proto__') || new Set(keys).size < keys.length) return undefined;
  const length = next + 1 - at;
  return { keys: isArray ? undefined : keys, starts, ends, inner: [], length };
}
