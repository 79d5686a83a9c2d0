/** The order in which ready keys are given to workers: the interface, and a plain first-in, first-out order. */

/**
 * Holds the ready keys of a queue and decides which one is next. The queue never pushes a key that is already in its backlog.
 *
 * client-go: workqueue.Queue
 */
export interface Backlog<K = string> {
  readonly len: number;
  push(key: K): void;
  /** Only called when `len` is over 0. */
  pop(): K;
  /** Called when a key that is already in the backlog is added again. */
  touch?(key: K): void;
}

/** The least number of popped items for which the array is trimmed: an array of its own for each item would be garbage. */
const TRIM = 64;

/** First in, first out. It keeps no reference to an item that was popped. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get len(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  pop(): T {
    const item = this.#items[this.#head] as T;
    this.#items[this.#head] = undefined;
    this.#head += 1;
    // Moves an index and trims the array occasionally, because shift() on a long array moves every element.
    if (this.#head >= TRIM && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
