/** `ObjectReader`, which reads objects from their bytes, and the one that parses each object. */
import type { DecodeContext } from './decoding.ts';
import { parseText, textOf } from './json-text.ts';
import { ObjectHead } from './object-head.ts';

/** How many objects were decoded in which way, since the decoding was created. */
export interface DecodeCounts {
  /** Objects of which only the difference to an earlier state was parsed. */
  compared: number;
  /** Objects that were parsed completely. */
  parsed: number;
  /** Objects that were not parsed, because a list repeated the stored version. */
  unchanged: number;
}

/** Reads objects one after another. */
export interface ObjectReader<T> {
  /**
   * Returns the object between `from` and `to`, as `JSON.parse` would, possibly without its `managedFields`. Throws an
   * `ApiError` if the bytes are not JSON. The result may share parts with earlier objects. `isLast` says that the object
   * was deleted, and `isListed` that it is part of a list.
   */
  read(bytes: Uint8Array, from: number, to: number, isLast: boolean, isListed: boolean): unknown;
  /**
   * The earlier state whose unchanged parts the object that was read last has already, at every depth; absent or
   * `undefined` if there is none.
   */
  readonly basis?: T | undefined;
  /** Called for each object that is not passed to `read`. */
  count?(how: keyof DecodeCounts): void;
  /**
   * Reads an item of a list. `typeMeta` is the text to put in place of the opening brace of an item without a type.
   * Returns `undefined` if the item is to be parsed completely.
   */
  item?(bytes: Uint8Array, from: number, to: number, typeMeta: string): unknown;
  /** Returns what is kept of an object that was parsed completely. */
  reduce?(object: unknown): unknown;
}

/** Parses each object. */
export class WholeReader implements ObjectReader<never> {
  readonly #text: ObjectText;

  constructor({ keepManagedFields }: Pick<DecodeContext<never>, 'keepManagedFields'>) {
    this.#text = new ObjectText(keepManagedFields);
  }

  read(bytes: Uint8Array, from: number, to: number): unknown {
    return parseText(this.#text.of(bytes, from, to), 'an object');
  }
}

/** Longer objects are not copied, so that one of them does not leave a large buffer. */
const LONGEST_COPY = 65_536;

/** Converts the bytes of objects to texts, one after another. */
export class ObjectText {
  readonly #keepManagedFields: boolean;
  readonly #head = new ObjectHead();
  #copy = new Uint8Array(0);

  constructor(keepManagedFields: boolean) {
    this.#keepManagedFields = keepManagedFields;
  }

  /** Returns the text of the object between `from` and `to`. */
  of(bytes: Uint8Array, from: number, to: number): string {
    this.#head.open(bytes, from, to);
    return this.behind(this.#head, bytes, from, to);
  }

  /** The same for an object in which `head` was opened. */
  behind(head: ObjectHead, bytes: Uint8Array, from: number, to: number): string {
    const cut = head.managedFields;
    if (this.#keepManagedFields || !head.find(cut)) return textOf(bytes, from, to);
    const length = to - from - (cut.to - cut.from);
    if (length > LONGEST_COPY) return textOf(bytes, from, cut.from) + textOf(bytes, cut.to, to);
    if (this.#copy.length < length) this.#copy = new Uint8Array(Math.min(length * 2, LONGEST_COPY));
    this.#copy.set(bytes.subarray(from, cut.from));
    this.#copy.set(bytes.subarray(cut.to, to), cut.from - from);
    return textOf(this.#copy, 0, length);
  }
}
