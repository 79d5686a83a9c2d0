/**
 * The operator from keys to outcomes of a reconciler. It uses a work queue instead of `mergeMap` or `concatMap`, because
 * those buffer every key that arrives while they are busy, may process one key twice at the same time, and recurse when
 * many keys arrive synchronously.
 */

import { Observable, type OperatorFunction } from 'rxjs';
import { takeUntil } from 'rxjs/operators';
import { checkedMetered, checkedTimes, checkedWholeLimit } from '../checks/checked-option.ts';
import { limiterOf, RateLimitingKeyQueue } from './rate-limiting-queue.ts';
import {
  type Outcome,
  type Reconcile,
  type ReconcileContext,
  ReconcileRun,
  TerminalError,
} from './reconcile-run.ts';
import { Fifo, isKey, type RateLimitingQueue, shownKey } from './work-queue.ts';
import type { WorkQueueOptions } from './work-queue-options.ts';
import { Workers } from './workers.ts';

function invalidKey(key: unknown): TerminalError {
  return new TerminalError(
    `workQueue: ${shownKey(key)} is not a key; emit non-empty strings such as 'namespace/name'`,
  );
}

/** The queue of one subscription, and its cleanup when the subscription ends. */
function queueOf<K>(options: WorkQueueOptions<K>): {
  readonly queue: RateLimitingQueue<K>;
  leave(): void;
} {
  const { queue } = options;
  if (queue !== undefined) return { queue, leave: () => undefined };
  const own = new RateLimitingKeyQueue<K>(options, new Fifo<K>(), limiterOf(options));
  return { queue: own, leave: () => own.discard() };
}

const RUN = /* @__PURE__ */ Symbol('run');

/**
 * What a reconciler is told about its run. An object literal with a getter would take four times as long to create, because
 * each has a function of its own.
 */
class RunContext<K> implements ReconcileContext<K> {
  static readonly #SIGNAL = {
    configurable: true,
    enumerable: true,
    get(this: RunContext<unknown>): AbortSignal {
      return this[RUN].controller.signal;
    },
  };
  readonly key: K;
  readonly attempt: number;
  readonly queuedMs: number;
  declare readonly signal: AbortSignal;
  /** No private field, so that a Proxy of the context has the signal, too. */
  declare readonly [RUN]: ReconcileRun<K>;

  constructor(run: ReconcileRun<K>) {
    this.key = run.key;
    this.attempt = run.attempt;
    this.queuedMs = run.queuedMs;
    this[RUN] = run;
    // A property of its own, so that a copy of the context has it, too.
    Object.defineProperty(this, 'signal', RunContext.#SIGNAL);
  }
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
  const { concurrency = 1, maxRetries = 0 } = options;
  checkedWholeLimit(concurrency, 'workQueue: concurrency');
  checkedTimes(maxRetries, 'workQueue: maxRetries');
  checkedMetered(options.metrics, 'workQueue: metrics');
  return (source) =>
    new Observable<Outcome<K>>((subscriber) => {
      const { queue, leave } = queueOf(options);
      let end = () => subscriber.complete();
      const workers = new Workers<K, ReconcileRun<K>>(queue, options, {
        Run: ReconcileRun,
        reconcile: (run) => reconcile(run.key, new RunContext(run)),
        outcome: (_, outcome) => subscriber.next(outcome),
        drained: () => end(),
      });
      subscriber.add(() => {
        workers.stop();
        leave();
      });
      workers.follow();
      source.pipe(takeUntil(workers.stopped$)).subscribe({
        next: (key) => {
          if (isKey(key)) return queue.add(key);
          const unworked = { key, attempt: 1, queuedMs: 0, workedMs: 0 };
          const error = invalidKey(key);
          workers.out.run(() => subscriber.next({ ...unworked, type: 'gaveUp', error }));
        },
        error: (error: unknown) => {
          end = () => subscriber.error(error);
          workers.endSource();
        },
        complete: () => workers.endSource(),
      });
      workers.pump();
    });
}
