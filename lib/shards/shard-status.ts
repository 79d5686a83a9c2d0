/** The status of a member, also in words. */
import { SHARD_SLOTS } from '../meta/shard-ranges/ranges.ts';
import { endingSlots, ownedSlots, type RingMember } from './ring-member.ts';
import { namedIn } from './ring-record.ts';
import type { ShardPhase, ShardStatus } from './shard-member.ts';

/** The status of a member that was never started. */
export const IDLE: ShardStatus = {
  phase: 'idle',
  id: '',
  owned: [],
  releasing: [],
  vacant: [],
  members: [],
  epoch: 0,
  text: 'not started',
};

/** The status of a member that has left. */
export const STOPPED: ShardStatus = /* @__PURE__ */ Object.assign({}, IDLE, {
  phase: 'stopped' as const,
  text: 'has left the ring',
});

function textOf({
  phase,
  owned,
  releasing,
  members,
  epoch,
}: Omit<ShardStatus, 'text' | 'vacant'>): string {
  if (phase === 'joining' && epoch === 0) {
    return 'joining the ring; the slots of a new ring are given out after a full lease';
  }
  const owns = `owns ${owned.length} of ${SHARD_SLOTS} slots`;
  const releases = releasing.length === 0 ? '' : `, releases ${releasing.length} more`;
  if (phase !== 'member') return `${phase} the ring; ${owns}${releases}`;
  return `${owns}${releases}; ${members.length} ${members.length === 1 ? 'member' : 'members'}`;
}

/** The status of a membership. */
export function statusOf(member: RingMember, nowMs: number, isStopping: boolean): ShardStatus {
  const { id, ring, validUntilMs } = member;
  const ending = endingSlots(member, nowMs);
  const { members = [], epoch = 0, owners = [], releasing = [] } = ring?.record ?? {};
  const ended = new Set([...releasing, ...ending]);
  const vacant = [...owners.keys()].filter((slot) => owners[slot] === '' || ended.has(slot));
  const isNamed = ring !== undefined && namedIn(ring.record).has(id);
  const isValid = validUntilMs !== undefined && nowMs < validUntilMs;
  const phase: ShardPhase =
    isStopping || member.phase !== 'active' ? 'leaving' : isNamed && isValid ? 'member' : 'joining';
  const owned = ownedSlots(member, nowMs).filter((slot) => !ending.includes(slot));
  const shown = { phase, id, owned, releasing: ending, vacant, members, epoch };
  return { ...shown, text: textOf(shown) };
}
