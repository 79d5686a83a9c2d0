/**
 * The order in which ready keys are got. First come, first served is one; the priority queue has its own.
 */

/**
 * What is ready to be got. A key is in it once at most: the queue sees to that.
 *
 * client-go: workqueue.Queue
 */
export interface Backlog<K = string> {
  readonly len: number;
  push(key: K): void;
  /** Only called when `len` is over 0. */
  pop(): K;
  /** The key is in the backlog and was added again. */
  touch?(key: K): void;
}

/** First in, first out. Keeps nothing of what was shifted. */
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
    // An index and a cut now and then, because shift() on a long array moves every element.
    if (this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
