/** Finds the members of an object in its bytes, and `managedFields` in its metadata, in one walk. */
import {
  BACKSLASH,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfString,
  endOfValue,
  isText,
  OPEN_OBJECT,
  QUOTE,
  SPACE,
} from '../json-scan.ts';
import { textOf } from '../json-text.ts';
import { ManagedFields } from './managed-fields.ts';

export const NEWLINE = 10;

/** Names that JavaScript treats in another way than other names: their order, or their meaning. */
const SPECIAL = /^(?:__proto__|\d+)$/;

/** The members of the object that was read last. An instance is reused for every object. */
export class ObjectMembers {
  /** The names from the first one to `count`. The others are those of earlier objects. */
  readonly names: string[] = [];
  /** Where each member begins, with its name. */
  readonly froms: number[] = [];
  /** Where the value of each member begins, and the position after it. */
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  count = 0;
  readonly managedFields: ManagedFields = new ManagedFields();

  /**
   * Reads the object between `from` and `to`. Returns `false` if it is not written as servers do: with white space
   * between its members, or with escaped, repeated or special names. With `hasLines` each member must be on a line of its own,
   * whose value is not looked at.
   */
  read(bytes: Uint8Array, from: number, to: number, hasLines: boolean): boolean {
    for (let guesses = true; ; guesses = false) {
      if (this.#read(bytes, from, to, guesses, hasLines)) return true;
      // The names have not been checked, so a later object must not count as known by them.
      this.names.length = 0;
      if (!guesses || !this.managedFields.isFound) return false;
    }
  }

  #read(bytes: Uint8Array, from: number, to: number, guesses: boolean, hasLines: boolean): boolean {
    this.count = 0;
    this.managedFields.isFound = false;
    if (bytes[from] !== OPEN_OBJECT) return false;
    let isKnown = true;
    for (let at = from + 1; ; at++) {
      const end = bytes[at] === QUOTE ? endOfString(bytes, at, to) : -1;
      if (end < 0 || bytes[end] !== COLON) return false;
      if (!this.#isNamed(bytes, at, end)) {
        isKnown = false;
        this.names[this.count] = textOf(bytes, at + 1, end - 1);
      }
      const isMetadata = this.names[this.count] === 'metadata' && bytes[end + 1] === OPEN_OBJECT;
      const after = hasLines
        ? endOfLine(bytes, end, to)
        : isMetadata
          ? this.managedFields.read(bytes, end + 1, to, guesses)
          : endOfValue(bytes, end + 1, to);
      if (after < 0) return false;
      this.froms[this.count] = at;
      this.starts[this.count] = end + 1;
      this.ends[this.count] = after;
      this.count++;
      at = after;
      if (bytes[at] === CLOSE_OBJECT) return at === to - 1 && (isKnown || this.#areUsual());
      if (bytes[at] !== COMMA) return false;
      if (hasLines) at++;
    }
  }

  /** Whether the next name is that of the member at the same position of the object before. */
  #isNamed(bytes: Uint8Array, at: number, end: number): boolean {
    const name = this.names[this.count];
    return name !== undefined && isText(name, bytes, at + 1, end - 1);
  }

  #areUsual(): boolean {
    const names = this.names.slice(0, this.count);
    const areUnique = new Set(names).size === names.length;
    return areUnique && !names.some((name) => name.includes('\\') || SPECIAL.test(name));
  }
}

/** Returns the end of the value that ends at the end of its line, or with its object. */
function endOfLine(bytes: Uint8Array, at: number, to: number): number {
  const end = bytes.indexOf(NEWLINE, at);
  return end < 0 ? to - 1 : end - 1;
}

/** The longest text that is parsed on receipt. */
const SHORT = 64;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const WORDS = ['true', 'false', 'null'];

/**
 * Whether the value is a number, a word or a short text, so that keeping its text would cost more than its value.
 * Unusual ones count as long.
 */
export function isShort(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > SHORT) return false;
  const first = bytes[start] ?? 0;
  if (first === QUOTE) {
    for (let at = start + 1; at < end; at++) {
      const byte = bytes[at] ?? 0;
      if (byte < SPACE || byte === BACKSLASH) return false;
    }
    return true;
  }
  if (first === OPEN_OBJECT || end - start > 15) return false;
  if (first >= ZERO && first <= NINE) return areDigits(bytes, start, end);
  if (first === MINUS) return end > start + 1 && areDigits(bytes, start + 1, end);
  return WORDS.includes(String.fromCharCode(...bytes.subarray(start, end)));
}

function areDigits(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < ZERO || byte > NINE) return false;
  }
  return bytes[start] !== ZERO || end === start + 1;
}
