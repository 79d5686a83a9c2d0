/**
 * One index of a store, which maps each value to objects. The list of a value is built when it is first read and kept
 * until one of its objects changes, so that reading it again costs nothing and returns the same array.
 * client-go: tools/cache/thread_safe_store.go, storeIndex.
 */
import type { Stored } from '../meta/stored.ts';
import type { IndexFunc } from './index-funcs.ts';

interface Bucket<T> {
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
  const values = func(object) as readonly string[] | undefined | null;
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
  /** The values of each object. They are kept, because the function might return other values later. */
  readonly #values = new Map<string, readonly string[]>();

  constructor(name: string, func: IndexFunc<T>) {
    this.name = name;
    this.func = func;
  }

  /** Sets the values of a key and removes it from its previous values. */
  place(key: string, values: readonly string[]): void {
    const before = this.#values.get(key);
    if (before === undefined) {
      if (values.length === 0) return;
      this.#values.set(key, values);
      for (const value of values) this.#enter(value, key);
      return;
    }
    // Most updates do not change the value; then only the list must be rebuilt, because it holds the old object.
    if (before.length === 1 && values.length === 1 && before[0] === values[0]) {
      const bucket = this.#buckets.get(values[0] as string);
      if (bucket !== undefined) bucket.list = undefined;
      return;
    }
    if (values.length === 0) this.#values.delete(key);
    else this.#values.set(key, values);
    for (const value of before) if (!values.includes(value)) this.#leave(value, key);
    for (const value of values) this.#enter(value, key);
  }

  clear(): void {
    this.#buckets.clear();
    this.#values.clear();
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

  #enter(value: string, key: string): void {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) this.#buckets.set(value, { keys: new Set([key]), list: undefined });
    else {
      bucket.keys.add(key);
      bucket.list = undefined;
    }
  }

  /** Removes an empty value, because otherwise values would accumulate (kubernetes/kubernetes#84959). */
  #leave(value: string, key: string): void {
    const bucket = this.#buckets.get(value);
    if (bucket === undefined) return;
    bucket.keys.delete(key);
    if (bucket.keys.size === 0) this.#buckets.delete(value);
    else bucket.list = undefined;
  }
}
