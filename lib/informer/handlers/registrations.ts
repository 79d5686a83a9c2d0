/**
 * Who has registered a handler. A registration outlives the run: its resyncs tick only while one is alive, and
 * after a stop the next run tells it the difference.
 * client-go: tools/cache/shared_informer.go, sharedProcessor.
 */
import type { Subscription } from 'rxjs';
import { ApiError } from '../../meta/api-error.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { through } from '../../rx/drain.ts';
import { longInterval, looseTimer } from '../../rx/long-timer.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import type { IndexerReader } from '../../store/indexer.ts';
import { type FanOut, resyncSet } from '../fan-out.ts';
import { type SyncWaitOptions, Waits } from '../waits.ts';
import type {
  EventHandlerOptions,
  EventHandlerRegistration,
  RemoveOptions,
  ResourceEventHandler,
} from './event-handler.ts';
import { type FeedHost, HandlerFeed } from './handler-feed.ts';

const MIN_RESYNC_MS = 1_000;
/** Who adds a handler means to start the informer, and before long. */
const START_WITHIN_MS = 10_000;

/**
 * The period in milliseconds; 0 means never, as `Infinity` does. Throws a `TypeError` on a period that is not a number
 * or is shorter than a second.
 */
export function checkedResyncPeriod(periodMs: number | undefined, what: string): number {
  if (periodMs === undefined || periodMs === 0 || periodMs === Number.POSITIVE_INFINITY) return 0;
  if (typeof periodMs === 'number' && periodMs >= MIN_RESYNC_MS) return periodMs;
  throw new TypeError(
    `${what}: resyncPeriodMs is ${periodMs}; it must be ${MIN_RESYNC_MS} or more milliseconds, or 0 for never`,
  );
}

/** What registrations need of their informer. */
export interface RegistrationHost<T extends KubernetesObject> extends FeedHost {
  readonly indexer: IndexerReader<T>;
  readonly hub: FanOut<T>;
  /** The informer's own period, 0 for never. */
  readonly resyncMs: number;
  /** Whether a run is alive. */
  isRunning(): boolean;
  /** Before a resync: who was refused is tried again with it. */
  beforeResync(): void;
  /** Why a wait that begins now is in vain; `undefined` if it is not. */
  over(): ApiError | undefined;
  /** A handler was removed: nobody may be left to look at the store. */
  onRemoved(): void;
  /** Why the store is not synced, for a wait that is over. */
  notSynced(who: string, timeoutMs: number): ApiError;
  /** Why the store will not be synced before somebody helps, for a wait that does not wait for that. */
  blocking(who: string, wait: SyncWaitOptions): ApiError | undefined;
}

class Registered<T extends KubernetesObject> implements EventHandlerRegistration {
  readonly host: RegistrationHost<T>;
  readonly #feed: HandlerFeed<T>;
  readonly #waits: Waits;
  /** `undefined`: with the informer's own resyncs. */
  readonly periodMs: number | undefined;
  #leave: (() => void) | undefined;
  #ticks: Subscription | undefined;
  #removed = false;

  constructor(
    host: RegistrationHost<T>,
    handler: ResourceEventHandler<T>,
    name: string,
    options: EventHandlerOptions<T>,
    periodMs: number | undefined,
  ) {
    this.host = host;
    this.periodMs = periodMs;
    const { scheduler, drain } = host;
    this.#waits = new Waits({
      ...{ scheduler, drain },
      over: () => (this.#removed ? this.#gone() : host.over()),
    });
    this.#feed = new HandlerFeed(host, handler, name, options, () => this.#waits.check());
  }

  get name(): string {
    return this.#feed.name;
  }

  get hasSynced(): boolean {
    return this.#feed.synced && this.host.indexer.synced;
  }

  get lag(): number {
    return this.#feed.lag;
  }

  whenSynced(wait: SyncWaitOptions = {}): Promise<void> {
    return this.#waits.until<void>(
      () => (this.hasSynced ? { value: undefined } : undefined),
      wait,
      () => {
        const { host, name, lag } = this;
        const timeoutMs = wait.timeoutMs ?? 0;
        if (!host.indexer.synced) return host.notSynced(name, timeoutMs);
        const message = `${name} is not synced after ${timeoutMs} ms: it is busy, and ${lag} changes wait for it`;
        return ApiError.local('NotObserved', message);
      },
      () => this.host.blocking(this.name, wait),
    );
  }

  /** The status is another one. Returns whether that was the end of a wait in vain. */
  check(): boolean {
    return this.#waits.check();
  }

  join(): void {
    this.#leave = this.host.hub.join({ next: (set) => this.#hear(set) });
    // It went while it was told the store.
    if (this.#removed) this.#leave();
  }

  get removed(): boolean {
    return this.#removed;
  }

  remove(options: RemoveOptions): Promise<void> {
    if (!this.#removed) {
      this.#removed = true;
      this.#leave?.();
      this.rest(false);
      this.fail(this.#gone());
    }
    return this.#feed.close(options);
  }

  begin(): void {
    this.#feed.begin();
    this.tick();
  }

  tick(): void {
    // Removed: by a callback that was called as the run began.
    if (!this.periodMs || this.#removed || this.#ticks !== undefined) return;
    const { drain, scheduler } = this.host;
    this.#ticks = longInterval(this.periodMs, scheduler)
      .pipe(through(drain))
      .subscribe(() => this.#resync());
  }

  rest(hold: boolean): void {
    this.#ticks?.unsubscribe();
    this.#ticks = undefined;
    if (hold) this.#feed.hold();
  }

  fail(error: ApiError): void {
    this.#waits.reject(error);
  }

  #gone(): ApiError {
    return ApiError.local('Stopped', `${this.name} was removed`);
  }

  #hear(set: ChangeSet<T>): void {
    // A period of its own, also none, replaces the informer's.
    if (set.cause === 'resync' && this.periodMs !== undefined) return;
    this.#feed.push(set);
  }

  #resync(): void {
    this.host.beforeResync();
    const { indexer } = this.host;
    if (!this.#removed && indexer.synced) this.#feed.push(resyncSet(indexer));
  }
}

/** The registrations of one informer. */
export class Registrations<T extends KubernetesObject> {
  readonly #host: RegistrationHost<T>;
  readonly #all = new Set<Registered<T>>();
  /** The smallest period there was when the run began; 0: none. */
  #checkMs = 0;
  #count = 0;
  /** Until the informer is started: one timer, and one warning. */
  #unstarted: Subscription | undefined;

  constructor(host: RegistrationHost<T>) {
    this.#host = host;
  }

  /** Changes that wait for handlers. */
  get lag(): number {
    let lag = 0;
    for (const registered of this.#all) lag += registered.lag;
    return lag;
  }

  add(handler: ResourceEventHandler<T>, options: EventHandlerOptions<T>): EventHandlerRegistration {
    this.#count++;
    const name = options.name ?? `handler ${this.#count}`;
    const periodMs = this.#period(name, options.resyncPeriodMs);
    const registered = new Registered(this.#host, handler, name, options, periodMs);
    // In its turn: a stop that was called before it does not hold it.
    this.#host.drain.run(() => {
      if (registered.removed) return;
      this.#all.add(registered);
      if (this.#host.isRunning()) registered.tick();
      registered.join();
      if (!this.#host.isRunning() && this.#host.over() === undefined) {
        const warn = () => this.#warnUnstarted();
        this.#unstarted ??= looseTimer(START_WITHIN_MS, this.#host.scheduler, warn);
      }
    });
    return registered;
  }

  /** A registration that is not of this informer does nothing. */
  remove(registration: EventHandlerRegistration, options: RemoveOptions): Promise<void> {
    if (!(registration instanceof Registered) || registration.host !== this.#host) {
      return Promise.resolve();
    }
    this.#all.delete(registration);
    if (this.#all.size === 0) this.#started();
    const removed = registration.remove(options);
    this.#host.onRemoved();
    return removed;
  }

  /** A run has begun. */
  begin(): void {
    this.#started();
    this.#checkMs = this.#host.resyncMs;
    for (const { periodMs } of this.#all) {
      if (!periodMs) continue;
      this.#checkMs = this.#checkMs === 0 ? periodMs : Math.min(this.#checkMs, periodMs);
    }
    for (const registered of this.#all) registered.begin();
  }

  /** The run has ended. `hold`: and nobody is to be called before the next. */
  rest(hold: boolean): void {
    this.#started();
    for (const registered of this.#all) registered.rest(hold);
  }

  /** The status is another one. Returns whether that was the end of a wait in vain. */
  check(): boolean {
    let inVain = false;
    for (const registered of this.#all) inVain = registered.check() || inVain;
    return inVain;
  }

  /** Nobody will be synced. */
  fail(error: ApiError): void {
    for (const registered of this.#all) registered.fail(error);
  }

  /** Or stopped, or without a handler: nobody waits for a start. */
  #started(): void {
    this.#unstarted?.unsubscribe();
    this.#unstarted = undefined;
  }

  #warnUnstarted(): void {
    const [first, ...others] = this.#all;
    if (first === undefined) return;
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    const message = `${first.name}${more} was added ${START_WITHIN_MS / 1000} s ago and is not called, because the informer was not started: call start()`;
    this.#host.warn({ type: 'not-started', subscriber: first.name, message });
  }

  #period(name: string, asked: number | undefined): number | undefined {
    const periodMs = asked === undefined ? undefined : checkedResyncPeriod(asked, name);
    if (!periodMs || periodMs >= this.#checkMs || !this.#host.isRunning()) return periodMs;
    const message = `${name} asks for a resync each ${periodMs} ms, but the informer runs with ${this.#checkMs} ms, which it gets`;
    this.#host.warn({ type: 'resync-raised', subscriber: name, message });
    return this.#checkMs;
  }
}
