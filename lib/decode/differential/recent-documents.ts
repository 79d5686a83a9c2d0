/**
 * Keeps the texts of recently changed objects, and the names of their members, within a limit of bytes. A text is kept
 * from the second change of an object on, if all texts between the two changes are within the limit, or within an eighth of it for an
 * object that can be compared with the stored one. Otherwise more objects change in turn than can be kept, and they would only displace
 * each other.
 */
import { metaNamespaceKeyFunc } from '../../meta/key.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { KeptDocument } from './document.ts';
import { Shapes } from './shapes.ts';

/** Objects of which one change was seen, by their hash. A later object with the same place takes it over. */
const SEEN = 8_192;

/** Longer texts are not kept, and more names of members: this part of the limit. */
const LARGEST_SHARE = 0.125;

/** Returns the key of an object, or '' if it has none. */
function keyOf(object: KubernetesObject): string {
  const name: unknown = object.metadata?.name;
  return typeof name === 'string' && name !== '' ? metaNamespaceKeyFunc(object) : '';
}

/** A kept document, and whether it was used since it was last considered for eviction. */
class Entry extends KeptDocument {
  isUsed = false;
  /** The form of the value. */
  form = '';
}

/** The kept documents by the hash of a UID. Two objects with one hash displace each other. */
export class RecentDocuments {
  readonly shapes: Shapes = new Shapes();
  /** The length of the longest text that is kept, and the most bytes of names. */
  readonly longest: number;
  readonly #maxBytes: number;
  readonly #seen = new Int32Array(SEEN);
  /** How many bytes had been parsed when each of these changes was seen. */
  readonly #seenAt = new Float64Array(SEEN);
  #parsedBytes = 0;
  readonly #entries = new Map<number, Entry>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.longest = maxBytes * LARGEST_SHARE;
  }

  /** The bytes of all buffers and names. */
  get bytes(): number {
    return this.#bytes + this.shapes.bytes;
  }

  /**
   * Returns the document of this hash whose value has this form. Collections that share a decoding may receive the same
   * objects and admit them in different forms.
   */
  find(hash: number, form: string): KeptDocument | undefined {
    const entry = this.#entries.get(hash);
    if (entry?.form !== form) return undefined;
    entry.isUsed = true;
    return entry;
  }

  /** Records a change of an object whose text is not kept. Returns whether it is to be kept: after at most `most` bytes of texts. */
  isRecent(hash: number, length: number, most: number = this.#maxBytes): boolean {
    const place = hash & (SEEN - 1);
    this.#parsedBytes += length;
    const since = this.#parsedBytes - (this.#seenAt[place] ?? 0);
    const isRecent = this.#seen[place] === hash && since <= most;
    this.#seen[place] = hash;
    this.#seenAt[place] = this.#parsedBytes;
    return isRecent;
  }

  /** Keeps a copy of the text between `from` and `to` with its value. */
  keep(
    hash: number,
    form: string,
    bytes: Uint8Array,
    from: number,
    to: number,
    value: unknown,
  ): void {
    if (to - from > this.longest) return this.drop(hash);
    const entry = this.#entries.get(hash) ?? new Entry();
    const before = entry.size;
    entry.set(bytes, from, to);
    entry.clearTable();
    entry.form = form;
    entry.value = value;
    entry.unchecked = 0;
    entry.key = keyOf(value as KubernetesObject);
    this.#entries.set(hash, entry);
    this.resized(entry, before);
  }

  /** Records that a document was read or replaced, whose buffer had the size `before`. */
  resized({ size }: KeptDocument, before: number): void {
    if (this.shapes.bytes > this.longest) {
      this.shapes.clear();
      // The positions of the members refer to the lists of names.
      for (const entry of this.#entries.values()) entry.clearTable();
    }
    this.#bytes += size - before;
    if (this.bytes > this.#maxBytes) this.#evict();
  }

  drop(hash: number): void {
    const entry = this.#entries.get(hash);
    if (entry === undefined) return;
    this.#bytes -= entry.size;
    this.#entries.delete(hash);
    if (this.#entries.size === 0) this.shapes.clear();
  }

  /** Removes all documents. */
  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  /** Removes documents that were not used since they were considered last, in turn. */
  #evict(): void {
    for (const [hash, entry] of this.#entries) {
      if (this.bytes <= this.#maxBytes) return;
      this.#entries.delete(hash);
      if (entry.isUsed) {
        entry.isUsed = false;
        this.#entries.set(hash, entry);
      } else this.#bytes -= entry.size;
    }
  }
}
