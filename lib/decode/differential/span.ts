/**
 * Spans: the positions of the members of one object or array, in the table of a document. The span of a nested object or
 * array is made when it is needed first, because most of them never change.
 *
 * A span is a run of words: the shape, the number of members and the length of the text, then for each member the start
 * and the end of its value and the place of its own span. Instead of a place there is 0 if the span was not made yet, and
 * -n after the members were others than before n times. Positions are relative to the first byte of the object or array,
 * so a span moves with its text.
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
import type { KeptDocument } from './document.ts';
import type { Shapes } from './shapes.ts';

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
