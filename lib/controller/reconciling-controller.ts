/** The lifecycle of a controller: it fills the caches, waits for the lead, and reconciles until it is stopped. */
import {
  BehaviorSubject,
  defer,
  isObservable,
  type Observable,
  type SchedulerLike,
  Subject,
  Subscription,
} from 'rxjs';
import { distinctUntilChanged, map } from 'rxjs/operators';
import { check, checkedDuration } from '../checks/checked-option.ts';
import { followLeading, type LeaderElector } from '../election/leader-elector.ts';
import { StartStop } from '../election/start-stop.ts';
import { type WaitOptions, Waits } from '../informer/waits.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { ReconcileFigures } from '../meta/metrics.ts';
import { Drain } from '../rx/drain.ts';
import { reportUnhandled } from '../rx/report-unhandled.ts';
import { timingOf } from '../rx/timing.ts';
import type { KeyShards } from '../shards/shard-member.ts';
import { checkOptions } from './checked-options.ts';
import type {
  Controller,
  ControllerOptions,
  ControllerOutcome,
  ControllerPhase,
  ControllerStatus,
  StopOptions,
} from './controller.ts';
import { IDLE, notReady, sourcesOf } from './controller-sources.ts';
import type { Source, WatchedInformer } from './sources.ts';
import { Term } from './term.ts';
import { Terms } from './terms.ts';

const LOST = 'the lead was lost, or the membership in the ring is over';

/** The implementation of `createController`. */
export class ReconcilingController<T extends KubernetesObject> implements Controller {
  readonly name: string;
  readonly outcomes$: Observable<ControllerOutcome> = defer(() => this.#outcomes);
  readonly status$: Observable<ControllerStatus> = defer(() => this.#status);
  readonly healthy$: Observable<boolean> = this.status$.pipe(
    map(({ ended, unfinished }) => ended.length === 0 && unfinished.length === 0),
    distinctUntilChanged(),
  );
  readonly ready$: Observable<boolean> = this.status$.pipe(
    map(({ phase }) => phase === 'running'),
    distinctUntilChanged(),
  );
  readonly #options: ControllerOptions<T>;
  readonly #scheduler: SchedulerLike;
  readonly #main: WatchedInformer<T>;
  readonly #sources: readonly Source[];
  readonly #waits: Waits;
  readonly #life = new StartStop(
    () => this.#start(),
    () => this.#stop(),
  );
  readonly #elector: LeaderElector | undefined;
  readonly #ownElector: LeaderElector | undefined;
  readonly #synced = new Set<Source>();
  readonly #ended = new Set<Source>();
  readonly #terms: Terms<T>;
  #status = new BehaviorSubject<ControllerStatus>(IDLE);
  #outcomes = new Subject<ControllerOutcome>();
  #term: Term<T> | undefined;
  #held: Subscription | undefined;
  #drainMs = 0;
  #leading = false;
  #electing = false;
  readonly #shards: KeyShards | undefined;
  readonly #figures: ReconcileFigures | undefined;

  constructor(options: ControllerOptions<T>) {
    const { name = 'controller', leaderElection: election } = options;
    // Checked here, so that an invalid option is not found only when the lead is won.
    checkOptions(name, options);
    this.name = name;
    this.#options = options;
    this.#scheduler = timingOf(options).scheduler;
    this.#terms = new Terms(this.#scheduler);
    this.#waits = new Waits({
      ...{ scheduler: this.#scheduler, drain: new Drain() },
      stopError: () => undefined,
    });
    const { main, sources } = sourcesOf(name, options);
    this.#main = main;
    this.#sources = sources;
    this.#shards = options.shards?.divide(name, main);
    if (election !== undefined && options.shards !== undefined) {
      throw new TypeError(`${name}: give either leaderElection or shards, not both`);
    }
    if (typeof election === 'function') this.#ownElector = election();
    this.#elector = this.#ownElector ?? (election as LeaderElector | undefined);
    const isElector = election === undefined || isObservable(Object(this.#elector).leading$);
    const must = '() => createLeaderElector({ client, namespace, name, identity })';
    check(isElector, `${name}: leaderElection`, this.#elector ?? election, must);
    this.#figures = options.metrics?.controller({
      ...{ name, concurrency: options.concurrency ?? 1, controller: this, shards: this.#shards },
      report: (error) => this.#report(error, 'metrics'),
    });
  }

  get status(): ControllerStatus {
    return this.#status.value;
  }

  get queued(): number {
    return this.#term?.queued ?? 0;
  }

  get working(): readonly string[] {
    return this.#terms.working;
  }

  // As fields, so that they work without the controller.
  readonly start = (): void => {
    this.#life.start();
  };

  readonly stop = (options: StopOptions = {}): Promise<void> => {
    const { drainMs = 30_000 } = options;
    try {
      checkedDuration(drainMs, `${this.name}: drainMs`);
    } catch (error) {
      return Promise.reject(error);
    }
    // If stop() is called several times, the first call determines the time.
    if (this.#life.stopping === undefined) this.#drainMs = drainMs;
    return this.#life.stop();
  };

  #start(): void {
    if (this.#held !== undefined) return;
    const held = new Subscription();
    this.#held = held;
    this.#figures?.begin();
    this.#leading = (this.#elector ?? this.#shards) === undefined;
    for (const source of this.#sources) {
      if (held.closed || source.informer === undefined) continue;
      held.add(
        source.informer.changes$.subscribe({
          next: ({ synced }) => {
            if (!synced || this.#synced.has(source)) return;
            this.#synced.add(source);
            this.#proceed();
          },
          error: (error) => this.#sourceEnded(source, error),
          complete: () => this.#sourceEnded(source),
        }),
      );
    }
    this.#publish();
  }

  readonly whenReady = (options: WaitOptions = {}): Promise<void> => {
    const isReady = () => this.status.phase === 'running' && this.#life.stopping === undefined;
    return this.#waits.until<void>(
      `${this.name}: whenReady`,
      () => (isReady() ? { value: undefined } : undefined),
      options,
      () =>
        notReady(this.name, options.timeoutMs ?? 0, {
          phase: this.status.phase,
          missing: this.#waitingFor(),
          unfinished: this.working,
          lastError: (this.#elector ?? this.#shards)?.lastError,
          shards: this.#shards?.text,
        }),
    );
  };

  async #stop(): Promise<void> {
    this.#term?.close();
    const held = this.#held;
    const drainMs = this.#drainMs;
    const stopped = ApiError.local('Stopped', `${this.name} was stopped`);
    this.#waits.reject(stopped);
    // A listener that is notified of the stop may be in the middle of another notification at this moment.
    await Promise.resolve();
    this.#publish('stopping');
    if (!(await this.#terms.idle(drainMs))) {
      const reason = ApiError.local(
        'Aborted',
        `${this.name}: still running ${drainMs} ms after the stop`,
      );
      this.#terms.abort(reason);
      if (!(await this.#terms.idle(drainMs))) {
        for (const key of this.working) {
          const message = `${this.name}: the reconcile of ${key} ignored its abort signal and was abandoned`;
          this.#report(ApiError.local('Stopped', message), 'stop', key);
        }
      }
    }
    this.#term?.end(stopped);
    this.#term = undefined;
    this.#terms.abandon();
    // The Lease is released last, so that no reconcile of this process runs when another process takes it.
    await this.#ownElector?.stop();
    await this.#shards?.stop();
    held?.unsubscribe();
    this.#held = undefined;
    this.#figures?.end();
    this.#leading = false;
    this.#terms.takeUnreached();
    this.#synced.clear();
    this.#ended.clear();
    this.#publish('stopped');
    if (!this.#life.again) this.#waits.reject(stopped);
    const [status, outcomes] = [this.#status, this.#outcomes];
    this.#status = new BehaviorSubject(status.value);
    this.#outcomes = new Subject();
    outcomes.complete();
    status.complete();
  }

  /** Takes the next possible step: compete with complete caches, begin a term when leading, end it when not, name what a stop abandoned. */
  #proceed(): void {
    const held = this.#held;
    if (held === undefined) return this.#publish();
    if (held.closed) return;
    const synced = this.#waitingFor().length === 0;
    const permission = this.#elector ?? this.#shards;
    // A process whose former reconciles run competes for nothing, because it could not work.
    if (synced && permission !== undefined && !this.#electing && this.working.length === 0) {
      this.#electing = true;
      held.add(followLeading(permission, (leads) => this.#lead(leads)));
      held.add(() => {
        this.#electing = false;
      });
      const release = this.#elector?.onLost?.(() => this.#terms.ended());
      if (release !== undefined) held.add(release);
      this.#ownElector?.start();
      if (this.#shards !== undefined) {
        held.add(this.#shards.text$.subscribe(() => this.#publish()));
        this.#shards.start();
      }
    }
    // Two terms must never process one key at the same time.
    if (synced && this.#leading && this.#term === undefined && this.working.length === 0) {
      if (this.#life.stopping === undefined) this.#begin();
    }
    this.#publish();
  }

  #lead(leads: boolean): void {
    if (this.#leading === leads) return;
    this.#leading = leads;
    if (!leads && this.#term !== undefined) {
      const term = this.#term;
      this.#term = undefined;
      this.#terms.lose(term, ApiError.local('Aborted', `${this.name}: ${LOST}`));
    }
    this.#proceed();
  }

  #begin(): void {
    const permission = this.#elector ?? this.#shards;
    const term: Term<T> = new Term<T>({
      name: this.name,
      options: this.#options,
      sources: this.#sources,
      scheduler: this.#scheduler,
      shards: this.#shards,
      figures: this.#figures,
      first: this.#terms.takeUnreached(),
      lost:
        permission &&
        (() =>
          permission.isLeading === false
            ? ApiError.local('Aborted', `${this.name}: ${LOST}`)
            : undefined),
      read: (key) => this.#main.indexer.getByKey(key),
      prefixOf: (key) => this.#main.prefixOf?.(key) ?? '',
      emit: (outcome) => this.#outcomes.next(outcome),
      ended: (source, error) => this.#sourceEnded(source, error),
      report: (error, where, key) => this.#report(error, where, key),
      settled: () => {
        if (term !== this.#term) this.#terms.release(term);
        this.#terms.settled();
        if (this.#term === undefined) this.#proceed();
      },
    });
    this.#term = term;
    this.#terms.add(term);
    // Published before the first reconcile, which may read the status.
    this.#publish();
    term.begin();
  }

  #sourceEnded(source: Source, error?: unknown): void {
    if (error !== undefined) this.#report(error, source.name);
    this.#ended.add(source);
    this.#publish();
  }

  #waitingFor(): readonly Source[] {
    return this.#sources.filter(
      (source) => source.informer !== undefined && !this.#synced.has(source),
    );
  }

  #phase(): ControllerPhase {
    if (this.#held === undefined) return this.status.phase;
    if (this.#life.stopping !== undefined) return 'stopping';
    if (this.#waitingFor().length > 0) return 'syncing';
    return this.#term === undefined ? 'standby' : 'running';
  }

  #publish(phase: ControllerPhase = this.#phase()): void {
    const waitingFor = this.#waitingFor().map(({ name }) => name);
    const isLate = phase === 'standby' || phase === 'stopped';
    const status: ControllerStatus = {
      phase,
      synced: this.#held !== undefined && waitingFor.length === 0,
      leading: this.#leading,
      shards: this.#shards?.text,
      waitingFor: this.#held === undefined ? [] : waitingFor,
      ended: [...this.#ended].map(({ name }) => name),
      unfinished: isLate && this.#term === undefined ? this.working : [],
    };
    if (JSON.stringify(status) === JSON.stringify(this.status)) return;
    this.#status.next(status);
    this.#waits.check();
  }

  #report(error: unknown, where: string, key?: string): void {
    const { onUnhandledError } = this.#options;
    if (onUnhandledError === undefined) return reportUnhandled(error);
    try {
      onUnhandledError(error, { controller: this.name, where, key });
    } catch (thrown) {
      reportUnhandled(thrown);
    }
    return undefined;
  }
}
