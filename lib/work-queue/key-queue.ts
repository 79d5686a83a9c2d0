/**
 * The base of all queues. It tracks the keys that need processing (`dirty`) and the keys that a worker has
 * (`processing`); a key in both is queued again after its `done`. client-go: util/workqueue/queue.go
 */

import { AsyncSubject, defer, interval, merge, type Observable, of, Subject } from 'rxjs';
import { distinctUntilChanged, endWith, map, takeUntil } from 'rxjs/operators';
import type { Metered } from '../meta/metrics.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { type ResolvedTiming, type Timing, timingOf } from '../rx/timing.ts';
import { QueueFigures, type QueueMetrics, type QueueState } from './queue-metrics.ts';
import { type Backlog, Fifo, type WorkQueue } from './work-queue.ts';

const METRICS_PERIOD_MS = 500;

/** Options of every queue. */
export interface QueueOptions extends Pick<Timing, 'scheduler'> {
  /** The label `name` of the metrics. @defaultValue '' */
  readonly name?: string | undefined;
  /** Receives the metrics of the queue until it is shut down and empty. @defaultValue none */
  readonly metrics?: Metered | undefined;
  /** Receives the errors that `metrics` throws. @defaultValue errors are reported asynchronously, as rxjs does */
  readonly onUnhandledError?: ((error: unknown) => void) | undefined;
}

interface Work {
  readonly sinceMs: number;
  readonly queuedMs: number;
}

interface IdleWait {
  readonly delayed: boolean;
  /** From `shutDownWithDrain`: a later `shutDown` resolves it. */
  readonly forced: boolean;
  readonly resolve: () => void;
}

/** A work queue over any backlog. */
export class KeyQueue<K> implements WorkQueue<K> {
  readonly name: string;
  readonly ready$: Observable<void>;
  readonly metrics$: Observable<QueueMetrics>;
  readonly figures: QueueFigures;
  readonly scheduler: ResolvedTiming['scheduler'];
  readonly #passedMs: () => number;
  readonly #backlog: Backlog<K>;
  /** The keys that need processing, with the time at which each was added. */
  readonly #dirty = new Map<K, number>();
  readonly #processing = new Map<K, Work>();
  readonly #getters = new Fifo<(key: K | undefined) => void>();
  readonly #changed = new Subject<void>();
  readonly #ended = new AsyncSubject<void>();
  #waiters: IdleWait[] = [];
  #shuttingDown = false;
  #finished = false;

  constructor(options: QueueOptions, backlog: Backlog<K>) {
    this.name = options.name ?? '';
    this.scheduler = timingOf(options).scheduler;
    this.#passedMs = stopwatch(this.scheduler);
    this.#backlog = backlog;
    this.figures = new QueueFigures(options, () => this.#state());
    this.ready$ = this.#changed.asObservable();
    this.metrics$ = defer(() =>
      merge(of(0), interval(METRICS_PERIOD_MS, this.scheduler)).pipe(
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
    return 0;
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  get metrics(): QueueMetrics {
    return this.figures.read();
  }

  /** Whether the key needs processing, whether it is ready or a worker still has it. */
  isQueued(key: K): boolean {
    return this.#dirty.has(key);
  }

  add(key: K): void {
    if (this.#shuttingDown) return;
    const working = this.#processing.has(key);
    if (this.#dirty.has(key)) {
      if (!working) this.#backlog.touch?.(key);
      return;
    }
    this.#dirty.set(key, this.#passedMs());
    this.figures.added();
    if (!working) this.#offer(key);
  }

  tryGet(): K | undefined {
    if (this.#backlog.len === 0) return undefined;
    const key = this.#backlog.pop();
    const now = this.#passedMs();
    const queuedMs = now - (this.#dirty.get(key) ?? now);
    this.#dirty.delete(key);
    this.#processing.set(key, { sinceMs: now, queuedMs });
    this.figures.got(queuedMs);
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
    this.figures.done(this.#passedMs() - work.sinceMs);
    if (this.#dirty.has(key)) this.#offer(key);
    else this.settle();
  }

  queuedMs(key: K): number {
    return this.#processing.get(key)?.queuedMs ?? 0;
  }

  shutDown(): void {
    this.refuse();
    this.#release((waiter) => waiter.forced);
  }

  shutDownWithDrain(): Promise<void> {
    this.refuse();
    return this.#whenIdle({ delayed: false, forced: true });
  }

  drain({ delayed = false }: { readonly delayed?: boolean } = {}): Promise<void> {
    return this.#whenIdle({ delayed, forced: false });
  }

  /** Accepts no further keys. Unlike `shutDown`, it does not resolve pending calls of `shutDownWithDrain`. */
  refuse(): void {
    this.#shuttingDown = true;
    while (this.#getters.len > 0) this.#getters.pop()(undefined);
    this.settle();
  }

  /** Shuts down and drops the queued keys, because no worker will get them and no code will read the metrics again. */
  discard(): void {
    while (this.#backlog.len > 0) this.done(this.#backlog.pop());
    this.figures.dropped(this.#dirty.size);
    this.#dirty.clear();
    this.shutDown();
    this.#finish();
  }

  /** Notifies waiters and subscribers after a change; finishes if the queue is shut down and idle. */
  settle(): void {
    if (this.#waiters.length > 0) this.#release(({ delayed }) => this.#idle(delayed));
    this.#notify();
    if (this.#shuttingDown && this.#idle(false)) this.#finish();
  }

  #finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.figures.close();
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

  #whenIdle(waiter: Omit<IdleWait, 'resolve'>): Promise<void> {
    if (this.#idle(waiter.delayed)) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ ...waiter, resolve }));
  }

  #release(due: (waiter: IdleWait) => boolean): void {
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

/** Options of {@link createWorkQueue}. */
export interface CreateWorkQueueOptions<K = string> extends QueueOptions {
  /** The order in which ready keys are given out. @defaultValue first in, first out */
  readonly backlog?: Backlog<K> | undefined;
}

/**
 * Creates a queue in which a key waits once, however often it is added, and is never given to two workers at the same time.
 *
 * Keys are compared as by a `Map`, so use strings such as `namespace/name`, not objects. No method throws. The queue holds a
 * timer only while `metrics$` has a subscriber.
 *
 * client-go: workqueue.NewTypedWithConfig
 *
 * @example
 * ```ts
 * import { createWorkQueue } from 'rx-informer';
 *
 * const queue = createWorkQueue();
 * for (const key of ['default/a', 'default/b', 'default/a']) queue.add(key);
 * queue.len; // => 2
 *
 * const worked: string[] = [];
 * queue.shutDown();
 * for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
 *   worked.push(key);
 *   queue.done(key);
 * }
 * worked; // => ['default/a', 'default/b']
 * ```
 */
export function createWorkQueue<K = string>(options: CreateWorkQueueOptions<K> = {}): WorkQueue<K> {
  return new KeyQueue<K>(options, options.backlog ?? new Fifo<K>());
}
