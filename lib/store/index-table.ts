/**
 * One index of a store, which maps each value to objects. The list of a value is built when it is first read and kept
 * until one of its objects changes, so that reading it again costs nothing and returns the same array.
 * client-go: tools/cache/thread_safe_store.go, storeIndex.
 */

import type { Stored } from '../meta/kubernetes-object.ts';
import type { IndexFunc } from './index-funcs.ts';

/** The objects of one value. */
interface Bucket<T> {
  readonly value: string;
  readonly keys: Set<string>;
  list: readonly Stored<T>[] | undefined;
}

const EMPTY: readonly never[] = /* @__PURE__ */ Object.freeze([]);

/** Returns the distinct index values of an object. Throws errors of the index function. */
export function indexValues<T>(
  func: IndexFunc<T>,
  object: Stored<T>,
  name: string,
): readonly string[] {
  return checkedValues(func(object), name);
}

function checkedValues(
  values: readonly string[] | undefined | null,
  name: string,
): readonly string[] {
  if (values === undefined || values === null || values.length === 0) return EMPTY;
  if (!Array.isArray(values) || values.some((value) => typeof value !== 'string')) {
    throw new TypeError(
      `index ${JSON.stringify(name)}: its function must return an array of strings`,
    );
  }
  // A copy, because the function may return the same array each time, or an array of the object.
  return values.length === 1 ? [values[0] as string] : [...new Set(values)];
}

/** An index over the objects of a store. */
export class IndexTable<T> {
  readonly name: string;
  readonly func: IndexFunc<T>;
  readonly #buckets = new Map<string, Bucket<T>>();
  /** Where each object is. This is kept, because the function might return other values later. */
  readonly #places = new Map<string, Bucket<T> | readonly Bucket<T>[]>();

  constructor(name: string, func: IndexFunc<T>) {
    this.name = name;
    this.func = func;
  }

  /** Returns the value of an object, or its distinct values if it has several or none. Throws errors of the function. */
  read(object: Stored<T>): string | readonly string[] {
    const values = this.func(object) as readonly string[] | undefined | null;
    const only = Array.isArray(values) && values.length === 1 ? values[0] : undefined;
    return typeof only === 'string' ? only : checkedValues(values, this.name);
  }

  /** Sets the values of a key and removes it from its previous values. */
  place(key: string, values: string | readonly string[]): void {
    const before = this.#places.get(key);
    // Most updates do not change the value; then only the list must be rebuilt, because it holds the old object.
    if (before !== undefined && 'value' in before && before.value === values) {
      before.list = undefined;
      return;
    }
    const old = before === undefined ? EMPTY : 'value' in before ? [before] : before;
    const now: Bucket<T>[] = [];
    for (const value of typeof values === 'string' ? [values] : values) {
      now.push(this.#enter(value, key));
    }
    for (const bucket of old) if (!now.includes(bucket)) this.#leave(bucket, key);
    if (now.length === 0) this.#places.delete(key);
    else this.#places.set(key, now.length === 1 ? (now[0] as Bucket<T>) : now);
  }

  clear(): void {
    this.#buckets.clear();
    this.#places.clear();
  }

  keys(value: string): readonly string[] {
    return [...(this.#buckets.get(value)?.keys ?? [])].sort();
  }

  list(value: string, items: ReadonlyMap<string, Stored<T>>): readonly Stored<T>[] {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) return EMPTY;
    if (bucket.list === undefined) {
      const list: Stored<T>[] = [];
      for (const key of bucket.keys) list.push(items.get(key) as Stored<T>);
      bucket.list = Object.freeze(list);
    }
    return bucket.list;
  }

  values(): readonly string[] {
    return [...this.#buckets.keys()];
  }

  #enter(value: string, key: string): Bucket<T> {
    let bucket = this.#buckets.get(value);
    if (bucket === undefined) {
      bucket = { value, keys: new Set(), list: undefined };
      this.#buckets.set(value, bucket);
    }
    bucket.keys.add(key);
    bucket.list = undefined;
    return bucket;
  }

  /** Removes an empty value, because otherwise values would accumulate (kubernetes/kubernetes#84959). */
  #leave(bucket: Bucket<T>, key: string): void {
    bucket.keys.delete(key);
    if (bucket.keys.size === 0) this.#buckets.delete(bucket.value);
    else bucket.list = undefined;
  }
}
