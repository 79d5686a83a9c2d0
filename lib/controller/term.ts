/**
 * One time at work: from the moment when caches are whole and the lead is won until one of them is lost. Each
 * begins with all there is, so nothing has to be remembered between two.
 */

import { isObservable, NEVER, type Observable, type SchedulerLike, Subscription } from 'rxjs';
import { finalize } from 'rxjs/operators';
import { type ObjectName, splitMetaNamespaceKey } from '../meta/key.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Stored } from '../meta/stored.ts';
import { isThenable } from '../rx/is-thenable.ts';
import {
  type Outcome,
  type ReconcileContext,
  type ReconcileResult,
  TerminalError,
} from '../work-queue/outcome.ts';
import { PriorityKeyQueue } from '../work-queue/priority-queue.ts';
import { workOnQueue } from '../work-queue/work-queue-operator.ts';
import type { ControllerOptions, ControllerOutcome } from './controller.ts';
import type { Source } from './sources.ts';

type Answer = ReconcileResult | Promise<ReconcileResult> | Observable<ReconcileResult>;

/** No retry makes a key of what is none. */
function nameIn(key: string): ObjectName {
  try {
    return splitMetaNamespaceKey(key);
  } catch (cause) {
    throw new TerminalError((cause as Error).message, { cause });
  }
}

/** What a term needs of its controller. */
export interface TermHost<T extends KubernetesObject> {
  readonly name: string;
  readonly options: Pick<
    ControllerOptions<T>,
    'reconcile' | 'concurrency' | 'maxRetries' | 'rateLimiter' | 'ageingMs' | 'metrics'
  >;
  readonly sources: readonly Source[];
  readonly scheduler: SchedulerLike;
  read(key: string): Stored<T> | undefined;
  emit(outcome: ControllerOutcome): void;
  ended(source: Source, error?: unknown): void;
  report(error: unknown, where: string, key?: string): void;
  /** A reconcile has come to its end. */
  settled(): void;
}

/** One reconcile, from its start until its outcome was told. */
interface Run {
  readonly key: string;
  /** What woke it. */
  readonly reasons: readonly string[];
  readonly controller: AbortController;
  /** It came when nothing is begun any more: nobody is told of it. */
  readonly skipped: boolean;
  /** It has returned; its outcome may still wait for others to be told. */
  over: boolean;
}

/** The reasons to reconcile each key, and the reconciles under way. */
export class Term<T extends KubernetesObject> {
  readonly #host: TermHost<T>;
  readonly #queue: PriorityKeyQueue<string>;
  readonly #reasons = new Map<string, Set<string>>();
  /** In the order of their starts, which is that of the outcomes of one key. */
  readonly #runs = new Set<Run>();
  readonly #intake = new Subscription();
  readonly #workers = new Subscription();
  #closed = false;
  #ended = false;

  constructor(host: TermHost<T>) {
    this.#host = host;
    const { rateLimiter, ageingMs, metrics } = host.options;
    this.#queue = new PriorityKeyQueue({
      name: host.name,
      scheduler: host.scheduler,
      ...(rateLimiter === undefined ? {} : { rateLimiter }),
      ...(ageingMs === undefined ? {} : { ageingMs }),
      ...(metrics === undefined ? {} : { metrics }),
    });
  }

  get queued(): number {
    return this.#queue.len;
  }

  get working(): readonly string[] {
    return [...new Set([...this.#runs].map(({ key }) => key))];
  }

  begin(): void {
    const { sources, scheduler, options } = this.#host;
    // All sources first: a key that several name has one reconcile, which is told of all.
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
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(maxRetries === undefined ? {} : { maxRetries }),
    });
    this.#workers.add(NEVER.pipe(work).subscribe((outcome) => this.#outcome(outcome)));
  }

  /** Takes in nothing more, and begins no reconcile more. */
  close(): void {
    this.#closed = true;
    this.#intake.unsubscribe();
  }

  /** Tells running reconciles to end. */
  abort(reason: unknown): void {
    for (const { controller } of [...this.#runs]) controller.abort(reason);
  }

  /** Ends all, at once. Reconciles that do not heed their signal are still counted as working. */
  end(reason: unknown): void {
    this.close();
    if (this.#ended) return;
    this.#ended = true;
    this.abort(reason);
    // What waits is thrown away: nobody gets it, and nobody asks this queue for its figures again.
    this.#queue.discard();
    this.#workers.unsubscribe();
    this.#reasons.clear();
    // Nobody is told of their outcomes any more.
    for (const run of [...this.#runs]) if (run.over) this.#settle(run);
  }

  #wake(key: string, reason: string, priority: number): void {
    if (this.#closed) return;
    this.#note(key, reason);
    this.#queue.addWithOptions(key, { priority });
  }

  #note(key: string, reason: string): void {
    const reasons = this.#reasons.get(key);
    if (reasons === undefined) this.#reasons.set(key, new Set([reason]));
    else reasons.add(reason);
  }

  #work(key: string, context: ReconcileContext): Answer {
    const skipped = this.#closed;
    const noted = this.#reasons.get(key);
    this.#reasons.delete(key);
    // A delayed requeue may come after a change had taken its reason along.
    const reasons = noted === undefined ? [context.attempt > 1 ? 'retry' : 'requeue'] : [...noted];
    const run: Run = { key, reasons, controller: new AbortController(), skipped, over: false };
    this.#runs.add(run);
    const over = () => {
      run.over = true;
      // While there are workers the outcome tells.
      if (this.#ended) this.#settle(run);
    };
    let isUnderWay = false;
    try {
      const answer = skipped ? undefined : this.#reconcile(run, context);
      if (isThenable<ReconcileResult>(answer)) {
        // Made one Promise first: of those that are none, each `then` may begin the work anew.
        const promise = Promise.resolve(answer);
        isUnderWay = true;
        promise.then(over, over);
        return promise;
      }
      if (!isObservable(answer) || this.#ended) return answer;
      isUnderWay = true;
      return answer.pipe(finalize(over));
    } finally {
      if (!isUnderWay) over();
    }
  }

  #reconcile({ key, reasons, controller }: Run, { attempt, queuedMs }: ReconcileContext): Answer {
    const { read, options } = this.#host;
    const { signal } = controller;
    const name = nameIn(key);
    const request = { key, name, object: read(key), reasons, attempt, queuedMs, signal };
    return options.reconcile(key, request);
  }

  #oldest(key: string): Run | undefined {
    for (const run of this.#runs) if (run.key === key) return run;
    return undefined;
  }

  #settle(run: Run): void {
    if (this.#runs.delete(run)) this.#host.settled();
  }

  #outcome(outcome: Outcome): void {
    const { key, type } = outcome;
    const run = this.#oldest(key);
    if (run === undefined) return;
    if (run.skipped) return this.#settle(run);
    if (type === 'requeued') this.#note(key, 'requeue');
    else if (type === 'failed') this.#note(key, 'retry');
    this.#host.emit({ ...outcome, reasons: run.reasons });
    this.#settle(run);
  }
}
