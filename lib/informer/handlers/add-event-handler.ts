/**
 * `addEventHandler` and the handlers of one informer. A registration outlives the run: its resyncs are delivered only
 * during a run, and after a stop the next run reports the difference to it.
 * client-go: tools/cache/shared_informer.go, sharedProcessor.
 */
import type { Subscription } from 'rxjs';
import { ApiError } from '../../meta/api-error.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { inDrain } from '../../rx/drain.ts';
import { longInterval, looseTimer } from '../../rx/long-timer.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import { contentsOf } from '../listener.ts';
import { checkedResyncPeriod } from '../options.ts';
import { type EndOfRun, type InformerPart, type InformerPort, portOf } from '../part.ts';
import type { SharedInformer } from '../shared-informer.ts';
import { type SyncWaitOptions, Waits } from '../waits.ts';
import type {
  EventHandlerOptions,
  EventHandlerRegistration,
  RemoveOptions,
  ResourceEventHandler,
} from './event-handler.ts';
import { HandlerFeed } from './handler-feed.ts';

/** How long an idle informer may have a handler before a warning says that it was not started. */
const START_WITHIN_MS = 10_000;

class Registered<T extends KubernetesObject> implements EventHandlerRegistration {
  readonly #port: InformerPort<T>;
  readonly #feed: HandlerFeed<T>;
  readonly #waits: Waits;
  /** The name in errors of the waits. */
  readonly #subject: string;
  readonly #onRemove: (removed: Registered<T>) => void;
  /** The period of its own resyncs in milliseconds, 0 for never. `undefined` means with the resyncs of the informer. */
  readonly periodMs: number | undefined;
  #leave: (() => void) | undefined;
  #resyncs: Subscription | undefined;
  #removed = false;

  constructor(
    port: InformerPort<T>,
    feed: HandlerFeed<T>,
    periodMs: number | undefined,
    subject: string,
    onRemove: (removed: Registered<T>) => void,
  ) {
    this.#port = port;
    this.#feed = feed;
    this.periodMs = periodMs;
    this.#subject = subject;
    this.#onRemove = onRemove;
    const { drain, timing } = port;
    this.#waits = new Waits({
      ...{ scheduler: timing.scheduler, drain },
      stopError: () => (this.#removed ? this.#removedError() : port.stopError),
    });
    feed.onSynced = () => this.#waits.check();
  }

  get name(): string {
    return this.#feed.name;
  }

  get hasSynced(): boolean {
    return this.#feed.synced && this.#port.store.synced;
  }

  get lag(): number {
    return this.#feed.lag;
  }

  get removed(): boolean {
    return this.#removed;
  }

  whenSynced(wait: SyncWaitOptions = {}): Promise<void> {
    return this.#waits.until<void>(
      'whenSynced',
      () => (this.hasSynced ? { value: undefined } : undefined),
      wait,
      () => {
        const { store, board } = this.#port;
        const timeoutMs = wait.timeoutMs ?? 0;
        if (!store.synced) return board.notSynced(this.#subject, timeoutMs);
        const message = `${this.#subject} is not synced after ${timeoutMs} ms: the handler is busy (waiting changes: ${this.lag})`;
        return ApiError.local('NotObserved', message);
      },
      () => this.#port.board.blocking(this.#subject, wait),
    );
  }

  remove(options: RemoveOptions = {}): Promise<void> {
    if (!this.#removed) {
      this.#removed = true;
      this.#leave?.();
      this.#stopResyncs();
      this.#waits.reject(this.#removedError());
      this.#onRemove(this);
    }
    const closed = this.#feed.close(options);
    this.#port.leaving();
    return closed;
  }

  /** Checks the waits after a transition of the status. Returns whether a wait was rejected. */
  check(): boolean {
    return this.#waits.check();
  }

  join(): void {
    this.#leave = this.#port.join({ next: (set) => this.#receive(set) });
    // The handler was removed while it received the snapshot.
    if (this.#removed) this.#leave();
  }

  begin(): void {
    this.#feed.begin();
    this.startResyncs();
  }

  startResyncs(): void {
    // A callback that was called at the beginning of the run may have removed the handler.
    if (!this.periodMs || this.#removed || this.#resyncs !== undefined) return;
    const { drain, timing } = this.#port;
    this.#resyncs = longInterval(this.periodMs, timing.scheduler)
      .pipe(inDrain(drain))
      .subscribe(() => this.#resync());
  }

  end(why: EndOfRun, error: ApiError): void {
    this.#stopResyncs();
    if (why !== 'idle') this.#feed.hold();
    this.#waits.reject(error);
  }

  #stopResyncs(): void {
    this.#resyncs?.unsubscribe();
    this.#resyncs = undefined;
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
    this.#port.retryRefused();
    const { store } = this.#port;
    if (!this.#removed && store.synced) this.#feed.push(contentsOf(store, 'resync'));
  }
}

/** The handlers of one informer. */
class Handlers<T extends KubernetesObject> implements InformerPart<T> {
  readonly #port: InformerPort<T>;
  readonly #all = new Set<Registered<T>>();
  /** The shortest resync period that existed when the run began, in milliseconds; 0 if there was none. */
  #checkMs: number;
  #count = 0;
  /** The timer of the warning that the informer was not started. */
  #unstarted: Subscription | undefined;

  constructor(port: InformerPort<T>) {
    this.#port = port;
    this.#checkMs = port.resyncMs;
  }

  add(
    handler: ResourceEventHandler<T>,
    options: EventHandlerOptions<T>,
    subject?: string,
  ): Registered<T> {
    this.#count++;
    const name = options.name ?? `handler ${this.#count}`;
    const periodMs = this.#period(name, options.resyncPeriodMs);
    const feed = new HandlerFeed(this.#port, handler, name, options);
    const registered = new Registered(this.#port, feed, periodMs, subject ?? name, (removed) => {
      this.#all.delete(removed);
      if (this.#all.size === 0) this.#cancelWarning();
    });
    // In the drain, so that a stop that was called before does not apply to the new handler.
    this.#port.drain.run(() => {
      if (registered.removed) return;
      this.#all.add(registered);
      if (this.#port.active) registered.startResyncs();
      registered.join();
      if (!this.#port.active && this.#port.stopError === undefined) {
        const warn = () => this.#warnUnstarted();
        this.#unstarted ??= looseTimer(START_WITHIN_MS, this.#port.timing.scheduler, warn);
      }
    });
    return registered;
  }

  begin(): void {
    this.#cancelWarning();
    this.#checkMs = this.#port.resyncMs;
    for (const { periodMs } of this.#all) {
      if (!periodMs) continue;
      this.#checkMs = this.#checkMs === 0 ? periodMs : Math.min(this.#checkMs, periodMs);
    }
    for (const registered of this.#all) registered.begin();
  }

  transition(): boolean {
    let rejected = false;
    for (const registered of this.#all) rejected = registered.check() || rejected;
    return rejected;
  }

  waiting(): number {
    let lag = 0;
    for (const registered of this.#all) lag += registered.lag;
    return lag;
  }

  end(why: EndOfRun, error: ApiError): void {
    this.#cancelWarning();
    for (const registered of this.#all) registered.end(why, error);
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
    this.#port.warn({ type: 'not-started', subscriber: first.name, message });
  }

  #period(name: string, asked: number | undefined): number | undefined {
    const periodMs = asked === undefined ? undefined : checkedResyncPeriod(asked, name);
    if (!periodMs || periodMs >= this.#checkMs || !this.#port.active) return periodMs;
    const message = `${name} requests a resync every ${periodMs} ms. The informer is already running with a check period of ${this.#checkMs} ms, which is used instead`;
    this.#port.warn({ type: 'resync-raised', subscriber: name, message });
    return this.#checkMs;
  }
}

/**
 * Calls `handler` for every object of the store, then for each change. Does not start the informer.
 *
 * A promise that a callback returns is awaited before the next callback of this registration. Meanwhile its changes are
 * queued under the policy `delivery`. A callback that returns no promise runs within the commit of the change. One
 * handler may be registered many times. After a stop no callback begins. The waiting changes are kept, and the next run
 * reports the difference. Throws a `TypeError` if `informer` is not an informer, or if a period or a limit is not a valid
 * number. client-go: SharedInformer.AddEventHandlerWithOptions.
 *
 * ```
 * commits   a----b-c-c'--d      onAdd takes 4
 * onAdd     a---|b---|c'--|d    c and c' are folded
 * ```
 *
 * @example
 * ```ts
 * import { addEventHandler, createClient, createListWatch, createSharedInformer } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const informer = createSharedInformer(createListWatch(client, pods));
 * const log: string[] = [];
 * const registration = addEventHandler(informer, {
 *   onAdd: async (_pod, { key, cause }) => {
 *     await Promise.resolve(); // the next callback waits for this promise
 *     log.push(`${key} ${cause}`);
 *   },
 * });
 * informer.start();
 * await registration.whenSynced({ timeoutMs: 5_000 });
 * log; // => ['shop/web-0 initial']
 * await registration.remove({ pending: 'drain' });
 * await informer.stop();
 * ```
 */
export function addEventHandler<T extends KubernetesObject>(
  informer: Pick<SharedInformer<T>, 'indexer'>,
  handler: ResourceEventHandler<T>,
  options: EventHandlerOptions<T> = {},
): EventHandlerRegistration {
  return registerHandler(portOf<T>(informer, 'addEventHandler'), handler, options);
}

/** Like {@link addEventHandler}. `subject` is the name in errors of its waits, by default that of the handler. */
export function registerHandler<T extends KubernetesObject>(
  port: InformerPort<T>,
  handler: ResourceEventHandler<T>,
  options: EventHandlerOptions<T>,
  subject?: string,
): EventHandlerRegistration {
  return port.attach(Handlers, () => new Handlers(port)).add(handler, options, subject);
}
