/**
 * Objects as bytes, encoded once. An event is a few copies between the fields that may change, so the server does not
 * become the bottleneck.
 */
import { type FieldName, FieldValues, fieldNames, widthOf } from './fields.ts';

const token = /,"%%(\w+)%%":0|"%%(\w+)%%"|%(\w+)%/g;
const slabSize = 32 * 2 ** 20;
const ids = new Map<string, number>(fieldNames.map((name, id) => [name, id]));
const managed = fieldNames.indexOf('managed');
const unmanaged = fieldNames.indexOf('unmanaged');

/** A template divided at its tokens. */
interface Parts {
  readonly text: string;
  /** The positions at which fields are inserted, and the ids of these fields. */
  readonly positions: readonly number[];
  readonly fields: readonly number[];
}

function divide(template: string): Parts {
  const positions: number[] = [];
  const fields: number[] = [];
  let text = '';
  let from = 0;
  for (const match of template.matchAll(token)) {
    const name = match[1] ?? match[2] ?? match[3] ?? '';
    const id = ids.get(name);
    if (id === undefined) throw new Error(`the template has an unknown field: ${name}`);
    text += template.slice(from, match.index);
    positions.push(text.length);
    fields.push(id);
    from = match.index + match[0].length;
  }
  return { text: text + template.slice(from), positions, fields };
}

/** All objects of one collection. */
export class ObjectBytes {
  readonly count: number;
  readonly values: FieldValues;
  /** The size of the first object as sent. */
  readonly bytesEach: number;
  /** The greatest size of each object as sent. */
  readonly #capacity: Uint32Array;
  readonly #slabs: Buffer[] = [];
  readonly #slabOf: Uint16Array;
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;
  /** For each object the range of its fields in `#positions` and `#fields`. */
  readonly #firstField: Uint32Array;
  readonly #positions: number[] = [];
  readonly #fields: number[] = [];

  /** `template` returns the JSON text of one object, in ASCII, with tokens for the fields. */
  constructor(count: number, template: (index: number) => string, random: () => number) {
    this.count = count;
    this.values = new FieldValues(count, random);
    this.#capacity = new Uint32Array(count);
    this.#slabOf = new Uint16Array(count);
    this.#starts = new Uint32Array(count);
    this.#ends = new Uint32Array(count);
    this.#firstField = new Uint32Array(count + 1);
    let used = slabSize;
    for (let index = 0; index < count; index++) {
      const { text, positions, fields } = divide(template(index));
      if (used + text.length > slabSize) {
        this.#slabs.push(Buffer.allocUnsafeSlow(slabSize));
        used = 0;
      }
      const slab = this.#slabs.length - 1;
      this.#slabOf[index] = slab;
      this.#starts[index] = used;
      for (const position of positions) this.#positions.push(used + position);
      this.#fields.push(...fields);
      this.#firstField[index + 1] = this.#fields.length;
      const widths = fields.map((id) => widthOf(fieldNames[id] as FieldName));
      this.#capacity[index] = widths.reduce((sum, width) => sum + width, text.length);
      used += this.#slabs[slab]?.write(text, used, 'latin1') ?? 0;
      this.#ends[index] = used;
    }
    this.bytesEach = count === 0 ? 0 : this.of(0, true).length;
  }

  /** At least the size of an object as sent, in bytes. */
  capacity(index: number): number {
    return this.#capacity[index] ?? 0;
  }

  /** Writes the object as JSON, and returns the position after it. */
  write(index: number, withManaged: boolean, into: Buffer, start: number): number {
    const slab = this.#slabs[this.#slabOf[index] ?? 0];
    if (slab === undefined) return start;
    let at = start;
    let from = this.#starts[index] ?? 0;
    let skipping = false;
    const last = this.#firstField[index + 1] ?? 0;
    for (let n = this.#firstField[index] ?? 0; n < last; n++) {
      const position = this.#positions[n] ?? 0;
      const id = this.#fields[n] ?? 0;
      if (!skipping) {
        at += slab.copy(into, at, from, position);
        if (id === managed) skipping = !withManaged;
        else at = this.values.write(fieldNames[id] as FieldName, index, into, at);
      } else if (id === unmanaged) skipping = false;
      from = position;
    }
    return at + slab.copy(into, at, from, this.#ends[index] ?? 0);
  }

  /** The object as JSON. */
  of(index: number, withManaged: boolean): Buffer {
    const bytes = Buffer.allocUnsafe(this.capacity(index));
    return bytes.subarray(0, this.write(index, withManaged, bytes, 0));
  }
}
