/**
 * The operator from keys to outcomes of a reconciler. It uses a work queue instead of `mergeMap` or `concatMap`, because
 * those buffer every key that arrives while they are busy, may process one key twice at the same time, and recurse when
 * many keys arrive synchronously.
 */

import { Observable, type OperatorFunction, Subject, type Subscriber } from 'rxjs';
import { takeUntil } from 'rxjs/operators';
import { checkedTimes, checkedWholeLimit } from '../rx/checked-option.ts';
import { Drain } from '../rx/drain.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { timingOf } from '../rx/timing.ts';
import { Fifo } from './backlog.ts';
import { isKey, shownKey } from './keys.ts';
import { type Outcome, type Reconcile, type ReconcileContext, TerminalError } from './outcome.ts';
import { limiterOf, RateLimitingKeyQueue } from './rate-limiting-queue.ts';
import { ReconcileRun, type RunEnd, type Settled } from './reconcile-run.ts';
import type { PriorityQueue, RateLimitingQueue } from './work-queue.ts';
import type { WorkQueueOptions } from './work-queue-options.ts';

type Verdict =
  | { type: 'ok' }
  | { type: 'requeued'; afterMs: number }
  | { type: 'failed'; error: unknown; retryAfterMs: number }
  | { type: 'gaveUp'; error: unknown };

function invalidKey(key: unknown): TerminalError {
  return new TerminalError(
    `workQueue: ${shownKey(key)} is not a key; emit non-empty strings such as 'namespace/name'`,
  );
}

function isPriorityQueue<K>(queue: RateLimitingQueue<K>): queue is PriorityQueue<K> {
  return 'addWithOptions' in queue;
}

/** The queue of one subscription, and its cleanup when the subscription ends. */
interface QueueOfRun<K> {
  readonly queue: RateLimitingQueue<K>;
  leave(): void;
}

/** The state of one subscription. */
class Workers<K extends string> {
  readonly #reconcile: Reconcile<K>;
  readonly #options: WorkQueueOptions<K>;
  readonly #subscriber: Subscriber<Outcome<K>>;
  readonly #queue: RateLimitingQueue<K>;
  readonly #leaveQueue: () => void;
  readonly #passedMs: () => number;
  /** Emits outcomes one at a time, so that a consumer that adds a key does not receive an outcome within an outcome. */
  readonly #out = new Drain();
  readonly #runs = new Set<ReconcileRun<K>>();
  readonly #failures = new Map<K, number>();
  /** Keys that have used the one `requeueAfterMs` that each key gets after the source has ended. */
  readonly #lastRequeues = new Set<K>();
  readonly #stopped = new Subject<void>();
  #end: (() => void) | undefined;
  #pumping = false;
  #closed = false;

  constructor(
    reconcile: Reconcile<K>,
    options: WorkQueueOptions<K>,
    subscriber: Subscriber<Outcome<K>>,
    { queue, leave }: QueueOfRun<K>,
  ) {
    this.#reconcile = reconcile;
    this.#options = options;
    this.#subscriber = subscriber;
    this.#passedMs = stopwatch(timingOf(options).scheduler);
    this.#queue = queue;
    this.#leaveQueue = leave;
  }

  work(source: Observable<K>): void {
    this.#subscriber.add(() => this.#stop());
    this.#queue.ready$.pipe(takeUntil(this.#stopped)).subscribe(() => this.#pump());
    source.pipe(takeUntil(this.#stopped)).subscribe({
      next: (key) => this.#accept(key),
      error: (error: unknown) => this.#sourceEnded(() => this.#subscriber.error(error)),
      complete: () => this.#sourceEnded(() => this.#subscriber.complete()),
    });
    this.#pump();
  }

  #accept(key: K): void {
    if (isKey(key)) this.#queue.add(key);
    else {
      const error = invalidKey(key);
      this.#emit({ key, attempt: 1, queuedMs: 0, workedMs: 0, type: 'gaveUp', error });
    }
  }

  #sourceEnded(end: () => void): void {
    this.#end = end;
    this.#pump();
  }

  /** Does not recurse: keys that a synchronous reconciler adds are processed by the loop that already runs. */
  #pump(): void {
    if (this.#pumping || this.#closed) return;
    this.#pumping = true;
    const { concurrency = 1 } = this.#options;
    while (!this.#closed && this.#runs.size < concurrency) {
      const key = this.#queue.tryGet();
      if (key === undefined) break;
      this.#run(key);
    }
    this.#pumping = false;
    if (!this.#closed && this.#drained()) {
      this.#closed = true;
      this.#out.run(this.#end ?? (() => this.#subscriber.complete()));
    }
  }

  #drained(): boolean {
    const { len, waiting, shuttingDown } = this.#queue;
    if (this.#runs.size > 0 || len > 0) return false;
    if (shuttingDown) return true;
    return this.#end !== undefined && (waiting === 0 || this.#options.drainDelayed === false);
  }

  #run(key: K): void {
    const startMs = this.#passedMs();
    const attempt = (this.#failures.get(key) ?? 0) + 1;
    const queuedMs = this.#queue.queuedMs(key);
    const run = new ReconcileRun<K>((end) => {
      this.#runs.delete(run);
      if (this.#closed || 'aborted' in end) this.#handBack(key, attempt, end);
      else {
        const verdict = this.#judge(key, attempt, end);
        const workedMs = this.#passedMs() - startMs;
        this.#emit({ key, attempt, queuedMs, workedMs, ...verdict });
      }
      this.#queue.done(key);
      this.#pump();
    });
    this.#runs.add(run);
    const context: ReconcileContext<K> = {
      key,
      attempt,
      queuedMs,
      get signal() {
        return run.signal;
      },
    };
    run.start(this.#reconcile, context);
  }

  /** Handles a run that ends after unsubscription: unfinished keys are returned for other consumers of the queue. */
  #handBack(key: K, attempt: number, end: RunEnd): void {
    if ('result' in end) this.#judge(key, attempt, end);
    else if (!this.#queue.shuttingDown) this.#addAgain(key, { afterMs: 0 });
  }

  #judge(key: K, attempt: number, end: Settled): Verdict {
    try {
      if ('error' in end) return this.#failed(key, attempt, end.error);
      this.#failures.delete(key);
      const { requeue = false, requeueAfterMs = 0 } = end.result ?? {};
      if (requeueAfterMs > 0) {
        this.#queue.forget(key);
        if (!this.#mayRequeue(key)) return { type: 'ok' };
        this.#addAgain(key, { afterMs: requeueAfterMs });
        return { type: 'requeued', afterMs: requeueAfterMs };
      }
      if (requeue && !this.#queue.shuttingDown) {
        return { type: 'requeued', afterMs: this.#addAgain(key, { rateLimited: true }) };
      }
      this.#queue.forget(key);
      return { type: 'ok' };
    } catch (error) {
      // A custom rate limiter threw, or the reconciler returned an invalid time.
      this.#failures.delete(key);
      return { type: 'gaveUp', error };
    }
  }

  #failed(key: K, attempt: number, error: unknown): Verdict {
    const { maxRetries = Number.POSITIVE_INFINITY } = this.#options;
    const final = error instanceof TerminalError || attempt > maxRetries;
    if (final || this.#queue.shuttingDown) {
      this.#failures.delete(key);
      this.#queue.forget(key);
      return { type: 'gaveUp', error };
    }
    this.#failures.set(key, attempt);
    return { type: 'failed', error, retryAfterMs: this.#addAgain(key, { rateLimited: true }) };
  }

  /** A periodic requeue must not keep the stream open after the source has ended, so each key gets one more. */
  #mayRequeue(key: K): boolean {
    if (this.#queue.shuttingDown) return false;
    if (this.#end === undefined) return true;
    if (this.#lastRequeues.has(key)) return false;
    this.#lastRequeues.add(key);
    return true;
  }

  #addAgain(key: K, when: { afterMs: number } | { rateLimited: true }): number {
    const queue = this.#queue;
    if (isPriorityQueue(queue)) {
      return queue.addWithOptions(key, { ...when, priority: queue.priorityOf(key) ?? 0 });
    }
    if ('rateLimited' in when) return queue.addRateLimited(key);
    queue.addAfter(key, when.afterMs);
    return when.afterMs;
  }

  #emit(outcome: Outcome<K>): void {
    this.#out.run(() => this.#subscriber.next(outcome));
  }

  #stop(): void {
    this.#closed = true;
    this.#stopped.next();
    for (const run of this.#runs) run.abort();
    this.#leaveQueue();
  }
}

function operatorOn<K extends string>(
  reconcile: Reconcile<K>,
  options: WorkQueueOptions<K>,
  queueOf: () => QueueOfRun<K>,
): OperatorFunction<K, Outcome<K>> {
  const { concurrency = 1, maxRetries = 0 } = options;
  checkedWholeLimit(concurrency, 'workQueue: concurrency');
  checkedTimes(maxRetries, 'workQueue: maxRetries');
  return (source) =>
    new Observable<Outcome<K>>((subscriber) => {
      new Workers(reconcile, options, subscriber, queueOf()).work(source);
    });
}

/** Like {@link workQueue} with a queue that is passed in. Kept separate so that a bundle need not contain the default queue. */
export function workOnQueue<K extends string>(
  queue: RateLimitingQueue<K>,
  reconcile: Reconcile<K>,
  options: WorkQueueOptions<K>,
): OperatorFunction<K, Outcome<K>> {
  return operatorOn(reconcile, options, () => ({ queue, leave: () => undefined }));
}

/**
 * Processes keys: an operator from keys to the outcomes of `reconcile`.
 *
 * A key that is emitted again while it waits is processed once. A key that is emitted while it is processed is processed once
 * more afterwards. No key is given to two workers at the same time. So memory grows with the number of different keys only,
 * however fast the source is.
 *
 * - A reconciler that throws or rejects emits `failed` and is retried after 5 ms, 10 ms … 1000 s. After `maxRetries`, or
 *   without a retry for a {@link TerminalError}, the key emits `gaveUp`; its next add starts from the beginning.
 * - `{ requeueAfterMs }`, in milliseconds, and `{ requeue: true }` emit `requeued`. A `requeueAfterMs` of 0 or less is ignored.
 * - A value that is not a non-empty string emits `gaveUp`.
 * - **Completion** of the source: every key that is queued, in progress, failing or requeued is processed, then the stream
 *   completes. After the end each key gets one more `requeueAfterMs` and then emits `ok`. A key that never stops failing keeps
 *   the stream open, so set `maxRetries` if the source ends. With `drainDelayed: false` the stream waits for no timer.
 * - **An error** of the source: the keys are processed in the same way, then the stream errors.
 * - **Unsubscribing** aborts `signal`, drops the waiting keys and leaves no timer. A `queue` that was passed in keeps its waiting
 *   keys, and each key whose run did not end well is returned to it.
 *
 * ```text
 * source          a-a-b-------|
 * reconcile       ---|               takes 3 ms per key
 * workQueue       ---a--a--b--|      a was emitted again while it was processed
 * ```
 *
 * Throws a `TypeError` if `concurrency` is under 1 or `maxRetries` is under 0.
 *
 * client-go: the worker loop of sample-controller; controller-runtime: internal/controller
 *
 * @example
 * ```ts
 * import { TerminalError, workQueue } from 'rx-informer';
 * import { from, lastValueFrom } from 'rxjs';
 * import { map, toArray } from 'rxjs/operators';
 *
 * const outcomes$ = from(['a/web', 'a/db', 'a/db', 'a/bad']).pipe(
 *   workQueue(async (key, { attempt }) => {
 *     if (key === 'a/bad') throw new TerminalError('spec.replicas is -1; correct it');
 *     if (key === 'a/db' && attempt === 1) throw new Error('not ready yet');
 *   }),
 *   map(({ key, type }) => `${key} ${type}`),
 *   toArray(),
 * );
 * await lastValueFrom(outcomes$); // => ['a/web ok', 'a/db failed', 'a/bad gaveUp', 'a/db ok']
 * ```
 */
export function workQueue<K extends string = string>(
  reconcile: Reconcile<K>,
  options: WorkQueueOptions<K> = {},
): OperatorFunction<K, Outcome<K>> {
  return operatorOn(reconcile, options, () => {
    const { queue } = options;
    if (queue !== undefined) return { queue, leave: () => undefined };
    const own = new RateLimitingKeyQueue<K>(options, new Fifo<K>(), limiterOf(options));
    return { queue: own, leave: () => own.discard() };
  });
}
