/**
 * The parts of an object that its changes replace. A template marks each of them by a token: `%version%` in a string,
 * `"%%count%%"` for a JSON value without quotes, and `"%%reason%%":0` with the comma before it for complete members.
 */

/** The first resourceVersion. All versions have 10 digits. */
export const firstVersion = 1_000_000_000;

/** The annotation with the server's write time: microseconds of the monotonic clock, 16 digits. */
export const writtenAnnotation = 'bench.example.com/written';

const texts = (...all: readonly string[]): readonly Buffer[] =>
  all.map((text) => Buffer.from(text));

/** Fields with a few values in turn. Their widths differ, as in a cluster. */
const variants = {
  /** The status of a condition. */
  ready: texts('True', 'False'),
  /** The reason and the message of a condition that is not met. */
  reason: texts(
    '',
    ',"reason":"ContainersNotReady","message":"containers with unready status: [checkout]"',
  ),
  /** The value of a label, and of the annotation beside it. */
  track: texts('stable', 'canary', 'blue-green'),
  /** The version of an image, or another part of a spec. */
  release: texts('1.4.0', '1.5.0-rc.1', '1.10.2'),
} as const;

/** Which state of an object selects the variant. */
const selectedBy = { ready: 'status', reason: 'status', track: 'labels', release: 'spec' } as const;

/** What a change is about: the status alone, labels and annotations, or the spec. */
export type Aspect = 'status' | 'labels' | 'spec';

/** The names of all fields. `managed` and `unmanaged` enclose `managedFields` with the comma before it. */
export const fieldNames = [
  'version',
  'generation',
  'written',
  'count',
  'statusTime',
  'specTime',
  'managed',
  'unmanaged',
  ...(Object.keys(variants) as (keyof typeof variants)[]),
] as const;

export type FieldName = (typeof fieldNames)[number];

/** The greatest width of each field, in bytes. */
export function widthOf(field: FieldName): number {
  if (field in variants) {
    const all = variants[field as keyof typeof variants];
    return Math.max(...all.map(({ length }) => length));
  }
  return field === 'statusTime' || field === 'specTime' ? 20 : 16;
}

/** The current values of the fields of all objects. */
export class FieldValues {
  readonly version: Uint32Array;
  /** Increases when the object is deleted and created again under another name. */
  readonly generation: Uint16Array;
  readonly written: Float64Array;
  readonly count: Uint16Array;
  readonly status: Uint8Array;
  readonly labels: Uint8Array;
  readonly spec: Uint8Array;
  readonly statusTime: Uint32Array;
  readonly specTime: Uint32Array;
  #times: Buffer[] = [];

  constructor(objects: number, random: () => number) {
    this.version = new Uint32Array(objects).fill(firstVersion);
    this.generation = new Uint16Array(objects).fill(10_000);
    this.written = new Float64Array(objects);
    this.count = new Uint16Array(objects).map(() => Math.floor(random() * 8));
    this.status = new Uint8Array(objects).map(() => (random() < 0.05 ? 1 : 0));
    this.labels = new Uint8Array(objects).map(() => Math.floor(random() * 3));
    this.spec = new Uint8Array(objects).map(() => Math.floor(random() * 3));
    this.statusTime = new Uint32Array(objects);
    this.specTime = new Uint32Array(objects);
  }

  /** Changes one aspect of an object. `second` counts from the start of the server. */
  change(index: number, aspect: Aspect, version: number, second: number): void {
    this.version[index] = version;
    const state = this[aspect];
    state[index] = ((state[index] ?? 0) + 1) % 6;
    if (aspect === 'status') this.count[index] = ((this.count[index] ?? 0) + 1) % 1000;
    this[aspect === 'status' ? 'statusTime' : 'specTime'][index] = second;
  }

  /** The object gets a new name and UID. */
  recreate(index: number, version: number): void {
    this.version[index] = version;
    this.generation[index] = (this.generation[index] ?? 0) + 1;
  }

  /** Writes a field at `at`, and returns the position after it. */
  write(field: FieldName, index: number, into: Buffer, at: number): number {
    switch (field) {
      case 'version':
        return digits(this.version[index] ?? 0, 10, into, at);
      case 'generation':
        return digits(this.generation[index] ?? 0, 5, into, at);
      case 'written':
        return digits(this.written[index] ?? 0, 16, into, at);
      case 'count': {
        const count = this.count[index] ?? 0;
        return digits(count, count < 10 ? 1 : count < 100 ? 2 : 3, into, at);
      }
      case 'statusTime':
      case 'specTime':
        return at + this.#time(this[field][index] ?? 0).copy(into, at);
      case 'managed':
      case 'unmanaged':
        return at;
      default: {
        const all = variants[field];
        const variant = all[(this[selectedBy[field]][index] ?? 0) % all.length];
        return at + (variant?.copy(into, at) ?? 0);
      }
    }
  }

  #time(second: number): Buffer {
    this.#times[second] ??= Buffer.from(
      `${new Date(Date.UTC(2026, 2, 1, 8) + second * 1000).toISOString().slice(0, 19)}Z`,
    );
    return this.#times[second];
  }
}

/** Writes a number in decimal with leading zeros. */
function digits(value: number, width: number, into: Buffer, at: number): number {
  let rest = value;
  for (let place = at + width - 1; place >= at; place--) {
    const next = Math.floor(rest / 10);
    into[place] = 48 + (rest - next * 10);
    rest = next;
  }
  return at + width;
}
