/** Chains of updates of a few objects, through several decoders that share one decoding. */
import { type DifferentialDecoding, differentialDecoding } from 'rx-informer';
import { bytes } from '../decoder.ts';
import { change, cut, damaged } from './change.ts';
import { IDENTITIES, type Member, object, setVersion, type Tree, textOf } from './document.ts';
import { Random } from './random.ts';
import { type Kind, randomSetting } from './setting.ts';
import { Slot } from './slot.ts';

type Document = Tree & { members: Member[] };

/** How many objects a chain decoded in which way. */
export interface Ran {
  compared: number;
  parsed: number;
  unchanged: number;
}

/** Limits of the bytes that are kept. */
const LIMITS: readonly number[] = [0, 3_000, 8_000, 40_000, 200_000, 10 * 2 ** 20, 10 * 2 ** 20];

class Chain {
  readonly #random: Random;
  readonly #decoding: DifferentialDecoding;
  readonly #slots: Slot[];
  /** One document for each kind and identity. A UID occurs in several kinds. */
  readonly #documents = new Map<string, Document>();
  readonly #spaces: number;
  #version = 1;

  constructor(random: Random) {
    this.#random = random;
    this.#decoding = differentialDecoding({ maxBytes: random.of(LIMITS) });
    this.#slots = Array.from(
      { length: 1 + random.below(3) },
      () => new Slot(randomSetting(random), this.#decoding),
    );
    this.#spaces = random.chance(0.1) ? 0.3 : 0;
  }

  run(steps: number): Ran {
    for (let step = 0; step < steps; step++) {
      const slot = this.#random.of(this.#slots);
      if (this.#random.chance(0.12)) this.#list(slot);
      else this.#watch(slot);
    }
    for (const slot of this.#slots) slot.check();
    return { ...this.#decoding.counts };
  }

  /** The text of the next state of an object. */
  #next(kind: Kind): string {
    const random = this.#random;
    // The first objects change most often, so that their texts are compared.
    const identity = random.of(IDENTITIES.slice(0, 1 + random.below(IDENTITIES.length)));
    const id = `${kind} ${identity.uid}`;
    let document = this.#documents.get(id);
    if (document === undefined || random.chance(0.03)) {
      document = object(random, identity, kind);
      this.#documents.set(id, document);
    } else if (random.chance(0.95)) change(document, random);
    if (random.chance(0.9)) setVersion(document, ++this.#version);
    return textOf(document, random, this.#spaces);
  }

  #line(kind: Kind): Uint8Array {
    const random = this.#random;
    const text = this.#next(kind);
    const type = random.chance(0.05) ? 'DELETED' : random.of(['ADDED', 'MODIFIED']);
    const line = random.chance(0.95)
      ? `{"type":"${type}","object":${text}}`
      : random.of([
          `{"object":${text},"type":"${type}"}`,
          `{"type":"${type}","object":${text},"more":{"a":1}}`,
          `{"type": "${type}","object":${text}}`,
          `{"type":"${type}","object":${text}}\r`,
          `{"type":"${type}","object":${text} }`,
          `{"type":"${type}","object":${text}]`,
          `{"type":"BOOKMARK","object":${text}}`,
        ]);
    return random.chance(0.04) ? damaged(bytes(line), random) : bytes(line);
  }

  #watch(slot: Slot): void {
    const random = this.#random;
    const lines = Array.from({ length: 1 + random.below(4) }, () =>
      this.#line(slot.setting.kind),
    ).filter((line) => line.length > 0 && isLine(line));
    const body = Buffer.concat(lines.flatMap((line) => [line, bytes('\n')]));
    slot.watch(lines, cut(body, random), random.chance(0.05));
  }

  #list(slot: Slot): void {
    const random = this.#random;
    const { kind } = slot.setting;
    const items = Array.from({ length: random.below(5) }, () => this.#next(kind));
    // Objects that are unchanged since they were decoded.
    for (const [id, document] of this.#documents) {
      if (id.startsWith(`${kind} `) && random.chance(0.7))
        items.push(textOf(document, random, this.#spaces));
    }
    const encoded = items.map((item) => bytes(item));
    const [first] = encoded;
    const isDamaged = first !== undefined && random.chance(0.05);
    if (isDamaged) encoded[0] = damaged(first, random);
    const listKind = slot.setting.kind === 'Node' ? 'NodeList' : 'PodList';
    const head = `{"kind":"${kind === 'PartialObjectMetadata' ? 'PartialObjectMetadataList' : listKind}","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[`;
    const parts = encoded.flatMap((item, index) => (index === 0 ? [item] : [bytes(','), item]));
    const body = Buffer.concat([bytes(head), ...parts, bytes(']}')]);
    slot.list(items, cut(body, random), random.chance(0.5), isDamaged);
  }
}

/** Whether the line is more than white space, which is no line. */
function isLine(line: Uint8Array): boolean {
  return Buffer.from(line).toString().trim() !== '';
}

/** Runs the chain of a seed. Throws at the first difference to the reference. */
export function runChain(seed: number, steps: number): Ran {
  const random = new Random(seed);
  return new Chain(random).run(steps);
}
