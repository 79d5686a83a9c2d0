/**
 * Keys in, outcomes out. It is built on a work queue and not on `mergeMap` or `concatMap`: those hold every key
 * that comes while they are busy, work on one key twice at once, and recurse on a synchronous flood.
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
import { type Answer, type Ended, ReconcileRun } from './reconcile-run.ts';
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

/** The queue of one subscription, and what is done with it when the subscription ends. */
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
  /** Outcomes pass it, so that a consumer that emits a key never sees an outcome within an outcome. */
  readonly #out = new Drain();
  readonly #runs = new Set<ReconcileRun<K>>();
  readonly #failures = new Map<K, number>();
  /** Keys that had the requeue that is left to each at the end of the source. */
  readonly #lastRequeues = new Set<K>();
  readonly #stopped = new Subject<void>();
  #end: (() => void) | undefined;
  #pumping = false;
  #over = false;

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

  /** Never within itself: what a synchronous reconciler causes is found by the loop that runs. */
  #pump(): void {
    if (this.#pumping || this.#over) return;
    this.#pumping = true;
    const { concurrency = 1 } = this.#options;
    while (!this.#over && this.#runs.size < concurrency) {
      const key = this.#queue.tryGet();
      if (key === undefined) break;
      this.#run(key);
    }
    this.#pumping = false;
    if (!this.#over && this.#drained()) {
      this.#over = true;
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
    const run = new ReconcileRun<K>((answer) => {
      this.#runs.delete(run);
      if (this.#over || 'aborted' in answer) this.#leave(key, attempt, answer);
      else {
        const verdict = this.#judge(key, attempt, answer);
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

  /** A run that ends after the pipeline has left: what it did not do is for who else works on the queue. */
  #leave(key: K, attempt: number, answer: Answer): void {
    if ('result' in answer) this.#judge(key, attempt, answer);
    else if (!this.#queue.shuttingDown) this.#addAgain(key, { afterMs: 0 });
  }

  #judge(key: K, attempt: number, answer: Ended): Verdict {
    try {
      if ('error' in answer) return this.#failed(key, attempt, answer.error);
      this.#failures.delete(key);
      const { requeue = false, requeueAfterMs = 0 } = answer.result ?? {};
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
      // A limiter of the user's threw, or the reconciler answered what is no time.
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

  /** A key that asks again and again must not keep the stream from its end: each may do so once more. */
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
    this.#over = true;
    this.#stopped.next();
    for (const run of this.#runs) run.abort();
    this.#leaveQueue();
  }
}

function working<K extends string>(
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

/** As {@link workQueue} with a queue that is passed in. Apart from it, so that a bundle needs no default queue. */
export function workOnQueue<K extends string>(
  queue: RateLimitingQueue<K>,
  reconcile: Reconcile<K>,
  options: WorkQueueOptions<K>,
): OperatorFunction<K, Outcome<K>> {
  return working(reconcile, options, () => ({ queue, leave: () => undefined }));
}

/**
 * Works on keys: an operator from keys to the outcomes of `reconcile`.
 *
 * A key that comes while it waits is one key; one that comes while it is worked on is worked on once more; no key is
 * ever with two workers. So a fast source costs no more memory than it has different keys.
 *
 * - A reconciler that throws or rejects is tried again, after 5 ms, 10 ms … 1000 s: `failed` says when. After `maxRetries`, or at
 *   once for a {@link TerminalError}, the key is `gaveUp`; its next add starts anew.
 * - `{ requeueAfterMs }` and `{ requeue: true }` come out as `requeued`. A `requeueAfterMs` of 0 or less is none.
 * - What is no non-empty string comes out as `gaveUp`.
 * - **Completion** of the source lets all be worked on that is queued, under way or to be tried again, then completes. A
 *   `requeueAfterMs` is granted to each key once more after the end, and then comes out as `ok`; a key that never stops failing keeps
 *   the stream open, so set `maxRetries` where the source ends. `drainDelayed: false` waits for no timer.
 * - **An error** of the source does the same, then errors.
 * - **Unsubscribing** aborts `signal`, drops what waits and leaves no timer. A `queue` that was passed in keeps what waits,
 *   and gets back the key of each run that did not end well.
 *
 * ```text
 * source          a-a-b-------|
 * reconcile       ---|               takes 3 ms a key
 * workQueue       ---a--a--b--|      a came again while it was worked on
 * ```
 *
 * Throws a `TypeError` where `concurrency` is under 1 or `maxRetries` under 0.
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
  return working(reconcile, options, () => {
    const { queue } = options;
    if (queue !== undefined) return { queue, leave: () => undefined };
    const own = new RateLimitingKeyQueue<K>(options, new Fifo<K>(), limiterOf(options));
    return { queue: own, leave: () => own.discard() };
  });
}
