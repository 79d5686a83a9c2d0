/**
 * One of several processes leads: who holds a `Lease` and renews it in time. client-go: tools/leaderelection.
 *
 * Two clocks never have to agree. A candidate waits from the moment when it saw the record change, by its own
 * clock; the leader gives up, by its own, before that. Only the speed of the clocks must be about the same.
 */
import type { Observable } from 'rxjs';
import type { ApiError } from '../../meta/api-error.ts';
import { type Timing, timingOf } from '../../rx/timing.ts';
import type { KubeClient } from '../../transport/kube-client.ts';
import type { LeaseElectorOptions } from './candidacy.ts';
import { LeaseElector } from './lease-elector.ts';
import { JITTER } from './lease-record.ts';

/** What {@link createLeaderElector} takes. */
export interface LeaderElectorOptions extends Timing {
  readonly client: Pick<KubeClient, 'request'>;
  readonly namespace: string;
  /** The name of the Lease: one for all processes that are not to work at the same time. */
  readonly name: string;
  /** Who this is; unlike that of every other process: the name of the pod, with something random. */
  readonly identity: string;
  /** How long a candidate waits after the last renewal it observed before it may take the lease, in milliseconds. @defaultValue 15000 */
  readonly leaseDurationMs?: number | undefined;
  /** How long a leader leads at most after it sent its last successful renewal, in milliseconds. @defaultValue 10000 */
  readonly renewDeadlineMs?: number | undefined;
  /** The time between renewals, in milliseconds; candidates try this often, at random up to 2.2 times as long. @defaultValue 2000 */
  readonly retryPeriodMs?: number | undefined;
  /** `stop()` gives the lease up, so that another need not wait for its end. @defaultValue true */
  readonly releaseOnCancel?: boolean | undefined;
  /** Each failed request. What fails is tried again. */
  readonly onError?: ((error: ApiError) => void) | undefined;
}

/** A candidate, or the leader. */
export interface LeaderElector {
  readonly identity: string;
  /** Whether this process leads: at once, and at each change. Starts nothing; completes with `stop()`. */
  readonly leading$: Observable<boolean>;
  /** The identity of who leads, as far as this process knows; '' for nobody. At once, and at each change. */
  readonly leader$: Observable<string>;
  /** Whether it leads now; asked of the clock too, which may have jumped since the last renewal. */
  readonly isLeading: boolean;
  /** The last failure, until a request succeeds: why nobody leads, perhaps. */
  readonly lastError: ApiError | undefined;
  /** Begins to compete. Twice is once; while it stops, once that is done. */
  start(): void;
  /**
   * Competes no more: aborts what {@link LeaderElector.run} runs and waits for it, gives the lease up, resolves.
   * Work that follows `leading$` is to be stopped before. A `start` that waits for a stop is taken back. Never rejects.
   */
  stop(): Promise<void>;
  /**
   * Starts, and calls `work` each time that it begins to lead, with a signal that is aborted when it leads no
   * more; not anew before it has returned. Resolves with `stop()`. When `work` throws, it stops and rejects.
   */
  run(work: (signal: AbortSignal) => unknown): Promise<void>;
}

/** Tells an elector from the options of one. */
export function isLeaderElector(
  given: LeaderElector | LeaderElectorOptions,
): given is LeaderElector {
  return 'leading$' in given;
}

const LONGEST_LEASE_MS = 2_147_483_647_000;

/** The options with their defaults. Throws a `TypeError` when two could lead at once. */
function checked(options: LeaderElectorOptions): LeaseElectorOptions {
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
  const refuse = (why: string) => new TypeError(`createLeaderElector: ${why}`);
  for (const field of ['namespace', 'name', 'identity'] as const) {
    if (typeof options[field] !== 'string' || options[field] === '') {
      throw refuse(`${field} is ${JSON.stringify(options[field])}; it must not be empty`);
    }
  }
  if (!(retryPeriodMs > 0)) throw refuse(`retryPeriodMs is ${retryPeriodMs}; it must be over 0`);
  if (!(renewDeadlineMs > retryPeriodMs * JITTER)) {
    throw refuse(
      `renewDeadlineMs is ${renewDeadlineMs}; it must be over ${JITTER} times retryPeriodMs (${retryPeriodMs})`,
    );
  }
  if (!(leaseDurationMs > renewDeadlineMs)) {
    throw refuse(
      `leaseDurationMs is ${leaseDurationMs}; it must be over renewDeadlineMs (${renewDeadlineMs}), or two would lead at once`,
    );
  }
  if (leaseDurationMs > LONGEST_LEASE_MS) {
    throw refuse(
      `leaseDurationMs is ${leaseDurationMs}; it must not be over ${LONGEST_LEASE_MS}, because a Lease counts seconds in 32 bits`,
    );
  }
  const { releaseOnCancel = true } = options;
  const periods = { leaseDurationMs, renewDeadlineMs, retryPeriodMs, releaseOnCancel };
  const { onError, ...rest } = options;
  return {
    ...rest,
    ...timingOf(options),
    ...periods,
    ...(onError === undefined ? {} : { onError }),
  };
}

/**
 * Competes for a Lease with every other process that uses the same one; at most one leads at a time.
 *
 * A leader renews every `retryPeriodMs`, and is no longer the leader when `renewDeadlineMs` have passed since its
 * last successful renewal began. A candidate takes the lease when nobody holds it, or when it has not seen it
 * change for as long as it lasts; a lease that somebody deleted it takes no sooner. Who has lost the lead competes
 * again, where client-go's elector ends. Its requests wait for no others of the same client.
 *
 * ```text
 * A  leading$  ─true───────────x                x: killed
 * B  leading$  ─false──────────────────true     leaseDurationMs after B last saw A renew
 * ```
 *
 * Throws a `TypeError` when the periods contradict each other, or a name is missing.
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
