/**
 * `KeptDocument`, the text of a JSON object in a buffer of its own, with the positions of its members behind it. One
 * buffer instead of many small objects, because reading scattered memory takes longer than comparing the text.
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
import type { Shapes } from './shapes.ts';

/** The room for positions at first, as a part of the text: enough for a Pod. When it grows, all positions are found again. */
const TABLE_SHARE = 0.375;
/** The least room for positions, in words. */
const LEAST_TABLE = 64;
/** Buffers are rounded up to this size, in bytes. */
const GRAIN = 64;

/** A text that can be read by bytes and by words of four bytes. */
export class WordText {
  bytes: Uint8Array = new Uint8Array(0);
  words: Int32Array = new Int32Array(0);
  length = 0;

  /** Replaces the text with the bytes between `from` and `to`. */
  set(bytes: Uint8Array, from: number, to: number): void {
    const length = to - from;
    if (this.room < length) this.grow(length);
    this.bytes.set(bytes.subarray(from, to));
    this.length = length;
  }

  /** The longest text that fits, in bytes. */
  protected get room(): number {
    return this.bytes.length;
  }

  protected grow(length: number): void {
    this.allocate(Math.ceil((length * 17) / 16 / GRAIN) * GRAIN);
  }

  protected allocate(size: number): void {
    const buffer = new ArrayBuffer(size);
    this.bytes = new Uint8Array(buffer);
    this.words = new Int32Array(buffer);
  }
}

/** A text with its value and the positions of its members. */
export class KeptDocument extends WordText {
  /** The parsed object. A member that it lacks was removed after parsing, and is not parsed. */
  value: unknown;
  /** The key of the object. */
  key = '';
  /** How many more states are read before the store is looked at again. */
  unchecked = 0;
  /** The stored object that was found to be another one. */
  other: unknown;
  /** Where the table begins and where its free part begins, in words. */
  #table = 0;
  #free = 0;
  #share = TABLE_SHARE;
  /** Whether the table had no room, so that it must be made anew. */
  isFull = false;

  /** The size of the buffer, in bytes. */
  get size(): number {
    return this.bytes.length;
  }

  /** The place of the root in the table, or 0 if the table is empty. */
  get root(): number {
    return this.#free > this.#table ? this.#table : 0;
  }

  /** Forgets the positions. */
  clearTable(): void {
    this.#free = this.#table;
    this.isFull = false;
  }

  /** Returns the place of `count` free words, or 0 if there is no room. Then the table is cleared after the text was read. */
  reserve(count: number): number {
    const place = this.#free;
    if (place + count > this.words.length) {
      this.isFull = true;
      return 0;
    }
    this.#free += count;
    return place;
  }

  protected override get room(): number {
    return this.#table * 4;
  }

  /** Makes the positions anew, with more room, if there was no room for some. */
  widen(): void {
    if (!this.isFull) return;
    this.clearTable();
    if (this.#share >= 1) return;
    this.#share *= 1.5;
    const { bytes, length } = this;
    this.grow(length);
    this.bytes.set(bytes.subarray(0, length));
  }

  protected override grow(length: number): void {
    const text = Math.ceil((length * 17) / 16 / GRAIN) * GRAIN;
    const table = Math.max(LEAST_TABLE * 4, Math.ceil((text * this.#share) / GRAIN) * GRAIN);
    this.allocate(text + table);
    this.#table = text / 4;
    this.clearTable();
  }
}

// Spans: the positions of the members of one object or array, in the table of a document. The span of a nested object or
// array is made when it is needed first, because most of them never change. A span is a run of words: the shape, the
// number of members and the length of the text, then for each member the start and the end of its value and the place of
// its own span. Instead of a place there is 0 if the span was not made yet, and -n after the members were others than
// before n times. Positions are relative to the first byte of the object or array, so a span moves with its text.
/** The words of a span before its members, and of each member. */
export const HEAD = 3;
export const MEMBER = 3;

/** The shape of an array. */
export const ARRAY = -1;

/** Larger objects are not compared member by member. */
const MOST_MEMBERS = 256;

/**
 * Makes the span of the object or array that begins at `at`, in valid JSON. Returns its place, or 0 if there is no room
 * for it or if the text is unusual: white space, a repeated name, and the name `__proto__`.
 */
export function makeSpan(document: KeptDocument, at: number, shapes: Shapes): number {
  const { bytes, length: to } = document;
  const isArray = bytes[at] === OPEN_ARRAY;
  if (!isArray && bytes[at] !== OPEN_OBJECT) return 0;
  const close = isArray ? CLOSE_ARRAY : CLOSE_OBJECT;
  /** The start of the name, and the start and the end of the value of each member. */
  const positions: number[] = [];
  let next = at + 1;
  while (bytes[next] !== close) {
    if (positions.length > 0 && bytes[next++] !== COMMA) return 0;
    const name = next;
    if (!isArray) {
      const end = bytes[next] === QUOTE ? endOfString(bytes, next, to) : -1;
      if (end < 0 || bytes[end] !== COLON) return 0;
      next = end + 1;
    }
    const start = next;
    next = endOfValue(bytes, start, to);
    if (next < 0 || positions.length >= MOST_MEMBERS * 3) return 0;
    positions.push(name, start, next);
  }
  const shape = isArray ? ARRAY : shapes.of(bytes, positions);
  if (shape === undefined) return 0;
  const count = positions.length / 3;
  const span = document.reserve(HEAD + count * MEMBER);
  if (span === 0) return 0;
  const { words } = document;
  words[span] = shape;
  words[span + 1] = count;
  words[span + 2] = next + 1 - at;
  for (let index = 0; index < count; index++) {
    const member = span + HEAD + index * MEMBER;
    words[member] = (positions[index * 3 + 1] ?? 0) - at;
    words[member + 1] = (positions[index * 3 + 2] ?? 0) - at;
    words[member + 2] = 0;
  }
  return span;
}

/** Records that a member is longer than before by `grown` bytes. */
export function growMember(words: Int32Array, span: number, member: number, grown: number): void {
  words[span + 2] = (words[span + 2] ?? 0) + grown;
  words[member + 1] = (words[member + 1] ?? 0) + grown;
  const end = span + HEAD + (words[span + 1] ?? 0) * MEMBER;
  for (let later = member + MEMBER; later < end; later += MEMBER) {
    words[later] = (words[later] ?? 0) + grown;
    words[later + 1] = (words[later + 1] ?? 0) + grown;
  }
}
