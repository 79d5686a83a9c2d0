/**
 * How one subscriber that may be slow is served. Its policy bounds what waits for it; it never delays the store
 * or another subscriber, but for the one that asks for `pause`.
 */

import { defer, Observable, type ObservableInput, Subject, Subscription } from 'rxjs';
import { take, takeUntil } from 'rxjs/operators';
import { checkedLimit } from '../../rx/checked-option.ts';
import type { Drain } from '../../rx/drain.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import type { ChangeStream } from '../../store/change-stream.ts';
import { Conflation } from '../../store/conflate-by-key.ts';
import { reportSubscriberErrors } from './report-subscriber-errors.ts';

/**
 * Asked after each delivery: when it emits or completes, the subscriber can take more. So it can when this throws or
 * errors, which is reported.
 */
export type Ready<T> = (delivered: ChangeSet<T>) => ObservableInput<unknown>;

/**
 * `conflate`: fold per key; pending is at most the number of keys, and a delete is never lost.
 * `buffer`: keep up to `limit` sets, then fold them, start over from the store, or pause reading.
 * `drop`: keep up to `limit` sets, then drop them and start over from the store with a `reset` set.
 * Without `ready` the subscriber can always take more.
 */
export type DeliveryPolicy<T> =
  | { readonly kind: 'conflate'; readonly ready?: Ready<T> | undefined }
  | {
      readonly kind: 'buffer';
      readonly limit: number;
      readonly overflow: 'conflate' | 'reset' | 'pause';
      readonly ready?: Ready<T> | undefined;
    }
  | { readonly kind: 'drop'; readonly limit: number; readonly ready?: Ready<T> | undefined };

/** What a policy needs of its informer. */
export interface DeliverySource<T> {
  readonly changes$: Observable<ChangeSet<T>>;
  readonly drain: Drain;
  /** The store as a `reset` set. */
  snapshot(): ChangeSet<T>;
  /** Stops reading until the answer is called. */
  pause(): () => void;
  /** Told what a subscriber, or the policy, throws. */
  report(error: unknown, subscriber: string, set: ChangeSet<T>): void;
}

/** Change sets under a policy. */
export interface Delivery<T> {
  /** Each subscription has a queue of its own. */
  readonly changes$: ChangeStream<T>;
  /** Changes that wait for its subscribers: how far behind they are. */
  readonly lag: number;
}

class PolicyQueue<T> {
  readonly #policy: DeliveryPolicy<T>;
  readonly #source: DeliverySource<T>;
  readonly #folded = new Conflation<T>();
  #sets: ChangeSet<T>[] = [];
  /** What waits was dropped: the next delivery starts over from the store. */
  #startOver = false;
  #resume: (() => void) | undefined;

  constructor(policy: DeliveryPolicy<T>, source: DeliverySource<T>) {
    this.#policy = policy;
    this.#source = source;
  }

  get lag(): number {
    let lag = this.#folded.size;
    for (const set of this.#sets) lag += set.changes.length;
    return this.#startOver ? lag + 1 : lag;
  }

  /** Nothing is left to tell, be it only that the store is synced. */
  get isEmpty(): boolean {
    return !this.#startOver && this.#sets.length === 0 && this.#folded.isEmpty;
  }

  push(set: ChangeSet<T>): void {
    const policy = this.#policy;
    if (this.#startOver) return;
    if (policy.kind === 'conflate' || !this.#folded.isEmpty) return this.#folded.fold(set);
    this.#sets.push(set);
    if (this.#sets.length <= policy.limit) return;
    const overflow = policy.kind === 'drop' ? 'reset' : policy.overflow;
    if (overflow === 'pause') this.#resume ??= this.#source.pause();
    else if (overflow === 'reset') {
      this.#sets = [];
      this.#startOver = true;
    } else {
      for (const waiting of this.#sets) this.#folded.fold(waiting);
      this.#sets = [];
    }
  }

  take(): ChangeSet<T> | undefined {
    if (this.#startOver) {
      this.#startOver = false;
      return this.#source.snapshot();
    }
    const next = this.#folded.isEmpty ? this.#sets.shift() : this.#folded.take();
    if (this.#sets.length === 0) this.release();
    return next;
  }

  release(): void {
    this.#resume?.();
    this.#resume = undefined;
  }
}

/** Serves each subscription by `policy`. */
export function deliver<T>(source: DeliverySource<T>, policy: DeliveryPolicy<T>): Delivery<T> {
  if (policy.kind !== 'conflate') checkedLimit(policy.limit, 'delivery: limit');
  const queues = new Set<PolicyQueue<T>>();
  const served$ = new Observable<ChangeSet<T>>((subscriber) => {
    const queue = new PolicyQueue(policy, source);
    const left = new Subject<void>();
    queues.add(queue);
    let waiting: Subscription | undefined;
    let ended = false;
    let serving = false;
    // Within the drain, as the commits are: between a commit and its delivery to this queue nothing is taken of it.
    const serve = () => {
      if (serving) return;
      serving = true;
      while (waiting === undefined && !subscriber.closed && !queue.isEmpty) {
        const set = queue.take();
        if (set === undefined) continue;
        subscriber.next(set);
        const { ready } = policy;
        // Who leaves with what it was told has nobody left to ask for.
        if (ready === undefined || subscriber.closed) continue;
        const held = new Subscription();
        waiting = held;
        const goOn = () =>
          source.drain.run(() => {
            waiting = undefined;
            serve();
          });
        held.add(
          defer(() => ready(set))
            .pipe(take(1))
            .subscribe({
              error: (error) => {
                source.report(error, `deliver ${policy.kind}`, set);
                goOn();
              },
              complete: goOn,
            }),
        );
      }
      serving = false;
      if (ended && waiting === undefined) subscriber.complete();
    };
    subscriber.add(() => {
      queues.delete(queue);
      // Completes the source below, which ends a pause.
      left.next();
      waiting?.unsubscribe();
    });
    source.changes$
      // Left is who leaves with the first set, too, which comes before there is a subscription to end.
      .pipe(takeUntil(left))
      .subscribe({
        next: (set) => {
          // A set without changes tells that the store is synced, or that it is empty: it waits for nobody.
          if (set.changes.length === 0 && queue.isEmpty) subscriber.next(set);
          else queue.push(set);
          serve();
        },
        error: (error) => subscriber.error(error),
        complete: () => {
          ended = true;
          // The next run does not wait for a subscriber of this one.
          queue.release();
          serve();
        },
      });
  });
  return {
    get lag() {
      let lag = 0;
      for (const queue of queues) lag += queue.lag;
      return lag;
    },
    changes$: reportSubscriberErrors(served$, source.report),
  };
}
