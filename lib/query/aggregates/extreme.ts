/**
 * The first of a multiset of values in their order, or the last. Added values are in one heap and removed ones in
 * another, and both lose their tops while these are equal. So adding and removing cost a few steps, however many values
 * there are, and nothing has to be found.
 */
import { isBefore, type SortableValue } from './sorted-values.ts';

/** A heap is not made smaller below this size. */
const LEAST_REMOVED = 64;

type IsBefore = (one: SortableValue, other: SortableValue) => boolean;

/** Adds a value to a heap. */
function push<V extends SortableValue>(heap: V[], value: V, before: IsBefore): void {
  let at = heap.length;
  heap.push(value);
  while (at > 0) {
    const parent = (at - 1) >>> 1;
    const above = heap[parent] as V;
    if (!before(value, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = value;
}

/** Moves the value at a position down to its place. */
function sink<V extends SortableValue>(heap: V[], from: number, before: IsBefore): void {
  const { length } = heap;
  const value = heap[from] as V;
  let at = from;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= length) break;
    if (child + 1 < length && before(heap[child + 1] as V, heap[child] as V)) child++;
    if (!before(heap[child] as V, value)) break;
    heap[at] = heap[child] as V;
    at = child;
  }
  heap[at] = value;
}

/** Removes the top of a heap. */
function pop<V extends SortableValue>(heap: V[], before: IsBefore): void {
  const last = heap.pop() as V;
  if (heap.length === 0) return;
  heap[0] = last;
  sink(heap, 0, before);
}

export class Extreme<V extends SortableValue> {
  readonly #before: IsBefore;
  #added: V[] = [];
  #removed: V[] = [];
  /** How often NaN was added and not removed. It has no place in a heap, because it is not equal to itself. */
  #nans = 0;

  /** `isLast`: whether it is the last value, not the first. */
  constructor(isLast: boolean) {
    this.#before = isLast ? (one, other) => isBefore(other, one) : isBefore;
  }

  add(value: V): void {
    if (Number.isNaN(value)) this.#nans++;
    else push(this.#added, value, this.#before);
  }

  /** Removes a value that was added. */
  remove(value: V): void {
    if (Number.isNaN(value)) {
      this.#nans--;
      return;
    }
    push(this.#removed, value, this.#before);
    const removed = this.#removed.length;
    if (removed > LEAST_REMOVED && 2 * removed > this.#added.length) this.#compact();
  }

  /** The value; NaN as long as a value is NaN, and `undefined` if there is none. */
  get value(): V | undefined {
    if (this.#nans > 0) return Number.NaN as V;
    while (this.#removed.length > 0 && this.#removed[0] === this.#added[0]) {
      pop(this.#removed, this.#before);
      pop(this.#added, this.#before);
    }
    return this.#added[0];
  }

  /** Drops the values that were removed. */
  #compact(): void {
    const removals = new Map<V, number>();
    for (const value of this.#removed) removals.set(value, (removals.get(value) ?? 0) + 1);
    this.#removed = [];
    this.#added = this.#added.filter((value) => {
      const left = removals.get(value) ?? 0;
      if (left > 0) removals.set(value, left - 1);
      return left === 0;
    });
    for (let at = (this.#added.length >>> 1) - 1; at >= 0; at--) {
      sink(this.#added, at, this.#before);
    }
  }
}
