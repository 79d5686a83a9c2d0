/**
 * What a member has seen of the Leases of others, and since when: by that it decides that another member is dead. The times
 * in a Lease are never read, because they are those of another clock.
 */

/** When a state of a Lease was first seen. */
export interface Sighting {
  readonly version: string;
  readonly durationMs: number;
  readonly sinceMs: number;
}

export type Sightings = ReadonlyMap<string, Sighting>;

/** The version of a Lease that does not exist. */
export const ABSENT = '';

/**
 * The sightings after a list that arrived now. A member of the ring without a Lease is seen, too. Its lease may be as long as
 * that of any member, which is `leaseMs`.
 */
export function seenNow(
  before: Sightings,
  leases: Iterable<{ readonly id: string; readonly version: string; readonly durationMs: number }>,
  named: Iterable<string>,
  leaseMs: number,
  nowMs: number,
): Map<string, Sighting> {
  const seen = new Map<string, Sighting>();
  const see = (id: string, version: string, durationMs: number) => {
    const known = before.get(id);
    const isSame = known?.version === version;
    seen.set(id, isSame ? known : { version, durationMs, sinceMs: nowMs });
  };
  for (const { id, version, durationMs } of leases) see(id, version, durationMs);
  for (const id of named) if (!seen.has(id)) see(id, ABSENT, before.get(id)?.durationMs ?? leaseMs);
  return seen;
}

/** From when on a member is dead whose Lease does not change. `leaseMs` is the lease of the member that watches. */
export function dueMs({ sinceMs, durationMs }: Sighting, leaseMs: number): number {
  return sinceMs + Math.max(leaseMs, durationMs);
}

/** The longest lease that is known, because members may have different settings during a rollout. */
export function longestLeaseMs(sightings: Sightings, leaseMs: number): number {
  return Math.max(leaseMs, ...[...sightings.values()].map(({ durationMs }) => durationMs));
}
