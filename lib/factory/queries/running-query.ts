/** One pipeline, shared by all users of equal queries, and kept for the linger after the last of them has left. */
import { Observable, type SchedulerLike, type Subscription, type TeardownLogic } from 'rxjs';
import { mergePipeStatus } from '../../informer/status/merge-status.ts';
import type { InformerStatus } from '../../informer/status/status.ts';
import type { LiveQuery } from '../../query/live-query/live-query.ts';
import { afterLinger, Holders } from '../../rx/sharing/holders.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import type { Hold, InformerPool } from '../shared-informers.ts';
import { answerFrom, holdInformer, type Layer } from './pipeline.ts';
import type { SourcePlan } from './plan.ts';
import type { SharedFirstRows } from './shared-first-rows.ts';

export interface RunningQueryParts {
  readonly query: LiveQuery;
  readonly plans: readonly SourcePlan[];
  readonly informers: InformerPool;
  readonly lingerMs: number;
  readonly scheduler: SchedulerLike;
  readonly layer?: Layer | undefined;
  readonly firstRows: SharedFirstRows;
  /** Called when nobody uses the pipeline any more. */
  onEnd(): void;
}

export class RunningQuery {
  readonly plans: readonly SourcePlan[];
  readonly #parts: RunningQueryParts;
  readonly #shared: Observable<AnyChangeSet<unknown>>;
  #holds: readonly Hold[] = [];
  #isHeld = false;
  readonly #users = new Holders(
    () => this.#end(),
    (end) => this.#rest(end),
  );
  /** Keeps the pipeline while it lingers. */
  #kept: Subscription | undefined;
  #hasEnded = false;

  constructor(parts: RunningQueryParts) {
    const { query, plans, scheduler, layer, firstRows } = parts;
    this.#parts = parts;
    this.plans = plans;
    this.#hold();
    const sources = this.#holds.map((hold, at) => [hold, plans[at] as SourcePlan] as const);
    this.#shared = answerFrom(query, sources, { scheduler, layer, firstRows });
  }

  get users(): number {
    return this.#users.count;
  }

  /** Whether it can be used, because its informers have not been removed from the factory. */
  get isUsable(): boolean {
    const { query, informers } = this.#parts;
    const present = new Set(informers.entriesOf(query.from).map(({ informer }) => informer));
    return !this.#hasEnded && this.#holds.every(({ informer }) => present.has(informer));
  }

  /**
   * Uses the pipeline until the returned function is called; `undefined` if its informers are no longer those of the
   * factory, so that it cannot be used again.
   */
  enter(): (() => void) | undefined {
    if (!this.isUsable) return undefined;
    if (!this.#isHeld) this.#hold();
    return this.#users.hold();
  }

  /** The answer. Keeps the pipeline, so its next user has the answer at once. */
  readonly answer: Observable<AnyChangeSet<unknown>> = new Observable((subscriber) => {
    if (this.#kept === undefined || this.#kept.closed) {
      // An error is one of the users', too, who report it.
      const kept = this.#shared.subscribe({ error: () => undefined });
      this.#kept = kept;
      // While it lingers, the informer may be stopped or the pipeline fail: then what is left of it is outdated.
      kept.add(() => {
        if (this.#kept === kept && !this.#isHeld) this.#end();
      });
    }
    return this.#shared.subscribe(subscriber);
  });

  /** The status of all informers in one. Completes if one of them is removed from the factory. */
  readonly status$: Observable<InformerStatus> = new Observable((subscriber) => {
    const all = [...new Set(this.#holds.map(({ informer }) => informer.status$))];
    const latest = new Map<number, InformerStatus>();
    for (const [at, status$] of all.entries()) {
      const next = (status: InformerStatus) => {
        latest.set(at, status);
        if (latest.size < all.length) return;
        subscriber.next(mergePipeStatus([...latest.values()]));
      };
      subscriber.add(status$.subscribe({ next, complete: () => subscriber.complete() }));
    }
  });

  /** Holds the informers. They are the same again, because a factory has one informer per scope. */
  #hold(): void {
    const { query, plans, informers } = this.#parts;
    this.#holds = plans.map((plan) => holdInformer(informers, query, plan));
    this.#isHeld = true;
  }

  #rest(end: () => void): TeardownLogic {
    const { lingerMs, scheduler } = this.#parts;
    this.#isHeld = false;
    for (const hold of this.#holds) hold.release();
    if (this.#kept === undefined || this.#kept.closed) return end();
    return afterLinger(end, lingerMs, scheduler);
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#users.cancel();
    this.#kept?.unsubscribe();
    this.#parts.onEnd();
  }
}
