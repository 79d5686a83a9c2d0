/**
 * `KeptDocument`, the text of a JSON object in a buffer of its own, with the positions of its members behind it. One
 * buffer instead of many small objects, because reading scattered memory takes longer than comparing the text.
 */

/** The room for positions at first, as a part of the text: enough for a Pod. When it grows, all positions are found again. */
const TABLE_SHARE = 0.375;
/** The least room for positions, in words. */
const LEAST_TABLE = 64;
/** Buffers are rounded up to this size, in bytes. */
const GRAIN = 64;

/** A text that can be read by bytes and by words of four bytes. */
export class WordText {
  bytes: Uint8Array = new Uint8Array(0);
  words: Int32Array = new Int32Array(0);
  length = 0;

  /** Replaces the text with the bytes between `from` and `to`. */
  set(bytes: Uint8Array, from: number, to: number): void {
    const length = to - from;
    if (this.room < length) this.grow(length);
    this.bytes.set(bytes.subarray(from, to));
    this.length = length;
  }

  /** The longest text that fits, in bytes. */
  protected get room(): number {
    return this.bytes.length;
  }

  protected grow(length: number): void {
    this.allocate(Math.ceil((length * 17) / 16 / GRAIN) * GRAIN);
  }

  protected allocate(size: number): void {
    const buffer = new ArrayBuffer(size);
    this.bytes = new Uint8Array(buffer);
    this.words = new Int32Array(buffer);
  }
}

/** A text with its value and the positions of its members. */
export class KeptDocument extends WordText {
  /** The parsed object. A member that it lacks was removed after parsing, and is not parsed. */
  value: unknown;
  /** The key of the object. */
  key = '';
  /** How many more states are read before the store is looked at again. */
  unchecked = 0;
  /** The stored object that was found to be another one. */
  other: unknown;
  /** Where the table begins and where its free part begins, in words. */
  #table = 0;
  #free = 0;
  #share = TABLE_SHARE;
  /** Whether the table had no room, so that it must be made anew. */
  isFull = false;

  /** The size of the buffer, in bytes. */
  get size(): number {
    return this.bytes.length;
  }

  /** The place of the root in the table, or 0 if the table is empty. */
  get root(): number {
    return this.#free > this.#table ? this.#table : 0;
  }

  /** Forgets the positions. */
  clearTable(): void {
    this.#free = this.#table;
    this.isFull = false;
  }

  /** Returns the place of `count` free words, or 0 if there is no room. Then the table is cleared after the text was read. */
  reserve(count: number): number {
    const place = this.#free;
    if (place + count > this.words.length) {
      this.isFull = true;
      return 0;
    }
    this.#free += count;
    return place;
  }

  protected override get room(): number {
    return this.#table * 4;
  }

  /** Makes the positions anew, with more room, if there was no room for some. */
  widen(): void {
    if (!this.isFull) return;
    this.clearTable();
    if (this.#share >= 1) return;
    this.#share *= 1.5;
    const { bytes, length } = this;
    this.grow(length);
    this.bytes.set(bytes.subarray(0, length));
  }

  protected override grow(length: number): void {
    const text = Math.ceil((length * 17) / 16 / GRAIN) * GRAIN;
    const table = Math.max(LEAST_TABLE * 4, Math.ceil((text * this.#share) / GRAIN) * GRAIN);
    this.allocate(text + table);
    this.#table = text / 4;
    this.clearTable();
  }
}
