/**
 * Spans: the positions of the members of one object or array, in the table of a document. The span of a nested object or
 * array is made when it is needed first, because most of them never change.
 *
 * A span is a run of words: the shape, the number of members, the length of the text and the room for members, then for
 * each member the start and the end of its value and the place of its own span. That place is 0 if there is none, and
 * negative if the span there is invalid and its room can be used again. Positions are relative to the first byte of the
 * object or array, so a span moves with its text.
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
import type { KeptDocument } from './document.ts';

/** The words of a span before its members, and of each member. */
export const HEAD = 4;
export const MEMBER = 3;

/** The shape of an array. */
export const ARRAY = -1;

/** Larger objects are not compared member by member. */
const MOST_MEMBERS = 256;
/** More lists of names are not remembered: objects with other names are parsed completely. */
const MOST_SHAPES = 4096;

/** The lists of names that objects have, so that each list is stored once. */
export class Shapes {
  readonly #ids = new Map<string, number>();
  readonly #names: (readonly string[])[] = [];

  names(shape: number): readonly string[] {
    return this.#names[shape] ?? [];
  }

  /** Returns the shape with these names, which are JSON texts; `undefined` for unusual names and for too many. */
  of(texts: readonly string[]): number | undefined {
    const id = texts.join();
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    const names = texts.map((text) => parseText(text, 'a name') as string);
    if (names.includes('__proto__') || new Set(names).size < names.length) return undefined;
    if (this.#names.length >= MOST_SHAPES) return undefined;
    this.#ids.set(id, this.#names.length);
    return this.#names.push(names) - 1;
  }
}

/**
 * Makes the span of the object or array that begins at `at`, in valid JSON. Returns its place, or 0 if there is no room
 * for it or if the text is unusual: white space, a repeated name, and the name `__proto__`. `invalid` is the place of a
 * span whose room can be used, or 0.
 */
export function makeSpan(
  document: KeptDocument,
  at: number,
  shapes: Shapes,
  invalid: number,
): number {
  const { bytes, length: to } = document;
  const isArray = bytes[at] === OPEN_ARRAY;
  if (!isArray && bytes[at] !== OPEN_OBJECT) return 0;
  const close = isArray ? CLOSE_ARRAY : CLOSE_OBJECT;
  const names: string[] = [];
  const positions: number[] = [];
  let next = at + 1;
  while (bytes[next] !== close) {
    if (positions.length > 0 && bytes[next++] !== COMMA) return 0;
    if (!isArray) {
      const end = bytes[next] === QUOTE ? endOfString(bytes, next, to) : -1;
      if (end < 0 || bytes[end] !== COLON) return 0;
      names.push(textOf(bytes, next, end));
      next = end + 1;
    }
    const start = next;
    next = endOfValue(bytes, start, to);
    if (next < 0 || positions.length >= MOST_MEMBERS * 2) return 0;
    positions.push(start - at, next - at);
  }
  const shape = isArray ? ARRAY : shapes.of(names);
  if (shape === undefined) return 0;
  const count = positions.length / 2;
  const { words } = document;
  const fits = invalid !== 0 && (words[invalid + 3] ?? 0) >= count;
  const span = fits ? invalid : document.reserve(HEAD + count * MEMBER);
  if (span === 0) return 0;
  if (!fits) words[span + 3] = count;
  words[span] = shape;
  words[span + 1] = count;
  words[span + 2] = next + 1 - at;
  for (let index = 0; index < count; index++) {
    const member = span + HEAD + index * MEMBER;
    words[member] = positions[index * 2] ?? 0;
    words[member + 1] = positions[index * 2 + 1] ?? 0;
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
