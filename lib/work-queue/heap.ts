/**
 * A binary heap that knows the position of each key, so that a key can be moved or removed: a delayed add can be
 * cancelled and a priority raised.
 */

interface Node<K, V> {
  readonly key: K;
  readonly value: V;
}

/** Keys with a value each, ordered by value, least first. The order of equal values is undefined. */
export class KeyedHeap<K, V> {
  readonly #nodes: Node<K, V>[] = [];
  readonly #places = new Map<K, number>();
  readonly #less: (one: V, other: V) => boolean;

  constructor(less: (one: V, other: V) => boolean) {
    this.#less = less;
  }

  get size(): number {
    return this.#nodes.length;
  }

  get(key: K): V | undefined {
    const place = this.#places.get(key);
    return place === undefined ? undefined : this.#at(place).value;
  }

  has(key: K): boolean {
    return this.#places.has(key);
  }

  /** Returns the entry with the least value, without removing it. */
  peek(): Node<K, V> | undefined {
    return this.#nodes[0];
  }

  /** Inserts the key, or moves it to the position of its new value. */
  set(key: K, value: V): void {
    const place = this.#places.get(key) ?? this.#nodes.length;
    this.#put(place, { key, value });
    this.#settle(place);
  }

  delete(key: K): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    this.#places.delete(key);
    const last = this.#nodes.pop() as Node<K, V>;
    if (place < this.#nodes.length) {
      this.#put(place, last);
      this.#settle(place);
    }
    return true;
  }

  clear(): void {
    this.#nodes.length = 0;
    this.#places.clear();
  }

  #at(place: number): Node<K, V> {
    return this.#nodes[place] as Node<K, V>;
  }

  #put(place: number, node: Node<K, V>): void {
    this.#nodes[place] = node;
    this.#places.set(node.key, place);
  }

  #before(one: number, other: number): boolean {
    return this.#less(this.#at(one).value, this.#at(other).value);
  }

  #swap(one: number, other: number): void {
    const node = this.#at(one);
    this.#put(one, this.#at(other));
    this.#put(other, node);
  }

  #settle(place: number): void {
    let at = place;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#before(at, parent)) break;
      this.#swap(at, parent);
      at = parent;
    }
    for (;;) {
      const left = 2 * at + 1;
      if (left >= this.#nodes.length) return;
      const right = left + 1;
      const child = right < this.#nodes.length && this.#before(right, left) ? right : left;
      if (!this.#before(child, at)) return;
      this.#swap(at, child);
      at = child;
    }
  }
}
