/**
 * The keys of a queue that are added later. They need one heap and one timer, however many keys wait.
 * client-go: util/workqueue/delaying_queue.go
 */
import type { SchedulerLike, Subscription } from 'rxjs';
import { longTimer } from '../rx/long-timer.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { KeyedHeap } from './heap.ts';

interface Due {
  /** The due time on the stopwatch of the queue, in milliseconds. */
  readonly atMs: number;
  /** A sequence number, so that keys due at the same time are added in the order of the calls. */
  readonly turn: number;
}

/** Delayed keys, each with the time at which it is due. */
export class DelayedKeys<K> {
  readonly #heap = new KeyedHeap<K, Due>(
    (one, other) => one.atMs < other.atMs || (one.atMs === other.atMs && one.turn < other.turn),
  );
  readonly #scheduler: SchedulerLike;
  readonly #passedMs: () => number;
  readonly #onDue: (key: K) => void;
  #timer: Subscription | undefined;
  #timerAtMs = 0;
  #turns = 0;

  constructor(scheduler: SchedulerLike, onDue: (key: K) => void) {
    this.#scheduler = scheduler;
    this.#passedMs = stopwatch(scheduler);
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#heap.size;
  }

  /** Delays the key. Of two times for one key the earlier counts. */
  set(key: K, delayMs: number): void {
    const atMs = this.#passedMs() + delayMs;
    const known = this.#heap.get(key);
    if (known !== undefined && known.atMs <= atMs) return;
    this.#turns += 1;
    this.#heap.set(key, { atMs, turn: this.#turns });
    this.#arm();
  }

  delete(key: K): boolean {
    const known = this.#heap.delete(key);
    if (known) this.#arm();
    return known;
  }

  clear(): void {
    this.#heap.clear();
    this.#arm();
  }

  #arm(): void {
    const next = this.#heap.peek()?.value.atMs;
    if (this.#timer !== undefined && this.#timerAtMs === next) return;
    this.#timer?.unsubscribe();
    this.#timer = undefined;
    if (next === undefined) return;
    this.#timerAtMs = next;
    const delayMs = next - this.#passedMs();
    this.#timer = longTimer(delayMs, this.#scheduler).subscribe(() => this.#fire(next));
  }

  #fire(timerAtMs: number): void {
    this.#timer = undefined;
    // A timer that fires slightly early must not make a key wait twice.
    const now = Math.max(timerAtMs, this.#passedMs());
    for (let next = this.#heap.peek(); next !== undefined; next = this.#heap.peek()) {
      if (next.value.atMs > now) break;
      this.#heap.delete(next.key);
      this.#onDue(next.key);
    }
    this.#arm();
  }
}
