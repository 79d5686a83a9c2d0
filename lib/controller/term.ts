/**
 * A term: the time in which a controller reconciles, from the moment when its caches are complete and it leads until it stops or
 * loses the lead. Each term begins with every existing object, so the only state that is carried from one term to the next is an order:
 * the keys that a lost term has not reconciled are the first ones of the next. Otherwise short terms would never reach the end of a
 * long list.
 */
import { type SchedulerLike, Subscription } from 'rxjs';
import type { ApiError } from '../meta/api-error.ts';
import { type ObjectName, splitMetaNamespaceKey } from '../meta/key.ts';
import type { KubernetesObject, Stored } from '../meta/kubernetes-object.ts';
import type { ReconcileFigures } from '../meta/metrics.ts';
import { liveSignal } from '../rx/live-signal.ts';
import type { KeyShards } from '../shards/shard-member.ts';
import { PriorityKeyQueue } from '../work-queue/priority-queue.ts';
import {
  type Outcome,
  type Reconcile,
  ReconcileRun,
  TerminalError,
} from '../work-queue/reconcile-run.ts';
import { shownKey } from '../work-queue/work-queue.ts';
import { Workers } from '../work-queue/workers.ts';
import type { ControllerOptions, ControllerOutcome } from './controller.ts';
import { IncompleteKeys } from './incomplete-keys.ts';
import { REPORT } from './reconcile-report.ts';
import { LOW_PRIORITY, type Source } from './sources.ts';

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
  /** Measures the reconciles; absent if nothing does. */
  readonly figures: ReconcileFigures | undefined;
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
  /**
   * Returns why this process may not work any more, by the time and before any timer has run; `undefined` while it may. Absent if it
   * always may.
   */
  readonly lost: (() => ApiError | undefined) | undefined;
  /** The keys with which the term begins, if they still exist. */
  readonly first: readonly string[];
  /** Called when a reconcile has ended. */
  settled(): void;
}

/** One reconcile, from its start until its outcome was emitted. */
class Run extends ReconcileRun<string> {
  /**
   * Why the key was queued. Absent if the run began after the term was closed, or before its caches were complete: the reconcile
   * is not called and no outcome is emitted.
   */
  reasons: readonly string[] | undefined;
  /** What the signal asks when it is read; absent if it asks nothing. */
  lost: (() => ApiError | undefined) | undefined;
  #isLive = false;

  override get controller(): AbortController {
    const controller = super.controller;
    if (this.lost !== undefined && !this.#isLive) {
      this.#isLive = true;
      liveSignal(controller, this.lost);
    }
    return controller;
  }
}

function withoutCluster(key: string): TypeError {
  return new TypeError(
    `${shownKey(key)} begins with the name of no cluster; give 'cluster/namespace/name', as the keys of the reconciled objects are`,
  );
}

/** Holds the reasons for which each key is queued, and the reconciles in progress. */
export class Term<T extends KubernetesObject> {
  readonly #host: TermHost<T>;
  readonly #queue: PriorityKeyQueue<string>;
  readonly #reasons = new Map<string, Set<string>>();
  readonly #intake = new Subscription();
  readonly #workers: Workers<string, Run>;
  readonly #incomplete: IncompleteKeys;
  #closed = false;
  #ended = false;

  constructor(host: TermHost<T>) {
    this.#host = host;
    this.#incomplete = new IncompleteKeys(host.sources);
    const { name, scheduler, shards, options, figures } = host;
    const { rateLimiter, ageingMs, metrics } = options;
    const onUnhandledError = (error: unknown) => host.report(error, 'metrics');
    this.#queue = new PriorityKeyQueue({
      ...{ name, scheduler, rateLimiter, ageingMs, metrics, onUnhandledError },
    });
    const { concurrency, maxRetries } = options;
    this.#workers = new Workers(
      this.#queue,
      { scheduler, concurrency, maxRetries },
      {
        Run,
        reconcile: (run) => this.#reconcile(run),
        mayBegin: () => host.lost?.() === undefined,
        ended: (run, end, workedMs) => {
          if (run.reasons !== undefined) figures?.reconciled(end, workedMs);
        },
        outcome: (run, outcome) => this.#outcome(run, outcome),
        released: (run, isDone) => {
          shards?.end(run, isDone);
          host.settled();
        },
      },
    );
  }

  get queued(): number {
    return this.#queue.len;
  }

  get working(): readonly string[] {
    return this.#workers.working;
  }

  /** The keys that this term has not reconciled, in the order in which they would have been. */
  get unreached(): readonly string[] {
    return [...new Set([...this.working, ...this.#reasons.keys()])];
  }

  begin(): void {
    const { sources, shards, first } = this.#host;
    // Without a reason until a source queues them, too.
    for (const key of first) {
      this.#reasons.set(key, new Set());
      this.#queue.addWithOptions(key, { priority: LOW_PRIORITY });
    }
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
          wake: (key, reason, priority, of = '') => {
            if (this.#isLost(key, of)) this.#host.report(withoutCluster(key), source.name, of);
            else this.#wake(key, reason, priority);
          },
          ended: (error) => this.#host.ended(source, error),
          report: (error, key) => this.#host.report(error, source.name, key),
        }),
      );
    }
    this.#workers.follow();
    this.#workers.pump();
  }

  /** Accepts no more keys and begins no more reconciles. */
  close(): void {
    this.#closed = true;
    this.#intake.unsubscribe();
  }

  /** Aborts the signals of the running reconciles. */
  abort(reason: unknown): void {
    this.#workers.abort(reason);
  }

  /** Ends the term immediately. Reconciles that do not react to their signal still count as working. */
  end(reason: unknown): void {
    this.close();
    if (this.#ended) return;
    this.#ended = true;
    this.abort(reason);
    // Drops the waiting keys, because no worker gets them and the metrics of this queue are not read again.
    this.#queue.discard();
    this.#workers.stop(reason);
    this.#reasons.clear();
  }

  /** Whether the key has no cluster. One of a cluster that has left has that of the changed object. */
  #isLost(key: string, of: string): boolean {
    if (!this.#incomplete.isGone(key)) return false;
    const prefix = this.#host.prefixOf?.(of) ?? '';
    return prefix === '' || !key.startsWith(prefix);
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

  #reconcile(run: Run): ReturnType<Reconcile> {
    const { shards, read, options, prefixOf, report } = this.#host;
    const { key, attempt, queuedMs } = run;
    const isVoid = this.#closed || shards?.admits(key) === false || this.#incomplete.isGone(key);
    // Keeps its reasons until its caches are complete.
    if (!isVoid && this.#incomplete.defers(key)) return undefined;
    const noted = this.#reasons.get(key);
    this.#reasons.delete(key);
    // One of the first keys that no source has queued.
    if (isVoid || noted?.size === 0) return undefined;
    // A delayed requeue may run after an earlier reconcile has used its reason.
    const reasons = noted === undefined ? [attempt > 1 ? 'retry' : 'requeue'] : [...noted];
    run.reasons = reasons;
    if (shards === undefined) run.lost = this.#host.lost;
    else shards.begin(run);
    const name = nameIn(key, prefixOf?.(key) ?? '');
    return options.reconcile(key, {
      ...{ key, name, object: read(key), reasons, attempt, queuedMs, [REPORT]: report },
      get signal() {
        return run.controller.signal;
      },
    });
  }

  #outcome({ key, reasons }: Run, outcome: Outcome): void {
    if (reasons === undefined) return;
    if (outcome.type === 'requeued') this.#note(key, 'requeue');
    else if (outcome.type === 'failed') this.#note(key, 'retry');
    this.#host.emit({ ...outcome, reasons });
  }
}
