/**
 * The registered handlers of one shared informer. A registration outlives the run: its resyncs are delivered only
 * during a run, and after a stop the next run reports the difference to it.
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
/** How long an idle informer may have a handler before a warning says that it was not started. */
const START_WITHIN_MS = 10_000;

/**
 * Validates a resync period in milliseconds. Returns 0 for never, also for `Infinity`. Throws a `TypeError` if the
 * period is not a number or is shorter than a second.
 */
export function checkedResyncPeriod(periodMs: number | undefined, owner: string): number {
  if (periodMs === undefined || periodMs === 0 || periodMs === Number.POSITIVE_INFINITY) return 0;
  if (typeof periodMs === 'number' && periodMs >= MIN_RESYNC_MS) return periodMs;
  throw new TypeError(
    `${owner}: resyncPeriodMs is ${periodMs}; it must be ${MIN_RESYNC_MS} or more milliseconds, or 0 for never`,
  );
}

/** The parts of their informer that registrations need. */
export interface RegistrationHost<T extends KubernetesObject> extends FeedHost {
  readonly indexer: IndexerReader<T>;
  readonly hub: FanOut<T>;
  /** The resync period of the informer in milliseconds; 0 means never. */
  readonly resyncMs: number;
  /** Whether a run is in progress. */
  isRunning(): boolean;
  /** Called before a resync, which tries the refused objects again. */
  beforeResync(): void;
  /** The error with which a wait on a stopped informer rejects; `undefined` if the informer is not stopped. */
  stopError(): ApiError | undefined;
  /** Called when a handler was removed, because the store may have no listener left. */
  onRemoved(): void;
  /** The error of a wait that timed out because the store is not synced. */
  notSynced(name: string, timeoutMs: number): ApiError;
  /** The error of a wait while the server refuses the first list; `undefined` if the wait continues. */
  blocking(name: string, wait: SyncWaitOptions): ApiError | undefined;
}

class Registered<T extends KubernetesObject> implements EventHandlerRegistration {
  readonly host: RegistrationHost<T>;
  readonly #feed: HandlerFeed<T>;
  readonly #waits: Waits;
  /** The period of its own resyncs in milliseconds, 0 for never. `undefined` means with the resyncs of the informer. */
  readonly periodMs: number | undefined;
  #leaveHub: (() => void) | undefined;
  #resyncs: Subscription | undefined;
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
      stopError: () => (this.#removed ? this.#removedError() : host.stopError()),
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
        const message = `${name} is not synced after ${timeoutMs} ms: the handler is busy (waiting changes: ${lag})`;
        return ApiError.local('NotObserved', message);
      },
      () => this.host.blocking(this.name, wait),
    );
  }

  /** Checks the waits after a transition of the status. Returns whether a wait was rejected. */
  check(): boolean {
    return this.#waits.check();
  }

  join(): void {
    this.#leaveHub = this.host.hub.join({ next: (set) => this.#receive(set) });
    // The handler was removed while it received the snapshot.
    if (this.#removed) this.#leaveHub();
  }

  get removed(): boolean {
    return this.#removed;
  }

  remove(options: RemoveOptions): Promise<void> {
    if (!this.#removed) {
      this.#removed = true;
      this.#leaveHub?.();
      this.end(false);
      this.fail(this.#removedError());
    }
    return this.#feed.close(options);
  }

  begin(): void {
    this.#feed.begin();
    this.startResyncs();
  }

  startResyncs(): void {
    // A callback that was called at the beginning of the run may have removed the handler.
    if (!this.periodMs || this.#removed || this.#resyncs !== undefined) return;
    const { drain, scheduler } = this.host;
    this.#resyncs = longInterval(this.periodMs, scheduler)
      .pipe(through(drain))
      .subscribe(() => this.#resync());
  }

  end(hold: boolean): void {
    this.#resyncs?.unsubscribe();
    this.#resyncs = undefined;
    if (hold) this.#feed.hold();
  }

  fail(error: ApiError): void {
    this.#waits.reject(error);
  }

  #removedError(): ApiError {
    return ApiError.local('Stopped', `${this.name} was removed`);
  }

  #receive(set: ChangeSet<T>): void {
    // A period of its own, also 0, replaces that of the informer.
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
  /** The shortest resync period that existed when the run began, in milliseconds; 0 if there was none. */
  #checkMs = 0;
  #count = 0;
  /** The timer of the warning that the informer was not started. */
  #unstarted: Subscription | undefined;

  constructor(host: RegistrationHost<T>) {
    this.#host = host;
  }

  /** How many changes wait for all handlers. */
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
    // In the drain, so that a stop that was called before does not apply to the new handler.
    this.#host.drain.run(() => {
      if (registered.removed) return;
      this.#all.add(registered);
      if (this.#host.isRunning()) registered.startResyncs();
      registered.join();
      if (!this.#host.isRunning() && this.#host.stopError() === undefined) {
        const warn = () => this.#warnUnstarted();
        this.#unstarted ??= looseTimer(START_WITHIN_MS, this.#host.scheduler, warn);
      }
    });
    return registered;
  }

  /** Removes a registration. A registration of another informer is ignored. */
  remove(registration: EventHandlerRegistration, options: RemoveOptions): Promise<void> {
    if (!(registration instanceof Registered) || registration.host !== this.#host) {
      return Promise.resolve();
    }
    this.#all.delete(registration);
    if (this.#all.size === 0) this.#cancelWarning();
    const removed = registration.remove(options);
    this.#host.onRemoved();
    return removed;
  }

  /** Begins a run. */
  begin(): void {
    this.#cancelWarning();
    this.#checkMs = this.#host.resyncMs;
    for (const { periodMs } of this.#all) {
      if (!periodMs) continue;
      this.#checkMs = this.#checkMs === 0 ? periodMs : Math.min(this.#checkMs, periodMs);
    }
    for (const registered of this.#all) registered.begin();
  }

  /** Ends the run. With `hold`, no handler is called before the next run. */
  end(hold: boolean): void {
    this.#cancelWarning();
    for (const registered of this.#all) registered.end(hold);
  }

  /** Checks the waits after a transition of the status. Returns whether a wait was rejected. */
  check(): boolean {
    let rejected = false;
    for (const registered of this.#all) rejected = registered.check() || rejected;
    return rejected;
  }

  /** Rejects the waits of all handlers. */
  fail(error: ApiError): void {
    for (const registered of this.#all) registered.fail(error);
  }

  /** Cancels the warning, because the informer was started or stopped, or has no handler left. */
  #cancelWarning(): void {
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
    const message = `${name} requests a resync every ${periodMs} ms. The informer is already running with a check period of ${this.#checkMs} ms, which is used instead`;
    this.#host.warn({ type: 'resync-raised', subscriber: name, message });
    return this.#checkMs;
  }
}
