/** `ObjectText`, the text of an object without its `managedFields`, which are cut from the bytes before it is parsed. */
import { textOf } from './json-text.ts';
import { ObjectHead } from './object-head.ts';

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
