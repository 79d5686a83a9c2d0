/** Random changes of documents, and random damage of their bytes. */
import { type Member, NAMES, scalar, type Tree, value } from './document.ts';
import type { Random } from './random.ts';

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
export function change(document: { members: Member[] }, random: Random): void {
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
export function damaged(bytes: Uint8Array, random: Random): Uint8Array {
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
export function cut(bytes: Uint8Array, random: Random): Uint8Array[] {
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
