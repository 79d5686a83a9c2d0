/** Runs the memberships of one process, one after the other: carries out what `ring-member.ts` decides, and ends work before a release. */
import {
  BehaviorSubject,
  type Observable,
  type SchedulerLike,
  Subject,
  type Subscription,
} from 'rxjs';
import { distinctUntilChanged, map, takeUntil } from 'rxjs/operators';
import { StartStop } from '../election/start-stop.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Metered } from '../meta/metrics.ts';
import { type ShardRange, sameRanges, shardRanges } from '../meta/shard-ranges/ranges.ts';
import { type ShardBy, shardSlot } from '../meta/shard-ranges/shard-filter.ts';
import { longTimer } from '../rx/long-timer.ts';
import { reportUnhandled } from '../rx/report-unhandled.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { allEnded, EndingSlots, type EndWork } from './ending-slots.ts';
import { DividedKeys, type DividingMember } from './key-shards.ts';
import {
  endingSlots,
  joining,
  nextMember,
  ownsSlot,
  type RingEffect,
  type RingInput,
  type RingMember,
} from './ring-member.ts';
import { type RingPlace, RingServer, unanswered } from './ring-server.ts';
import type { KeyShards, ShardedObjects, ShardStatus } from './shard-member.ts';
import { IDLE, STOPPED, statusOf } from './shard-status.ts';
import { longestLeaseMs } from './sightings.ts';
import { Twins } from './twins.ts';

/** The options of `createShardMember`, validated. */
export interface RingSettings extends RingPlace {
  readonly identity: string;
  /** In milliseconds. */
  readonly drainMs: number;
  /** Makes the random part of an id. */
  suffix(): string;
  readonly onError?: ((error: ApiError) => void) | undefined;
  readonly metrics?: Metered | undefined;
}

const LATE =
  'does not join, because work of its last membership, whose signals have aborted, has not ended';

/** One run of a member, from a start to a stop. Consists of one membership after the other. */
interface Run {
  readonly aborting: AbortController;
  member: RingMember;
  server: RingServer;
  ending: EndingSlots;
  wait?: Subscription;
  /** Whether the work of a former membership still runs. */
  isLate?: boolean;
  expiry?: Subscription;
  /** Called when the member has left. */
  onLeft?: () => void;
}

/** The implementation of `createShardMember`. */
export class RingMembership implements DividingMember {
  readonly by: ShardBy;
  readonly identity: string;
  readonly #status = new BehaviorSubject<ShardStatus>(IDLE);
  readonly #stopped = new Subject<void>();
  readonly statuses$: Observable<ShardStatus> = this.#status.asObservable();
  readonly status$: Observable<ShardStatus> = this.#status.pipe(takeUntil(this.#stopped));
  readonly slots$: Observable<ReadonlySet<number>> = this.statuses$.pipe(
    map(({ owned }) => owned),
    distinctUntilChanged((one, other) => one.join() === other.join()),
    map((owned) => new Set(owned)),
  );
  readonly ranges$: Observable<readonly ShardRange[]> = this.statuses$.pipe(
    map(({ owned, releasing }) => shardRanges([...owned, ...releasing])),
    distinctUntilChanged(sameRanges),
  );
  readonly joined$: Observable<boolean> = this.status$.pipe(
    map(({ phase, id }) => (phase === 'member' ? id : '')),
    distinctUntilChanged(),
    map((id) => id !== ''),
  );
  readonly #settings: RingSettings;
  readonly #scheduler: SchedulerLike;
  readonly passedMs: () => number;
  readonly #life = new StartStop(
    () => this.#begin(),
    () => this.#end(),
  );
  readonly #work = new Set<EndWork>();
  readonly #twins = new Twins();
  #run: Run | undefined;
  #lastError: ApiError | undefined;
  #holders = 0;
  /** Whether the owner has started the member. */
  #kept = false;
  /** Releases the gauges. */
  #unmeasure: (() => void) | undefined;

  constructor(settings: RingSettings) {
    this.#settings = settings;
    this.#scheduler = settings.scheduler;
    this.passedMs = stopwatch(settings.scheduler);
    this.by = settings.by;
    this.identity = settings.identity;
  }

  get gapMs(): number {
    const { drainMs, periods } = this.#settings;
    const { sightings = new Map() } = this.#run?.member ?? {};
    // A dead owner may have left deletions of its last lease in its queue.
    return drainMs + 2 * longestLeaseMs(sightings, periods.leaseDurationMs);
  }

  get status(): ShardStatus {
    return this.#status.value;
  }

  get lastError(): ApiError | undefined {
    return this.#lastError;
  }

  // As fields, so that they work without the member.
  readonly start = (): void => {
    this.#kept = true;
    this.#life.start();
  };

  readonly stop = (): Promise<void> => {
    this.#kept = false;
    return this.#life.stop();
  };

  readonly hold = (): (() => Promise<void>) => {
    let isHeld = true;
    this.#holders++;
    this.#life.start();
    return async () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holders--;
      if (this.#holders === 0 && !this.#kept) await this.#life.stop();
    };
  };

  readonly divide = (name: string, objects: ShardedObjects): KeyShards =>
    new DividedKeys(this, name, objects);

  readonly owns = (object: KubernetesObject): boolean => this.ownsSlot(shardSlot(object, this.by));

  readonly ownsSlot = (slot: number): boolean => {
    const { member } = this.#run ?? {};
    return member !== undefined && ownsSlot(member, slot, this.passedMs());
  };

  readonly admitsSlot = (slot: number): boolean => {
    const { member } = this.#run ?? {};
    if (member === undefined || member.phase !== 'active' || !this.ownsSlot(slot)) return false;
    return member.ring?.record.releasing.includes(slot) === false;
  };

  readonly onRelease = (end: EndWork): (() => void) => {
    this.#work.add(end);
    return () => this.#work.delete(end);
  };

  #begin(): void {
    if (this.#run !== undefined) return;
    const aborting = new AbortController();
    const { periods, metrics, name } = this.#settings;
    this.#unmeasure = metrics?.shards(name, () => this.status);
    const member = joining(this.#newId(), periods);
    const server = new RingServer(this.#settings, member.id, aborting.signal);
    const run: Run = { aborting, member, server, ending: this.#endingSlots() };
    this.#run = run;
    this.#enter(run, { type: 'due' });
  }

  #newId(): string {
    return `${this.identity}.${this.#settings.suffix()}`;
  }

  async #end(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    const { drainMs, periods } = this.#settings;
    let limited: Subscription | undefined;
    await new Promise<void>((resolve) => {
      // The others take the slots after a lease if the server cannot be told.
      const limit = longTimer(drainMs + periods.leaseDurationMs, this.#scheduler);
      limited = limit.subscribe(() => resolve());
      run.onLeft = resolve;
      this.#enter(run, { type: 'leave' });
      if (run.member.phase === 'left' || run.member.phase === 'over') resolve();
    });
    limited?.unsubscribe();
    run.ending.stop();
    run.wait?.unsubscribe();
    run.expiry?.unsubscribe();
    this.#run = undefined;
    await run.server.end().catch((error: unknown) => this.#failed(error));
    run.aborting.abort();
    this.#publish();
    this.#stopped.next();
    this.#unmeasure?.();
  }

  #enter(run: Run, input: RingInput): void {
    const [member, effects] = nextMember(run.member, input, this.passedMs());
    run.member = member;
    for (const effect of effects) this.#perform(run, effect);
    if (this.#run !== run) return;
    if (member.phase === 'over' && run.onLeft === undefined) this.#joinAgain(run);
    if (member.phase === 'over' || member.phase === 'left') run.onLeft?.();
    this.#watchTime(run);
    this.#publish();
    run.ending.end(endingSlots(run.member, this.passedMs()));
  }

  /**
   * Begins the next membership, under another id, because the others may have taken the slots. It joins when the work of the former one
   * has ended: a process that cannot work must not own slots.
   */
  #joinAgain(run: Run): void {
    const { id, validUntilMs } = run.member;
    const { namespace, name, periods } = this.#settings;
    const isOverdue = validUntilMs === undefined || this.passedMs() >= validUntilMs;
    const why = isOverdue
      ? `its Lease was not renewed within ${periods.renewDeadlineMs} ms`
      : 'the ring was deleted, replaced or restored';
    const message = `ring ${namespace}/${name}: ${id} owns no slot any more, because ${why}; it joins again`;
    this.#report(ApiError.local('NotObserved', message));
    run.member = joining(this.#newId(), periods, run.member);
    run.server = new RingServer(this.#settings, run.member.id, run.aborting.signal);
    run.ending.stop();
    run.ending = this.#endingSlots();
    run.wait?.unsubscribe();
    const join = () => {
      run.isLate = false;
      this.#perform(run, { type: 'wait', ms: 1 });
    };
    if (this.#work.size === 0) return join();
    run.wait = longTimer(periods.retryPeriodMs, this.#scheduler).subscribe(() => {
      run.isLate = true;
      this.#report(ApiError.local('NotObserved', `ring ${namespace}/${name}: ${LATE}`));
      this.#publish();
    });
    const { member } = run;
    void allEnded(this.#work).then(() => {
      if (this.#run !== run || run.member.id !== member.id) return;
      join();
      this.#publish();
    });
    return undefined;
  }

  /** Publishes the loss of all slots when their time is over, even if no response arrives. */
  #watchTime(run: Run): void {
    run.expiry?.unsubscribe();
    const { validUntilMs } = run.member;
    if (validUntilMs === undefined) return;
    const leftMs = Math.max(1, validUntilMs - this.passedMs());
    run.expiry = longTimer(leftMs, this.#scheduler).subscribe(() =>
      this.#enter(run, { type: 'due' }),
    );
  }

  #endingSlots(): EndingSlots {
    const ending = new EndingSlots({
      ...{ scheduler: this.#scheduler, drainMs: this.#settings.drainMs, work: this.#work },
      ended: (slots) => {
        const run = this.#run;
        if (run?.ending === ending) this.#enter(run, { type: 'drained', slots });
      },
    });
    return ending;
  }

  #perform(run: Run, effect: RingEffect): void {
    const { server, member } = run;
    if (effect.type === 'wait') {
      run.wait?.unsubscribe();
      run.wait = longTimer(effect.ms, this.#scheduler).subscribe(() =>
        this.#enter(run, { type: 'due' }),
      );
      return;
    }
    if (effect.type === 'forget') {
      // Another member may have been faster.
      server.forget(effect.id, effect.version).catch(() => undefined);
      return;
    }
    const enter = (input: RingInput) => {
      if (this.#run === run && run.member.id === member.id) this.#enter(run, input);
    };
    server.answer(effect).then(
      (input) => {
        this.#lastError = undefined;
        const leases = input.type === 'listed' ? (input.found?.leases ?? []) : [];
        if (this.#twins.find(run.member, leases)) {
          const { namespace, name, identity } = this.#settings;
          const message = `ring ${namespace}/${name}: another process has the identity ${identity}, too, so only one of them gets slots; give each replica its own, such as the name of its pod`;
          this.#report(ApiError.local('Unexpected', message));
        }
        enter(input);
      },
      (error: unknown) => {
        if (run.aborting.signal.aborted) return;
        this.#failed(error);
        enter(unanswered(effect));
      },
    );
  }

  #publish(): void {
    const { member } = this.#run ?? {};
    const isStopping = this.#life.stopping !== undefined;
    const status = member === undefined ? STOPPED : statusOf(member, this.passedMs(), isStopping);
    const shown = this.#run?.isLate === true ? { ...status, text: LATE } : status;
    if (JSON.stringify(shown) !== JSON.stringify(this.status)) this.#status.next(shown);
  }

  #failed(error: unknown): void {
    const { namespace, name } = this.#settings;
    this.#report(ApiError.from(error, `ring ${namespace}/${name}`));
  }

  #report(error: ApiError): void {
    this.#lastError = error;
    try {
      this.#settings.onError?.(error);
    } catch (thrown) {
      reportUnhandled(thrown);
    }
  }
}
