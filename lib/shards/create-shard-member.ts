/** Creates a member of a ring, and validates its options. */

import { checkedDuration, checkedMetered, checkedWord } from '../checks/checked-option.ts';
import { checkName, checkPeriods } from '../election/checked-lease.ts';
import { timingOf } from '../rx/timing.ts';
import { RingMembership, type RingSettings } from './ring-membership.ts';
import type { ShardMember, ShardOptions } from './shard-member.ts';

/** The options with their defaults. Throws a `TypeError` if two members could own a slot at the same time. */
function checked(options: ShardOptions): RingSettings {
  const { namespace, name, by = 'uid', leaseDurationMs = 15_000 } = options;
  const { renewDeadlineMs = (leaseDurationMs * 2) / 3, retryPeriodMs = leaseDurationMs / 15 } =
    options;
  const { scheduler, random } = timingOf(options);
  const suffix = () => random().toString(36).slice(2, 7).padEnd(5, '0');
  const { identity = `replica-${suffix()}` } = options;
  checkedWord(by, 'createShardMember: by', ['uid', 'namespace']);
  checkName(namespace, 'createShardMember: namespace', 63);
  checkName(name, 'createShardMember: name', 63);
  checkName(identity, 'createShardMember: identity', 150);
  const drainMs = checkedDuration(options.drainMs ?? 30_000, 'createShardMember: drainMs');
  const periods = { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
  checkPeriods('createShardMember', 2, periods);
  return {
    ...{ client: options.client, namespace, name, by, identity, drainMs, suffix, scheduler },
    periods,
    onError: options.onError,
    metrics: checkedMetered(options.metrics, 'createShardMember: metrics'),
  };
}

/**
 * Creates a member of a ring. All processes with the same namespace and name divide the objects between them: each object belongs to
 * one of 64 slots, by the hash of its UID or of its namespace, and each slot has at most one owner at a time.
 *
 * Any member may change the ring, by compare-and-set, so there is no coordinator whose death would have to be noticed first. When a
 * member joins or leaves, its slots are handed over: the owner ends its work on them first. When a member dies, the others take its
 * slots after they have seen its Lease unchanged for `leaseDurationMs`. The first ring under a name is used after that time, too.
 * A member needs the rights to get, list, create, update and delete Leases in the namespace.
 *
 * ```text
 * A  slots$  ─64───────32─────────────────64     B joins, then B is killed
 * B  slots$  ─────0─────32──x                   leaseDurationMs after A last saw B renew
 * ```
 *
 * Throws a `TypeError` if the periods contradict each other or a name is invalid.
 *
 * @example
 * ```ts
 * import { createClient, createShardMember } from 'rx-informer';
 * import { leases } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 * import { filter, firstValueFrom } from 'rxjs';
 *
 * const server = createFakeApiServer({ resources: [leases] });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const member = createShardMember({ client, namespace: 'shop', name: 'foos', leaseDurationMs: 1_000 });
 * member.start();
 * const slots = await firstValueFrom(member.slots$.pipe(filter(({ size }) => size > 0)));
 * slots.size; // => 64
 * member.owns({ metadata: { name: 'web', uid: 'a-1' } }); // => true
 * await member.stop();
 * ```
 */
export function createShardMember(options: ShardOptions): ShardMember {
  return new RingMembership(checked(options));
}
