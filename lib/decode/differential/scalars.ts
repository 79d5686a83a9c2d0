/**
 * `Scalars`, which reads the short values that change most often (versions, times, counts, words) from their bytes,
 * without a text for `JSON.parse`. Equal strings are shared: most times and reasons occur again and again.
 */
import { BACKSLASH, DELETE, isText, QUOTE, SPACE } from '../json-scan.ts';
import { parseText, textOf } from '../json-text.ts';

export const ZERO = 0x30;
const NINE = 0x39;

/** Longer strings are not shared. */
const LONGEST_SHARED = 40;
/** More digits may not be exact. */
export const MOST_DIGITS = 15;
/** The number of strings that are remembered. A string takes the place of another one with the same hash. */
const SHARED = 1_024;

/** Reads values and remembers strings. */
export class Scalars {
  readonly #strings: (string | undefined)[] = new Array(SHARED);

  /** Returns the value of the JSON text between `from` and `to`. Throws an `ApiError` if it is not JSON. */
  read(bytes: Uint8Array, from: number, to: number): unknown {
    const first = bytes[from] ?? 0;
    if (first === QUOTE && to - from - 2 <= LONGEST_SHARED) return this.#string(bytes, from, to);
    if (first > ZERO && first <= NINE && to - from <= MOST_DIGITS) {
      const value = integerOf(bytes, from, to);
      if (value >= 0) return value;
    }
    return parsed(bytes, from, to);
  }

  #string(bytes: Uint8Array, from: number, to: number): unknown {
    let hash = to - from;
    for (let at = from + 1; at < to - 1; at++) {
      const byte = bytes[at] ?? 0;
      if (!isUnescaped(byte)) return parsed(bytes, from, to);
      hash = (Math.imul(hash, 31) + byte) | 0;
    }
    const place = hash & (SHARED - 1);
    const shared = this.#strings[place];
    if (shared !== undefined && isText(shared, bytes, from + 1, to - 1)) return shared;
    const text = textOf(bytes, from + 1, to - 1);
    this.#strings[place] = text;
    return text;
  }
}

/** Whether a character of a string is written as it is, in one byte. */
export function isUnescaped(code: number): boolean {
  return code >= SPACE && code < DELETE && code !== QUOTE && code !== BACKSLASH;
}

function parsed(bytes: Uint8Array, from: number, to: number): unknown {
  return parseText(textOf(bytes, from, to), 'a member');
}

/** Returns the integer, or -1 if the text has other characters than digits. */
function integerOf(bytes: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
