/**
 * Keys that are to be added later: one heap and one timer a queue, however many keys wait.
 * client-go: util/workqueue/delaying_queue.go
 */
import type { SchedulerLike, Subscription } from 'rxjs';
import { longTimer } from '../rx/long-timer.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { type Backlog, Fifo } from './backlog.ts';
import { KeyedHeap } from './heap.ts';
import { KeyQueue, type QueueOptions } from './key-queue.ts';
import type { DelayingQueue } from './work-queue.ts';

interface Due {
  /** On the stopwatch of the queue. */
  readonly atMs: number;
  /** Of two keys due at one time the first comes first. */
  readonly turn: number;
}

/** Keys and the time at which each is due. */
class DelayedKeys<K> {
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

  /** Of two times the earlier counts. */
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
    // A timer that is a hair early must not make a key wait twice.
    const now = Math.max(timerAtMs, this.#passedMs());
    for (let next = this.#heap.peek(); next !== undefined; next = this.#heap.peek()) {
      if (next.value.atMs > now) break;
      this.#heap.delete(next.key);
      this.#onDue(next.key);
    }
    this.#arm();
  }
}

/** A queue with delayed adds. */
export class DelayingKeyQueue<K> extends KeyQueue<K> implements DelayingQueue<K> {
  readonly #delayed: DelayedKeys<K>;

  constructor(options: QueueOptions, backlog: Backlog<K>) {
    super(options, backlog);
    this.#delayed = new DelayedKeys(this.scheduler, (key) => this.due(key));
  }

  /** The time of a key has come. */
  due(key: K): void {
    super.add(key);
    this.settle();
  }

  override get waiting(): number {
    // A metrics provider may ask while this is being made.
    return #delayed in this ? this.#delayed.size : 0;
  }

  addAfter(key: K, delayMs: number): void {
    if (Number.isNaN(delayMs)) throw new TypeError('addAfter: delayMs must be a number, not NaN');
    if (this.shuttingDown) return;
    this.figures.retried();
    if (delayMs > 0) this.#delayed.set(key, delayMs);
    else this.add(key);
  }

  cancelAfter(key: K): boolean {
    const cancelled = this.withdraw(key);
    if (cancelled) this.settle();
    return cancelled;
  }

  /** As `cancelAfter`, but nobody is told: something else is done with the key next. */
  withdraw(key: K): boolean {
    return this.#delayed.delete(key);
  }

  override refuse(): void {
    this.#delayed.clear();
    super.refuse();
  }
}

/**
 * Makes a work queue to which a key can be added for later. What is not yet due when the queue is shut down is
 * dropped. One timer is held while a key waits, on the `scheduler`; delays over 2^31 ms are kept.
 *
 * `addAfter` throws a `TypeError` for NaN.
 *
 * client-go: workqueue.NewTypedDelayingQueueWithConfig
 *
 * @example
 * ```ts
 * import { createDelayingQueue } from 'rx-informer';
 * import { VirtualTimeScheduler } from 'rxjs';
 *
 * const scheduler = new VirtualTimeScheduler();
 * const queue = createDelayingQueue({ scheduler });
 * queue.addAfter('default/web', 5000);
 * queue.addAfter('default/web', 200); // the earlier counts
 * queue.addAfter('default/db', 300);
 * queue.cancelAfter('default/db'); // => true
 * scheduler.flush();
 * [scheduler.now(), queue.tryGet(), queue.tryGet()]; // => [200, 'default/web', undefined]
 * ```
 */
export function createDelayingQueue<K = string>(options: QueueOptions = {}): DelayingQueue<K> {
  return new DelayingKeyQueue<K>(options, new Fifo<K>());
}
