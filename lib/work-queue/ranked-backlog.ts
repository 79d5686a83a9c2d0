/**
 * The order of the keys in a priority queue: keys of higher priority overtake others, without starving them.
 * controller-runtime: pkg/controller/priorityqueue, in which a key of low priority can starve.
 */
import type { SchedulerLike } from 'rxjs';
import { stopwatch } from '../rx/stopwatch.ts';
import { KeyedHeap } from './heap.ts';
import type { Backlog } from './work-queue.ts';

interface Rank {
  priority: number;
  /** The position among keys of equal priority; `undefined` while the key waits for its time. */
  turn: number | undefined;
}

interface Age {
  readonly sinceMs: number;
  readonly turn: number;
}

/** Ready keys, ordered by priority, then first in, first out. */
export class RankedBacklog<K> implements Backlog<K> {
  /** The rank of every key that is ready, delayed, or added while a worker has it. */
  readonly #ranks = new Map<K, Rank>();
  readonly #ready = new KeyedHeap<K, { priority: number; turn: number }>((one, other) =>
    one.priority === other.priority ? one.turn < other.turn : one.priority > other.priority,
  );
  readonly #ages = new KeyedHeap<K, Age>((one, other) => one.turn < other.turn);
  readonly #passedMs: () => number;
  readonly #ageingMs: number;
  #turns = 0;
  #agedLast = false;

  constructor(scheduler: SchedulerLike, ageingMs: number) {
    this.#passedMs = stopwatch(scheduler);
    this.#ageingMs = ageingMs;
  }

  get len(): number {
    return this.#ready.size;
  }

  priorityOf(key: K): number | undefined {
    return this.#ranks.get(key)?.priority;
  }

  /** Ranks an added key. Its highest priority counts. A key whose priority is raised becomes the last of its new priority. */
  rank(key: K, priority: number, now: boolean): void {
    const known = this.#ranks.get(key);
    const rank = known ?? { priority, turn: undefined };
    if (known === undefined) this.#ranks.set(key, rank);
    else if (priority > known.priority) {
      rank.priority = priority;
      if (rank.turn !== undefined) rank.turn = this.#next();
    }
    if (now) rank.turn ??= this.#next();
    if (this.#ready.has(key)) this.#place(key, rank);
  }

  /** Gives a delayed key its position when it becomes due, also if a worker still has it. */
  ripen(key: K): void {
    const rank = this.#ranks.get(key);
    if (rank !== undefined) rank.turn ??= this.#next();
  }

  push(key: K): void {
    // A metrics provider may have taken the key while it was added, and its rank with it.
    const rank = this.#ranks.get(key) ?? { priority: 0, turn: undefined };
    rank.turn ??= this.#next();
    this.#ranks.set(key, rank);
    this.#place(key, rank);
    this.#ages.set(key, { sinceMs: this.#passedMs(), turn: rank.turn });
  }

  pop(): K {
    const oldest = this.#ages.peek();
    const waitedMs = this.#passedMs() - (oldest?.value.sinceMs ?? 0);
    this.#agedLast = !this.#agedLast && waitedMs >= this.#ageingMs;
    const next = this.#agedLast ? oldest : this.#ready.peek();
    const { key } = next as { readonly key: K };
    this.#ready.delete(key);
    this.#ages.delete(key);
    return key;
  }

  /** Forgets the rank of a key that was given out, or will not be added after all. Returns its priority. */
  forget(key: K): number {
    const { priority = 0 } = this.#ranks.get(key) ?? {};
    this.#ranks.delete(key);
    return priority;
  }

  /** Forgets the keys that will not be added after all. */
  forgetUnless(keep: (key: K) => boolean): void {
    for (const key of this.#ranks.keys()) if (!keep(key)) this.#ranks.delete(key);
  }

  #next(): number {
    this.#turns += 1;
    return this.#turns;
  }

  #place(key: K, { priority, turn = 0 }: Rank): void {
    this.#ready.set(key, { priority, turn });
  }
}
