/**
 * Delivers change sets to slow subscribers. The policy limits what waits for a subscriber. A slow subscriber never
 * delays the store or another subscriber, except under the policy `pause`.
 */

import { defer, Observable, type ObservableInput, Subject, Subscription } from 'rxjs';
import { take, takeUntil } from 'rxjs/operators';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { checkedLimit } from '../../rx/checked-option.ts';
import { type ChangeSet, stampOrigin } from '../../store/change-set.ts';
import type { ChangeStream } from '../../store/change-stream.ts';
import { Conflation } from '../../store/conflate-by-key.ts';
import type { Origin } from '../../store/origin.ts';
import { contentsOf } from '../fan-out.ts';
import { type InformerPort, portOf } from '../part.ts';
import type { SharedInformer } from '../shared-informer.ts';
import { contextOf, reportSubscriberErrors } from './report-subscriber-errors.ts';

/**
 * Called after each delivery. The next delivery waits until the returned observable or promise emits or completes. If
 * this function throws, or its result errors, the error is reported and the next delivery does not wait.
 */
export type Ready<T> = (delivered: ChangeSet<T>) => ObservableInput<unknown>;

/**
 * How changes are queued, and how many, while a subscriber or a handler is busy.
 *
 * - `conflate` folds the changes per key. At most one change per key waits, and a deletion is never lost.
 * - `buffer` keeps up to `limit` sets. Beyond that it folds them, starts over like `drop`, or pauses reading.
 * - `drop` keeps up to `limit` sets. Beyond that they are dropped, and a `reset` set of the store replaces them.
 *
 * Without `ready`, the subscriber always has capacity for the next set.
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

/** Returns the policy. Throws a `TypeError` if its limit is invalid. */
export function checkedPolicy<T>(policy: DeliveryPolicy<T>): DeliveryPolicy<T> {
  if (policy.kind !== 'conflate') checkedLimit(policy.limit, 'delivery: limit');
  return policy;
}

/** A stream of change sets under a policy. */
export interface Delivery<T> {
  /** Emits like `changes$` of the informer. Each subscription has its own queue, and holds the run. */
  readonly changes$: ChangeStream<T>;
  /** How many changes wait for the subscribers. */
  readonly lag: number;
}

class PolicyQueue<T extends KubernetesObject> {
  readonly #policy: DeliveryPolicy<T>;
  readonly #port: InformerPort<T>;
  readonly #folded = new Conflation<T>();
  #sets: ChangeSet<T>[] = [];
  /** The waiting sets were dropped, so the next delivery is a `reset` set of the store. */
  #startOver = false;
  #origin: Origin | undefined;
  #resume: (() => void) | undefined;

  constructor(policy: DeliveryPolicy<T>, port: InformerPort<T>) {
    this.#policy = policy;
    this.#port = port;
  }

  get lag(): number {
    let lag = this.#folded.size;
    for (const set of this.#sets) lag += set.changes.length;
    return this.#startOver ? lag + 1 : lag;
  }

  /** Whether nothing waits, not even a set without changes that says that the store is synced. */
  get isEmpty(): boolean {
    return !this.#startOver && this.#sets.length === 0 && this.#folded.isEmpty;
  }

  push(set: ChangeSet<T>): void {
    const policy = this.#policy;
    this.#origin = set.origin;
    if (this.#startOver) return;
    if (policy.kind === 'conflate' || !this.#folded.isEmpty) return this.#folded.fold(set);
    this.#sets.push(set);
    if (this.#sets.length <= policy.limit) return;
    const overflow = policy.kind === 'drop' ? 'reset' : policy.overflow;
    if (overflow === 'pause') this.#resume ??= this.#port.pause();
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
      const contents = contentsOf(this.#port.store, 'snapshot');
      return this.#origin === undefined ? contents : stampOrigin(contents, this.#origin);
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

/**
 * Delivers the change sets of an informer to slow subscribers: the policy says how they are queued, and how many. Throws
 * a `TypeError` on an invalid limit, and if `informer` is not an informer.
 *
 * @example
 * ```ts
 * import { createClient, createListWatch, createSharedInformer, deliver } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 * import { firstValueFrom, timer } from 'rxjs';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const informer = createSharedInformer(createListWatch(client, pods));
 * // At most one set per 200 ms, with at most one change per object.
 * const { changes$ } = deliver(informer, { kind: 'conflate', ready: () => timer(200) });
 * informer.start();
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * (await firstValueFrom(changes$)).added.length; // => 1
 * await informer.stop();
 * ```
 */
export function deliver<T extends KubernetesObject>(
  informer: Pick<SharedInformer<T>, 'changes$' | 'indexer' | 'status$'>,
  policy: DeliveryPolicy<T>,
): Delivery<T> {
  checkedPolicy(policy);
  const port = portOf<T>(informer, 'deliver');
  const report = (error: unknown, subscriber: string, set: ChangeSet<T>) =>
    port.report(error, contextOf(subscriber, set.changes[0]?.key));
  const queues = new Set<PolicyQueue<T>>();
  const served$ = new Observable<ChangeSet<T>>((subscriber) => {
    const queue = new PolicyQueue(policy, port);
    const unsubscribed = new Subject<void>();
    queues.add(queue);
    let waiting: Subscription | undefined;
    let ended = false;
    // Always called in the drain, so that nothing is taken from the queue between a commit and its delivery to the
    // queue, and so that a call never begins within another.
    const serve = () => {
      while (waiting === undefined && !subscriber.closed && !queue.isEmpty) {
        const set = queue.take();
        if (set === undefined) continue;
        subscriber.next(set);
        const { ready } = policy;
        // If the subscriber unsubscribed while it handled the set, `ready` is not called, because no set follows.
        if (ready === undefined || subscriber.closed) continue;
        const held = new Subscription();
        waiting = held;
        const resume = () =>
          port.drain.run(() => {
            waiting = undefined;
            serve();
          });
        held.add(
          defer(() => ready(set))
            .pipe(take(1))
            .subscribe({
              error: (error) => {
                report(error, `deliver ${policy.kind}`, set);
                resume();
              },
              complete: resume,
            }),
        );
      }
      if (ended && waiting === undefined) subscriber.complete();
    };
    subscriber.add(() => {
      queues.delete(queue);
      // Completes the source below, which also ends a pause.
      unsubscribed.next();
      waiting?.unsubscribe();
    });
    informer.changes$
      // takeUntil, because a subscriber that unsubscribes with the first set does so before the subscription is
      // returned.
      .pipe(takeUntil(unsubscribed))
      .subscribe({
        next: (set) => {
          // A set without changes says that the store is synced or empty. It needs no capacity.
          if (set.changes.length === 0 && queue.isEmpty) subscriber.next(set);
          else queue.push(set);
          serve();
        },
        error: (error) => subscriber.error(error),
        complete: () => {
          ended = true;
          // A paused subscriber of this run must not hold up the next run.
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
    changes$: reportSubscriberErrors(served$, report),
  };
}
