/**
 * Leader election: of several processes, the one that holds a `Lease` and renews it in time leads. client-go: tools/leaderelection.
 *
 * The clocks of two processes never have to agree. A candidate waits from the moment at which it saw the Lease change, and the
 * leader stops before that wait has ended; each measures by its own clock. Only the speed of the clocks must be about the same.
 */
import { type Observable, Subscription } from 'rxjs';
import { checkedMetered, checkedName } from '../checks/checked-option.ts';
import type { ApiError } from '../meta/api-error.ts';
import type { Metered } from '../meta/metrics.ts';
import { type Timing, timingOf } from '../rx/timing.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { LeaseElectorOptions } from './candidacy.ts';
import { checkName, checkPeriods } from './checked-lease.ts';
import { LeaseElector } from './lease-elector.ts';
import { JITTER } from './lease-record.ts';

/** Options of {@link createLeaderElector}. */
export interface LeaderElectorOptions extends Timing {
  readonly client: Pick<KubeClient, 'request'>;
  readonly namespace: string;
  /** The name of the Lease, shared by all processes of which only one must work at a time. */
  readonly name: string;
  /** The unique identity of this process, for example the name of the pod with a random suffix. */
  readonly identity: string;
  /** How long a candidate waits after the last renewal that it saw before it may take the Lease, in milliseconds. @defaultValue 15000 */
  readonly leaseDurationMs?: number | undefined;
  /** How long a leader leads at most after it sent its last successful renewal, in milliseconds. @defaultValue 10000 */
  readonly renewDeadlineMs?: number | undefined;
  /** The time between renewals, in milliseconds. Candidates wait up to 2.2 times as long between attempts, at random. @defaultValue 2000 */
  readonly retryPeriodMs?: number | undefined;
  /** Whether `stop()` releases the Lease, so that another process need not wait until it expires. @defaultValue true */
  readonly releaseOnCancel?: boolean | undefined;
  /**
   * Called with the error of each failed request, which is retried, and when work outlasts a stop by `leaseDurationMs`.
   * @defaultValue `console.warn`, once until the Lease is won
   */
  readonly onError?: ((error: ApiError) => void) | undefined;
  /** Observes whether this process leads, under the name of the Lease: `metered(provider)`. @defaultValue not measured */
  readonly metrics?: Metered | undefined;
}

/** A candidate for the lead, or the leader. */
export interface LeaderElector {
  readonly identity: string;
  /** Emits whether this process leads, synchronously and at each change. Subscribing starts nothing; completes on `stop()`. */
  readonly leading$: Observable<boolean>;
  /** Emits the identity of the leader, as far as this process knows, or '' if there is none; synchronously and at each change. */
  readonly leader$: Observable<string>;
  /** Whether this process leads now. Also compares the time, because the machine may have slept since the last renewal. */
  readonly isLeading: boolean;
  /** The last failure, until a request succeeds; it may explain why no process leads. */
  readonly lastError: ApiError | undefined;
  /**
   * Registers work that must end before this process competes again after it has lost the lead, because a process that cannot work must
   * not hold the Lease. `end` is called when the lead is lost. If such work runs, it returns a promise that resolves when none does, and until
   * then `onError` and `lastError` say that this process does not compete. Returns a function that removes it. `createController` calls
   * this method.
   */
  onLost?(end: () => Promise<unknown> | undefined): () => void;
  /** Starts to compete. Has no effect if it competes already; during a stop it starts when that stop is done. */
  start(): void;
  /**
   * Stops competing: aborts the work of {@link LeaderElector.run}, waits for it, releases the Lease, and resolves. Stop work that
   * follows `leading$` before you call it. A `start` that waits for a stop is cancelled. Never rejects.
   *
   * Do not await it in that work, because each would wait for the other and the process would keep the Lease: call
   * `void elector.stop()`, and return. If work runs on for `leaseDurationMs`, `onError` receives that.
   */
  stop(): Promise<void>;
  /**
   * Starts, and calls `work` each time this process begins to lead, with a signal that aborts when it stops leading. `work` is not
   * called again before its last call has ended. Resolves on `stop()`, which `work` may call but must not await. If `work` throws,
   * the elector stops and `run` rejects.
   */
  run(work: (signal: AbortSignal) => unknown): Promise<void>;
}

/** The options with their defaults. Throws a `TypeError` if two processes could lead at the same time. */
function checked(options: LeaderElectorOptions): LeaseElectorOptions {
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
  checkName(options.namespace, 'createLeaderElector: namespace', 63);
  checkName(options.name, 'createLeaderElector: name', 253);
  checkedName(options.identity, 'createLeaderElector: identity');
  checkedMetered(options.metrics, 'createLeaderElector: metrics');
  const periods = { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
  checkPeriods('createLeaderElector', JITTER, periods);
  const { releaseOnCancel = true } = options;
  return { ...options, ...timingOf(options), ...periods, releaseOnCancel };
}

/**
 * Competes for a Lease with every other process that uses the same one; at most one leads at a time.
 *
 * A leader renews the Lease every `retryPeriodMs`, and stops leading immediately when `renewDeadlineMs` has passed since it sent
 * its last successful renewal. A candidate takes the Lease if it has no holder, or if the candidate has not seen it change for its
 * duration; a deletion of the Lease does not shorten that wait. A process that loses the lead competes again, whereas client-go's
 * elector ends. Its requests do not wait for other requests of the same client.
 *
 * ```text
 * A  leading$  ─true───────────x                x: killed
 * B  leading$  ─false──────────────────true     leaseDurationMs after B last saw A renew
 * ```
 *
 * Throws a `TypeError` if the periods contradict each other or a name is invalid.
 *
 * client-go: leaderelection.NewLeaderElector, resourcelock.LeaseLock
 *
 * @example
 * ```ts
 * import { createClient, createLeaderElector } from 'rx-informer';
 * import { leases } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer({ resources: [leases] });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const elector = createLeaderElector({ client, namespace: 'shop', name: 'billing', identity: 'billing-7x2' });
 * await elector.run(async (signal) => {
 *   signal.aborted; // => false
 *   void elector.stop();
 * });
 * server.objects.get(leases, { namespace: 'shop', name: 'billing' })?.spec?.holderIdentity; // => ''
 * ```
 */
export function createLeaderElector(options: LeaderElectorOptions): LeaderElector {
  return new LeaseElector(checked(options));
}

/**
 * Calls `onChange` for each value of `leading$` and subscribes again when the elector is stopped, which completes that stream. A
 * stream that completes during the subscription is not subscribed again, because that would never end; its last value stands.
 */
export function followLeading<V = boolean>(
  elector: { readonly leading$: Observable<V> },
  onChange: (leads: V) => void,
): Subscription {
  const following = new Subscription();
  const follow = () => {
    let isBeginning = true;
    const listening = elector.leading$.subscribe({
      next: onChange,
      complete: () => {
        if (isBeginning) return;
        following.remove(listening);
        if (!following.closed) follow();
      },
    });
    isBeginning = false;
    following.add(listening);
  };
  follow();
  return following;
}
