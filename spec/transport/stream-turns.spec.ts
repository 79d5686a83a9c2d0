/** The machine that gives lists and watches their turns, input by input. */
import { describe, expect, it } from 'vitest';
import {
  nextTurn,
  noStreams,
  type StreamKind,
  type TurnEffect,
  type TurnInput,
  type TurnState,
} from '../../lib/transport/page/stream-turns.ts';

const UNLIMITED = Number.POSITIVE_INFINITY;

function shown(effect: TurnEffect): string {
  if (effect.type === 'release') return `release ${slotName(effect.slot)}`;
  if (effect.type === 'send') return `send ${effect.id}`;
  if (effect.type === 'yield') return `yield ${effect.id}${effect.force ? '!' : ''}`;
  if ('delayMs' in effect) return `${effect.type} ${effect.delayMs}`;
  return effect.type;
}

const slots = new Map<string, object>();
const slot = (name: string): object => {
  const known = slots.get(name) ?? {};
  slots.set(name, known);
  return known;
};
const slotName = (of: object) => [...slots].find(([, each]) => each === of)?.[0];

/** Runs the machine on inputs with their times, and returns the effects of each. */
function rig(most = 4) {
  let state: TurnState = noStreams();
  let limit = most;
  const enter = (nowMs: number, input: TurnInput) => {
    const [next, effects] = nextTurn(state, input, { nowMs, most: limit });
    state = next;
    return effects.map(shown);
  };
  return {
    get state() {
      return state;
    },
    limit(next: number) {
      limit = next;
    },
    enter,
    request: (nowMs: number, id: number, kind: StreamKind = 'watch') =>
      enter(nowMs, { type: 'request', id, kind }),
    grant: (nowMs: number, name: string) => enter(nowMs, { type: 'granted', slot: slot(name) }),
    answer: (nowMs: number, id: number) => enter(nowMs, { type: 'answered', id }),
    end: (nowMs: number, id: number) => enter(nowMs, { type: 'end', id }),
    tick: (nowMs: number) => enter(nowMs, { type: 'tick' }),
    /** Opens watches that are answered at the time 0. */
    watching(count: number) {
      for (let id = 1; id <= count; id++) {
        enter(0, { type: 'request', id, kind: 'watch' });
        enter(0, { type: 'granted', slot: slot(`s${id}`) });
        enter(0, { type: 'answered', id });
      }
    },
  };
}

describe('the turns of streams', () => {
  it('T62: a page of a list goes before lists, and lists before watches', () => {
    const turns = rig();
    for (const [id, kind] of (['watch', 'list', 'page', 'list'] as const).entries()) {
      turns.request(0, id, kind);
    }
    const order = ['a', 'b', 'c', 'd'].map((name) => turns.grant(0, name)[0]);
    expect(order).toEqual(['send 2', 'send 1', 'send 3', 'send 0']);
  });

  it('T62: the slot of a stream goes to a waiting list directly, but is returned if a watch waits', () => {
    const turns = rig();
    turns.request(0, 1, 'list');
    turns.grant(0, 'a');
    turns.request(0, 2, 'list');
    turns.request(0, 3);
    expect(turns.end(5, 1)).toEqual(['send 2']);
    expect(turns.end(6, 2)).toEqual(['release a']);
    expect(turns.grant(7, 'b')).toEqual(['send 3', 'look-after 3000']);
  });

  // Of a round of 20 s each waiting watch has its share, within 2 and 10 s.
  it.each([
    [1, 10_000],
    [8, 10_000],
    [16, 5_000],
    [40, 2_000],
    [400, 2_000],
  ])('T63: while %i watches wait, a watch yields after %i ms', (count, shareMs) => {
    const turns = rig();
    turns.watching(4);
    for (let id = 10; id < 10 + count; id++) turns.request(0, id);
    expect(turns.tick(300)).toEqual([`tick-after ${shareMs - 300}`]);
    const yields = turns.tick(shareMs).filter((each) => each.startsWith('yield'));
    expect(yields).toEqual([1, 2, 3, 4].slice(0, count).map((id) => `yield ${id}`));
  });

  it('T63: a watch that is open for long yields to a list, after a moment in which a free slot would be granted', () => {
    const turns = rig();
    turns.watching(4);
    expect(turns.request(60_000, 5, 'list')).toEqual(['acquire', 'tick-after 250']);
    expect(turns.tick(60_250)).toEqual(['yield 1']);
    expect(turns.end(60_260, 1)).toEqual(['send 5', 'cancel', 'look-after 3000']);
  });

  it('T63: while a slot is being returned, no further watch yields', () => {
    const turns = rig();
    turns.watching(4);
    turns.request(60_000, 5);
    expect(turns.tick(60_250)).toEqual(['yield 1']);
    expect(turns.end(60_300, 1)).toEqual(['release s1', 'tick-after 250']);
    expect(turns.grant(60_301, 's1')).toEqual(['send 5', 'look-after 3000']);
  });

  it('T63: a list, and a watch that is not answered, do not yield', () => {
    const turns = rig(2);
    turns.request(0, 1, 'list');
    turns.grant(0, 'a');
    turns.request(0, 2);
    turns.grant(0, 'b');
    turns.request(0, 3);
    expect(turns.tick(600_000)).toEqual([]);
    expect(turns.answer(600_000, 2)).toEqual(['tick-after 10000']);
  });

  it('T63: a streaming list yields as soon as it is complete', () => {
    const turns = rig(1);
    turns.request(0, 1, 'list');
    turns.grant(0, 'a');
    turns.answer(5, 1);
    turns.request(5, 2, 'list');
    expect(turns.tick(5_000)).toEqual([]);
    expect(turns.enter(5_001, { type: 'listed', id: 1 })).toEqual(['yield 1']);
  });

  it('T63: a watch that cannot yield now is told again after another share', () => {
    const turns = rig(1);
    turns.watching(1);
    turns.request(20_000, 2);
    expect(turns.tick(20_250)).toEqual(['yield 1']);
    expect(turns.enter(20_250, { type: 'refused', id: 1 })).toEqual(['tick-after 10000']);
    expect(turns.tick(30_250)).toEqual(['yield 1']);
  });

  it('T68: a watch that nobody uses yields before others, after 1 s, and waits without asking for a slot', () => {
    const turns = rig();
    turns.watching(4);
    expect(turns.enter(0, { type: 'use', id: 3, unused: true })).toEqual(['look-after 3000']);
    expect(turns.request(500, 5)).toEqual(['acquire', 'tick-after 500']);
    expect(turns.tick(1_000)).toEqual(['yield 3']);
    expect(turns.end(1_001, 3)).toEqual(['release s3', 'tick-after 8999']);
    expect(turns.grant(1_002, 's3')).toEqual(['send 5', 'look-after 3000']);
    const again = { type: 'request', id: 6, kind: 'watch', unused: true } as const;
    expect(turns.enter(1_003, again)).toEqual(['look-after 3000']);
    expect(turns.tick(60_000)).toEqual(['look-after 3000']);
    expect(turns.enter(60_000, { type: 'use', id: 6, unused: false })).toEqual([
      'acquire',
      'tick-after 250',
    ]);
  });

  it('T68: a list that nobody uses any more is completed, and without a limit everything is sent', () => {
    const turns = rig(1);
    const unused = true;
    expect(turns.enter(0, { type: 'request', id: 1, kind: 'page', unused })).toEqual(['acquire']);
    expect(turns.grant(0, 'a')[0]).toBe('send 1');
    turns.enter(0, { type: 'request', id: 2, kind: 'watch', unused });
    turns.limit(UNLIMITED);
    expect(turns.tick(0)).toEqual(['send 2']);
  });

  it('T68: a watch that nobody uses is the first one to yield to another tab', () => {
    const turns = rig();
    turns.watching(4);
    turns.enter(2_000, { type: 'use', id: 4, unused: true });
    const contended = { type: 'contended', contended: true } as const;
    expect(turns.enter(3_000, contended)).toEqual(['yield 4']);
  });

  it('T64: a stream whose slot is taken away is ended, and returns no slot', () => {
    const turns = rig();
    turns.watching(2);
    expect(turns.enter(1, { type: 'lost', slot: slot('s1') })).toContain('yield 1!');
    expect(turns.end(1, 1)).toEqual(['look-after 3000']);
    expect(turns.enter(2, { type: 'lost', slot: slot('s1') })).toEqual(['look-after 3000']);
  });

  it('T61: a slot that is granted when nothing waits any more is returned', () => {
    const turns = rig();
    turns.request(0, 1);
    expect(turns.end(0, 1)).toEqual(['cancel']);
    expect(turns.grant(0, 'a')).toEqual(['release a']);
  });

  it('T64: without a limit everything is sent, also what waited before the limit was lifted', () => {
    const turns = rig(UNLIMITED);
    expect(turns.request(0, 1)).toEqual(['send 1']);
    turns.limit(1);
    turns.request(0, 2);
    turns.request(0, 3);
    turns.limit(UNLIMITED);
    expect(turns.tick(0)).toEqual(['cancel', 'send 2', 'send 3']);
  });

  it('T62, T64: when the limit is lifted, lists are sent before watches that waited longer', () => {
    const turns = rig(1);
    turns.request(0, 1);
    turns.request(0, 2);
    turns.request(0, 3, 'list');
    turns.limit(UNLIMITED);
    expect(turns.tick(0)).toEqual(['cancel', 'send 3', 'send 1', 'send 2']);
  });
});
