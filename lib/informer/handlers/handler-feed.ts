/**
 * Calls one handler, one callback at a time. While a returned promise is awaited, changes wait in the handler's own
 * queue, so that other handlers are not delayed. Otherwise a callback runs within the commit of its change.
 * client-go: tools/cache/shared_informer.go, processorListener.
 */
import { Subscription } from 'rxjs';
import { checkedCount, checkedDuration } from '../../checks/checked-option.ts';
import type { Change } from '../../delta/net-change.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { isThenable } from '../../rx/is-thenable.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import { type ChangeSet, createChangeSet, headOf } from '../../store/change-set.ts';
import type { InformerPort } from '../part.ts';
import { type DeliveryPolicy, waitingLimitsOf, whenReady } from './deliver.ts';
import {
  callHandler,
  type EventHandlerOptions,
  type EventNotification,
  type RemoveOptions,
  type ResourceEventHandler,
} from './event-handler.ts';
import { WaitingChanges } from './waiting-changes.ts';

/** The parts of its informer that a feed uses. */
type FeedPort<T extends KubernetesObject> = Pick<
  InformerPort<T>,
  'drain' | 'timing' | 'pause' | 'report' | 'warn' | 'caughtUp'
>;

/** One handler and what waits for it. A handler has no callback for a reset, so for it a policy folds in place of starting over. */
export class HandlerFeed<T extends KubernetesObject> {
  readonly name: string;
  readonly #port: FeedPort<T>;
  readonly #handler: ResourceEventHandler<T>;
  readonly #policy: DeliveryPolicy<T>;
  readonly #queue: WaitingChanges<T>;
  readonly #elapsedMs: () => number;
  readonly #slowAfterMs: number;
  readonly #slowPending: number;
  /** Called when the handler has processed the first list of a generation. */
  onSynced: () => void = () => undefined;
  /** The set that ends the first list, until the handler has reached it. */
  #endOfFirstList: number | undefined;
  #synced = false;
  /** The end of the current batch, after which the policy is asked. */
  #batch: number | undefined;
  /** The changes of the current batch that were delivered. */
  #delivered: Change<T>[] = [];
  #lastSet: ChangeSet<T> | undefined;
  #running: EventNotification | undefined;
  #calling = false;
  /** Whether a promise of the handler, or the policy, is awaited. */
  #busy = false;
  #waiting: Subscription | undefined;
  #pumping = false;
  #state: 'open' | 'held' | 'draining' | 'closed' = 'open';
  #warned = false;
  #onDone: (() => void)[] = [];

  constructor(
    port: FeedPort<T>,
    handler: ResourceEventHandler<T>,
    name: string,
    options: EventHandlerOptions<T>,
  ) {
    this.name = name;
    this.#port = port;
    this.#handler = handler;
    this.#policy = options.delivery ?? { kind: 'conflate' };
    this.#queue = new WaitingChanges(waitingLimitsOf(this.#policy, name, () => port.pause()));
    this.#elapsedMs = stopwatch(port.timing.scheduler);
    this.#slowAfterMs = checkedDuration(options.slowAfterMs ?? 100, `${name}: slowAfterMs`);
    this.#slowPending = checkedCount(options.slowPending ?? 1024, `${name}: slowPending`, 0);
  }

  /** How many changes wait. */
  get lag(): number {
    return this.#queue.size;
  }

  /** Whether the handler has processed the first list of this generation. */
  get synced(): boolean {
    return this.#synced;
  }

  push(set: ChangeSet<T>): void {
    if (set.changes.length > 0) this.#queue.push(set);
    this.#lastSet = set;
    if (set.synced && !this.#synced) this.#endOfFirstList ??= this.#queue.end;
    this.#pump();
  }

  /** Begins a new generation, which has its own first list. */
  begin(): void {
    this.#synced = false;
    this.#endOfFirstList = undefined;
    // The pause of an earlier run; its promise may never settle.
    this.#queue.release();
    if (this.#state !== 'held') return;
    this.#state = 'open';
    this.#pump();
  }

  /**
   * Prevents calls until {@link begin}. The waiting changes are kept, because the next run reports the difference to
   * them.
   */
  hold(): void {
    if (this.#state === 'open') this.#state = 'held';
  }

  /** Ends the feed. Resolves when no call is in progress and, with `drain`, every waiting change is delivered. */
  close({ pending = 'drop', within }: RemoveOptions): Promise<void> {
    // If nothing waits, `drain` is the same as `drop`, so that the policy is not waited for.
    if (pending === 'drop' || this.#queue.size === 0) {
      this.#state = 'closed';
      this.#queue.clear();
      this.#waiting?.unsubscribe();
      if (this.#waiting !== undefined) this.#busy = false;
      this.#waiting = undefined;
      this.#settle();
    } else if (this.#state !== 'closed') {
      this.#state = 'draining';
      this.#port.drain.run(() => this.#pump());
    }
    const inside = this.#calling || (within !== undefined && within === this.#running);
    if (inside || this.#isDone) return Promise.resolve();
    return new Promise<void>((resolve) => {
      this.#onDone.push(resolve);
    });
  }

  get #isDone(): boolean {
    return !this.#busy && !this.#calling && this.#queue.size === 0;
  }

  get #mayCall(): boolean {
    return !this.#busy && (this.#state === 'open' || this.#state === 'draining');
  }

  /** Delivers waiting changes until a call is awaited. Not re-entrant. */
  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    for (;;) {
      this.#checkSync();
      if (!this.#mayCall || this.#askPolicy()) break;
      if (this.#policy.ready !== undefined) this.#batch ??= this.#queue.endOfBatch;
      const change = this.#queue.next();
      if (change === undefined) break;
      this.#call(change);
    }
    this.#pumping = false;
    if (this.#warned && this.#queue.size === 0) this.#warned = false;
    this.#settle();
  }

  /** Resolves the promises of `close` when the feed is done. */
  #settle(): void {
    if (this.#onDone.length === 0 || !this.#isDone) return;
    const resolvers = this.#onDone;
    this.#onDone = [];
    for (const resolve of resolvers) resolve();
  }

  /** Sets `synced` when no change of the first list waits or is awaited. */
  #checkSync(): void {
    if (this.#endOfFirstList === undefined || this.#busy) return;
    if (!this.#queue.hasPassed(this.#endOfFirstList)) return;
    this.#endOfFirstList = undefined;
    this.#synced = true;
    this.onSynced();
  }

  #call(change: Change<T>): void {
    const { key, previous, object } = change;
    const cause = this.#queue.cause === 'snapshot' ? 'initial' : this.#queue.cause;
    const isInInitialList = cause === 'initial' && previous === undefined && object !== undefined;
    const notification = { key, cause, isInInitialList };
    const timed = !this.#warned && this.#queue.size > this.#slowPending;
    let sinceMs = timed ? this.#elapsedMs() : 0;
    let result: unknown;
    this.#running = notification;
    this.#calling = true;
    try {
      result = callHandler(this.#handler, change, notification);
      if (!isThenable(result)) result = undefined;
    } catch (error) {
      result = undefined;
      this.#port.report(error, { subscriber: this.name, key: change.key });
    }
    this.#calling = false;
    if (this.#policy.ready !== undefined) this.#delivered.push(change);
    if (result === undefined) {
      if (timed) this.#checkTime(notification, this.#elapsedMs() - sinceMs);
      return;
    }
    if (!timed) sinceMs = this.#elapsedMs();
    this.#busy = true;
    const settled = () =>
      this.#port.drain.run(() => {
        this.#busy = false;
        this.#checkTime(notification, this.#elapsedMs() - sinceMs);
        this.#pump();
        if (!this.#busy) this.#port.caughtUp();
      });
    const failed = (error: unknown) =>
      this.#port.report(error, { subscriber: this.name, key: notification.key });
    try {
      Promise.resolve(result).then(settled, (error: unknown) => {
        failed(error);
        settled();
      });
    } catch (error) {
      // A custom `then` may throw.
      this.#busy = false;
      failed(error);
    }
  }

  #checkTime({ key }: EventNotification, tookMs: number): void {
    const pending = this.#queue.size;
    if (this.#warned || tookMs <= this.#slowAfterMs || pending <= this.#slowPending) return;
    this.#warned = true;
    const message = `${this.name} took ${tookMs} ms for ${key} while ${pending} changes were waiting for it`;
    this.#port.warn({ type: 'slow-handler', subscriber: this.name, key, tookMs, pending, message });
  }

  /** Asks the policy after each batch. Returns whether the policy must be awaited. */
  #askPolicy(): boolean {
    const { ready } = this.#policy;
    if (ready === undefined || this.#batch === undefined) return false;
    if (!this.#queue.hasPassed(this.#batch)) return false;
    if (this.#state === 'draining' && this.#queue.size === 0) return false;
    this.#batch = undefined;
    const delivered = this.#delivered;
    this.#delivered = [];
    const lastSet = this.#lastSet;
    if (delivered.length === 0 || lastSet === undefined) return false;
    const isDeleted = ({ object }: Change<T>) => object === undefined;
    const inOrder = [
      ...delivered.filter(isDeleted),
      ...delivered.filter((change) => !isDeleted(change)),
    ];
    const done = () =>
      this.#port.drain.run(() => {
        this.#busy = false;
        this.#waiting = undefined;
        this.#pump();
      });
    this.#busy = true;
    const set = createChangeSet({ ...headOf(lastSet), reset: false }, inOrder);
    // Set before `ready` is called, because `ready` may remove the handler.
    const waiting = new Subscription();
    this.#waiting = waiting;
    const failed = (error: unknown) => this.#port.report(error, { subscriber: this.name });
    waiting.add(whenReady(ready, set, failed).subscribe({ complete: done }));
    return this.#busy;
  }
}
