/** Reconciles the keys of one subscription to `workQueue`. */
import { type Observable, Subject, type Subscriber } from 'rxjs';
import { takeUntil } from 'rxjs/operators';
import { checkedRate } from '../rx/checked-option.ts';
import { Drain } from '../rx/drain.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { timingOf } from '../rx/timing.ts';
import { isKey, shownKey } from './keys.ts';
import { type Outcome, type Reconcile, type ReconcileContext, TerminalError } from './outcome.ts';
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
export interface QueueOfRun<K> {
  readonly queue: RateLimitingQueue<K>;
  leave(): void;
}

/** The workers of one subscription: they take keys from the queue, reconcile them and emit the outcomes. */
export class Workers<K extends string> {
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
      if (requeueAfterMs <= 0 && requeue && !this.#queue.shuttingDown) {
        return { type: 'requeued', afterMs: this.#addAgain(key, { rateLimited: true }) };
      }
      this.#queue.forget(key);
      const afterMs = checkedRate(requeueAfterMs, 'requeueAfterMs');
      if (afterMs <= 0 || !this.#mayRequeue(key)) return { type: 'ok' };
      this.#addAgain(key, { afterMs });
      return { type: 'requeued', afterMs };
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
