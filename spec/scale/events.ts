/** A clock that jumps from event to event: the core of a discrete-event simulation. */

interface Event {
  readonly atMs: number;
  /** Events at one time run in the order in which they were scheduled. */
  readonly order: number;
  readonly run: () => void;
}

function isBefore(one: Event, other: Event): boolean {
  return one.atMs === other.atMs ? one.order < other.order : one.atMs < other.atMs;
}

/** Events in the order of their times. Nothing waits: the clock jumps to the next event. */
export class EventClock {
  readonly #heap: Event[] = [];
  #order = 0;
  nowMs = 0;

  /** Runs a task `delayMs` from now. */
  after(delayMs: number, run: () => void): void {
    if (!(delayMs >= 0)) throw new Error(`an event ${delayMs} ms from now`);
    this.#push({ atMs: this.nowMs + delayMs, order: this.#order++, run });
  }

  /** Runs all events until a time, or until there are none. */
  runUntil(endMs: number): void {
    for (let next = this.#heap[0]; next !== undefined && next.atMs <= endMs; next = this.#heap[0]) {
      this.#pop();
      this.nowMs = next.atMs;
      next.run();
    }
    this.nowMs = Math.max(this.nowMs, endMs);
  }

  get pending(): number {
    return this.#heap.length;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Event;
      if (isBefore(above, event)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Event;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Event)) child += 1;
      const below = heap[child] as Event;
      if (isBefore(last, below)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
  }
}
