/** Chains of updates of a few objects, through several decoders that share one decoding. */
import { type DifferentialDecoding, differentialDecoding } from 'rx-informer';
import { bytes } from '../decoder.ts';
import {
  IDENTITIES,
  type Member,
  NAMES,
  object,
  scalar,
  setVersion,
  type Tree,
  textOf,
  value,
} from './document.ts';
import { Random } from './random.ts';
import { type Kind, randomSetting } from './setting.ts';
import { Slot } from './slot.ts';

// Random changes of documents, and random damage of their bytes.

/** A place in a tree that can be replaced. */
interface Place {
  readonly get: () => Tree;
  readonly set: (tree: Tree) => void;
}

function placesOf(tree: Tree, places: Place[] = []): Place[] {
  if (typeof tree === 'string') return places;
  const holders = 'items' in tree ? tree.items : tree.members;
  holders.forEach((_, index) => {
    const place: Place =
      'items' in tree
        ? {
            get: () => tree.items[index] as Tree,
            set: (next) => {
              tree.items[index] = next;
            },
          }
        : {
            get: () => (tree.members[index] as Member).value,
            set: (next) => {
              (tree.members[index] as Member).value = next;
            },
          };
    places.push(place);
    placesOf(place.get(), places);
  });
  return places;
}

/** Changes members or items of one object or array. */
function changeContent(tree: Exclude<Tree, string>, random: Random): void {
  const held: (Member | Tree)[] = 'items' in tree ? tree.items : tree.members;
  const made = (): Member | Tree =>
    'items' in tree ? value(random, 2) : { name: random.of(NAMES), value: value(random, 2) };
  const at = random.below(held.length + 1);
  switch (random.below(6)) {
    case 0:
      held.splice(at, 0, made());
      return;
    case 1:
      held.splice(at, 1);
      return;
    case 2:
      held.splice(0, held.length, ...random.shuffled(held));
      return;
    case 3: {
      // The same member twice, as it is.
      const [twice] = held.slice(at);
      if (twice !== undefined) held.push(structuredClone(twice));
      return;
    }
    case 4:
      held.length = 0;
      return;
    default:
      if ('members' in tree && tree.members[at] !== undefined)
        tree.members[at].name = random.of(NAMES);
  }
}

/** Changes a document in place: one to three small changes, or a new value anywhere. */
function change(document: { members: Member[] }, random: Random): void {
  for (let count = 1 + random.below(3); count > 0; count--) {
    // The content of `metadata` decides over the identity, so it is changed less often.
    const roots = document.members.filter(
      ({ name }) => name !== '"metadata"' || random.chance(0.15),
    );
    const places = placesOf({ members: roots });
    const place = places[random.below(places.length)];
    const tree = place?.get();
    if (place === undefined || tree === undefined) continue;
    const kind = random.below(10);
    if (kind < 5) {
      if (typeof tree === 'string') place.set(scalar(random));
      else changeContent(tree, random);
    } else if (kind < 7) {
      if (typeof tree !== 'string') changeContent(tree, random);
    } else if (kind === 7) place.set(value(random, 1));
    else if (kind === 8) {
      const other = places[random.below(places.length)];
      if (other !== undefined) place.set(structuredClone(other.get()));
    } else if (typeof tree === 'string' && tree.endsWith('"')) {
      place.set(
        `${tree.slice(0, -1)}${random.of(['x', 'xy', 'é', '\\"', '\\\\', 'x'.repeat(70)])}"`,
      );
    } else if (typeof tree === 'string') place.set(scalar(random));
  }
  if (random.chance(0.03)) changeContent(document, random);
}

const BAD_BYTES: readonly (readonly number[])[] = [
  ...[[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf5], [0xef, 0xbb, 0xbf]],
  ...[...'"\\{}[],: \u00000-ex'].map((character) => [character.charCodeAt(0)]),
];

/** Damages bytes without adding a newline, which would be another line. */
function damaged(bytes: Uint8Array, random: Random): Uint8Array {
  const at = random.below(bytes.length);
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (random.below(5)) {
    case 0:
      return Uint8Array.of(...head, ...tail.subarray(1 + random.below(3)));
    case 1:
      return Uint8Array.of(...head, ...random.of(BAD_BYTES), ...tail);
    case 2:
      return Uint8Array.of(...head, ...random.of(BAD_BYTES), ...tail.subarray(1));
    case 3:
      return Uint8Array.from(head);
    default:
      return Uint8Array.of(...head, ...tail.subarray(0, 9), ...tail);
  }
}

/** Cuts bytes at random places into chunks of any size. */
function cut(bytes: Uint8Array, random: Random): Uint8Array[] {
  if (random.chance(0.3)) return [bytes];
  const chunks: Uint8Array[] = [];
  const most = random.of([1, 3, 40, 700]);
  for (let from = 0; from < bytes.length; ) {
    const to = from + 1 + random.below(most);
    chunks.push(bytes.subarray(from, to));
    from = to;
    // Single bytes are slow, so the rest comes in larger chunks.
    if (chunks.length > 60) {
      chunks.push(bytes.subarray(from));
      break;
    }
  }
  return chunks;
}

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
