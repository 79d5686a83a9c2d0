/**
 * Delivers change sets to slow subscribers. The policy limits what waits for a subscriber. A slow subscriber never
 * delays the store or another subscriber, except under the policy `pause`.
 */

import { defer, EMPTY, Observable, type ObservableInput, Subject, Subscription } from 'rxjs';
import { catchError, take, takeUntil } from 'rxjs/operators';
import { check, checkedLimit } from '../../checks/checked-option.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { type ChangeSet, stampOrigin } from '../../store/change-set.ts';
import type { ChangeStream } from '../../store/change-stream.ts';
import { LimitedWaiting, type WaitingLimits } from '../../store/limited-waiting.ts';
import type { Origin } from '../../store/origin.ts';
import { contentsOf } from '../listener.ts';
import { portOf } from '../part.ts';
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
 * - `buffer` keeps up to `limit` sets. Beyond that it folds them, or pauses reading.
 * - `drop` keeps up to `limit` sets. Beyond that they are dropped, and a `reset` set of the store replaces them.
 *
 * Without `ready`, the subscriber always has capacity for the next set.
 */
export type DeliveryPolicy<T> =
  | { readonly kind: 'conflate'; readonly ready?: Ready<T> | undefined }
  | {
      readonly kind: 'buffer';
      readonly limit: number;
      readonly overflow: 'conflate' | 'pause';
      readonly ready?: Ready<T> | undefined;
    }
  | { readonly kind: 'drop'; readonly limit: number; readonly ready?: Ready<T> | undefined };

/** How change sets wait under a policy. Throws a `TypeError` if the policy is invalid. */
export function waitingLimitsOf<T>(
  policy: DeliveryPolicy<T>,
  owner: string,
  pause: () => () => void,
): WaitingLimits<T> {
  const { kind }: { readonly kind: string } = policy;
  check(
    kind === 'conflate' || kind === 'buffer' || kind === 'drop',
    `${owner}: delivery.kind`,
    kind,
    "'conflate', 'buffer' or 'drop'",
  );
  if (policy.kind === 'conflate') return {};
  const limit = checkedLimit(policy.limit, `${owner}: delivery.limit`);
  const overflow: string = policy.kind === 'buffer' ? policy.overflow : 'conflate';
  check(
    overflow === 'conflate' || overflow === 'pause',
    `${owner}: delivery.overflow`,
    overflow,
    "'conflate' or 'pause'; to begin again with the store, use { kind: 'drop', limit }",
  );
  return overflow === 'pause' ? { limit, pause } : { limit };
}

/** Completes when the subscriber has capacity again. An error is reported, and then it counts as having capacity. */
export function whenReady<T>(
  ready: Ready<T>,
  delivered: ChangeSet<T>,
  report: (error: unknown) => void,
): Observable<unknown> {
  return defer(() => ready(delivered)).pipe(
    take(1),
    catchError((error) => {
      report(error);
      return EMPTY;
    }),
  );
}

/** A stream of change sets under a policy. */
export interface Delivery<T> {
  /** Emits like `changes$` of the informer. Each subscription has its own queue, and holds the run. */
  readonly changes$: ChangeStream<T>;
  /** How many changes wait for the subscribers. */
  readonly lag: number;
}

/**
 * Delivers the change sets of an informer to slow subscribers: the policy says how they are queued, and how many. Throws
 * a `TypeError` on an invalid policy, and if `informer` is not an informer.
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
  const port = portOf<T>(informer, 'deliver');
  const limits = waitingLimitsOf(policy, 'deliver', () => port.pause());
  const report = (error: unknown, subscriber: string, set: ChangeSet<T>) =>
    port.report(error, contextOf(subscriber, set.changes[0]?.key));
  const { ready } = policy;
  const all = new Set<LimitedWaiting<T>>();
  const served$ = new Observable<ChangeSet<T>>((subscriber) => {
    let origin: Origin | undefined;
    const startOver = () => {
      const contents = contentsOf(port.store, 'snapshot');
      return origin === undefined ? contents : stampOrigin(contents, origin);
    };
    const waiting = new LimitedWaiting<T>({
      ...limits,
      ...(policy.kind === 'drop' && { startOver }),
    });
    const unsubscribed = new Subject<void>();
    all.add(waiting);
    let busy: Subscription | undefined;
    let ended = false;
    // Always called in the drain, so that nothing is taken between a commit and its push, and so that a call never begins
    // within another.
    const serve = () => {
      while (busy === undefined && !subscriber.closed && !waiting.isEmpty) {
        const set = waiting.take();
        if (set === undefined) continue;
        subscriber.next(set);
        // If the subscriber unsubscribed while it handled the set, `ready` is not called, because no set follows.
        if (ready === undefined || subscriber.closed) continue;
        // Set before `ready` is called, because `ready` may unsubscribe.
        busy = new Subscription();
        const resume = () =>
          port.drain.run(() => {
            busy = undefined;
            serve();
          });
        const failed = (error: unknown) => report(error, `deliver ${policy.kind}`, set);
        busy.add(whenReady(ready, set, failed).subscribe({ complete: resume }));
      }
      if (ended && busy === undefined) subscriber.complete();
    };
    subscriber.add(() => {
      all.delete(waiting);
      // Completes the source below, which also ends a pause.
      unsubscribed.next();
      busy?.unsubscribe();
    });
    informer.changes$
      // takeUntil, because a subscriber that unsubscribes with the first set does so before the subscription is
      // returned.
      .pipe(takeUntil(unsubscribed))
      .subscribe({
        next: (set) => {
          // A set without changes says that the store is synced or empty. It needs no capacity.
          origin = set.origin;
          const isFree = set.changes.length === 0 && waiting.isEmpty;
          waiting.push(set);
          const free = isFree ? waiting.take() : undefined;
          if (free !== undefined) subscriber.next(free);
          serve();
        },
        error: (error) => subscriber.error(error),
        complete: () => {
          ended = true;
          // A paused subscriber of this run must not hold up the next run.
          waiting.release();
          serve();
        },
      });
  });
  return {
    get lag() {
      let lag = 0;
      for (const waiting of all) lag += waiting.size;
      return lag;
    },
    changes$: reportSubscriberErrors(served$, report),
  };
}
