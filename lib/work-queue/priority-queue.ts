/**
 * A queue in which keys of higher priority overtake others, without starving them. controller-runtime:
 * pkg/controller/priorityqueue, in which a key of low priority can starve.
 */

import type { SchedulerLike } from 'rxjs';
import { checkedDuration, checkedRate } from '../checks/checked-option.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { timingOf } from '../rx/timing.ts';
import { KeyedHeap } from './heap.ts';
import { itemExponentialFailureRateLimiter } from './rate-limiter.ts';
import { RateLimitingKeyQueue, type RateLimitingQueueOptions } from './rate-limiting-queue.ts';
import type { AddOptions, Backlog, PriorityQueue } from './work-queue.ts';

// The values of controller-runtime.
const DEFAULT_LIMIT = { baseMs: 5, maxMs: 1_000_000 };

/** Options of {@link createPriorityQueue}. */
export interface PriorityQueueOptions<K = string> extends RateLimitingQueueOptions<K> {
  /**
   * A key that has been ready for this long, in milliseconds, gets every second turn whatever its priority, the oldest key
   * first. With Infinity a key of low priority can starve. @defaultValue 10000
   */
  readonly ageingMs?: number | undefined;
}

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
class RankedBacklog<K> implements Backlog<K> {
  /** The rank of every key that is ready, delayed, or added while a worker has it. */
  readonly #ranks = new Map<K, Rank>();
  readonly #working = new Map<K, number>();
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
    return this.#working.get(key) ?? this.#ranks.get(key)?.priority;
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
    this.#working.set(key, this.#ranks.get(key)?.priority ?? 0);
    this.#ranks.delete(key);
    this.#ready.delete(key);
    this.#ages.delete(key);
    return key;
  }

  done(key: K): void {
    this.#working.delete(key);
  }

  /** Forgets the keys that will not be added after all. */
  forgetUnless(keep: (key: K) => boolean): void {
    for (const key of this.#ranks.keys()) if (!keep(key)) this.#ranks.delete(key);
  }

  forget(key: K): void {
    this.#ranks.delete(key);
  }

  #next(): number {
    this.#turns += 1;
    return this.#turns;
  }

  #place(key: K, { priority, turn = 0 }: Rank): void {
    this.#ready.set(key, { priority, turn });
  }
}

/** A queue over a ranked backlog. */
export class PriorityKeyQueue<K> extends RateLimitingKeyQueue<K> implements PriorityQueue<K> {
  readonly #ranked: RankedBacklog<K>;

  constructor(options: PriorityQueueOptions<K>) {
    const ageingMs = checkedDuration(options.ageingMs ?? 10_000, 'createPriorityQueue: ageingMs');
    const ranked = new RankedBacklog<K>(timingOf(options).scheduler, ageingMs);
    super(
      options,
      ranked,
      options.rateLimiter ?? itemExponentialFailureRateLimiter<K>(DEFAULT_LIMIT),
    );
    this.#ranked = ranked;
  }

  override add(key: K): void {
    this.addWithOptions(key, {});
  }

  override addAfter(key: K, delayMs: number): void {
    this.addWithOptions(key, { afterMs: delayMs });
  }

  override addRateLimited(key: K): number {
    return this.addWithOptions(key, { rateLimited: true });
  }

  addWithOptions(key: K, options: AddOptions): number {
    const { afterMs = 0, rateLimited = false, priority = 0 } = options;
    checkedRate(afterMs, 'addWithOptions: afterMs');
    checkedRate(priority, 'addWithOptions: priority');
    const limitMs = rateLimited ? this.limiter.when(key) : afterMs;
    const waitMs = Math.max(0, afterMs > 0 ? Math.min(afterMs, limitMs) : limitMs);
    // Before the key has a rank, which nothing would remove.
    checkedDuration(waitMs, 'the wait of the rate limiter');
    if (this.shuttingDown) return waitMs;
    // Of an immediate add and a delayed one, the immediate add is the earlier.
    const now = waitMs === 0 || this.isQueued(key);
    this.#ranked.rank(key, priority, now);
    if (!now) super.addAfter(key, waitMs);
    else {
      if (waitMs > 0 || rateLimited) this.figures.retried();
      this.withdraw(key);
      super.add(key);
    }
    return waitMs;
  }

  override due(key: K): void {
    this.#ranked.ripen(key);
    super.due(key);
  }

  override cancelAfter(key: K): boolean {
    if (!this.withdraw(key)) return false;
    // Before the notification, in which the key may be added again.
    if (!this.isQueued(key)) this.#ranked.forget(key);
    this.settle();
    return true;
  }

  override done(key: K): void {
    this.#ranked.done(key);
    super.done(key);
  }

  override refuse(): void {
    super.refuse();
    this.#ranked.forgetUnless((key) => this.isQueued(key));
  }

  priorityOf(key: K): number | undefined {
    return this.#ranked.priorityOf(key);
  }
}

/**
 * Creates a queue in which keys of higher priority are given out first, and keys of one priority in the order in which they
 * were added. A key that is added again keeps its highest priority and its earliest time. A key that is being processed is
 * skipped until `done`. The wait of the default rate limiter doubles from 5 ms to 1000 s per key; all keys together are not limited.
 *
 * No key starves: a key that has been ready for `ageingMs` gets every second turn.
 *
 * `addWithOptions` and `addAfter` throw a `TypeError` for NaN.
 *
 * client-go has none; controller-runtime: priorityqueue.New
 *
 * @example
 * ```ts
 * import { createPriorityQueue } from 'rx-informer';
 *
 * const queue = createPriorityQueue();
 * queue.addWithOptions('default/old', { priority: -100 });
 * queue.add('default/new');
 * queue.addWithOptions('default/urgent', { priority: 10 });
 * [queue.tryGet(), queue.tryGet(), queue.tryGet()]; // => ['default/urgent', 'default/new', 'default/old']
 * ```
 */
export function createPriorityQueue<K = string>(
  options: PriorityQueueOptions<K> = {},
): PriorityQueue<K> {
  return new PriorityKeyQueue<K>(options);
}
