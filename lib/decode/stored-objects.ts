/** Finds the stored object that the bytes of an object are a copy of, by its UID and version. */
import type { KnownObjects } from '../meta/known-objects.ts';
import { type KubernetesObject, uidOf, versionOf } from '../meta/kubernetes-object.ts';
import type { DecodeContext } from './decoding.ts';
import { isText } from './json-scan.ts';
import { textOf } from './json-text.ts';
import { ObjectHead } from './object-head.ts';

/** An object that was not parsed, because the store has it in the same version. */
interface Unchanged<T> {
  readonly key: string;
  readonly object: T;
}

/** Returns the stored objects that may stand for those of a response; `undefined` if none may. */
export function storedObjects<T extends KubernetesObject>({
  known,
  reuse,
}: DecodeContext<T>): StoredObjects<T> | undefined {
  return known !== undefined && reuse === true ? new StoredObjects(known) : undefined;
}

/** The stored objects of one collection. */
class StoredObjects<T extends KubernetesObject> {
  readonly #known: KnownObjects<T>;
  readonly #head = new ObjectHead();

  constructor(known: KnownObjects<T>) {
    this.#known = known;
  }

  /** Returns the stored object with the name, UID and version of the object between `from` and `to`. */
  find(bytes: Uint8Array, from: number, to: number): Unchanged<T> | undefined {
    if (this.#known.size === 0) return undefined;
    const head = this.#head;
    const { name, namespace, uid, resourceVersion } = head;
    head.open(bytes, from, to);
    if (!head.find(resourceVersion) || !head.find(uid) || !head.find(name)) return undefined;
    const own = textOf(bytes, name.from, name.to);
    const key = head.find(namespace)
      ? `${textOf(bytes, namespace.from, namespace.to)}/${own}`
      : own;
    const object = this.#known.get(key);
    // The version 0 names no state.
    if (object === undefined || versionOf(object) === '0') return undefined;
    const isSame =
      uid.to > uid.from &&
      resourceVersion.to > resourceVersion.from &&
      isText(uidOf(object), bytes, uid.from, uid.to) &&
      isText(versionOf(object), bytes, resourceVersion.from, resourceVersion.to);
    return isSame ? { key, object } : undefined;
  }
}
