/** `ObjectReader`, which reads objects from their bytes, and the one that parses each object. */
import type { DecodeContext } from './decoding.ts';
import { parseText } from './json-text.ts';
import { ObjectText } from './object-text.ts';

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
   * was deleted.
   */
  read(bytes: Uint8Array, from: number, to: number, isLast: boolean): unknown;
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
