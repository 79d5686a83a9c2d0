/**
 * Finds the fields of `metadata` that identify an object, and `managedFields`, in the bytes of the object, before it is
 * parsed. The members may be in any order. A name with an escape is not recognized: the parsed object decides then.
 */
import {
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfString,
  endOfValue,
  isText,
  OPEN_OBJECT,
  QUOTE,
} from './json-scan.ts';

/** The positions of one member of `metadata`; -1 if it was not found. */
interface Place {
  from: number;
  to: number;
}

const nowhere = (): Place => ({ from: -1, to: -1 });

/** The positions are those in the object that was opened last. An instance is reused for every object. */
export class ObjectHead {
  /** The texts of the fields, without their quotes. */
  readonly name: Place = nowhere();
  readonly namespace: Place = nowhere();
  readonly uid: Place = nowhere();
  readonly resourceVersion: Place = nowhere();
  /** The complete member, with one of the commas beside it. */
  readonly managedFields: Place = nowhere();
  #bytes: Uint8Array = new Uint8Array(0);
  #to = 0;
  /** Where the next member of `metadata` begins; -1 if all have been read. */
  #next = -1;

  /** Begins with the object between `at` and `to`. */
  open(bytes: Uint8Array, at: number, to: number): void {
    this.name.from = this.namespace.from = this.uid.from = -1;
    this.resourceVersion.from = this.managedFields.from = -1;
    this.#bytes = bytes;
    this.#to = to;
    this.#next = firstOfMetadata(bytes, at, to);
  }

  /** Reads members until `place` is known, or all of them. Returns whether it was found. */
  find(place: Place): boolean {
    while (place.from < 0 && this.#next >= 0) this.#member();
    return place.from >= 0;
  }

  #member(): void {
    const bytes = this.#bytes;
    const name = this.#next;
    this.#next = -1;
    const end = bytes[name] === QUOTE ? endOfString(bytes, name, this.#to) : -1;
    if (end < 0 || bytes[end] !== COLON) return;
    const after = endOfValue(bytes, end + 1, this.#to);
    if (after < 0) return;
    const isLast = bytes[after] !== COMMA;
    if (!isLast) this.#next = after + 1;
    const place = this.#placeOf(name + 1, end - name - 2);
    if (place === this.managedFields) {
      // Before white space the end of the member is not known, so it is removed after parsing.
      const isWhole = bytes[after] === CLOSE_OBJECT || (!isLast && bytes[after + 1] === QUOTE);
      if (!isWhole) return;
      // With the comma behind the member, or with the one before it if it is the last.
      place.from = isLast && bytes[name - 1] === COMMA ? name - 1 : name;
      place.to = isLast ? after : after + 1;
    } else if (place !== undefined && bytes[end + 1] === QUOTE) {
      place.from = end + 2;
      place.to = after - 1;
    }
  }

  #placeOf(name: number, length: number): Place | undefined {
    const bytes = this.#bytes;
    if (isText('uid', bytes, name, name + length)) return this.uid;
    if (isText('name', bytes, name, name + length)) return this.name;
    if (isText('namespace', bytes, name, name + length)) return this.namespace;
    if (isText('managedFields', bytes, name, name + length)) return this.managedFields;
    if (isText('resourceVersion', bytes, name, name + length)) return this.resourceVersion;
    return undefined;
  }
}

/** Returns where the first member of `metadata` begins; -1 if there is none. */
function firstOfMetadata(bytes: Uint8Array, at: number, to: number): number {
  if (bytes[at] !== OPEN_OBJECT) return -1;
  for (let next = at + 1; bytes[next] === QUOTE; next++) {
    const end = endOfString(bytes, next, to);
    if (end < 0 || bytes[end] !== COLON) return -1;
    if (isText('metadata', bytes, next + 1, end - 1)) {
      return bytes[end + 1] === OPEN_OBJECT && bytes[end + 2] !== CLOSE_OBJECT ? end + 2 : -1;
    }
    next = endOfValue(bytes, end + 1, to);
    if (next < 0 || bytes[next] !== COMMA) return -1;
  }
  return -1;
}
