/** Workers, which take keys from a queue and reconcile them: the engine of `workQueue` and of controllers. */
import { Subject, type Subscription } from 'rxjs';
import { takeUntil } from 'rxjs/operators';
import { checkedWait } from '../checks/checked-option.ts';
import { Drain } from '../rx/drain.ts';
import { nextMacrotask } from '../rx/next-macrotask.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { timingOf } from '../rx/timing.ts';
import {
  type Outcome,
  type Reconcile,
  type ReconcileRun,
  type RunEnd,
  type RunHost,
  type Settled,
  TerminalError,
} from './reconcile-run.ts';
import type { PriorityQueue, RateLimitingQueue } from './work-queue.ts';
import type { WorkQueueOptions } from './work-queue-options.ts';

/** How long runs begin one after another before the event loop turns, in milliseconds: renewals of a Lease and watches need its turns. */
const SLICE_MS = 8;

type Verdict =
  | { type: 'ok' }
  | { type: 'requeued'; afterMs: number }
  | { type: 'failed'; error: unknown; retryAfterMs: number }
  | { type: 'gaveUp'; error: unknown };

function isPriorityQueue<K>(queue: RateLimitingQueue<K>): queue is PriorityQueue<K> {
  return 'addWithOptions' in queue;
}

/** What workers do with the keys. */
export interface WorkersOwner<K extends string, R extends ReconcileRun<K>> {
  /** The run of a key that was given out. */
  readonly Run: new (
    key: K,
    attempt: number,
    queuedMs: number,
    startMs: number,
  ) => R;
  reconcile(run: R): ReturnType<Reconcile<K>>;
  /** Whether a run may begin now. While it may not, keys stay in the queue. @defaultValue always */
  mayBegin?(): boolean;
  /** Receives the outcomes in the order in which the runs end, and none within another. */
  outcome(run: R, outcome: Outcome<K>): void;
  /** The reconciler has returned or failed, or was unsubscribed, after `workedMs`. */
  ended?(run: R, end: RunEnd, workedMs: number): void;
  /** The run has ended, and its outcome was received or is dropped. `isDone`: its key needs no further one. */
  released?(run: R, isDone: boolean): void;
  /** The source or the queue has ended, and no key is left. */
  drained?(): void;
}

/** Give out the keys of a queue, at most `concurrency` at a time, and decide from each result what happens to its key. */
export class Workers<K extends string, R extends ReconcileRun<K>> implements RunHost<R> {
  readonly stopped$: Subject<void> = new Subject();
  readonly #queue: RateLimitingQueue<K>;
  readonly #options: Pick<
    WorkQueueOptions<K>,
    'concurrency' | 'maxRetries' | 'drainDelayed' | 'scheduler'
  >;
  readonly #owner: WorkersOwner<K, R>;
  readonly #passedMs: () => number;
  /** Emits outcomes one at a time, so that a consumer that adds a key does not receive an outcome within an outcome. */
  readonly out: Drain = new Drain();
  /** In the order of their starts, until their outcome was received. */
  readonly #runs = new Set<R>();
  readonly #failures = new Map<K, number>();
  /** Keys that have used the one `requeueAfterMs` that each key gets after the source has ended. */
  readonly #lastRequeues = new Set<K>();
  #busy = 0;
  /** When the running slice began, on the stopwatch; absent while there is no work. */
  #sliceMs: number | undefined;
  /** How long runs have been called since the event loop turned last or had a pause, in milliseconds. */
  #calledMs = 0;
  /** When the last call returned, on the stopwatch. */
  #returnedMs = 0;
  /** The wait for a turn of the event loop, between two slices. */
  #turning: Subscription | undefined;
  #sourceEnded = false;
  #pumping = false;
  #closed = false;

  constructor(
    queue: RateLimitingQueue<K>,
    options: WorkQueueOptions<K>,
    owner: WorkersOwner<K, R>,
  ) {
    this.#queue = queue;
    this.#options = options;
    this.#owner = owner;
    this.#passedMs = stopwatch(timingOf(options).scheduler);
  }

  /** The keys that are being reconciled, or whose outcome was not received yet. */
  get working(): readonly K[] {
    return [...new Set([...this.#runs].map(({ key }) => key))];
  }

  /** Begins to work whenever a key becomes ready. Call `pump` for the keys that are ready now. */
  follow(): void {
    this.#queue.ready$.pipe(takeUntil(this.stopped$)).subscribe(() => this.pump());
  }

  /** Does not recurse: keys that a synchronous reconciler adds are processed by the loop that already runs. */
  pump(): void {
    if (this.#pumping || this.#closed) return;
    this.#pumping = true;
    const { concurrency = 1 } = this.#options;
    // One reading of the clock ends a call and begins the next one.
    let nowMs = -1;
    while (!this.#closed && this.#busy < concurrency && this.#queue.len > 0) {
      if (nowMs < 0) nowMs = this.#passedMs();
      if (this.#mustTurn(nowMs) || this.#owner.mayBegin?.() === false) break;
      const key = this.#queue.tryGet();
      if (key === undefined) break;
      this.#begin(key, nowMs);
      this.#returnedMs = this.#passedMs();
      this.#calledMs += this.#returnedMs - nowMs;
      nowMs = this.#returnedMs;
    }
    if (this.#busy === 0 && this.#queue.len === 0) this.#sliceMs = undefined;
    this.#pumping = false;
    if (!this.#closed && this.#drained()) {
      this.#closed = true;
      this.out.run(() => this.#owner.drained?.());
    }
  }

  /**
   * Lets the event loop turn after each slice. A wait for I/O looks like work, and then costs one turn. What arrives after a pause
   * begins at once; without a pause the calls of runs count on, because a source may emit many keys in one turn.
   */
  #mustTurn(nowMs: number): boolean {
    if (this.#turning !== undefined) return true;
    if (this.#sliceMs === undefined) {
      if (nowMs - this.#returnedMs >= SLICE_MS) this.#calledMs = 0;
      this.#sliceMs = nowMs - this.#calledMs;
    }
    if (nowMs - this.#sliceMs < SLICE_MS) return false;
    this.#turning = nextMacrotask(this.#options.scheduler).subscribe(() => {
      this.#turning = undefined;
      this.#sliceMs = undefined;
      this.#calledMs = 0;
      this.pump();
    });
    return true;
  }

  /** No other key comes from the source. */
  endSource(): void {
    this.#sourceEnded = true;
    this.pump();
  }

  /** Aborts the signals. */
  abort(reason: unknown): void {
    for (const run of [...this.#runs]) run.abort(reason);
  }

  /** Begins no other run and drops outcomes. Runs of Promises stay `working` until they settle. */
  stop(reason?: unknown): void {
    this.#closed = true;
    this.#turning?.unsubscribe();
    this.stopped$.next();
    for (const run of [...this.#runs]) {
      if (run.ended) this.#release(run, false);
      else run.stop(reason);
    }
  }

  #drained(): boolean {
    const { len, waiting, shuttingDown } = this.#queue;
    if (this.#busy > 0 || len > 0) return false;
    if (shuttingDown) return true;
    return this.#sourceEnded && (waiting === 0 || this.#options.drainDelayed === false);
  }

  #begin(key: K, startMs: number): void {
    const attempt = (this.#failures.get(key) ?? 0) + 1;
    const run = new this.#owner.Run(key, attempt, this.#queue.queuedMs(key), startMs);
    this.#runs.add(run);
    this.#busy++;
    run.start(this.#owner, this);
  }

  settle(run: R, end: RunEnd): void {
    const { key, attempt, queuedMs, startMs } = run;
    this.#busy--;
    const workedMs = this.#passedMs() - startMs;
    this.#owner.ended?.(run, end, workedMs);
    if (this.#closed || 'aborted' in end) {
      // Unfinished keys are returned for other consumers of the queue.
      if ('result' in end) this.#judge(key, attempt, end);
      else if (!this.#queue.shuttingDown) this.#addAgain(key, { afterMs: 0 });
      this.#release(run, false);
    } else {
      const verdict = this.#judge(key, attempt, end);
      const outcome = { key, attempt, queuedMs, workedMs, ...verdict };
      this.out.run(() => this.#deliver(run, outcome));
    }
    this.#queue.done(key);
    this.pump();
  }

  #deliver(run: R, outcome: Outcome<K>): void {
    // Released by `stop`.
    if (!this.#runs.has(run)) return;
    this.#owner.outcome(run, outcome);
    this.#release(run, outcome.type === 'ok' || outcome.type === 'gaveUp');
  }

  #release(run: R, isDone: boolean): void {
    if (this.#runs.delete(run)) this.#owner.released?.(run, isDone);
  }

  #judge(key: K, attempt: number, end: Settled): Verdict {
    try {
      if ('error' in end) return this.#failed(key, attempt, end.error);
      this.#failures.delete(key);
      const { requeue, requeueAfterMs = 0 } = end.result ?? {};
      if (requeueAfterMs <= 0 && requeue && !this.#queue.shuttingDown) {
        return { type: 'requeued', afterMs: this.#addAgain(key, { rateLimited: true }) };
      }
      this.#queue.forget(key);
      const afterMs = checkedWait(requeueAfterMs, 'the result of reconcile: requeueAfterMs');
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
    if (!this.#sourceEnded) return true;
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
}
