/**
 * Keeps the texts of recently changed objects within a limit of bytes. A text is kept from the second change of an
 * object on, because objects that change in turn would only displace each other.
 */
import type { Document } from './difference.ts';
import { WordText } from './mismatch.ts';

/** Objects of which one change was seen, by their hash. A later object with the same place takes it over. */
const SEEN = 8_192;

/** Longer texts are not kept: this part of the limit. */
const LARGEST_SHARE = 0.125;

interface Entry extends Document {
  /** Whether the text was used since it was last considered for eviction. */
  isUsed: boolean;
}

/** The kept texts by the hash of a UID. Two objects with one hash displace each other. */
export class RecentDocuments {
  readonly #maxBytes: number;
  readonly #seen = new Int32Array(SEEN);
  readonly #entries = new Map<number, Entry>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The bytes of all buffers. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  find(hash: number): Document | undefined {
    const entry = this.#entries.get(hash);
    if (entry !== undefined) entry.isUsed = true;
    return entry;
  }

  /** Records a change of an object whose text is not kept. Returns whether it should be kept from now on. */
  isSecond(hash: number): boolean {
    const place = hash & (SEEN - 1);
    if (this.#seen[place] === hash) return true;
    this.#seen[place] = hash;
    return false;
  }

  /** Keeps a copy of the text between `from` and `to` with its value. */
  keep(hash: number, bytes: Uint8Array, from: number, to: number, value: unknown): void {
    if (to - from > this.#maxBytes * LARGEST_SHARE) return this.drop(hash);
    const entry = this.#entries.get(hash) ?? { text: new WordText(), isUsed: false };
    const before = entry.text.capacity;
    entry.text.set(bytes, from, to);
    this.#entries.set(hash, Object.assign(entry, { span: undefined, value }));
    this.resized(entry, before);
  }

  /** Records that the buffer of a document has another size than `before`. */
  resized({ text }: Pick<Document, 'text'>, before: number): void {
    if (text.capacity === before) return;
    this.#bytes += text.capacity - before;
    this.#evict();
  }

  drop(hash: number): void {
    const entry = this.#entries.get(hash);
    if (entry === undefined) return;
    this.#entries.delete(hash);
    this.#bytes -= entry.text.capacity;
  }

  /** Removes texts that were not used since they were considered last, in turn. */
  #evict(): void {
    for (const [hash, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#entries.delete(hash);
      if (entry.isUsed) {
        entry.isUsed = false;
        this.#entries.set(hash, entry);
      } else this.#bytes -= entry.text.capacity;
    }
  }
}
