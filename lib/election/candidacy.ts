/**
 * One candidacy of an elector, from a start to a stop: it reads the Lease, takes it when it is free, and renews it while it leads.
 * client-go: tools/leaderelection/leaderelection.go (tryAcquireOrRenew, renew, release).
 */
import { BehaviorSubject, type Subscription } from 'rxjs';
import { ApiError } from '../meta/api-error.ts';
import type { Metered } from '../meta/metrics.ts';
import { longTimer } from '../rx/long-timer.ts';
import { reportUnhandled } from '../rx/report-unhandled.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { LeaseLock, type LeaseLockOptions } from './lease-lock.ts';
import {
  durationOf,
  heldBy,
  JITTER,
  LEASES,
  type LeaseObject,
  recordText,
} from './lease-record.ts';

/** The options of `createLeaderElector`, validated. */
export interface LeaseElectorOptions extends LeaseLockOptions {
  readonly identity: string;
  /** In milliseconds. */
  readonly leaseDurationMs: number;
  readonly releaseOnCancel: boolean;
  readonly random: () => number;
  readonly onError?: ((error: ApiError) => void) | undefined;
  readonly metrics?: Metered | undefined;
}

/** The state that one candidacy passes on to the next of the same elector. */
export interface ElectionMemory {
  /** The Lease as last written or read. */
  lease?: LeaseObject;
  lastError: ApiError | undefined;
  /** The reasons of the warnings since the Lease was won last. */
  readonly warned: Set<string>;
  /** What `onLost` has registered. */
  readonly work: Set<() => Promise<unknown> | undefined>;
  /** Resolves when no work of a lost lead runs; absent if none does. */
  late: Promise<unknown> | undefined;
}

/** The time at which a leader stops leading, unless it has renewed before. */
interface Deadline {
  /** The time on the stopwatch, in milliseconds. */
  readonly atMs: number;
  readonly timer: Subscription;
  passed: boolean;
}

const GONE = 'gone';

/** One candidacy. */
export class Candidacy {
  readonly leading: BehaviorSubject<boolean> = new BehaviorSubject(false);
  readonly leader: BehaviorSubject<string> = new BehaviorSubject('');
  readonly #options: LeaseElectorOptions;
  readonly #memory: ElectionMemory;
  readonly #passedMs: () => number;
  readonly #lock: LeaseLock;
  readonly #where: string;
  #seen = '';
  /** Whether the Lease that was seen has not changed for its duration. */
  #expired = false;
  #expiry: Subscription | undefined;
  /** The deadline of the last write that succeeded. */
  #deadline: Deadline | undefined;
  #next: Subscription | undefined;
  /** The attempt in progress. */
  #attempt: AbortController | undefined;
  #busy: Promise<void> = Promise.resolve();
  /** The deadline of the last write that was sent. */
  #sent: Deadline | undefined;
  /** Whether a write was sent and no other holder has been seen since. */
  #mayHold = false;
  #running = false;

  constructor(options: LeaseElectorOptions, memory: ElectionMemory) {
    this.#options = options;
    this.#memory = memory;
    this.#passedMs = stopwatch(options.scheduler);
    this.#lock = new LeaseLock(options);
    this.#where = `lease ${options.namespace}/${options.name}`;
  }

  get isLeading(): boolean {
    const { atMs = 0 } = this.#deadline ?? {};
    return this.leading.value && this.#passedMs() < atMs;
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#try();
  }

  /** Stops competing, and releases the Lease if this process may hold it. A candidacy is not started again. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#next?.unsubscribe();
    this.#attempt?.abort();
    await this.#busy;
    this.#lose();
    this.#sent?.timer.unsubscribe();
    this.#expiry?.unsubscribe();
    if (!this.#mayHold || !this.#options.releaseOnCancel) return;
    const { identity } = this.#options;
    await this.#lock.release(identity).catch((error: unknown) => this.#report(error));
  }

  /** Reports that a stop has waited for work for a lease duration: work that awaits that stop would never end. */
  reportLateWork(): void {
    const late = `the work of run() has not ended ${this.#options.leaseDurationMs} ms after stop()`;
    const why = 'stop() waits for it, so work that awaits stop() never ends';
    this.#report(ApiError.local('NotObserved', `${this.#where}: ${late}; ${why}`));
  }

  /** Why this process leads no more, if it was not stopped. */
  lostError(): ApiError {
    const { identity, renewDeadlineMs } = this.#options;
    const message = `${this.#where}: not renewed within ${renewDeadlineMs} ms; ${identity} is no longer the leader`;
    return ApiError.local('NotObserved', message);
  }

  /** Completes the streams of the candidacy. */
  complete(): void {
    this.leading.complete();
    this.leader.complete();
  }

  #try(): void {
    const attempt = new AbortController();
    this.#attempt = attempt;
    this.#busy = this.#acquireOrRenew(attempt.signal)
      .catch((error: unknown) => {
        this.#report(error);
        return false;
      })
      .then((won) => {
        this.#attempt = undefined;
        if (!this.#running) return;
        if (won && !attempt.signal.aborted) this.#hold();
        else if (this.leading.value && this.leader.value !== this.#options.identity) this.#lose();
        this.#tryLater();
      });
  }

  #tryLater(): void {
    const { scheduler, random, retryPeriodMs } = this.#options;
    const jitter = this.leading.value ? 0 : JITTER * random();
    this.#next = longTimer(retryPeriodMs * (1 + jitter), scheduler).subscribe(() => this.#try());
  }

  /** Resolves with whether this process holds the Lease, as far as the server has confirmed. */
  async #acquireOrRenew(signal: AbortSignal): Promise<boolean> {
    if (this.#memory.late !== undefined) return await this.#standBack(signal);
    // A leader writes its last Lease again without reading it, so a renewal is one request.
    if (this.leading.value && this.#memory.lease !== undefined) {
      try {
        await this.#write('PUT', this.#held(this.#memory.lease), signal);
        return true;
      } catch (error) {
        this.#report(error);
        if (signal.aborted) return false;
      }
    }
    let lease: LeaseObject;
    try {
      lease = await this.#lock.request('GET', undefined, signal);
    } catch (error) {
      if (!(error instanceof ApiError) || !error.isNotFound) throw error;
      if (!this.#mayCreate()) return false;
      const { namespace, name } = this.#options;
      const { apiVersion, kind } = LEASES;
      const made = this.#held({ apiVersion, kind, metadata: { namespace, name } });
      await this.#write('POST', { ...made, spec: { ...made.spec, leaseTransitions: 0 } }, signal);
      return true;
    }
    this.#observe(lease);
    const holder = lease.spec?.holderIdentity ?? '';
    if (holder !== '' && holder !== this.#options.identity && !this.#expired) return false;
    await this.#write('PUT', this.#held(lease), signal);
    return true;
  }

  /** Only reads the Lease: the work of the last lead still runs, so this process could not work, and another one must. */
  async #standBack(signal: AbortSignal): Promise<boolean> {
    const lease = await this.#lock.read(signal);
    if (lease !== undefined) this.#observe(lease);
    const late = 'work of its last lead, whose signal has aborted, has not ended';
    const message = `${this.#where}: ${this.#options.identity} does not compete, because ${late}`;
    throw ApiError.local('NotObserved', message);
  }

  /**
   * Whether the missing Lease may be created now. A candidate that has seen the Lease waits, because the holder leads until it
   * notices the deletion, and another candidate may have taken the Lease meanwhile. The deletion counts as a change of the Lease.
   */
  #mayCreate(): boolean {
    const { lease } = this.#memory;
    if (lease === undefined || this.leading.value) return true;
    const { leaseDurationMs } = this.#options;
    this.#see(GONE, Math.max(leaseDurationMs, durationOf(lease, leaseDurationMs)));
    return this.#expired;
  }

  #held(lease: LeaseObject): LeaseObject {
    const { identity, leaseDurationMs, scheduler } = this.#options;
    return heldBy(lease, identity, { leaseDurationMs, atMs: scheduler.now() });
  }

  async #write(method: 'PUT' | 'POST', lease: LeaseObject, signal: AbortSignal): Promise<void> {
    this.#mayHold = true;
    const { scheduler, renewDeadlineMs } = this.#options;
    this.#sent?.timer.unsubscribe();
    // Other candidates count from when they see this write, so the deadline begins before it is sent. It is a timer, because the clock may be set.
    const sent: Deadline = {
      atMs: this.#passedMs() + renewDeadlineMs,
      passed: false,
      timer: longTimer(renewDeadlineMs, scheduler).subscribe(() => {
        sent.passed = true;
        if (this.#deadline === sent) this.#overdue();
      }),
    };
    this.#sent = sent;
    const written = await this.#lock.request(method, lease, signal);
    this.#observe(written);
  }

  /** Records the Lease that the server returned. */
  #observe(lease: LeaseObject): void {
    this.#memory.lease = lease;
    this.#memory.lastError = undefined;
    const holderIdentity = lease.spec?.holderIdentity ?? '';
    if (holderIdentity !== this.#options.identity) this.#mayHold = false;
    // One that was created again is another one, even if its record is the same because a clock stands still.
    const text = `${lease.metadata?.uid} ${recordText(lease)}`;
    this.#see(text, durationOf(lease, this.#options.leaseDurationMs));
    if (this.leader.value !== holderIdentity) this.leader.next(holderIdentity);
  }

  /** Starts the expiry timer if the record has changed: it expires after `lastsMs` without another change. */
  #see(text: string, lastsMs: number): void {
    if (text === this.#seen) return;
    this.#seen = text;
    this.#expired = false;
    this.#expiry?.unsubscribe();
    // A timer and not a comparison of times, because setting the clock forward must not expire a Lease.
    const expiry = longTimer(lastsMs, this.#options.scheduler);
    this.#expiry = expiry.subscribe(() => this.#expire());
  }

  #expire(): void {
    this.#expired = true;
    if (this.#attempt !== undefined) return;
    this.#next?.unsubscribe();
    this.#try();
  }

  /** Leads until the deadline of the write that has just succeeded. */
  #hold(): void {
    this.#memory.warned.clear();
    const sent = this.#sent;
    // After the machine slept, the response may be processed before the timer fires, so the stopwatch is read, too.
    if (sent === undefined || sent.passed || this.#passedMs() >= sent.atMs) return this.#lose();
    // The response came after the deadline, and before its timer. `isLeading` was false meanwhile, so work may have been refused.
    if (this.leading.value && !this.isLeading) return this.#overdue();
    this.#sent = undefined;
    this.#deadline?.timer.unsubscribe();
    this.#deadline = sent;
    if (!this.leading.value) this.leading.next(true);
    return undefined;
  }

  #overdue(): void {
    this.#report(this.lostError());
    this.#lose();
  }

  #lose(): void {
    this.#deadline?.timer.unsubscribe();
    this.#deadline = undefined;
    this.#attempt?.abort();
    if (!this.leading.value) return;
    this.leading.next(false);
    const memory = this.#memory;
    const ends = [...memory.work].map((end) => end()).filter((ended) => ended !== undefined);
    if (ends.length === 0) return;
    const late = Promise.allSettled(ends).then(() => {
      if (memory.late === late) memory.late = undefined;
    });
    memory.late = late;
  }

  /** Warns of each reason once until the Lease is won, because a missing right would look like another leader. */
  #warn({ reason, message }: ApiError): void {
    const { warned } = this.#memory;
    // Several states of this process are not observed, and each is a reason of its own.
    const why = reason === 'NotObserved' ? message : reason;
    if (!this.#running || reason === 'Aborted' || warned.has(why)) return;
    warned.add(why);
    console.warn(`leader election: ${message} (it goes on; pass onError to receive such errors)`);
  }

  #report(error: unknown): void {
    const failure = ApiError.from(error, this.#where);
    this.#memory.lastError = failure;
    try {
      const { onError } = this.#options;
      if (onError !== undefined) onError(failure);
      // Another candidate was faster, which is no fault.
      else if (failure.code !== 409) this.#warn(failure);
    } catch (thrown) {
      reportUnhandled(thrown);
    }
  }
}
