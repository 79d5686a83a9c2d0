/**
 * Splits a list body into its items while it arrives. A body is never decoded in one piece, because 100,000 Pods
 * exceed the longest string of V8, and parsing them together would block the page for seconds. Everything except the
 * items is kept as the envelope.
 */
import { ApiError } from '../meta/api-error.ts';
import { GatheredBytes } from '../transport/gathered-bytes.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Smaller pieces are gathered, because a string built of single-byte parts takes thirty times its length. */
const SMALL = 1024;

/** Collects the bytes of an item or of the envelope until it is complete. */
class ByteText {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #small = new GatheredBytes();
  #text = '';
  length = 0;

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const isFirst = this.length === 0;
    this.length += bytes.length;
    if (isFirst || bytes.length >= SMALL) return this.#decode(bytes);
    this.#small.add(bytes);
    if (this.#small.length >= SMALL) this.#gather();
  }

  get soFar(): string {
    this.#gather();
    return this.#text;
  }

  take(): string {
    this.#gather();
    const text = this.#text + this.#decoder.decode();
    this.#text = '';
    this.length = 0;
    return text;
  }

  #decode(bytes: Uint8Array): void {
    this.#gather();
    this.#text += this.#decoder.decode(bytes, { stream: true });
  }

  #gather(): void {
    if (this.#small.length === 0) return;
    this.#text += this.#decoder.decode(this.#small.take(), { stream: true });
  }
}

/** Turns the bytes of a list body into the text of each complete item. */
export class ItemFramer {
  readonly #maxBytes: number;
  /** The name of the array that contains the items. */
  readonly #member: string;
  readonly #item = new ByteText();
  readonly #envelope = new ByteText();
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

  /** Returns the items that this chunk completed, each as JSON text. */
  push(chunk: Uint8Array): string[] {
    try {
      return this.#scan(chunk);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      throw ApiError.local('Malformed', 'the list is not UTF-8');
    }
  }

  #scan(chunk: Uint8Array): string[] {
    const items: string[] = [];
    let depth = this.#depth;
    let inString = this.#inString;
    let escaped = this.#escaped;
    // The start of the bytes that do not belong to an item or the envelope yet.
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (inString) {
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
          from = at;
        } else if (depth === 2 && byte === OPEN_ARRAY && this.#key === this.#member) {
          this.#inItems = true;
          this.#envelope.add(chunk.subarray(from, at + 1));
          this.#opening = this.#envelope.soFar;
          from = at + 1;
        }
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        depth--;
        if (this.#inItem && depth === 2) {
          this.#inItem = false;
          this.#item.add(chunk.subarray(from, at + 1));
          this.#checkSize(this.#item);
          items.push(this.#item.take());
          from = at + 1;
        } else if (this.#inItems && depth === 1) {
          this.#inItems = false;
          this.#key = '';
          from = at;
        }
        if (depth === 0) this.#ended = true;
      } else if (depth === 1) {
        if (byte === COLON) this.#key = this.#word;
        else if (byte === COMMA) this.#key = '';
      }
    }
    if (this.#inItem) this.#item.add(chunk.subarray(from));
    else if (!this.#inItems) this.#envelope.add(chunk.subarray(from));
    this.#depth = depth;
    this.#inString = inString;
    this.#escaped = escaped;
    this.#checkSize(this.#item);
    this.#checkSize(this.#envelope);
    return items;
  }

  #checkSize(text: ByteText): void {
    if (text.length <= this.#maxBytes) return;
    const message = `an item of the list is longer than ${this.#maxBytes} bytes; raise maxFrameBytes if such objects are expected`;
    throw ApiError.local('TooLarge', message);
  }

  /** Returns the body without its items, as JSON text. Throws if the body was cut. */
  end(): string {
    if (!this.#ended || this.#depth !== 0) {
      throw ApiError.local('Malformed', 'the list is cut off, or not JSON');
    }
    return this.#envelope.take();
  }
}
