/**
 * Feeds one handler, one call at a time. A call that answers a promise is awaited: what comes in the meantime waits in
 * the handler's own queue, so nobody else is held back. As long as nothing is awaited a change is told in the commit
 * that brought it. client-go: tools/cache/shared_informer.go, processorListener.
 */
import { defer, type SchedulerLike, Subscription } from 'rxjs';
import { take } from 'rxjs/operators';
import type { Change } from '../../delta/net-change.ts';
import { checkedCount, checkedDuration } from '../../rx/checked-option.ts';
import type { Drain } from '../../rx/drain.ts';
import { isThenable } from '../../rx/is-thenable.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import { type ChangeSet, createChangeSet } from '../../store/change-set.ts';
import type { InformerWarning } from '../status/warnings.ts';
import type { DeliveryPolicy } from './delivery.ts';
import {
  callHandler,
  type EventHandlerOptions,
  type EventNotification,
  type RemoveOptions,
  type ResourceEventHandler,
} from './event-handler.ts';
import { HandlerQueue, type Marker } from './handler-queue.ts';

/** What a feed needs of its informer. */
export interface FeedHost {
  readonly drain: Drain;
  readonly scheduler: SchedulerLike;
  /** Stops reading until the answer is called. */
  pause(): () => void;
  report(error: unknown, context: { readonly subscriber: string; readonly key?: string }): void;
  warn(warning: Omit<InformerWarning, 'informer'>): void;
  /** What waited for a handler has been told. */
  onCaughtUp(): void;
}

/** One handler and what waits for it. */
export class HandlerFeed<T> {
  readonly name: string;
  readonly #host: FeedHost;
  readonly #handler: ResourceEventHandler<T>;
  readonly #policy: DeliveryPolicy<T>;
  readonly #queue: HandlerQueue<T>;
  readonly #passedMs: () => number;
  readonly #slowAfterMs: number;
  readonly #slowPending: number;
  readonly #onSynced: () => void;
  /** The end of the first list, while it has not been reached. */
  #first: Marker | undefined;
  #synced = false;
  /** What is told in one go, for a policy that is asked after it. */
  #batch: Marker | undefined;
  #told: Change<T>[] = [];
  #head: ChangeSet<T> | undefined;
  #running: EventNotification | undefined;
  #calling = false;
  /** A promise of the handler, or the policy, is awaited. */
  #busy = false;
  #waiting: Subscription | undefined;
  #pumping = false;
  #state: 'open' | 'held' | 'draining' | 'closed' = 'open';
  #warned = false;
  #onDone: (() => void)[] = [];

  constructor(
    host: FeedHost,
    handler: ResourceEventHandler<T>,
    name: string,
    options: EventHandlerOptions<T>,
    onSynced: () => void,
  ) {
    this.name = name;
    this.#host = host;
    this.#handler = handler;
    this.#policy = options.delivery ?? { kind: 'conflate' };
    this.#queue = new HandlerQueue(this.#policy, () => host.pause());
    this.#passedMs = stopwatch(host.scheduler);
    this.#slowAfterMs = checkedDuration(options.slowAfterMs ?? 100, `${name}: slowAfterMs`);
    this.#slowPending = checkedCount(options.slowPending ?? 1024, `${name}: slowPending`, 0);
    this.#onSynced = onSynced;
  }

  /** Changes that wait. */
  get lag(): number {
    return this.#queue.size;
  }

  /** The handler is through with the first list of this generation. */
  get synced(): boolean {
    return this.#synced;
  }

  push(set: ChangeSet<T>): void {
    this.#queue.push(set, this.#busy || this.#calling || this.#state === 'held');
    this.#head = set;
    if (set.synced && !this.#synced) this.#first ??= this.#queue.markEnd();
    this.#pump();
  }

  /** A new generation: its first list is another. */
  begin(): void {
    this.#synced = false;
    this.#queue.unmark(this.#first);
    this.#first = undefined;
    if (this.#state !== 'held') return;
    this.#state = 'open';
    this.#pump();
  }

  /** No call begins before {@link begin}; what waits is kept, because the next run tells the difference to it. */
  hold(): void {
    if (this.#state === 'open') this.#state = 'held';
  }

  /** Resolves when nothing of it is left to do. */
  close({ pending = 'drop', within }: RemoveOptions): Promise<void> {
    // With nothing to drain, neither is a policy asked that nobody waits for any more.
    if (pending === 'drop' || this.#queue.size === 0) {
      this.#state = 'closed';
      this.#queue.clear();
      this.#waiting?.unsubscribe();
      if (this.#waiting !== undefined) this.#busy = false;
      this.#waiting = undefined;
      this.#settle();
    } else if (this.#state !== 'closed') {
      this.#state = 'draining';
      this.#host.drain.run(() => this.#pump());
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

  /** Tells what waits until a call is awaited. Never within itself. */
  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    for (;;) {
      this.#checkSync();
      if (!this.#mayCall || this.#askPolicy()) break;
      this.#queue.prepare();
      this.#checkSync();
      if (this.#policy.ready !== undefined) this.#batch ??= this.#queue.markBatch();
      const change = this.#queue.next();
      if (change === undefined) break;
      this.#call(change);
    }
    this.#pumping = false;
    if (this.#queue.size === 0) this.#warned = false;
    this.#settle();
  }

  /** Resolves those who wait for the end of a removed handler, once nothing of it is left to do. */
  #settle(): void {
    if (this.#onDone.length === 0 || !this.#isDone) return;
    const resolvers = this.#onDone;
    this.#onDone = [];
    for (const resolve of resolvers) resolve();
  }

  /** The first list is through when nothing of it waits or is awaited. */
  #checkSync(): void {
    if (this.#first === undefined || this.#first.left > 0 || this.#busy) return;
    this.#queue.unmark(this.#first);
    this.#first = undefined;
    this.#synced = true;
    this.#onSynced();
  }

  #call(change: Change<T>): void {
    const { key, previous, object } = change;
    const { cause } = this.#queue;
    const isInInitialList = cause === 'initial' && previous === undefined && object !== undefined;
    const notification = { key, cause, isInInitialList };
    const timed = !this.#warned && this.#queue.size > this.#slowPending;
    let sinceMs = timed ? this.#passedMs() : 0;
    let answer: unknown;
    this.#running = notification;
    this.#calling = true;
    try {
      answer = callHandler(this.#handler, change, notification);
      if (!isThenable(answer)) answer = undefined;
    } catch (error) {
      answer = undefined;
      this.#host.report(error, { subscriber: this.name, key: change.key });
    }
    this.#calling = false;
    if (this.#policy.ready !== undefined) this.#told.push(change);
    if (answer === undefined) {
      if (timed) this.#checkTime(notification, this.#passedMs() - sinceMs);
      return;
    }
    if (!timed) sinceMs = this.#passedMs();
    this.#busy = true;
    const settled = () =>
      this.#host.drain.run(() => {
        this.#busy = false;
        this.#checkTime(notification, this.#passedMs() - sinceMs);
        this.#pump();
        if (!this.#busy) this.#host.onCaughtUp();
      });
    const failed = (error: unknown) =>
      this.#host.report(error, { subscriber: this.name, key: notification.key });
    try {
      Promise.resolve(answer).then(settled, (error: unknown) => {
        failed(error);
        settled();
      });
    } catch (error) {
      // A promise with a `then` of its own.
      this.#busy = false;
      failed(error);
    }
  }

  #checkTime({ key }: EventNotification, tookMs: number): void {
    const pending = this.#queue.size;
    if (this.#warned || tookMs <= this.#slowAfterMs || pending <= this.#slowPending) return;
    this.#warned = true;
    const message = `${this.name} took ${tookMs} ms for ${key} while ${pending} changes wait for it`;
    this.#host.warn({ type: 'slow-handler', subscriber: this.name, key, tookMs, pending, message });
  }

  /** Asks the policy after each batch. Answers whether it has to be awaited. */
  #askPolicy(): boolean {
    const { ready } = this.#policy;
    if (ready === undefined || this.#batch === undefined || this.#batch.left > 0) return false;
    if (this.#state === 'draining' && this.#queue.size === 0) return false;
    this.#queue.unmark(this.#batch);
    this.#batch = undefined;
    const told = this.#told;
    this.#told = [];
    const head = this.#head;
    if (told.length === 0 || head === undefined) return false;
    const isGone = ({ object }: Change<T>) => object === undefined;
    const inOrder = [...told.filter(isGone), ...told.filter((change) => !isGone(change))];
    const done = () =>
      this.#host.drain.run(() => {
        this.#busy = false;
        this.#waiting = undefined;
        this.#pump();
      });
    this.#busy = true;
    const set = createChangeSet({ ...headOf(head), reset: false }, inOrder);
    // Here before it is asked: it may remove the handler.
    const waiting = new Subscription();
    this.#waiting = waiting;
    waiting.add(
      defer(() => ready(set))
        .pipe(take(1))
        .subscribe({
          error: (error: unknown) => {
            this.#host.report(error, { subscriber: this.name });
            done();
          },
          complete: done,
        }),
    );
    return this.#busy;
  }
}

function headOf<T>({ rev, resourceVersion, synced, initial, cause }: ChangeSet<T>) {
  return { rev, resourceVersion, synced, initial, cause };
}
