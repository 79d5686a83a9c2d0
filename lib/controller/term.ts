/**
 * A term: the time in which a controller reconciles, from the moment when its caches are complete and it leads until it stops or
 * loses the lead. Each term begins with every existing object, so no state is carried from one term to the next.
 */

import { isObservable, NEVER, type Observable, type SchedulerLike, Subscription } from 'rxjs';
import { finalize } from 'rxjs/operators';
import { type ObjectName, splitMetaNamespaceKey } from '../meta/key.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Stored } from '../meta/stored.ts';
import { isThenable } from '../rx/is-thenable.ts';
import type { KeyShards } from '../shards/shard-member.ts';
import {
  type Outcome,
  type ReconcileContext,
  type ReconcileResult,
  TerminalError,
} from '../work-queue/outcome.ts';
import { PriorityKeyQueue } from '../work-queue/priority-queue.ts';
import { workOnQueue } from '../work-queue/work-queue-operator.ts';
import type { ControllerOptions, ControllerOutcome } from './controller.ts';
import { IncompleteKeys } from './incomplete-keys.ts';
import { LOW_PRIORITY, type Source } from './sources.ts';

type Returned = ReconcileResult | Promise<ReconcileResult> | Observable<ReconcileResult>;

/** Splits a key. An invalid key is a terminal error, because no retry makes it valid. */
function nameIn(key: string, prefix: string): ObjectName {
  try {
    return splitMetaNamespaceKey(key.slice(prefix.length));
  } catch (cause) {
    throw new TerminalError((cause as Error).message, { cause });
  }
}

/** The part of a controller that a term uses. */
export interface TermHost<T extends KubernetesObject> {
  readonly name: string;
  readonly options: Pick<
    ControllerOptions<T>,
    'reconcile' | 'concurrency' | 'maxRetries' | 'rateLimiter' | 'ageingMs' | 'metrics'
  >;
  readonly sources: readonly Source[];
  readonly scheduler: SchedulerLike;
  read(key: string): Stored<T> | undefined;
  /** The part of a key before `namespace/name`; absent if keys have none. */
  prefixOf?(key: string): string;
  emit(outcome: ControllerOutcome): void;
  ended(source: Source, error?: unknown): void;
  report(error: unknown, where: string, key?: string): void;
  /** The keys that this replica may work on; absent if it works on all. */
  readonly shards?: KeyShards | undefined;
  /** Called when a reconcile has ended. */
  settled(): void;
}

/** One reconcile, from its start until its outcome was emitted. */
interface Run {
  readonly key: string;
  /** Why the key was queued. */
  readonly reasons: readonly string[];
  readonly controller: AbortController;
  /** Begun after the term was closed: the reconcile is not called and no outcome is emitted. */
  readonly skipped: boolean;
  /** The reconcile has returned; its outcome may still wait in the queue of outcomes. */
  returned: boolean;
}

/** Holds the reasons for which each key is queued, and the reconciles in progress. */
export class Term<T extends KubernetesObject> {
  readonly #host: TermHost<T>;
  readonly #queue: PriorityKeyQueue<string>;
  readonly #reasons = new Map<string, Set<string>>();
  /** In the order of their starts, which is the order of the outcomes of one key. */
  readonly #runs = new Set<Run>();
  readonly #intake = new Subscription();
  readonly #workers = new Subscription();
  readonly #incomplete: IncompleteKeys;
  #closed = false;
  #ended = false;

  constructor(host: TermHost<T>) {
    this.#host = host;
    this.#incomplete = new IncompleteKeys(host.sources);
    const { rateLimiter, ageingMs, metrics } = host.options;
    this.#queue = new PriorityKeyQueue({
      name: host.name,
      scheduler: host.scheduler,
      rateLimiter,
      ageingMs,
      metrics,
    });
  }

  get queued(): number {
    return this.#queue.len;
  }

  get working(): readonly string[] {
    return [...new Set([...this.#runs].map(({ key }) => key))];
  }

  begin(): void {
    const { sources, scheduler, options, shards } = this.#host;
    const gain = (key: string) => this.#wake(key, 'shards', LOW_PRIORITY);
    // Before the sources, because a deletion is noted with its slot before its key is queued.
    if (shards !== undefined) this.#intake.add(shards.follow(gain));
    this.#intake.add(
      this.#incomplete.follow((key) => {
        if (!this.#closed) this.#queue.addWithOptions(key, { priority: LOW_PRIORITY });
      }),
    );
    // Subscribe to all sources first, so that a key from several sources has one reconcile with all reasons.
    for (const source of sources) {
      this.#intake.add(
        source.listen({
          wake: (key, reason, priority) => this.#wake(key, reason, priority),
          ended: (error) => this.#host.ended(source, error),
          report: (error, key) => this.#host.report(error, source.name, key),
        }),
      );
    }
    const { concurrency, maxRetries } = options;
    const work = workOnQueue(this.#queue, (key, context) => this.#work(key, context), {
      scheduler,
      concurrency,
      maxRetries,
    });
    this.#workers.add(NEVER.pipe(work).subscribe((outcome) => this.#outcome(outcome)));
  }

  /** Accepts no more keys and begins no more reconciles. */
  close(): void {
    this.#closed = true;
    this.#intake.unsubscribe();
  }

  /** Aborts the signals of the running reconciles. */
  abort(reason: unknown): void {
    for (const { controller } of [...this.#runs]) controller.abort(reason);
  }

  /** Ends the term immediately. Reconciles that do not react to their signal still count as working. */
  end(reason: unknown): void {
    this.close();
    if (this.#ended) return;
    this.#ended = true;
    this.abort(reason);
    // Drops the waiting keys, because no worker gets them and the metrics of this queue are not read again.
    this.#queue.discard();
    this.#workers.unsubscribe();
    this.#reasons.clear();
    // Outcomes are no longer emitted, so runs that have returned are settled here.
    for (const run of [...this.#runs]) if (run.returned) this.#settle(run);
  }

  #wake(key: string, reason: string, priority: number): void {
    if (this.#closed || this.#host.shards?.admits(key) === false) return;
    this.#note(key, reason);
    this.#queue.addWithOptions(key, { priority });
  }

  #note(key: string, reason: string): void {
    const reasons = this.#reasons.get(key);
    if (reasons === undefined) this.#reasons.set(key, new Set([reason]));
    else reasons.add(reason);
  }

  #work(key: string, context: ReconcileContext): Returned {
    const { shards } = this.#host;
    const isVoid = this.#closed || shards?.admits(key) === false || this.#incomplete.isGone(key);
    const skipped = isVoid || this.#incomplete.defers(key);
    const noted = this.#reasons.get(key);
    // A key that waits for its caches keeps its reasons.
    if (isVoid || !skipped) this.#reasons.delete(key);
    // A delayed requeue may run after an earlier reconcile has used its reason.
    const reasons = noted === undefined ? [context.attempt > 1 ? 'retry' : 'requeue'] : [...noted];
    const run: Run = { key, reasons, controller: new AbortController(), skipped, returned: false };
    this.#runs.add(run);
    if (!skipped) shards?.begin(run);
    const onReturn = () => {
      run.returned = true;
      // While the workers are subscribed, #outcome settles the run.
      if (this.#ended) this.#settle(run);
    };
    let isPending = false;
    try {
      const returned = skipped ? undefined : this.#reconcile(run, context);
      if (isThenable<ReconcileResult>(returned)) {
        // Converted to a Promise once, because each call of `then` on a custom thenable may begin the work again.
        const promise = Promise.resolve(returned);
        isPending = true;
        promise.then(onReturn, onReturn);
        return promise;
      }
      if (!isObservable(returned) || this.#ended) return returned;
      isPending = true;
      return returned.pipe(finalize(onReturn));
    } finally {
      if (!isPending) onReturn();
    }
  }

  #reconcile({ key, reasons, controller }: Run, { attempt, queuedMs }: ReconcileContext): Returned {
    const { read, options, prefixOf } = this.#host;
    const { signal } = controller;
    const name = nameIn(key, prefixOf?.(key) ?? '');
    const request = { key, name, object: read(key), reasons, attempt, queuedMs, signal };
    return options.reconcile(key, request);
  }

  #oldest(key: string): Run | undefined {
    for (const run of this.#runs) if (run.key === key) return run;
    return undefined;
  }

  #settle(run: Run, isDone = false): void {
    if (!this.#runs.delete(run)) return;
    this.#host.shards?.end(run, isDone);
    this.#host.settled();
  }

  #outcome(outcome: Outcome): void {
    const { key, type } = outcome;
    const run = this.#oldest(key);
    if (run === undefined) return;
    if (run.skipped) return this.#settle(run);
    if (type === 'requeued') this.#note(key, 'requeue');
    else if (type === 'failed') this.#note(key, 'retry');
    this.#host.emit({ ...outcome, reasons: run.reasons });
    this.#settle(run, type === 'ok' || type === 'gaveUp');
  }
}
