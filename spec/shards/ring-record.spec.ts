/** The ring's record: who should own a slot, and how the record is written. */
import { describe, expect, it } from 'vitest';
import { LONGEST_LEASE_MS } from '../../lib/election/lease-record.ts';
import {
  NEW_RING,
  parseRing,
  planRing,
  type RingRecord,
  ringText,
  winnerOf,
} from '../../lib/shards/ring-record.ts';

const SLOTS = [...NEW_RING.owners.keys()];
const view = {
  leaving: false,
  dead: new Set<string>(),
  released: new Set<number>(),
  alive: [],
  leaseMs: 4_000,
};
const winners = (members: readonly string[]) => SLOTS.map((slot) => winnerOf(slot, members));

/** A ring in which each slot is owned by its winner. */
function settled(...members: string[]): RingRecord {
  return { epoch: 7, members, owners: winners(members), releasing: [], leaseMs: 4_000 };
}

describe('the record of a ring', () => {
  it('H2: a member that comes or goes moves only its own slots', () => {
    const ids = Array.from({ length: 8 }, (_, at) => `replica-${at}.x`);
    for (let count = 1; count < ids.length; count++) {
      const [before, after] = [winners(ids.slice(0, count)), winners(ids.slice(0, count + 1))];
      const moved = SLOTS.filter((slot) => before[slot] !== after[slot]);
      expect(moved.every((slot) => after[slot] === ids[count])).toBe(true);
    }
    expect(new Set(winners(ids)).size).toBe(8);
  });

  it('H2: a process that joins again under another id gets the slots that it had', () => {
    const before = winners(['a.1', 'b.1', 'c.1']);
    const after = winners(['a.2', 'b.1', 'c.1']);
    expect(after).toEqual(before.map((id) => (id === 'a.1' ? 'a.2' : id)));
  });

  it('H5: a slot with a living owner is only marked, and its owner passes it on once it is released', () => {
    const before = settled('a.1');
    const joined = planRing(before, { ...view, self: 'b.1' });
    expect(joined?.owners).toEqual(before.owners);
    expect(joined?.releasing).toEqual(
      SLOTS.filter((slot) => winnerOf(slot, ['a.1', 'b.1']) === 'b.1'),
    );
    const [first = -1] = joined?.releasing ?? [];
    // A slot that the member does not own is not its to pass on.
    const released = new Set([
      first,
      SLOTS.find((slot) => !joined?.releasing.includes(slot)) ?? -1,
    ]);
    const passed = planRing(joined as RingRecord, { ...view, self: 'a.1', released });
    expect(passed?.owners[first]).toBe('b.1');
    expect(passed?.releasing).toEqual(joined?.releasing.slice(1));
    expect(planRing(passed as RingRecord, { ...view, self: 'b.1' })).toBeUndefined();
  });

  it('H5: the slots of a dead member go to the others at once, those of a leaving one when it has released them', () => {
    const before = settled('a.1', 'b.1', 'c.1');
    const dead = planRing(before, { ...view, self: 'a.1', dead: new Set(['c.1']) });
    expect(dead).toEqual({ ...settled('a.1', 'b.1'), epoch: 8 });
    const leaving = planRing(before, { ...view, self: 'c.1', leaving: true });
    expect(leaving?.members).toEqual(['a.1', 'b.1']);
    expect(leaving?.owners).toEqual(before.owners);
    const left = planRing(leaving as RingRecord, {
      ...{ ...view, self: 'c.1', leaving: true, released: new Set(SLOTS) },
    });
    expect(left).toEqual({ ...settled('a.1', 'b.1'), epoch: 9 });
  });

  it('H11: a slot that its owner is releasing stays marked until it is released, also if nobody else is left to own it', () => {
    const joined = planRing(settled('a.1'), { ...view, self: 'b.1' }) as RingRecord;
    const gone = planRing(joined, { ...view, self: 'a.1', dead: new Set(['b.1']) }) as RingRecord;
    expect(gone.members).toEqual(['a.1']);
    expect(gone.releasing).toEqual(joined.releasing);
    const released = planRing(gone, { ...view, self: 'a.1', released: new Set(gone.releasing) });
    expect(released).toEqual({ ...settled('a.1'), epoch: 10 });
  });

  it('H1: the record keeps the longest lease of all members, in whole milliseconds', () => {
    const joined = planRing(settled('a.1'), { ...view, self: 'b.1', leaseMs: 7_999.5 });
    expect(joined?.leaseMs).toBe(8_000);
    const shorter = planRing(joined as RingRecord, { ...view, self: 'c.1', leaseMs: 2_000 });
    expect(shorter?.leaseMs).toBe(8_000);
  });

  it('H6: a record is read as it was written, and anything else is no record', () => {
    const record = { ...settled('a.1', 'b.1'), releasing: [3, 9] };
    const gone = { ...record, members: ['b.1'] };
    for (const each of [NEW_RING, record, gone]) expect(parseRing(ringText(each))).toEqual(each);
    expect(ringText(settled('a.1', 'b.1', 'c.1', 'd.1')).length).toBeLessThan(300);
    const longest = { ...record, leaseMs: LONGEST_LEASE_MS };
    expect(parseRing(ringText(longest))).toEqual(longest);
    const wrong = [
      ...['', 'null', '{}', '[]', '3', '"x"', ringText(record).slice(1)],
      ...[
        { epoch: -1 },
        { epoch: '7' },
        { leaseMs: 0.5 },
        { leaseMs: undefined },
        { leaseMs: LONGEST_LEASE_MS + 1 },
        { leaseMs: 9_007_199_254_740_990 },
        { members: [''] },
        { members: {} },
        { owners: [] },
      ].map((part) => JSON.stringify({ ...JSON.parse(ringText(record)), ...part })),
      ringText(record).replace('"releasing":[3,9]', '"releasing":[64]'),
      ringText(record).replace(/"owners":\[\d/, '"owners":[2'),
    ];
    expect(wrong.map(parseRing)).toEqual(wrong.map(() => undefined));
  });
});
