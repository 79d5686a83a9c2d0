/**
 * Splits a list body into its items while it arrives. A body is never decoded in one piece, because 100,000 Pods
 * exceed the longest string of V8, and parsing them together would block the page for seconds. Everything except the
 * items is kept as the envelope, with `{}` in place of each item, so that nothing between them is skipped.
 */
import { ApiError } from '../meta/api-error.ts';
import { GatheredBytes } from '../transport/gathered-bytes.ts';
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './json-scan.ts';
import { hintOf, textOf } from './json-text.ts';

/** How many bytes each item leaves in the envelope: two brackets and a comma. */
const SHELL = 3;

/** Receives the bytes of one item, which are valid during the call. */
export type OnItem = (bytes: Uint8Array, from: number, to: number) => void;

/** Finds the items of a list body. */
export class ItemFramer {
  /** How many items were found. */
  count = 0;
  readonly #maxBytes: number;
  /** The name of the array that contains the items. */
  readonly #member: string;
  /** The bytes of an item that began in an earlier chunk. */
  readonly #item = new GatheredBytes();
  readonly #envelope = new GatheredBytes();
  #depth = 0;
  #inString = false;
  #escaped = false;
  #inItems = false;
  /** The characters of the last string at depth 1, to recognize the key of the items. */
  #word = '';
  #key = '';
  #inItem = false;
  #opening = '';
  #ended = false;

  constructor(maxBytes: number, member: 'items' | 'rows' = 'items') {
    this.#maxBytes = maxBytes;
    this.#member = member;
  }

  /** The text before the items, closed so that it is valid JSON. Valid once an item has arrived. */
  get opening(): string {
    return `${this.#opening}]}`;
  }

  /** Calls `onItem` for each item that this chunk completed. */
  push(chunk: Uint8Array, onItem: OnItem): void {
    let depth = this.#depth;
    let inString = this.#inString;
    let escaped = this.#escaped;
    // The start of the bytes that do not belong to an item or the envelope yet.
    let from = 0;
    const { length } = chunk;
    for (let at = 0; at < length; at++) {
      let byte = chunk[at];
      if (inString) {
        // Most bytes are those of strings in items.
        if (depth !== 1 && !escaped) {
          while (byte !== QUOTE && byte !== BACKSLASH && ++at < length) byte = chunk[at];
          if (at === length) break;
        }
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
        else if (depth === 1 && this.#word.length < 8) this.#word += String.fromCharCode(byte ?? 0);
        continue;
      }
      if (byte === QUOTE) {
        inString = true;
        if (depth === 1) this.#word = '';
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        depth++;
        if (this.#inItems && depth === 3 && byte === OPEN_OBJECT) {
          this.#inItem = true;
          this.count++;
          this.#envelope.add(chunk.subarray(from, at + 1));
          from = at;
        } else if (depth === 2 && byte === OPEN_ARRAY && this.#key === this.#member) {
          this.#inItems = true;
          this.#envelope.add(chunk.subarray(from, at + 1));
          this.#opening = textOf(this.#envelope.bytes, 0, this.#envelope.length);
          from = at + 1;
        }
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        depth--;
        if (this.#inItem && depth === 2) {
          this.#inItem = false;
          this.#complete(chunk, from, at + 1, onItem);
          from = at;
        } else if (this.#inItems && depth === 1) {
          this.#inItems = false;
          this.#key = '';
        }
        if (depth === 0) this.#ended = true;
      } else if (depth === 1) {
        if (byte === COLON) this.#key = this.#word;
        else if (byte === COMMA) this.#key = '';
      }
    }
    if (this.#inItem) this.#item.add(chunk.subarray(from));
    else this.#envelope.add(chunk.subarray(from));
    this.#depth = depth;
    this.#inString = inString;
    this.#escaped = escaped;
    this.#checkSize(this.#item.length);
    this.#checkSize(this.#envelope.length - SHELL * this.count);
  }

  #complete(chunk: Uint8Array, from: number, to: number, onItem: OnItem): void {
    this.#checkSize(this.#item.length + to - from);
    if (this.#item.length === 0) return onItem(chunk, from, to);
    this.#item.add(chunk.subarray(from, to));
    const { bytes, length } = this.#item;
    this.#item.clear();
    onItem(bytes, 0, length);
  }

  #checkSize(length: number): void {
    if (length <= this.#maxBytes) return;
    const message = `an item of the list is longer than ${this.#maxBytes} bytes; raise maxFrameBytes if such objects are expected`;
    throw ApiError.local('TooLarge', message);
  }

  /** Returns the body without its items, as JSON text. Throws if the body was cut. */
  end(): string {
    if (!this.#ended || this.#depth !== 0) {
      const { bytes, length } = this.#envelope;
      // The first bytes, which may end within a character.
      const first = String.fromCharCode(...bytes.subarray(0, Math.min(length, 16)));
      const hint = hintOf(first.replace('\u00ef\u00bb\u00bf', '\ufeff'));
      throw ApiError.local('Malformed', `the list is cut off, or not JSON${hint}`);
    }
    const envelope = this.#envelope.take();
    return textOf(envelope, 0, envelope.length);
  }
}
