/** The laws of the queues as plain lists, without a heap, a timer or optimization. */

interface Entry {
  readonly key: string;
  priority: number;
  turn: number;
}

interface Later {
  readonly key: string;
  atMs: number;
  turn: number;
}

/** One oracle for all queues. `merged` makes it keep one entry per key, as the priority queue does. */
export class QueueOracle {
  readonly ready: Entry[] = [];
  readonly again = new Map<string, Entry>();
  readonly processing = new Set<string>();
  later: Later[] = [];
  nowMs = 0;
  shut = false;
  #turn = 0;
  #priorities = new Map<string, number>();
  readonly #merged: boolean;

  constructor(merged: boolean) {
    this.#merged = merged;
  }

  add(key: string, priority = 0): void {
    if (this.shut) return;
    if (this.#merged) {
      this.later = this.later.filter((each) => each.key !== key);
      this.#rank(key, priority);
    }
    this.#ripe(key, this.#priorities.get(key) ?? 0);
  }

  addAfter(key: string, delayMs: number, priority = 0): void {
    if (this.shut) return;
    if (delayMs <= 0 || (this.#merged && this.#known(key) !== undefined)) {
      return this.add(key, priority);
    }
    if (this.#merged) this.#rank(key, priority);
    const atMs = this.nowMs + delayMs;
    const known = this.later.find((each) => each.key === key);
    if (known !== undefined && known.atMs <= atMs) return;
    this.later = this.later.filter((each) => each.key !== key);
    this.#turn += 1;
    this.later.push({ key, atMs, turn: this.#turn });
  }

  cancelAfter(key: string): boolean {
    const before = this.later.length;
    this.later = this.later.filter((each) => each.key !== key);
    if (this.later.length < before && this.#known(key) === undefined) this.#priorities.delete(key);
    return this.later.length < before;
  }

  advance(ms: number): void {
    this.nowMs += ms;
    const due = this.later.filter(({ atMs }) => atMs <= this.nowMs);
    this.later = this.later.filter(({ atMs }) => atMs > this.nowMs);
    due.sort((one, other) => one.atMs - other.atMs || one.turn - other.turn);
    for (const { key } of due) this.#ripe(key, this.#priorities.get(key) ?? 0);
  }

  get(): string | undefined {
    this.ready.sort((one, other) => other.priority - one.priority || one.turn - other.turn);
    const key = this.ready.shift()?.key;
    if (key === undefined) return undefined;
    this.processing.add(key);
    this.#priorities.delete(key);
    return key;
  }

  done(key: string): void {
    if (!this.processing.delete(key)) return;
    const entry = this.again.get(key);
    if (entry === undefined) return;
    this.again.delete(key);
    if (!this.#merged) {
      this.#turn += 1;
      entry.turn = this.#turn;
    }
    this.ready.push(entry);
  }

  shutDown(): void {
    this.shut = true;
    this.later = [];
  }

  #known(key: string): Entry | undefined {
    return this.again.get(key) ?? this.ready.find((each) => each.key === key);
  }

  #rank(key: string, priority: number): void {
    const before = this.#priorities.get(key);
    const highest = Math.max(before ?? priority, priority);
    this.#priorities.set(key, highest);
    const entry = this.#known(key);
    if (entry === undefined || before === undefined || priority <= before) return;
    this.#turn += 1;
    Object.assign(entry, { priority: highest, turn: this.#turn });
  }

  #ripe(key: string, priority: number): void {
    if (this.#known(key) !== undefined) return;
    this.#turn += 1;
    const entry = { key, priority, turn: this.#turn };
    if (this.processing.has(key)) this.again.set(key, entry);
    else this.ready.push(entry);
  }
}
