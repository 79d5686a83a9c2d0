/** Gathers what the stages say of themselves into one status, and tells it when it changes. */
import { Observable, type SchedulerLike } from 'rxjs';
import { distinctUntilChanged, map } from 'rxjs/operators';
import type { AuditStatus } from '../../audit/status.ts';
import { ApiError } from '../../meta/api-error.ts';
import type { ReflectorStatus } from '../../reflector/status.ts';
import type { Drain } from '../../rx/drain.ts';
import type { IndexerReader } from '../../store/indexer.ts';
import type { RefusedObjects } from '../../store/quarantine.ts';
import type { SyncWaitOptions } from '../waits.ts';
import {
  type InformerPhase,
  type InformerStatus,
  mergeStatus,
  sameRefused,
  sameTransition,
} from './status.ts';
import { SubscriberSet } from './subscriber-set.ts';
import type { InformerWarning } from './warnings.ts';

/** Of those who were refused so many are shown. */
const SHOWN = 10;

function shown(refused: RefusedObjects): NonNullable<InformerStatus['quarantine']> {
  return refused.latest(SHOWN).map(({ key, reason }) => ({ key, error: reason }));
}

/** One informer's status. `publish` is called in the informer's drain. */
export class StatusBoard<T> {
  readonly #indexer: IndexerReader<T>;
  readonly #quarantine: RefusedObjects;
  readonly #scheduler: SchedulerLike;
  readonly #drain: Drain;
  readonly #onTransition: () => boolean;
  readonly #warn: (warning: Omit<InformerWarning, 'informer'>) => void;
  readonly #audience = new SubscriberSet<InformerStatus>();
  #listeners = 0;
  /** The run in which it was warned of what blocks. */
  #warnedOf = 0;
  #status: InformerStatus;
  #resting: Extract<InformerPhase, 'idle' | 'stopped'> | undefined = 'idle';
  #restingSinceMs: number;
  /** Since when the copy that a run before left in the store may be behind the server. */
  #staleSinceMs: number | undefined;
  #generation = 0;
  #skipped = 0;
  #lastSkipped: ApiError | undefined;
  #unknownDeletions = 0;
  /** Absent if nothing is audited. */
  audit: AuditStatus | 'unsupported' | undefined;
  /** What each reflector said last, by scope. */
  readonly reflectors: Map<string, ReflectorStatus> = new Map<string, ReflectorStatus>();

  constructor(of: {
    readonly indexer: IndexerReader<T>;
    readonly quarantine: RefusedObjects;
    readonly scheduler: SchedulerLike;
    readonly drain: Drain;
    /** Called after each transition, when it was told. Returns whether it was the end of a wait in vain. */
    onTransition(): boolean;
    warn(warning: Omit<InformerWarning, 'informer'>): void;
  }) {
    this.#indexer = of.indexer;
    this.#quarantine = of.quarantine;
    this.#scheduler = of.scheduler;
    this.#drain = of.drain;
    this.#onTransition = of.onTransition;
    this.#warn = of.warn;
    this.#restingSinceMs = of.scheduler.now();
    this.#status = this.#compute();
  }

  /** As `status$`, for who does not show it to anybody. */
  readonly quiet$: Observable<InformerStatus> = new Observable<InformerStatus>((subscriber) => {
    // In the drain, so that a transition that the first value causes comes after it.
    this.#drain.enter(() => {
      this.#audience.join(subscriber);
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

  /** Counts the runs. */
  get generation(): number {
    return this.#generation;
  }

  /** The latest, its version included. */
  get status(): InformerStatus {
    return this.#compute();
  }

  begin(): void {
    this.#generation++;
    this.#resting = undefined;
    this.reflectors.clear();
  }

  end(phase: Extract<InformerPhase, 'idle' | 'stopped'>): void {
    const nowMs = this.#scheduler.now();
    // A run that was not synced leaves the copy as it found it.
    if (this.#resting === undefined && this.#indexer.synced) {
      this.#staleSinceMs = mergeStatus([...this.reflectors.values()])?.staleSinceMs ?? nowMs;
    }
    this.#resting = phase;
    this.#restingSinceMs = nowMs;
  }

  /** The store was emptied: nothing is left that could be stale. */
  forget(): void {
    this.#staleSinceMs = undefined;
    this.publish();
  }

  skip(reason: ApiError): void {
    this.#skipped++;
    this.#lastSkipped = reason;
  }

  unknownDeletion(): void {
    this.#unknownDeletions++;
  }

  /** Before anybody listens: shows an audit from the beginning. */
  expectAudit(audit: NonNullable<InformerStatus['audit']>): void {
    this.audit = audit;
    this.#status = this.#compute();
  }

  /** Tells the status if it is another one. */
  publish(): void {
    const status = this.#compute();
    if (sameTransition(this.#status, status)) return;
    const { blocked, error } = status;
    const isNew = blocked !== undefined && blocked !== this.#status.blocked;
    const isHeard = this.#listeners > 0;
    this.#status = status;
    this.#audience.next(status);
    const isTold = this.#onTransition();
    if (!isNew || isHeard || isTold || this.#warnedOf === this.#generation) return;
    this.#warnedOf = this.#generation;
    const message = `blocked (${blocked}): ${error?.message}. The informer keeps trying, and nothing listens to its status$`;
    this.#warn({ type: 'blocked', message, ...(error === undefined ? {} : { error }) });
  }

  /**
   * After a commit. It is a transition if other objects are refused than before, or if it makes the store synced when the
   * reflectors were through with their lists before it. A commit that comes before the reflector tells its own phase is
   * published with that phase.
   */
  publishCommit(): void {
    const { quarantined, quarantine, synced } = this.#status;
    const caughtUp = this.#indexer.synced !== synced && this.#listed;
    const refused = this.#quarantine.size;
    const others = refused > 0 && !sameRefused(quarantine, shown(this.#quarantine));
    if (caughtUp || refused !== quarantined || others) this.publish();
  }

  /** Returns the function that completes those who are subscribed now. */
  leaving(): () => void {
    return this.#audience.leaving();
  }

  /** Why it is not synced, in words. */
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
   * Why the running informer will not be synced before somebody helps; `undefined` if it may be, or if the wait is for
   * just that. A scope whose list has come is in nobody's way.
   */
  blocking(who: string, { whileBlocked }: SyncWaitOptions): ApiError | undefined {
    if (whileBlocked === 'wait' || this.#resting !== undefined) return undefined;
    for (const [scope, { synced, blocked, error }] of this.reflectors) {
      if (synced || blocked === undefined || error === undefined) continue;
      const what = this.reflectors.size > 1 ? `namespace ${scope} is ` : '';
      const { code, reason } = error;
      const message = `${who} is not synced: ${what}blocked (${blocked}): ${error.message}. The informer keeps trying; to wait for that, pass whileBlocked: 'wait'`;
      return new ApiError({ code, reason, message, cause: error });
    }
    return undefined;
  }

  notObserved(name: string, key: string, timeoutMs: number): ApiError {
    const at = this.#indexer.resourceVersion || 'no version';
    const { error } = this.#compute();
    const why = error === undefined ? '' : `: ${error.message}`;
    const message = `${name} has not observed ${key} within ${timeoutMs} ms; it is at ${at}${why}`;
    return ApiError.local('NotObserved', message, error === undefined ? {} : { cause: error });
  }

  get #listed(): boolean {
    for (const { synced } of this.reflectors.values()) if (!synced) return false;
    return true;
  }

  #compute(): InformerStatus {
    const merged = mergeStatus([...this.reflectors.values()]);
    const resting = this.#resting;
    const quarantined = this.#quarantine.size;
    const { synced, resourceVersion } = this.#indexer;
    const several = this.reflectors.size > 1 && resting === undefined;
    const own = {
      synced,
      resourceVersion,
      generation: this.#generation,
      quarantined,
      skipped: this.#skipped,
      unknownDeletions: this.#unknownDeletions,
      ...(quarantined === 0 ? {} : { quarantine: shown(this.#quarantine) }),
      ...(this.#lastSkipped === undefined ? {} : { lastSkipped: this.#lastSkipped }),
      ...(this.audit === undefined ? {} : { audit: this.audit }),
      ...(several ? { scopes: Object.fromEntries(this.reflectors) } : {}),
    };
    const counters = {
      attempt: merged?.attempt ?? 0,
      reconnects: merged?.reconnects ?? 0,
      relists: merged?.relists ?? 0,
    };
    // Until the first list is in, the store holds the copy of the run before.
    const running = synced || resting === undefined ? merged?.staleSinceMs : undefined;
    const staleSinceMs = synced ? running : (this.#staleSinceMs ?? running);
    const stale = staleSinceMs === undefined ? {} : { staleSinceMs };
    if (resting !== undefined || merged === undefined) {
      const sinceMs = this.#restingSinceMs;
      const { error, blocked } = merged ?? {};
      return {
        phase: resting ?? 'queued',
        live: false,
        sinceMs,
        ...counters,
        ...stale,
        ...(error === undefined ? {} : { error }),
        ...(blocked === undefined ? {} : { blocked }),
        ...own,
      };
    }
    return { ...merged, ...stale, ...own, live: synced && merged.live };
  }
}
