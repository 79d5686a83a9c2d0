/**
 * Decodes a JSON text by comparing it with an earlier text whose value is known. Members with the same bytes keep their
 * value, and only the others are parsed. The result is the value that `JSON.parse` gives, and the earlier text may be
 * any: one that is less similar only saves less.
 */
import { reuseUnchanged } from '../../meta/reuse-unchanged.ts';
import { endOfValue, OPEN_ARRAY, OPEN_OBJECT } from '../json-scan.ts';
import { ARRAY, growMember, HEAD, KeptDocument, MEMBER, makeSpan, WordText } from './document.ts';
import { Scalars } from './scalars.ts';
import type { Shapes } from './shapes.ts';

/** Returned instead of a value if the members of an object or array are not those of the earlier one. */
const OTHER_MEMBERS = { members: 'other' };

/** Deeper members are parsed whole, so that no text overflows the stack. */
const DEEPEST = 24;

/** After so many times in which it had other members, a member is parsed whole. Its positions would be found in vain. */
const PATIENCE = 4;

/** After so many texts that need less than this part of the buffer, a smaller one is used. */
const SMALL_PART = 8;
const MOST_SMALL = 32;

/** Reads texts by comparing them with earlier documents, one after another. */
export class Difference {
  readonly #shapes: Shapes;
  #text = new WordText();
  /** How many texts have used only a small part of the buffer, since one that needed it. */
  #small = 0;
  readonly #none = new KeptDocument();
  #base: KeptDocument = this.#none;
  readonly #scalars = new Scalars();
  /** The position after the value that was read last. */
  #end = 0;

  constructor(shapes: Shapes) {
    this.#shapes = shapes;
  }

  /**
   * Returns the value of the text between `at` and `to`, and changes the document to this text and value. Returns
   * `undefined` if the text must be parsed whole, and throws an `ApiError` if a member is not JSON; the document keeps
   * its text and value then.
   */
  read(document: KeptDocument, bytes: Uint8Array, at: number, to: number): unknown {
    const root = document.root || makeSpan(document, 0, this.#shapes);
    if (root === 0) return undefined;
    // The buffer of a large text is given up, but not if such texts come again and again.
    if ((to - at) * SMALL_PART > this.#text.bytes.length) this.#small = 0;
    else if (++this.#small === MOST_SMALL) this.#text = new WordText();
    const text = this.#text;
    text.set(bytes, at, to);
    this.#base = document;
    let read: unknown = OTHER_MEMBERS;
    try {
      read = this.#members(root, 0, 0, document.value, 0, 0);
    } finally {
      // Some positions are those of the new text.
      if (read === OTHER_MEMBERS || this.#end !== text.length) document.clearTable();
      // An idle watch keeps no object that was deleted since.
      this.#base = this.#none;
    }
    if (document.root === 0) return undefined;
    document.set(bytes, at, to);
    document.widen();
    document.value = read;
    return read;
  }

  /**
   * Reads an object or array that begins at `baseAt` in the earlier text and at `at` in this one. The first `known` bytes
   * are equal.
   */
  #members(
    span: number,
    baseAt: number,
    at: number,
    value: unknown,
    known: number,
    depth: number,
  ): unknown {
    const base = this.#base;
    const text = this.#text;
    const { words } = base;
    const shape = words[span] ?? 0;
    const names = shape === ARRAY ? undefined : this.#shapes.names(shape);
    const behind = span + HEAD + (words[span + 1] ?? 0) * MEMBER;
    let member = span + HEAD;
    let result = value;
    /** How much longer the members that have been read are than before. */
    let moved = 0;
    for (let from = known, last = 0; ; last = member) {
      const length = Math.min((words[span + 2] ?? 0) - from, text.length - at - from);
      const differs = from + mismatch(base, baseAt + from - moved, text, at + from, length);
      if (differs === words[span + 2]) break;
      while (member < behind && (words[member + 1] ?? 0) < differs) member += MEMBER;
      const start = words[member] ?? 0;
      // The difference is in a name, behind the last member, or behind a member that has just been read.
      if (member === behind || differs < start || member === last) return OTHER_MEMBERS;
      const index = (member - span - HEAD) / MEMBER;
      const name = names?.[index];
      const had = memberOf(value, name, index);
      const baseStart = baseAt + start - moved;
      const read = this.#member(member, baseStart, at + start, had, differs - start, depth + 1);
      if (read === OTHER_MEMBERS) return OTHER_MEMBERS;
      from = this.#end - at;
      const grown = from - (words[member + 1] ?? 0);
      if (grown !== 0) {
        moved += grown;
        growMember(words, span, member, grown);
      }
      if (Object.is(read, had)) continue;
      const copy = result === value ? copyOf(value, depth) : (result as ReturnType<typeof copyOf>);
      if (name === undefined) copy[index] = read;
      else (copy as Record<string, unknown>)[name] = read;
      result = copy;
    }
    this.#end = at + (words[span + 2] ?? 0);
    return result;
  }

  /** Reads a member that differs. `had` is its earlier value; `undefined` if it was removed after parsing. */
  #member(
    member: number,
    baseAt: number,
    at: number,
    had: unknown,
    known: number,
    depth: number,
  ): unknown {
    const base = this.#base;
    const { words } = base;
    const { bytes, length } = this.#text;
    const first = bytes[at];
    const nests = first === OPEN_OBJECT || first === OPEN_ARRAY;
    if (nests && first === base.bytes[baseAt] && depth < DEEPEST) {
      const place = words[member + 2] ?? 0;
      const span = place > 0 || place <= -PATIENCE ? place : makeSpan(base, baseAt, this.#shapes);
      if (span > 0) {
        words[member + 2] = span;
        const read = this.#members(span, baseAt, at, had, known, depth);
        if (read !== OTHER_MEMBERS) return read;
        words[member + 2] = Math.min(0, place) - 1;
      }
    } else words[member + 2] = Math.min(0, words[member + 2] ?? 0);
    this.#end = endOfValue(bytes, at, length);
    // An empty object or array ends here, or the text is not JSON.
    if (this.#end < 0) return OTHER_MEMBERS;
    if (had === undefined) return undefined;
    const read = this.#scalars.read(bytes, at, this.#end);
    return nests ? reuseUnchanged(had, read) : read;
  }
}

// Members are read and copied on a line of code per depth, because V8 caches the shapes of objects by line, and the
// objects at one depth have few shapes.
type Container = Record<string, unknown> & unknown[];

/** Returns the member of an array by its index, or of an object by its name; `undefined` if there is no object. */
function memberOf(value: unknown, name: string | undefined, index: number): unknown {
  if (value === undefined) return undefined;
  return name === undefined ? (value as unknown[])[index] : (value as Container)[name];
}

/** Returns a copy of an array or object at this depth of a document. */
export function copyOf(value: unknown, depth: number): Container {
  if (Array.isArray(value)) return value.slice() as Container;
  const object = value as Container;
  if (depth === 0) return { ...object };
  if (depth === 1) return { ...object };
  if (depth === 2) return { ...object };
  if (depth === 3) return { ...object };
  return { ...object };
}

/** Returns how many bytes are equal from the two positions on, at most `length`. */
export function mismatch(
  a: WordText,
  aAt: number,
  b: WordText,
  bAt: number,
  length: number,
): number {
  // Words can be compared where both texts have the same position within a word, which is so until a member of another
  // length has changed the distance.
  if (((aAt - bAt) & 3) !== 0) return equalBytes(a.bytes, aAt, b.bytes, bAt, 0, length);
  const head = Math.min(-aAt & 3, length);
  const at = equalBytes(a.bytes, aAt, b.bytes, bAt, 0, head);
  if (at < head) return at;
  const words = (length - head) >> 2;
  const same = equalWords(a.words, (aAt + head) >> 2, b.words, (bAt + head) >> 2, words);
  return equalBytes(a.bytes, aAt, b.bytes, bAt, head + same * 4, length);
}

function equalWords(
  a: Int32Array,
  aAt: number,
  b: Int32Array,
  bAt: number,
  length: number,
): number {
  let at = 0;
  while (at < length && a[aAt + at] === b[bAt + at]) at++;
  return at;
}

function equalBytes(
  a: Uint8Array,
  aAt: number,
  b: Uint8Array,
  bAt: number,
  from: number,
  length: number,
): number {
  let at = from;
  while (at < length && a[aAt + at] === b[bAt + at]) at++;
  return at;
}
