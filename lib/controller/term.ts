/**
 * One time at work: from the moment when caches are whole and the lead is won until one of them is lost. Each
 * begins with all there is, so nothing has to be remembered between two.
 */
import { isObservable, NEVER, type Observable, type SchedulerLike, Subscription } from 'rxjs';
import { finalize } from 'rxjs/operators';
import { type ObjectName, splitMetaNamespaceKey } from '../meta/key.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { isThenable } from '../rx/thenable.ts';
import {
  type Outcome,
  type ReconcileContext,
  type ReconcileResult,
  TerminalError,
} from '../work-queue/outcome.ts';
import { createPriorityQueue } from '../work-queue/priority-queue.ts';
import type { PriorityQueue } from '../work-queue/work-queue.ts';
import { workQueue } from '../work-queue/work-queue-operator.ts';
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
  read(key: string): T | undefined;
  emit(outcome: ControllerOutcome): void;
  ended(source: Source, error?: unknown): void;
  report(error: unknown, where: string, key?: string): void;
  /** A reconcile has come to its end. */
  settled(): void;
}

/** The reasons to reconcile each key, and the reconciles under way. */
export class Term<T extends KubernetesObject> {
  readonly #host: TermHost<T>;
  readonly #queue: PriorityQueue;
  readonly #reasons = new Map<string, Set<string>>();
  /** What woke the reconciles whose outcome is to come. */
  readonly #told = new Map<string, readonly string[]>();
  readonly #working = new Map<string, AbortController>();
  readonly #skipped = new Set<string>();
  readonly #intake = new Subscription();
  readonly #workers = new Subscription();
  #closed = false;
  #ended = false;

  constructor(host: TermHost<T>) {
    this.#host = host;
    const { rateLimiter, ageingMs, metrics } = host.options;
    this.#queue = createPriorityQueue({
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
    return [...this.#working.keys()];
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
    const work = workQueue((key: string, context) => this.#work(key, context), {
      queue: this.#queue,
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
    for (const controller of [...this.#working.values()]) controller.abort(reason);
  }

  /** Ends all, at once. Reconciles that do not heed their signal are still counted as working. */
  end(reason: unknown): void {
    this.close();
    if (this.#ended) return;
    this.#ended = true;
    this.abort(reason);
    this.#workers.unsubscribe();
    this.#queue.shutDown();
    this.#reasons.clear();
  }

  #wake(key: string, reason: string, priority: number): void {
    if (this.#closed) return;
    if (typeof key !== 'string' || key === '') {
      const message = `a key to reconcile is ${JSON.stringify(key)}; it must be 'namespace/name' or 'name'`;
      throw new TypeError(message);
    }
    this.#note(key, reason);
    this.#queue.addWithOptions(key, { priority });
  }

  #note(key: string, reason: string): void {
    const reasons = this.#reasons.get(key);
    if (reasons === undefined) this.#reasons.set(key, new Set([reason]));
    else reasons.add(reason);
  }

  #work(key: string, context: ReconcileContext): Answer {
    if (this.#closed) {
      this.#skipped.add(key);
      return undefined;
    }
    const noted = this.#reasons.get(key);
    this.#reasons.delete(key);
    // A delayed requeue may come after a change had taken its reason along.
    const reasons = noted === undefined ? [context.attempt > 1 ? 'retry' : 'requeue'] : [...noted];
    this.#told.set(key, reasons);
    const controller = new AbortController();
    this.#working.set(key, controller);
    const { signal } = controller;
    const { read, options } = this.#host;
    const settled = () => {
      // While there are workers the outcome tells.
      if (this.#ended) this.#settle(key);
    };
    const { attempt, queuedMs } = context;
    const name = nameIn(key);
    const request = { key, name, object: read(key), reasons, attempt, queuedMs, signal };
    const result = options.reconcile(key, request);
    if (isObservable(result)) return result.pipe(finalize(settled));
    if (isThenable<ReconcileResult>(result)) result.then(settled, settled);
    return result;
  }

  #settle(key: string): void {
    if (this.#working.delete(key)) this.#host.settled();
  }

  #outcome(outcome: Outcome): void {
    const { key, type } = outcome;
    if (this.#skipped.delete(key)) return;
    const reasons = this.#told.get(key) ?? [];
    this.#told.delete(key);
    if (type === 'requeued') this.#note(key, 'requeue');
    else if (type === 'failed') this.#note(key, 'retry');
    this.#host.emit({ ...outcome, reasons });
    this.#settle(key);
  }
}
