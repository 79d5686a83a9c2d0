/**
 * Decodes a JSON text by comparing it with an earlier text whose value is known. Members with the same bytes keep their
 * value, and only the others are parsed. The result is the value that `JSON.parse` gives, and the earlier text may be
 * any: one that is less similar only saves less.
 */

import { endOfValue, OPEN_ARRAY, OPEN_OBJECT } from '../json-scan.ts';
import { parseText, textOf } from '../json-text.ts';
import { mismatch, WordText } from './mismatch.ts';
import { type Span, spanOf } from './span.ts';

/** Returned instead of a value if the members of an object or array are not those of the earlier one. */
const OTHER_MEMBERS = { members: 'other' };

/** Deeper members are parsed whole, so that no text overflows the stack. */
const DEEPEST = 24;

/** A JSON object as text and as value. */
export interface Document {
  readonly text: WordText;
  /** Made when the text is compared first. */
  span: Span | undefined;
  /** The parsed object. A member that it lacks was removed after parsing, and is not parsed. */
  value: unknown;
}

type Container = Record<string, unknown> & unknown[];

/** Reads texts by comparing them with earlier documents, one after another. */
export class Difference {
  readonly #text = new WordText();
  #base = this.#text;
  /** The position after the value that was read last. */
  #end = 0;

  /**
   * Returns the value of the text between `at` and `to`, and changes the document to this text and value. Returns
   * `undefined` if the text must be parsed whole, and throws an `ApiError` if a member is not JSON; the document keeps
   * its text and value then.
   */
  read(document: Document, bytes: Uint8Array, at: number, to: number): unknown {
    const base = document.text;
    const span = document.span ?? spanOf(base.bytes, 0, base.length);
    // The span is invalid if the text cannot be read by it, or if a member is not JSON.
    document.span = undefined;
    if (span === undefined) return undefined;
    const text = this.#text;
    text.set(bytes, at, to);
    this.#base = base;
    const read = this.#members(span, 0, 0, document.value, 0, 0);
    this.#base = text;
    if (read === OTHER_MEMBERS || this.#end !== text.length) return undefined;
    base.set(bytes, at, to);
    document.span = span;
    document.value = read;
    return read;
  }

  /** Reads an object or array that begins at `baseAt` in the earlier text and at `at` in this one. */
  #members(
    span: Span,
    baseAt: number,
    at: number,
    value: unknown,
    known: number,
    depth: number,
  ): unknown {
    const { keys, starts, ends } = span;
    const base = this.#base;
    const text = this.#text;
    const count = starts.length;
    let result = value as Container | undefined;
    /** How much the members that have been read are longer than before. */
    let moved = 0;
    let from = known;
    for (let index = 0, read = -1; ; read = index) {
      const length = Math.min(span.length - from, text.length - at - from);
      const differs = from + mismatch(base, baseAt + from - moved, text, at + from, length);
      if (differs === span.length) break;
      while (index < count && (ends[index] ?? 0) < differs) index++;
      const start = starts[index] ?? differs + 1;
      const ended = ends[index] ?? 0;
      // The difference is in a name, behind the last member, or behind a member that has just been read.
      if (differs < start || index === read) return OTHER_MEMBERS;
      const had = memberOf(value, keys?.[index], index);
      const member = this.#member(
        span,
        index,
        baseAt + start - moved,
        at + start,
        had,
        differs - start,
        depth,
      );
      if (member === OTHER_MEMBERS) return OTHER_MEMBERS;
      const grown = this.#end - at - ended;
      if (grown !== 0) {
        moved += grown;
        shift(span, index, grown);
      }
      from = ended + grown;
      if (Object.is(member, had)) continue;
      if (result === value) result = copyOf(value);
      (result as Container)[(keys === undefined ? index : keys[index]) as number] = member;
    }
    this.#end = at + span.length;
    return result;
  }

  /** Reads one member that differs. `had` is its earlier value; `undefined` if it was removed after parsing. */
  #member(
    { inner }: Span,
    index: number,
    baseAt: number,
    at: number,
    had: unknown,
    known: number,
    depth: number,
  ): unknown {
    const first = this.#text.bytes[at];
    const nests = first === OPEN_OBJECT || first === OPEN_ARRAY;
    if (nests && first === this.#base.bytes[baseAt] && depth < DEEPEST) {
      const span = inner[index] ?? spanOf(this.#base.bytes, baseAt, this.#base.length);
      inner[index] = span;
      if (span !== undefined) {
        const read = this.#members(span, baseAt, at, had, known, depth + 1);
        if (read !== OTHER_MEMBERS) return read;
      }
    }
    const text = this.#text;
    inner[index] = undefined;
    this.#end = endOfValue(text.bytes, at, text.length);
    // An empty object or array ends here, or the text is not JSON.
    if (this.#end < 0) return OTHER_MEMBERS;
    return had === undefined ? undefined : parseText(textOf(text.bytes, at, this.#end), 'a member');
  }
}

function memberOf(value: unknown, key: string | undefined, index: number): unknown {
  if (value === undefined) return undefined;
  return (value as Container)[(key ?? index) as number];
}

function copyOf(value: unknown): Container {
  return (Array.isArray(value) ? value.slice() : { ...(value as object) }) as Container;
}

/** Records that a member has become longer. */
function shift(span: Span, index: number, grown: number): void {
  const { starts, ends } = span;
  span.length += grown;
  ends[index] = (ends[index] ?? 0) + grown;
  for (let later = index + 1; later < starts.length; later++) {
    starts[later] = (starts[later] ?? 0) + grown;
    ends[later] = (ends[later] ?? 0) + grown;
  }
}
