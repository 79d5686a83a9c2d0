/**
 * Decodes the JSON text of an object by comparing it with the stored object, of which no text is kept. The parts that are
 * repeated keep their JavaScript value and are not parsed. The result is the value that `JSON.parse` gives, whatever
 * the stored object is.
 */
import type { Fields } from '../../meta/json-fields.ts';
import { type KubernetesObject, uidOf } from '../../meta/kubernetes-object.ts';
import { reuseUnchanged } from '../../meta/reuse-unchanged.ts';
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfValue,
  isText,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from '../json-scan.ts';
import { textOf } from '../json-text.ts';
import type { ObjectHead } from '../object-head.ts';
import { copyOf } from './difference.ts';
import { differentialDecoding } from './differential-decoding.ts';
import {
  type StoredComparison,
  type StoredObjects,
  setStoredComparison,
} from './differential-reader.ts';
import { isUnescaped, MOST_DIGITS, Scalars, ZERO } from './scalars.ts';

/** Longer strings are decoded natively before they are compared. */
const LONGEST_COMPARED = 256;

const NONE: Uint8Array = /* @__PURE__ */ new Uint8Array(0);

const MANAGED_FIELDS = '"managedFields":';

/** Whether each byte may be a character of a string, without an escape. A table, because every byte is looked up. */
const UNESCAPED: Uint8Array = /* @__PURE__ */ Uint8Array.from({ length: 256 }, (_, code) =>
  isUnescaped(code) ? 1 : 0,
);

/** Compares texts with values, one after another. */
export class StoredDifference implements StoredComparison {
  readonly #known: StoredObjects['known'];
  readonly #scalars = new Scalars();
  readonly #dropsManagedFields: boolean;
  #bytes = NONE;
  #to = 0;
  /** The position after the value that was read last. */
  #end = 0;

  constructor({ known, keepManagedFields }: StoredObjects) {
    this.#known = known;
    this.#dropsManagedFields = !keepManagedFields;
  }

  find({ name, namespace, uid }: ObjectHead, bytes: Uint8Array): KubernetesObject | undefined {
    const known = this.#known;
    // They come in this order on the wire, so that all were found with the UID.
    if (known === undefined || known.size === 0 || name.from < 0 || uid.to <= uid.from)
      return undefined;
    const own = textOf(bytes, name.from, name.to);
    const key = namespace.from < 0 ? own : `${textOf(bytes, namespace.from, namespace.to)}/${own}`;
    const stored = known.get(key);
    return isText(uidOf(stored), bytes, uid.from, uid.to) ? stored : undefined;
  }

  read(stored: KubernetesObject, bytes: Uint8Array, from: number, to: number): unknown {
    this.#bytes = bytes;
    this.#to = to;
    try {
      const value = this.#members(stored as Fields, from, 0, false);
      return this.#end === to ? value : undefined;
    } catch {
      // A member is not JSON, or the stack is exhausted. Parsing the object completely gives the error.
      return undefined;
    } finally {
      this.#bytes = NONE;
    }
  }

  /** Reads the value at `at`, which differs from `had` or has parts. */
  #value(had: unknown, at: number, depth: number, drops: boolean): unknown {
    const bytes = this.#bytes;
    if (typeof had === 'object' && had !== null) {
      const first = bytes[at];
      let value: unknown;
      if (first === OPEN_OBJECT) value = this.#members(had as Fields, at, depth, drops);
      else if (first === OPEN_ARRAY) value = this.#items(had as unknown[], at, depth);
      if (value !== undefined) return value;
    }
    // A text that does not end here is not JSON, and neither is an empty one.
    const end = Math.max(at, endOfValue(bytes, at, this.#to));
    this.#end = end;
    return reuseUnchanged(had, this.#scalars.read(bytes, at, end));
  }

  /** Reads an object. Returns `undefined` if it has other members than `had`. */
  #members(had: Fields, at: number, depth: number, drops: boolean): unknown {
    if (Object.getPrototypeOf(had) !== Object.prototype) return undefined;
    const bytes = this.#bytes;
    let result = had;
    let next = at + 1;
    for (const name in had) {
      if (next > at + 1 && bytes[next++] !== COMMA) return undefined;
      if (drops && isText(MANAGED_FIELDS, bytes, next, next + MANAGED_FIELDS.length)) {
        next = endOfValue(bytes, next + MANAGED_FIELDS.length, this.#to);
        if (next < 0 || bytes[next++] !== COMMA) return undefined;
      }
      const colon = endOfString(name, bytes, next);
      if (colon < 0 || bytes[colon] !== COLON) return undefined;
      const before = had[name];
      next = endOfScalar(before, bytes, colon + 1);
      if (next >= 0) continue;
      const isMetadata = depth === 0 && name === 'metadata';
      const value = this.#value(
        before,
        colon + 1,
        depth + 1,
        isMetadata && this.#dropsManagedFields,
      );
      next = this.#end;
      if (Object.is(value, before)) continue;
      if (result === had) result = copyOf(had, depth);
      result[name] = value;
    }
    const last = next + 1;
    if (drops && isText(MANAGED_FIELDS, bytes, last, last + MANAGED_FIELDS.length)) {
      if (bytes[next] !== COMMA) return undefined;
      next = endOfValue(bytes, last + MANAGED_FIELDS.length, this.#to);
    }
    if (bytes[next] !== CLOSE_OBJECT) return undefined;
    this.#end = next + 1;
    return result;
  }

  /** Reads an array. Returns `undefined` if it has another length than `had`. */
  #items(had: unknown[], at: number, depth: number): unknown {
    if (Object.getPrototypeOf(had) !== Array.prototype) return undefined;
    const bytes = this.#bytes;
    let result = had;
    let next = at + 1;
    // There is no first item.
    if (had.length > 0 && bytes[next] === CLOSE_ARRAY) return undefined;
    for (let index = 0; index < had.length; index++) {
      const start = index === 0 ? next : next + 1;
      if (start > next && bytes[next] !== COMMA) return undefined;
      const before = had[index];
      next = endOfScalar(before, bytes, start);
      if (next >= 0) continue;
      const value = this.#value(before, start, depth + 1, false);
      next = this.#end;
      if (Object.is(value, before)) continue;
      if (result === had) result = copyOf(had, depth);
      result[index] = value;
    }
    if (bytes[next] !== CLOSE_ARRAY) return undefined;
    this.#end = next + 1;
    return result;
  }
}

/** Returns `differentialDecoding`, whose decoders compare objects also with the stored ones from now on. */
export function comparingStored(): typeof differentialDecoding {
  setStoredComparison((context) => new StoredDifference(context));
  return differentialDecoding;
}

/** Returns the position after the scalar at `at` if it is `had`, otherwise -1, also if it is written in an unusual way. */
function endOfScalar(had: unknown, bytes: Uint8Array, at: number): number {
  if (typeof had === 'string') return endOfString(had, bytes, at);
  if (typeof had === 'number') return endOfInteger(had, bytes, at);
  const word = had === null ? 'null' : had === true ? 'true' : had === false ? 'false' : '';
  const end = at + word.length;
  return end > at && isText(word, bytes, at, end) ? end : -1;
}

function endOfString(text: string, bytes: Uint8Array, at: number): number {
  const { length } = text;
  const from = at + 1;
  const end = from + length;
  if (bytes[end] !== QUOTE || bytes[at] !== QUOTE || length > LONGEST_COMPARED) return -1;
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index);
    if (code !== bytes[from + index] || UNESCAPED[code] === 0) return -1;
  }
  return end + 1;
}

function endOfInteger(had: number, bytes: Uint8Array, at: number): number {
  let value = 0;
  let end = at;
  for (; end - at < MOST_DIGITS; end++) {
    const digit = (bytes[end] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  // No other integer begins with 0, and -0 is another number.
  const isOne = end > at && (bytes[at] !== ZERO || end === at + 1);
  return isOne && Object.is(value, had) ? end : -1;
}
