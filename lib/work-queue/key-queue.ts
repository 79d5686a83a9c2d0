/**
 * All queues. A queue tracks the keys that need processing (`dirty`) and the keys that a worker has (`processing`); a key in
 * both is queued again after its `done`. Delayed adds, a rate limiter and priorities are parts of it.
 * client-go: util/workqueue/queue.go
 */

import { AsyncSubject, defer, interval, merge, type Observable, of, Subject } from 'rxjs';
import { distinctUntilChanged, endWith, map, takeUntil } from 'rxjs/operators';
import type { MetricsProvider } from '../meta/metrics.ts';
import { checkedDuration } from '../rx/checked-option.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { type ResolvedTiming, type Timing, timingOf } from '../rx/timing.ts';
import { DelayedKeys } from './delayed-keys.ts';
import { QueueFigures, type QueueMetrics, type QueueState } from './queue-metrics.ts';
import type { RankedBacklog } from './ranked-backlog.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { type AddOptions, type Backlog, Fifo, type PriorityQueue } from './work-queue.ts';

const METRICS_PERIOD_MS = 500;

/** Options of every queue. */
export interface QueueOptions extends Pick<Timing, 'scheduler'> {
  /** The label `name` of the metrics. @defaultValue '' */
  readonly name?: string | undefined;
  /** Receives the metrics of the queue until it is shut down and empty. @defaultValue none */
  readonly metrics?: MetricsProvider | undefined;
  /** Receives the errors that `metrics` throws. @defaultValue errors are reported asynchronously, as rxjs does */
  readonly onUnhandledError?: ((error: unknown) => void) | undefined;
}

/** The parts of a queue. */
export interface QueueParts<K> {
  /** The order of the ready keys, if they have no ranks. @defaultValue first in, first out */
  readonly backlog?: Backlog<K> | undefined;
  /** Makes a priority queue, which has each key once, ready or delayed. */
  readonly ranks?: RankedBacklog<K> | undefined;
  /** @defaultValue keys wait for nothing */
  readonly limiter?: RateLimiter<K> | undefined;
}

interface Work {
  readonly sinceMs: number;
  readonly queuedMs: number;
  readonly priority: number | undefined;
}

interface Waiter {
  readonly delayed: boolean;
  /** From `shutDownWithDrain`: a later `shutDown` resolves it. */
  readonly forced: boolean;
  readonly resolve: () => void;
}

/** A work queue with its parts. The makers return it as the interface of what it was made with. */
export class KeyQueue<K> implements PriorityQueue<K> {
  readonly name: string;
  readonly ready$: Observable<void>;
  readonly metrics$: Observable<QueueMetrics>;
  readonly #figures: QueueFigures;
  readonly #scheduler: ResolvedTiming['scheduler'];
  readonly #passedMs: () => number;
  readonly #backlog: Backlog<K>;
  readonly #ranks: RankedBacklog<K> | undefined;
  readonly #limiter: RateLimiter<K> | undefined;
  /** Made by the first delayed add. */
  #delayed: DelayedKeys<K> | undefined;
  /** The keys that need processing, with the time at which each was added. */
  readonly #dirty = new Map<K, number>();
  readonly #processing = new Map<K, Work>();
  readonly #getters = new Fifo<(key: K | undefined) => void>();
  readonly #changed = new Subject<void>();
  readonly #ended = new AsyncSubject<void>();
  #waiters: Waiter[] = [];
  #shuttingDown = false;
  #finished = false;

  constructor(options: QueueOptions, parts: QueueParts<K> = {}) {
    this.name = options.name ?? '';
    this.#scheduler = timingOf(options).scheduler;
    this.#passedMs = stopwatch(this.#scheduler);
    this.#ranks = parts.ranks;
    this.#backlog = parts.ranks ?? parts.backlog ?? new Fifo<K>();
    this.#limiter = parts.limiter;
    this.#figures = new QueueFigures(options, () => this.#state());
    this.ready$ = this.#changed.asObservable();
    this.metrics$ = defer(() =>
      merge(of(0), interval(METRICS_PERIOD_MS, this.#scheduler)).pipe(
        takeUntil(this.#ended),
        endWith(0),
        map(() => this.metrics),
        distinctUntilChanged((one, other) => JSON.stringify(one) === JSON.stringify(other)),
      ),
    );
  }

  get len(): number {
    return this.#backlog.len;
  }

  get processing(): number {
    return this.#processing.size;
  }

  get waiting(): number {
    return this.#delayed?.size ?? 0;
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  get metrics(): QueueMetrics {
    return this.#figures.read();
  }

  add(key: K): void {
    this.#addIn(key, 0, 0, false);
  }

  addAfter(key: K, delayMs: number): void {
    if (Number.isNaN(delayMs)) throw new TypeError('addAfter: delayMs must be a number, not NaN');
    // client-go counts every delayed add as a retry, controller-runtime only those that wait.
    this.#addIn(key, delayMs > 0 ? delayMs : 0, 0, this.#ranks === undefined);
  }

  addRateLimited(key: K): number {
    return this.addWithOptions(key, { rateLimited: true });
  }

  addWithOptions(key: K, options: AddOptions): number {
    const { afterMs = 0, rateLimited = false, priority = 0 } = options;
    if (Number.isNaN(afterMs) || Number.isNaN(priority)) {
      throw new TypeError('addWithOptions: afterMs and priority must be numbers, not NaN');
    }
    const limitMs = rateLimited ? (this.#limiter?.when(key) ?? 0) : afterMs;
    const waitMs = Math.max(0, afterMs > 0 ? Math.min(afterMs, limitMs) : limitMs);
    checkedDuration(waitMs, 'the wait of the rate limiter');
    this.#addIn(key, waitMs, priority, rateLimited);
    return waitMs;
  }

  cancelAfter(key: K): boolean {
    if (!this.#delayed?.delete(key)) return false;
    // Before the notification, in which the key may be added again.
    if (!this.#dirty.has(key)) this.#ranks?.forget(key);
    this.#settle();
    return true;
  }

  forget(key: K): void {
    this.#limiter?.forget(key);
  }

  numRequeues(key: K): number {
    return this.#limiter?.numRequeues(key) ?? 0;
  }

  priorityOf(key: K): number | undefined {
    const work = this.#processing.get(key);
    return work === undefined ? this.#ranks?.priorityOf(key) : work.priority;
  }

  tryGet(): K | undefined {
    if (this.#backlog.len === 0) return undefined;
    const key = this.#backlog.pop();
    const now = this.#passedMs();
    const queuedMs = now - (this.#dirty.get(key) ?? now);
    this.#dirty.delete(key);
    this.#processing.set(key, { sinceMs: now, queuedMs, priority: this.#ranks?.forget(key) });
    this.#figures.got(queuedMs);
    return key;
  }

  get(): Promise<K | undefined> {
    const key = this.tryGet();
    if (key !== undefined || this.#shuttingDown) return Promise.resolve(key);
    return new Promise((resolve) => this.#getters.push(resolve));
  }

  done(key: K): void {
    const work = this.#processing.get(key);
    if (work === undefined) return;
    this.#processing.delete(key);
    this.#figures.done(this.#passedMs() - work.sinceMs);
    if (this.#dirty.has(key)) this.#offer(key);
    else this.#settle();
  }

  queuedMs(key: K): number {
    return this.#processing.get(key)?.queuedMs ?? 0;
  }

  shutDown(): void {
    this.#refuse();
    this.#release((waiter) => waiter.forced);
  }

  shutDownWithDrain(): Promise<void> {
    this.#refuse();
    return this.#whenIdle({ delayed: false, forced: true });
  }

  drain({ delayed = false }: { readonly delayed?: boolean } = {}): Promise<void> {
    return this.#whenIdle({ delayed, forced: false });
  }

  /** Shuts down and drops the queued keys, because no worker will get them and no code will read the metrics again. */
  discard(): void {
    while (this.#backlog.len > 0) this.#backlog.pop();
    this.#figures.dropped(this.#dirty.size);
    this.#dirty.clear();
    this.shutDown();
    this.#finish();
  }

  /** Adds the key, now or after `waitMs`. */
  #addIn(key: K, waitMs: number, priority: number, isRetry: boolean): void {
    if (this.#shuttingDown) return;
    if (isRetry || waitMs > 0) this.#figures.retried();
    const ranks = this.#ranks;
    // In a priority queue the earliest add of a key is its only one.
    const isNow = waitMs === 0 || (ranks !== undefined && this.#dirty.has(key));
    ranks?.rank(key, priority, isNow);
    if (isNow) {
      if (ranks !== undefined) this.#delayed?.delete(key);
      this.#addNow(key);
    } else {
      this.#delayed ??= new DelayedKeys(this.#scheduler, (due) => {
        this.#ranks?.ripen(due);
        this.#addNow(due);
        this.#settle();
      });
      this.#delayed.set(key, waitMs);
    }
  }

  #addNow(key: K): void {
    const working = this.#processing.has(key);
    if (this.#dirty.has(key)) {
      if (!working) this.#backlog.touch?.(key);
      return;
    }
    this.#dirty.set(key, this.#passedMs());
    this.#figures.added();
    if (!working) this.#offer(key);
  }

  /** Accepts no further keys. Unlike `shutDown`, it does not resolve pending calls of `shutDownWithDrain`. */
  #refuse(): void {
    this.#delayed?.clear();
    this.#ranks?.forgetUnless((key) => this.#dirty.has(key));
    this.#shuttingDown = true;
    while (this.#getters.len > 0) this.#getters.pop()(undefined);
    this.#settle();
  }

  /** Notifies waiters and subscribers after a change; finishes if the queue is shut down and idle. */
  #settle(): void {
    if (this.#waiters.length > 0) this.#release(({ delayed }) => this.#idle(delayed));
    this.#notify();
    if (this.#shuttingDown && this.#idle(false)) this.#finish();
  }

  #finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#figures.close();
    this.#ended.next();
    this.#ended.complete();
  }

  #offer(key: K): void {
    this.#backlog.push(key);
    if (this.#getters.len > 0) this.#getters.pop()(this.tryGet());
    else this.#notify();
  }

  /** A Subject makes objects for every `next`, also without observers. */
  #notify(): void {
    if (this.#changed.observed) this.#changed.next();
  }

  #idle(delayed: boolean): boolean {
    const busy = this.#dirty.size > 0 || this.#processing.size > 0;
    return !busy && !(delayed && this.waiting > 0);
  }

  #whenIdle(waiter: Omit<Waiter, 'resolve'>): Promise<void> {
    if (this.#idle(waiter.delayed)) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ ...waiter, resolve }));
  }

  #release(due: (waiter: Waiter) => boolean): void {
    const released = this.#waiters.filter(due);
    this.#waiters = this.#waiters.filter((waiter) => !released.includes(waiter));
    for (const { resolve } of released) resolve();
  }

  #state(): QueueState {
    const now = this.#passedMs();
    const seconds = [...this.#processing.values()].map(({ sinceMs }) => (now - sinceMs) / 1000);
    return {
      depth: this.#dirty.size,
      waiting: this.waiting,
      processing: this.#processing.size,
      unfinishedWorkSeconds: seconds.reduce((sum, each) => sum + each, 0),
      // In the order in which they were given out.
      longestRunningProcessorSeconds: seconds[0] ?? 0,
    };
  }
}
