/**
 * `Shapes`, the lists of names that objects have, so that each list is stored once for all documents. The names come
 * from a server, so their memory is counted, and the owner forgets all lists when they are too large.
 */

import { isText } from '../json-scan.ts';
import { textOf } from '../json-text.ts';

/** The memory of a list, and of each of its names, without the characters. */
const OVERHEAD = 64;

/** One list of names. */
type Names = readonly string[];

export class Shapes {
  readonly #names: Names[] = [];
  /** The shapes by the hash of their names. */
  readonly #byHash = new Map<number, number[]>();
  /** The memory of all lists. */
  bytes = 0;

  /** Forgets all lists. Their numbers are invalid from now on. */
  clear(): void {
    this.#names.length = this.bytes = 0;
    this.#byHash.clear();
  }

  names(shape: number): Names {
    return this.#names[shape] ?? [];
  }

  /**
   * Returns the shape of an object. Of each member, `positions` has where the name begins and where the value begins and
   * ends. Returns `undefined` for a repeated name, a name with an escape or with other characters than ASCII, and
   * `__proto__`.
   */
  of(bytes: Uint8Array, positions: readonly number[]): number | undefined {
    const hash = hashOf(bytes, positions);
    const candidates = this.#byHash.get(hash) ?? [];
    const found = candidates.find((shape) => isNamed(this.names(shape), bytes, positions));
    if (found !== undefined) return found;
    const names: string[] = [];
    for (let at = 0; at < positions.length; at += 3) {
      names.push(textOf(bytes, (positions[at] ?? 0) + 1, (positions[at + 1] ?? 0) - 2));
    }
    if (names.some(isUnusual) || new Set(names).size < names.length) return undefined;
    // A list of names that `isNamed` does not recognize would be stored again each time.
    if (!isNamed(names, bytes, positions)) return undefined;
    this.bytes += names.join('').length + (names.length + 1) * OVERHEAD;
    const shape = this.#names.push(names) - 1;
    this.#byHash.set(hash, [...candidates, shape]);
    return shape;
  }
}

/** A name with a backslash has an escape. */
function isUnusual(name: string): boolean {
  return name === '__proto__' || name.includes('\\');
}

/** The name is between quotes, and a colon is between it and the value. */
function hashOf(bytes: Uint8Array, positions: readonly number[]): number {
  let hash = 0;
  for (let at = 0; at < positions.length; at += 3) {
    const end = positions[at + 1] ?? 0;
    for (let byte = positions[at] ?? 0; byte < end; byte++) {
      hash = (Math.imul(hash, 31) + (bytes[byte] ?? 0)) | 0;
    }
  }
  return hash;
}

/** Whether these are the names in the bytes. Names with escapes and other characters than ASCII are not recognized. */
function isNamed(names: Names, bytes: Uint8Array, positions: readonly number[]): boolean {
  if (names.length * 3 !== positions.length) return false;
  for (let index = 0; index < names.length; index++) {
    const from = positions[index * 3] ?? 0;
    const value = positions[index * 3 + 1] ?? 0;
    const name = names[index] ?? '';
    if (!isText(name, bytes, from + 1, value - 2)) return false;
  }
  return true;
}
