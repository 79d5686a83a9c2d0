/**
 * A queue with delayed adds. It holds one heap and one timer, however many keys wait.
 * client-go: util/workqueue/delaying_queue.go
 */

import type { SchedulerLike, Subscription } from 'rxjs';
import { checkedRate } from '../checks/checked-option.ts';
import { longTimer } from '../rx/long-timer.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { KeyedHeap } from './heap.ts';
import { KeyQueue, type QueueOptions } from './key-queue.ts';
import { type Backlog, type DelayingQueue, Fifo } from './work-queue.ts';

interface Due {
  /** The due time on the stopwatch of the queue, in milliseconds. */
  readonly atMs: number;
  /** A sequence number, so that keys due at the same time are added in the order of the calls. */
  readonly turn: number;
}

/** Delayed keys, each with the time at which it is due. */
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

/** A queue with delayed adds. */
export class DelayingKeyQueue<K> extends KeyQueue<K> implements DelayingQueue<K> {
  readonly #delayed: DelayedKeys<K>;

  constructor(options: QueueOptions, backlog: Backlog<K>) {
    super(options, backlog);
    this.#delayed = new DelayedKeys(this.scheduler, (key) => this.due(key));
  }

  /** Called when the time of a key has come. */
  due(key: K): void {
    super.add(key);
    this.settle();
  }

  override get waiting(): number {
    // A metrics provider may read this while the object is being constructed.
    return #delayed in this ? this.#delayed.size : 0;
  }

  addAfter(key: K, delayMs: number): void {
    checkedRate(delayMs, 'addAfter: delayMs');
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

  /** Like `cancelAfter`, but without a notification, because the caller changes the state of the key next. */
  withdraw(key: K): boolean {
    return this.#delayed.delete(key);
  }

  override refuse(): void {
    this.#delayed.clear();
    super.refuse();
  }
}

/**
 * Creates a work queue that can add a key at a later time. Keys that are not due yet when the queue is shut down are
 * dropped. While a key waits, the queue holds one timer on its `scheduler`. Delays over 2^31 ms are waited in full.
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
