/** Combines the status of the stages into the status of the informer, and publishes its transitions. */
import { Observable, type SchedulerLike, type Subscriber } from 'rxjs';
import { distinctUntilChanged, map } from 'rxjs/operators';
import type { AuditStatus } from '../../audit/status.ts';
import { ApiError } from '../../meta/api-error.ts';
import type { ReflectorStatus } from '../../reflector/status.ts';
import type { Drain } from '../../rx/drain.ts';
import { ender, Hub } from '../../rx/sharing/hub.ts';
import type { IndexerReader } from '../../store/indexer.ts';
import type { RefusedObjects } from '../../store/refused-objects.ts';
import type { LimitedAccess } from '../sources.ts';
import type { SyncWaitOptions } from '../waits.ts';
import { mergeStatus } from './merge-status.ts';
import type { InformerWarning } from './reporter.ts';
import { type InformerPhase, type InformerStatus, sameRefused, sameTransition } from './status.ts';

/** How many refused objects the status shows. */
const SHOWN = 10;

function shown(refused: RefusedObjects): NonNullable<InformerStatus['refusedObjects']> {
  return refused.latest(SHOWN).map(({ key, reason }) => ({ key, error: reason }));
}

/** The message of an error as a sentence that has ended. */
function ended(error: ApiError | undefined): string {
  return `${error?.message}.`.replace(/([.?!])\.$/, '$1');
}

/** The status of one informer. `publish` must be called in the informer's drain. */
export class StatusBoard<T> {
  readonly #indexer: IndexerReader<T>;
  readonly #scheduler: SchedulerLike;
  readonly #drain: Drain;
  readonly #onTransition: () => boolean;
  readonly #warn: (warning: Omit<InformerWarning, 'informer'>) => void;
  readonly #subscribers = new Hub<Subscriber<InformerStatus>>();
  #listeners = 0;
  /** The generation in which the last warning about a blocking failure was given. */
  #warnedGeneration = 0;
  #status: InformerStatus;
  #inactive: Extract<InformerPhase, 'idle' | 'stopped'> | undefined = 'idle';
  #inactiveSinceMs: number;
  /** Since when the copy in the store, of an earlier run or of other scopes, is stale. */
  #staleSinceMs: number | undefined;
  #generation = 0;
  #refusedItems = 0;
  #lastRefusal: ApiError | undefined;
  #unknownDeletions = 0;
  /** The status of the audit; absent without an audit. */
  audit: AuditStatus | 'unsupported' | undefined;
  #access: LimitedAccess | undefined;
  /** The last status of each reflector, by scope. */
  readonly reflectors: Map<string, ReflectorStatus> = new Map<string, ReflectorStatus>();

  constructor(of: {
    readonly indexer: IndexerReader<T>;
    readonly scheduler: SchedulerLike;
    readonly drain: Drain;
    /** Called after each published transition. Returns whether the transition rejected a wait. */
    onTransition(): boolean;
    warn(warning: Omit<InformerWarning, 'informer'>): void;
  }) {
    this.#indexer = of.indexer;
    this.#scheduler = of.scheduler;
    this.#drain = of.drain;
    this.#onTransition = of.onTransition;
    this.#warn = of.warn;
    this.#inactiveSinceMs = of.scheduler.now();
    this.#status = this.#compute();
  }

  /** Like `status$`, but its subscribers do not count as listeners, because they do not show failures. */
  readonly quiet$: Observable<InformerStatus> = new Observable<InformerStatus>((subscriber) => {
    // In the drain, so that a transition caused by the first value is emitted after it.
    this.#drain.enter(() => {
      subscriber.add(this.#subscribers.add(subscriber));
      subscriber.next(this.#status);
    });
  });

  readonly status$: Observable<InformerStatus> = new Observable<InformerStatus>((subscriber) => {
    this.#listeners++;
    subscriber.add(() => this.#listeners--);
    return this.quiet$.subscribe(subscriber);
  });

  readonly synced$: Observable<boolean> = this.quiet$.pipe(
    map((status) => status.synced),
    distinctUntilChanged(),
  );

  /** Set if the informer does not show the complete collection. */
  get access(): LimitedAccess | undefined {
    const access = this.#access;
    if (access === undefined || access.namespaces.length > 0) return access;
    // Where nothing was permitted everything is requested. Once that is answered, it has been permitted since.
    const { blocked } = mergeStatus([...this.reflectors.values()]);
    return this.#indexer.synced && blocked === undefined ? undefined : access;
  }

  /** The number of runs so far. */
  get generation(): number {
    return this.#generation;
  }

  /** The current status, with the current version. */
  get status(): InformerStatus {
    return this.#compute();
  }

  begin(): void {
    this.#generation++;
    this.#inactive = undefined;
    this.reflectors.clear();
  }

  end(phase: Extract<InformerPhase, 'idle' | 'stopped'>): void {
    this.#keepStaleness();
    this.#inactive = phase;
    this.#inactiveSinceMs = this.#scheduler.now();
  }

  /** Other ListerWatchers begin within a run. */
  rescope(access: LimitedAccess | undefined): void {
    this.#keepStaleness();
    this.reflectors.clear();
    this.#access = access;
  }

  /** The objects in the store become the copy of an earlier time. */
  #keepStaleness(): void {
    // A run that was never synced did not change the copy.
    if (this.#inactive !== undefined || !this.#indexer.synced) return;
    const { staleSinceMs } = mergeStatus([...this.reflectors.values()]);
    this.#staleSinceMs = staleSinceMs ?? this.#scheduler.now();
  }

  /** Removes the time of staleness, because the store was emptied. */
  forget(): void {
    this.#staleSinceMs = undefined;
    this.publish();
  }

  refuseItem(reason: ApiError, count = 1): void {
    this.#refusedItems += count;
    this.#lastRefusal = reason;
  }

  unknownDeletion(): void {
    this.#unknownDeletions++;
  }

  /** Emits the status if it has changed. */
  publish(): void {
    const status = this.#compute();
    if (sameTransition(this.#status, status)) return;
    const { blocked, error } = status;
    const isNew = blocked !== undefined && blocked !== this.#status.blocked;
    const hasListener = this.#listeners > 0;
    this.#status = status;
    this.#subscribers.tell((subscriber) => subscriber.next(status));
    const hasRejected = this.#onTransition();
    if (!isNew || hasListener || hasRejected || this.#warnedGeneration === this.#generation) return;
    this.#warnedGeneration = this.#generation;
    const message = `blocked (${blocked}): ${ended(error)} The informer keeps trying, and nothing listens to its status$`;
    this.#warn({ type: 'blocked', message, error });
  }

  /**
   * Publishes the status after a commit, if the commit changed the refused objects, or if it made the store synced
   * after the reflectors had finished their lists. Otherwise the change is published with the next phase of the
   * reflector.
   */
  publishCommit(): void {
    const shownStatus = this.#status;
    const caughtUp = this.#indexer.synced !== shownStatus.synced && this.#listed;
    const refused = this.#indexer.refused.size;
    const changed =
      refused > 0 && !sameRefused(shownStatus.refusedObjects, shown(this.#indexer.refused));
    if (caughtUp || refused !== shownStatus.refused || changed) this.publish();
  }

  /** Completes the present subscribers, because the informer is removed from its factory. */
  complete(): void {
    ender(this.#subscribers)();
  }

  /** The error of a wait that timed out because the informer is not synced. */
  notSynced(name: string, timeoutMs: number): ApiError {
    const { error, phase } = this.#compute();
    const after = `${name} is not synced after ${timeoutMs} ms`;
    if (error === undefined) {
      const hint = phase === 'idle' ? 'it was not started' : `it is ${phase}`;
      return ApiError.local('NotObserved', `${after}: ${hint}`);
    }
    const { code, reason, message } = error;
    return new ApiError({ code, reason, message: `${after}: ${message}`, cause: error });
  }

  /**
   * The error of a wait while the server refuses the first list; `undefined` if the server does not, or if the wait
   * continues nevertheless. A scope that was listed does not block.
   */
  blocking(name: string, { whileBlocked }: SyncWaitOptions): ApiError | undefined {
    if (this.#inactive !== undefined) return undefined;
    const several = this.reflectors.size > 1;
    for (const [scope, { phase, synced, blocked, error }] of this.reflectors) {
      // The end of the only scope ends the run, which ends the wait.
      const isOver = several && phase === 'stopped';
      if (synced || error === undefined) continue;
      if (!isOver && (blocked === undefined || whileBlocked === 'wait')) continue;
      const subject = several ? `namespace ${scope} is ` : '';
      const { code, reason } = error;
      const why = isOver
        ? `no longer listed, because onError returned 'stop': ${error.message}`
        : `blocked (${blocked}): ${ended(error)} The informer keeps trying; to wait for that, pass whileBlocked: 'wait'`;
      const message = `${name} is not synced: ${subject}${why}`;
      return new ApiError({ code, reason, message, cause: error });
    }
    return undefined;
  }

  /** The error of a wait for a version or a deletion that timed out. */
  notObserved(name: string, key: string, timeoutMs: number): ApiError {
    const at = this.#indexer.resourceVersion || 'no version';
    const { error } = this.#compute();
    const why = error === undefined ? '' : `: ${error.message}`;
    const message = `${name} has not observed ${key} within ${timeoutMs} ms; it is at ${at}${why}`;
    return ApiError.local('NotObserved', message, { cause: error });
  }

  get #listed(): boolean {
    return mergeStatus([...this.reflectors.values()]).synced;
  }

  #compute(): InformerStatus {
    const merged = mergeStatus([...this.reflectors.values()]);
    const inactive = this.#inactive;
    const refused = this.#indexer.refused.size;
    const { synced, resourceVersion } = this.#indexer;
    const several = this.reflectors.size > 1 && inactive === undefined;
    const isRunning = inactive === undefined && this.reflectors.size > 0;
    // Until the first list is in the store, the store contains the copy of the previous run.
    const running = synced || inactive === undefined ? merged.staleSinceMs : undefined;
    const { attempt, reconnects, relists, error, blocked } = merged;
    const reflected = isRunning
      ? merged
      : {
          ...{ attempt, reconnects, relists, error, blocked },
          phase: inactive ?? ('queued' as const),
          sinceMs: this.#inactiveSinceMs,
        };
    return {
      ...reflected,
      synced,
      live: isRunning && synced && merged.live,
      staleSinceMs: synced ? running : (this.#staleSinceMs ?? running),
      resourceVersion,
      generation: this.#generation,
      refused,
      refusedObjects: refused === 0 ? undefined : shown(this.#indexer.refused),
      refusedItems: this.#refusedItems,
      lastRefusal: this.#lastRefusal,
      unknownDeletions: this.#unknownDeletions,
      audit: this.audit,
      access: this.access,
      scopes: several ? Object.fromEntries(this.reflectors) : undefined,
      namespace: this.reflectors.size > 1 ? undefined : [...this.reflectors.keys()].join(),
    };
  }
}
