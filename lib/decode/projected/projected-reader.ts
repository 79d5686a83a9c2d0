/** Reads objects of which only some paths are kept. The bytes of the rest are skipped and not parsed. */
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { DecodeContext } from '../decoding.ts';
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfString,
  endOfValue,
  isText,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from '../json-scan.ts';
import { parseText } from '../json-text.ts';
import { type ObjectReader, WholeReader } from '../object-reader.ts';
import { ByteCopy } from './byte-copy.ts';
import { ManagedFields } from './managed-fields.ts';
import { DEEPEST, type PathTree, reduce } from './path-tree.ts';

const WHOLE: PathTree = new Map();
const METADATA: PathTree = new Map();
const UNUSUAL: PathTree = new Map();

/**
 * Copies the members on the paths into one text and parses that. An object that is written in an unusual way is parsed
 * completely and then reduced.
 */
export class ProjectedReader<T extends KubernetesObject> implements ObjectReader<T> {
  readonly #whole: WholeReader;
  readonly #keepManagedFields: boolean;
  readonly #paths: PathTree;
  readonly #copy = new ByteCopy();
  readonly #managedFields = new ManagedFields();
  /** Whether the end of `managedFields` is guessed. */
  #guesses = true;

  constructor({ keepManagedFields }: DecodeContext<T>, paths: PathTree) {
    this.#keepManagedFields = keepManagedFields;
    this.#whole = new WholeReader({ keepManagedFields });
    this.#paths = new Map([
      ...paths,
      ['kind', WHOLE],
      ['apiVersion', WHOLE],
      ['metadata', METADATA],
    ]);
  }

  read(bytes: Uint8Array, from: number, to: number): unknown {
    return this.item(bytes, from, to, '{') ?? this.reduce(this.#whole.read(bytes, from, to));
  }

  item(bytes: Uint8Array, from: number, to: number, typeMeta: string): unknown {
    for (this.#guesses = true; ; this.#guesses = false) {
      this.#copy.length = 0;
      this.#managedFields.isFound = false;
      if (this.#object(bytes, from, to, this.#paths, 0) === to) break;
      if (!this.#guesses || !this.#managedFields.isFound) return undefined;
    }
    const text = this.#copy.text();
    if (text === '{}') return undefined;
    const isTyped =
      isText('"kind"', bytes, from + 1, from + 7) ||
      isText('"apiVersion"', bytes, from + 1, from + 13);
    return parseText(isTyped ? text : typeMeta + text.slice(1), 'an object');
  }

  reduce(object: unknown): unknown {
    return typeof object === 'object' && object !== null ? reduce(object, this.#paths) : object;
  }

  /** Copies what the paths keep of an object or array. Returns its end; -1 if it is written in an unusual way. */
  #container(bytes: Uint8Array, at: number, to: number, tree: PathTree, depth: number): number {
    if (depth > DEEPEST) return -1;
    if (bytes[at] === OPEN_OBJECT) return this.#object(bytes, at, to, tree, depth);
    // Another value may replace an object of the same name before it.
    return bytes[at] === OPEN_ARRAY ? this.#array(bytes, at, to, tree, depth) : -1;
  }

  #object(bytes: Uint8Array, start: number, to: number, tree: PathTree, depth: number): number {
    if (bytes[start] !== OPEN_OBJECT) return -1;
    const copy = this.#copy;
    const opened = copy.length + 1;
    copy.put(OPEN_OBJECT);
    let at = start + 1;
    for (; bytes[at] !== CLOSE_OBJECT || at > start + 1; at++) {
      const end = bytes[at] === QUOTE ? endOfString(bytes, at, to) : -1;
      if (end < 0 || bytes[end] !== COLON) return -1;
      const below = belowName(tree, bytes, at + 1, end - 1);
      if (below === UNUSUAL) return -1;
      const value = end + 1;
      if (below === undefined) {
        at = endOfValue(bytes, value, to);
      } else {
        if (copy.length > opened) copy.put(COMMA);
        copy.add(bytes, at, value);
        at =
          below.size > 0
            ? this.#container(bytes, value, to, below, depth + 1)
            : this.#complete(bytes, value, to, below);
      }
      if (at < 0) return -1;
      if (bytes[at] === CLOSE_OBJECT) break;
      if (bytes[at] !== COMMA) return -1;
    }
    copy.put(CLOSE_OBJECT);
    return at + 1;
  }

  #array(bytes: Uint8Array, start: number, to: number, tree: PathTree, depth: number): number {
    const copy = this.#copy;
    const opened = copy.length + 1;
    copy.put(OPEN_ARRAY);
    let at = start + 1;
    for (; bytes[at] !== CLOSE_ARRAY || at > start + 1; at++) {
      if (isContainer(bytes[at])) {
        if (copy.length > opened) copy.put(COMMA);
        at = this.#container(bytes, at, to, tree, depth + 1);
      } else at = endOfValue(bytes, at, to);
      if (at < 0) return -1;
      if (bytes[at] === CLOSE_ARRAY) break;
      if (bytes[at] !== COMMA) return -1;
    }
    copy.put(CLOSE_ARRAY);
    return at + 1;
  }

  /** Copies a value, the metadata without `managedFields`. Returns its end. */
  #complete(bytes: Uint8Array, value: number, to: number, tree: PathTree): number {
    const copy = this.#copy;
    const managed = this.#managedFields;
    let from = value;
    let end: number;
    if (tree === METADATA && bytes[value] === OPEN_OBJECT) {
      end = managed.read(bytes, value, to, this.#guesses);
      if (managed.isFound && !this.#keepManagedFields) {
        copy.add(bytes, value, managed.from);
        from = managed.to;
      }
    } else end = endOfValue(bytes, value, to);
    if (end > 0) copy.add(bytes, from, end);
    return end;
  }
}

function isContainer(byte: number | undefined): boolean {
  return byte === OPEN_OBJECT || byte === OPEN_ARRAY;
}

/** Finds a name in a tree. Returns `UNUSUAL` for a name that is not written in ASCII, or with an escape. */
function belowName(
  tree: PathTree,
  bytes: Uint8Array,
  from: number,
  to: number,
): PathTree | undefined {
  for (const [name, below] of tree) if (isText(name, bytes, from, to)) return below;
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === BACKSLASH || byte > 0x7f) return UNUSUAL;
  }
  return undefined;
}
