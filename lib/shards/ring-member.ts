/**
 * One membership in a ring: a pure state machine. It renews the member's Lease, lists the ring and all Leases, and changes the ring by
 * compare-and-set, one request at a time.
 *
 * ```text
 *   idle ──due──▶ renewing ──▶ listing ──▶ writing ──▶ idle        a round
 *                    └────────────┴── failed ──────────▲
 * ```
 *
 * The rules that keep two members from owning one slot:
 * - A member owns its slots for `renewDeadlineMs` after it sent the last renewal that succeeded, if a list that was sent later shows
 *   the ring. Then the membership is over and does not resume: the process joins again under another id. It is over, too, if it has
 *   never owned a slot, and a renewal succeeds that long after the one before it.
 * - A member is dead for another one if a list shows its Lease unchanged, and that list was sent a full lease after the first one that
 *   showed it. By then the membership is over, however slow the requests are.
 * - A slot that a member has released is its own again only by a later epoch, because its write may still be on its way.
 * - If the ring is deleted, replaced or restored, all memberships are over. The slots of a new ring have no owner until somebody has
 *   seen it for a full lease.
 *
 * All times are readings of a stopwatch in milliseconds. The clock of another machine is never compared.
 */
import type { Step } from '../rx/machine.ts';
import { NEW_RING, namedIn, planRing, type RingRecord, ringText } from './ring-record.ts';
import { ABSENT, dueMs, longestLeaseMs, type Sightings, seenNow } from './sightings.ts';

/** The periods of a ring, in milliseconds. */
export interface RingPeriods {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** The ring as it is on the server. */
export interface SeenRing {
  readonly uid: string;
  /** Identifies this state of the object, for compare-and-set. */
  readonly version: string;
  readonly record: RingRecord;
}

/** The Lease of a member as it is on the server. */
export interface SeenLease {
  readonly id: string;
  /** Changes with every renewal. */
  readonly version: string;
  readonly durationMs: number;
}

/** The state of one membership. */
export interface RingMember {
  readonly id: string;
  readonly periods: RingPeriods;
  /** `over`: others may own the slots, and this id owns none again. `left`: the ring does not name this member any more. */
  readonly phase: 'active' | 'leaving' | 'left' | 'over';
  readonly step: 'idle' | 'renewing' | 'listing' | 'writing';
  /** When the round began, which is when its renewal was sent. */
  readonly roundMs: number;
  /** When the last renewal that succeeded was sent, or the first one of all. Absent before. */
  readonly renewedMs?: number;
  /** When the last list that arrived, or the one in progress, was sent. */
  readonly listSentMs: number;
  readonly listedMs: number;
  /** Until when the slots are owned. Absent before the first list that shows the ring. */
  readonly validUntilMs?: number;
  readonly ring?: SeenRing;
  /** When the ring was first seen. */
  readonly ringSinceMs: number;
  readonly sightings: Sightings;
  /** Earlier ids of this process. Their memberships are over. */
  readonly former: ReadonlySet<string>;
  /** The slots that were released, each with the epoch in which it was. */
  readonly released: ReadonlyMap<number, number>;
}

export type RingInput =
  /** The wait is over. */
  | { readonly type: 'due' }
  | { readonly type: 'renewed'; readonly ok: boolean }
  /** `found` is absent if the list failed. */
  | {
      readonly type: 'listed';
      readonly found?: {
        readonly ring: SeenRing | undefined;
        readonly leases: readonly SeenLease[];
      };
    }
  /** `ring` is what was written. `conflict`: the write was refused for certain. */
  | { readonly type: 'wrote'; readonly ring?: SeenRing; readonly conflict?: boolean }
  /** No reconcile of these slots runs, and none will. */
  | { readonly type: 'drained'; readonly slots: Iterable<number> }
  | { readonly type: 'leave' };

export type RingEffect =
  | { readonly type: 'renew' }
  | { readonly type: 'list' }
  /** Replaces `over`, or creates the ring. */
  | { readonly type: 'write'; readonly record: RingRecord; readonly over: SeenRing | undefined }
  /** Deletes the Lease of a member that is gone. */
  | { readonly type: 'forget'; readonly id: string; readonly version: string }
  /** Replaces the wait in progress. */
  | { readonly type: 'wait'; readonly ms: number };

type RingStep = Step<RingMember, RingEffect>;

/** A membership that begins. `before` is the membership of the same process that is over. */
export function joining(id: string, periods: RingPeriods, before?: RingMember): RingMember {
  const never = Number.NEGATIVE_INFINITY;
  return {
    ...{ id, periods, phase: 'active', step: 'idle', released: new Map() },
    ...{ roundMs: never, listSentMs: never, listedMs: never, ringSinceMs: 0 },
    // What was seen of the others stays true.
    sightings: before?.sightings ?? new Map(),
    former: new Set(before === undefined ? [] : [...before.former, before.id]),
  };
}

/** Whether the member owns a slot now, so that its writes may be sent. */
export function ownsSlot(member: RingMember, slot: number, nowMs: number): boolean {
  const { phase, ring, id, released, validUntilMs = 0 } = member;
  if (phase === 'over' || phase === 'left' || nowMs >= validUntilMs) return false;
  return ring?.record.owners[slot] === id && !released.has(slot);
}

/** The slots that the member owns now. */
export function ownedSlots(member: RingMember, nowMs: number): readonly number[] {
  const { owners } = member.ring?.record ?? NEW_RING;
  return [...owners.keys()].filter((slot) => ownsSlot(member, slot, nowMs));
}

/** The owned slots that must be released: their running work ends, and no other begins. */
export function endingSlots(member: RingMember, nowMs: number): readonly number[] {
  const owned = ownedSlots(member, nowMs);
  if (member.phase === 'leaving') return owned;
  const releasing = new Set(member.ring?.record.releasing);
  return owned.filter((slot) => releasing.has(slot));
}

/** The members whose Leases were unchanged for their duration when the last list was sent. */
function expired({ sightings, periods, listedMs }: RingMember): ReadonlySet<string> {
  const gone = [...sightings].filter(
    ([, sighting]) => listedMs >= dueMs(sighting, periods.leaseDurationMs),
  );
  return new Set(gone.map(([id]) => id));
}

/** Waits until the next round, or until the list that may show that a member is dead or that the ring may be used. */
function waiting(member: RingMember, nowMs: number): RingStep {
  const { periods, roundMs, sightings, ring, ringSinceMs, listedMs } = member;
  const { leaseDurationMs } = periods;
  const named = ring === undefined ? new Set() : namedIn(ring.record);
  const dues = [...sightings]
    .filter(([id]) => named.has(id))
    .map(([, sighting]) => dueMs(sighting, leaseDurationMs));
  if (ring?.record.epoch === 0) dues.push(ringSinceMs + longestLeaseMs(sightings, leaseDurationMs));
  const atMs = Math.min(
    Math.max(roundMs, nowMs - periods.retryPeriodMs) + periods.retryPeriodMs,
    ...dues.filter((due) => due > listedMs),
  );
  // A list at the due time itself would still be sent too early by a fraction of a millisecond.
  const ms = Math.max(1, atMs - nowMs);
  return [{ ...member, step: 'idle' }, [{ type: 'wait', ms }]];
}

/** Changes the ring if there is something to change, otherwise waits. */
function planning(member: RingMember, nowMs: number): RingStep {
  const { ring, id, phase, former, released, ringSinceMs, listedMs } = member;
  const leaving = phase === 'leaving';
  // A member that leaves without a ring has left already.
  if (ring === undefined) {
    return [{ ...member, step: 'writing' }, [{ type: 'write', record: NEW_RING, over: undefined }]];
  }
  const gone = expired(member);
  const isNew = ring.record.epoch === 0;
  // A member of an earlier ring may still own slots until it misses that ring, for a lease at most.
  const leaseMs = longestLeaseMs(member.sightings, member.periods.leaseDurationMs);
  if (isNew && !leaving && listedMs < ringSinceMs + leaseMs) {
    return waiting(member, nowMs);
  }
  const alive = [...member.sightings.keys()].filter((each) => !gone.has(each) && !former.has(each));
  const record = planRing(ring.record, {
    ...{ self: id, leaving, alive: leaving ? [] : alive, leaseMs },
    dead: new Set([...gone, ...former]),
    released: new Set(released.keys()),
  });
  if (leaving && !namedIn(ring.record).has(id)) {
    return [{ ...member, phase: 'left', step: 'idle' }, []];
  }
  if (record === undefined || (isNew && leaving)) return waiting(member, nowMs);
  return [{ ...member, step: 'writing' }, [{ type: 'write', record, over: ring }]];
}

/** Whether the ring is the same object, in the same or in a later state. A ring that was restored or edited is not. */
function isLater(ring: SeenRing | undefined, known: SeenRing): boolean {
  if (ring?.uid !== known.uid || ring.record.epoch < known.record.epoch) return false;
  const isSame = ring.record.epoch === known.record.epoch;
  return !isSame || ringText(ring.record) === ringText(known.record);
}

/** The member with a state of the ring that the server returned. */
function withRing(member: RingMember, ring: SeenRing, nowMs: number): RingMember {
  const released = new Map([...member.released].filter(([, epoch]) => ring.record.epoch <= epoch));
  const ringSinceMs = member.ring === undefined ? nowMs : member.ringSinceMs;
  return { ...member, ring, released, ringSinceMs };
}

function listed(
  member: RingMember,
  { ring, leases }: NonNullable<Extract<RingInput, { type: 'listed' }>['found']>,
  nowMs: number,
): RingStep {
  const { id, roundMs, periods } = member;
  const named = ring === undefined ? new Set<string>() : namedIn(ring.record);
  const sightings = seenNow(member.sightings, leases, named, ring?.record.leaseMs ?? 0, nowMs);
  sightings.delete(id);
  const seen: RingMember = { ...member, sightings, listedMs: member.listSentMs };
  const { ring: known } = member;
  if (known !== undefined && !isLater(ring, known))
    return [{ ...seen, phase: 'over', step: 'idle' }, []];
  if (ring === undefined) return planning(seen, nowMs);
  const validUntilMs = roundMs + periods.renewDeadlineMs;
  if (nowMs >= validUntilMs) return waiting(seen, nowMs);
  const current = withRing({ ...seen, validUntilMs }, ring, nowMs);
  const left = [...expired(current)].filter((other) => !named.has(other));
  const [next, effects] = planning(current, nowMs);
  const forgotten: RingEffect[] = left
    .map((other) => ({ other, version: sightings.get(other)?.version ?? ABSENT }))
    .filter(({ version }) => version !== ABSENT)
    .map(({ other, version }) => ({ type: 'forget', id: other, version }));
  return [next, [...effects, ...forgotten]];
}

/** Releases slots. If no request is in progress, the ring is changed now. */
function drained(member: RingMember, slots: Iterable<number>, nowMs: number): RingStep {
  const owned = new Set(ownedSlots(member, nowMs));
  const epoch = member.ring?.record.epoch ?? 0;
  const released = new Map(member.released);
  for (const slot of slots) if (owned.has(slot)) released.set(slot, epoch);
  const next = { ...member, released };
  if (member.step !== 'idle' || released.size === member.released.size) return [next, []];
  return planning(next, nowMs);
}

/** Returns the next state of a membership, and what is to be done. */
export function nextMember(member: RingMember, input: RingInput, nowMs: number): RingStep {
  const { phase, step, validUntilMs = Number.POSITIVE_INFINITY } = member;
  if (phase === 'over' || phase === 'left') return [member, []];
  // Others may have taken the slots. A renewal that succeeds now does not show that they have not.
  if (nowMs >= validUntilMs) return [{ ...member, phase: 'over', step: 'idle' }, []];
  switch (input.type) {
    case 'due':
      if (step !== 'idle') return [member, []];
      return [
        { ...member, step: 'renewing', roundMs: nowMs, renewedMs: member.renewedMs ?? nowMs },
        [{ type: 'renew' }],
      ];
    case 'renewed': {
      if (!input.ok) return waiting(member, nowMs);
      const { roundMs, renewedMs = roundMs, periods } = member;
      // Others may have seen an earlier renewal for a full lease, also if its response was lost.
      if (nowMs >= renewedMs + periods.renewDeadlineMs) {
        return [{ ...member, phase: 'over', step: 'idle' }, []];
      }
      return [
        { ...member, step: 'listing', listSentMs: nowMs, renewedMs: roundMs },
        [{ type: 'list' }],
      ];
    }
    case 'listed':
      if (input.found === undefined) return waiting(member, nowMs);
      return listed(member, input.found, nowMs);
    case 'wrote': {
      const { ring, conflict } = input;
      // A member that loses one race after the other must renew in between.
      if (conflict && nowMs < member.roundMs + member.periods.retryPeriodMs) {
        return [{ ...member, step: 'listing', listSentMs: nowMs }, [{ type: 'list' }]];
      }
      if (ring === undefined) return waiting(member, nowMs);
      return planning(withRing(member, ring, nowMs), nowMs);
    }
    case 'drained':
      return drained(member, input.slots, nowMs);
    case 'leave':
      if (phase === 'leaving') return [member, []];
      // Never a member: nothing to release, and nothing to wait for.
      if (member.ring === undefined) return [{ ...member, phase: 'left', step: 'idle' }, []];
      if (step !== 'idle') return [{ ...member, phase: 'leaving' }, []];
      return planning({ ...member, phase: 'leaving' }, nowMs);
    default:
      return input satisfies never;
  }
}
