/**
 * The loop of a candidate: read the lease, take it when it is free, renew it while it is held.
 * client-go: tools/leaderelection/leaderelection.go (tryAcquireOrRenew, renew, release).
 */
import { BehaviorSubject, defer, type Observable, type Subscription } from 'rxjs';
import { distinctUntilChanged } from 'rxjs/operators';
import { ApiError } from '../meta/api-error.ts';
import { longTimer } from '../rx/long-timer.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { reportUnhandled } from '../rx/unhandled.ts';
import { LeaseLock, type LeaseLockOptions } from './lease-lock.ts';
import { heldBy, JITTER, LEASES, type LeaseObject, recordText } from './lease-record.ts';

/** What an elector is made of: the options of `createLeaderElector`, checked. */
export interface LeaseElectorOptions extends LeaseLockOptions {
  readonly identity: string;
  readonly leaseDurationMs: number;
  readonly retryPeriodMs: number;
  readonly releaseOnCancel: boolean;
  readonly random: () => number;
  readonly onError?: ((error: ApiError) => void) | undefined;
}

/** When a leader leads no more, unless it has renewed. */
interface Deadline {
  /** On the stopwatch of the elector. */
  readonly atMs: number;
  readonly timer: Subscription;
  over: boolean;
}

interface Work {
  abort(): void;
  readonly done: Promise<void>;
}

/** See `createLeaderElector`. */
export class LeaseElector {
  readonly identity: string;
  readonly leading$: Observable<boolean> = defer(() => this.#leading.pipe(distinctUntilChanged()));
  readonly leader$: Observable<string> = defer(() => this.#leader.pipe(distinctUntilChanged()));
  readonly #options: LeaseElectorOptions;
  readonly #passedMs: () => number;
  readonly #lock: LeaseLock;
  readonly #where: string;
  #leading = new BehaviorSubject(false);
  #leader = new BehaviorSubject('');
  /** The Lease as it was last written or read. */
  #lease: LeaseObject | undefined;
  #seen = '';
  /** Nobody has renewed what was seen for as long as it lasts. */
  #expired = false;
  #expiry: Subscription | undefined;
  /** Of the write by which it leads. */
  #deadline: Deadline | undefined;
  #next: Subscription | undefined;
  /** The attempt under way. */
  #attempt: AbortController | undefined;
  #busy: Promise<void> = Promise.resolve();
  /** Of the last write that was sent. */
  #sent: Deadline | undefined;
  /** A write was sent and no other holder has been seen since. */
  #mayHold = false;
  #lastError: ApiError | undefined;
  #running = false;
  #stopping: Promise<void> | undefined;
  readonly #work = new Set<Work>();

  constructor(options: LeaseElectorOptions) {
    this.#options = options;
    this.#passedMs = stopwatch(options.scheduler);
    this.identity = options.identity;
    this.#lock = new LeaseLock(options);
    this.#where = `lease ${options.namespace}/${options.name}`;
  }

  get lastError(): ApiError | undefined {
    return this.#lastError;
  }

  get isLeading(): boolean {
    const { atMs = 0 } = this.#deadline ?? {};
    return this.#leading.value && this.#passedMs() < atMs;
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#try();
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop().finally(() => {
      this.#stopping = undefined;
    });
    return this.#stopping;
  }

  run(work: (signal: AbortSignal) => unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      let running: Work | undefined;
      const begin = () => {
        const controller = new AbortController();
        const abort = () => controller.abort();
        const call = async () => {
          await work(controller.signal);
        };
        const done = call().then(
          () => {},
          (error) => {
            reject(error);
            void this.stop();
          },
        );
        running = { abort, done };
        this.#work.add(running);
        const held = running;
        void done.then(() => {
          this.#work.delete(held);
          running = undefined;
          const again = controller.signal.aborted && this.#stopping === undefined;
          if (again && this.#leading.value) begin();
        });
      };
      this.#leading.subscribe({
        next: (leads) => {
          if (!leads) running?.abort();
          else if (running === undefined) begin();
        },
        complete: resolve,
      });
      this.start();
    });
  }

  async #stop(): Promise<void> {
    // Who works still leads, and goes on renewing until it has returned.
    for (const work of [...this.#work]) work.abort();
    await Promise.all([...this.#work].map(({ done }) => done));
    this.#running = false;
    this.#next?.unsubscribe();
    this.#attempt?.abort();
    await this.#busy;
    this.#lose();
    this.#sent?.timer.unsubscribe();
    this.#expiry?.unsubscribe();
    this.#expired = false;
    this.#seen = '';
    if (this.#mayHold && this.#options.releaseOnCancel) {
      await this.#lock.release(this.identity).catch((error: unknown) => this.#report(error));
    }
    this.#mayHold = false;
    const [leading, leader] = [this.#leading, this.#leader];
    this.#leading = new BehaviorSubject(false);
    this.#leader = new BehaviorSubject('');
    leading.complete();
    leader.complete();
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
        else if (this.#leading.value && this.#leader.value !== this.identity) this.#lose();
        this.#tryLater();
      });
  }

  #tryLater(): void {
    const { scheduler, random, retryPeriodMs } = this.#options;
    const jitter = this.#leading.value ? 0 : JITTER * random();
    this.#next = longTimer(retryPeriodMs * (1 + jitter), scheduler).subscribe(() => this.#try());
  }

  /** Whether the lease is ours, as far as the server has answered. */
  async #acquireOrRenew(signal: AbortSignal): Promise<boolean> {
    // The leader writes at once what it wrote before: one request a renewal.
    if (this.#leading.value && this.#lease !== undefined) {
      try {
        await this.#write('PUT', this.#held(this.#lease), signal);
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
      const { namespace, name } = this.#options;
      const { apiVersion, kind } = LEASES;
      const made = this.#held({ apiVersion, kind, metadata: { namespace, name } });
      await this.#write('POST', { ...made, spec: { ...made.spec, leaseTransitions: 0 } }, signal);
      return true;
    }
    this.#observe(lease);
    const holder = lease.spec?.holderIdentity ?? '';
    if (holder !== '' && holder !== this.identity && !this.#expired) return false;
    await this.#write('PUT', this.#held(lease), signal);
    return true;
  }

  #held(lease: LeaseObject): LeaseObject {
    const { leaseDurationMs, scheduler } = this.#options;
    return heldBy(lease, this.identity, { leaseDurationMs, atMs: scheduler.now() });
  }

  async #write(method: 'PUT' | 'POST', lease: LeaseObject, signal: AbortSignal): Promise<void> {
    this.#mayHold = true;
    const { scheduler, renewDeadlineMs } = this.#options;
    this.#sent?.timer.unsubscribe();
    // Others count from when they see this write, so from before it was sent; by a timer, as the clock may be set.
    const sent: Deadline = {
      atMs: this.#passedMs() + renewDeadlineMs,
      over: false,
      timer: longTimer(renewDeadlineMs, scheduler).subscribe(() => {
        sent.over = true;
        if (this.#deadline === sent) this.#overdue();
      }),
    };
    this.#sent = sent;
    const written = await this.#lock.request(method, lease, signal);
    this.#observe(written);
  }

  /** Notes what the server has. By our own clock, from now on, it lasts as long as it says. */
  #observe(lease: LeaseObject): void {
    this.#lease = lease;
    this.#lastError = undefined;
    const { holderIdentity = '', leaseDurationSeconds = 0 } = lease.spec ?? {};
    if (holderIdentity !== this.identity) this.#mayHold = false;
    const text = recordText(lease);
    if (text !== this.#seen) {
      this.#seen = text;
      this.#expired = false;
      this.#expiry?.unsubscribe();
      // A timer, not a comparison: when the clock is set forward nobody's time is over.
      const expiry = longTimer(leaseDurationSeconds * 1000, this.#options.scheduler);
      this.#expiry = expiry.subscribe(() => this.#expire());
    }
    if (this.#leader.value !== holderIdentity) this.#leader.next(holderIdentity);
  }

  #expire(): void {
    this.#expired = true;
    if (!this.#running || this.#leading.value || this.#attempt !== undefined) return;
    this.#next?.unsubscribe();
    this.#try();
  }

  /** Leads until the deadline of the write that was answered. */
  #hold(): void {
    const sent = this.#sent;
    if (sent === undefined || sent.over) return this.#lose();
    this.#sent = undefined;
    this.#deadline?.timer.unsubscribe();
    this.#deadline = sent;
    if (!this.#leading.value) this.#leading.next(true);
    return undefined;
  }

  #overdue(): void {
    const { renewDeadlineMs } = this.#options;
    const message = `${this.#where}: not renewed within ${renewDeadlineMs} ms; ${this.identity} leads no more`;
    this.#report(ApiError.local('NotObserved', message));
    this.#lose();
  }

  #lose(): void {
    this.#deadline?.timer.unsubscribe();
    this.#deadline = undefined;
    this.#attempt?.abort();
    if (this.#leading.value) this.#leading.next(false);
  }

  #report(error: unknown): void {
    const failure = ApiError.from(error, this.#where);
    this.#lastError = failure;
    try {
      this.#options.onError?.(failure);
    } catch (thrown) {
      reportUnhandled(thrown);
    }
  }
}
