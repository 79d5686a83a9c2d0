/**
 * The ring: the record on the server that says which member owns which of the 64 slots. Members change it by compare-and-set, so all
 * changes are in one order. Every function here is pure: two members with the same record and the same view plan the same change.
 */
import { LONGEST_LEASE_MS } from '../election/lease-record.ts';
import { SHARD_SLOTS } from '../meta/shard-ranges/ranges.ts';

/** The owners of all slots. */
export interface RingRecord {
  /** Grows by one with each change. 0 is a ring that was created and whose slots nobody may own yet. */
  readonly epoch: number;
  /** The members that share the slots, sorted. A member that leaves is not listed, and owns its slots until it has released them. */
  readonly members: readonly string[];
  /** The id of the owner of each slot, '' if there is none. */
  readonly owners: readonly string[];
  /** The slots that their owners must release, sorted. */
  readonly releasing: readonly number[];
  /** The longest lease of all members so far, in milliseconds: that of a member whose Lease was deleted may be as long. */
  readonly leaseMs: number;
}

/** What one member contributes to the next change of the ring. */
export interface RingView {
  readonly self: string;
  /** Whether this member leaves the ring. */
  readonly leaving: boolean;
  /** The members that are certain to hold no slot any more. */
  readonly dead: ReadonlySet<string>;
  /** The slots that this member owns in the record, but no longer works on. */
  readonly released: ReadonlySet<number>;
  /** The members whose Leases are renewed. They share the slots of a new ring from the beginning. */
  readonly alive: readonly string[];
  /** The longest lease that this member knows of, in milliseconds. */
  readonly leaseMs: number;
}

/** A ring that was just created. */
export const NEW_RING: RingRecord = {
  epoch: 0,
  members: [],
  owners: /* @__PURE__ */ new Array<string>(SHARD_SLOTS).fill(''),
  releasing: [],
  leaseMs: 0,
};

/** The stable part of a member's id, which stays the same when the process joins again under a new id. */
export function identityOf(id: string): string {
  return id.slice(0, id.lastIndexOf('.'));
}

/** The weight of a member for a slot: FNV-1a of the identity, mixed with the slot by the finalizer of MurmurHash3. */
function weightOf(id: string, slot: number): number {
  let hash = 0x811c9dc5;
  const identity = identityOf(id);
  for (let at = 0; at < identity.length; at++) {
    hash = Math.imul(hash ^ identity.charCodeAt(at), 0x01000193);
  }
  hash ^= Math.imul(slot + 1, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * The member that must own a slot: rendezvous hashing, so that a member that comes or goes moves only its own slots. '' without
 * members.
 */
export function winnerOf(slot: number, members: readonly string[]): string {
  let winner = '';
  let highest = -1;
  for (const id of members) {
    const weight = weightOf(id, slot);
    if (weight < highest || (weight === highest && id < winner)) continue;
    winner = id;
    highest = weight;
  }
  return winner;
}

/** All members that the record names, as members or as owners. */
export function namedIn({ members, owners }: RingRecord): ReadonlySet<string> {
  const named = new Set([...members, ...owners]);
  named.delete('');
  return named;
}

function same(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((each, at) => each === other[at]);
}

/**
 * The change that a member makes to the ring, or `undefined` if there is nothing to change. A slot without a living owner goes to
 * its winner. A slot whose owner is not its winner is marked as releasing. Only the owner itself passes such a slot on.
 */
export function planRing(record: RingRecord, view: RingView): RingRecord | undefined {
  const { self, leaving, dead, released, alive } = view;
  const wanted = new Set([...record.members, ...(record.epoch === 0 ? alive : []), self]);
  if (leaving) wanted.delete(self);
  const members = [...wanted].filter((id) => !dead.has(id)).sort();
  const owners: string[] = [];
  const releasing: number[] = [];
  const wasReleasing = new Set(record.releasing);
  for (const [slot, owner] of record.owners.entries()) {
    const winner = winnerOf(slot, members);
    const isFree = owner === '' || dead.has(owner) || (owner === self && released.has(slot));
    owners.push(isFree ? winner : owner);
    // The mark stays although the owner may be the winner again, because the owner may already be ending its work.
    if (!isFree && (owner !== winner || wasReleasing.has(slot))) releasing.push(slot);
  }
  const leaseMs = Math.max(record.leaseMs, Math.ceil(view.leaseMs));
  const isSame =
    leaseMs === record.leaseMs &&
    same(members, record.members) &&
    same(owners, record.owners) &&
    same(releasing, record.releasing);
  return isSame ? undefined : { epoch: record.epoch + 1, members, owners, releasing, leaseMs };
}

/** Writes the record as text. Owners are numbers, because 64 ids would be 2 kB. */
export function ringText({ epoch, members, owners, releasing, leaseMs }: RingRecord): string {
  const leaving = [...new Set(owners)].filter((id) => id !== '' && !members.includes(id)).sort();
  const ids = [...members, ...leaving];
  const numbers = owners.map((id) => ids.indexOf(id));
  return JSON.stringify({ epoch, members, leaving, owners: numbers, releasing, leaseMs });
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string' && each !== '');
}

/** Reads the record. Returns `undefined` if the text is not a ring; then nobody may own a slot. */
export function parseRing(text: string): RingRecord | undefined {
  let read: Partial<Record<keyof RingRecord | 'leaving', unknown>>;
  try {
    read = JSON.parse(text) ?? {};
  } catch {
    return undefined;
  }
  const { epoch, members, leaving, owners, releasing, leaseMs } = read;
  if (!isTexts(members) || !isTexts(leaving)) return undefined;
  const ids = [...members, ...leaving];
  const isIndex = (value: unknown, from: number, below: number) =>
    Number.isInteger(value) && (value as number) >= from && (value as number) < below;
  if (!Array.isArray(owners) || owners.length !== SHARD_SLOTS) return undefined;
  if (!owners.every((each) => isIndex(each, -1, ids.length))) return undefined;
  if (!Array.isArray(releasing) || !releasing.every((each) => isIndex(each, 0, SHARD_SLOTS))) {
    return undefined;
  }
  if (!isIndex(epoch, 0, Number.MAX_SAFE_INTEGER)) return undefined;
  // Members wait for the longest lease, so a longer one than a Lease can have would keep them from their slots for ever.
  if (!isIndex(leaseMs, 0, LONGEST_LEASE_MS + 1)) return undefined;
  return {
    epoch: epoch as number,
    members,
    owners: owners.map((each: number) => ids[each] ?? ''),
    releasing,
    leaseMs: leaseMs as number,
  };
}
