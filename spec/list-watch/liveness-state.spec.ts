/** The machine that detects a dead way to a server, step by step. Time passes only as the inputs say. */

import { describe, expect, it } from 'vitest';
import {
  idle,
  type Liveness,
  type LivenessInput,
  nextLiveness,
} from '../../lib/transport/guards/liveness-state.ts';
import * as fc from '../support/fast-check.ts';

type Timed = readonly [nowMs: number, input: LivenessInput, moment?: object];

const LIVENESS_MS = 15_000;
const at = (nowMs: number, more: object = {}) => ({
  ...{ nowMs, heardMs: 0, random: 0, mayAsk: true },
  ...more,
});
const opened = { type: 'opened' } as const;
const tick = { type: 'tick' } as const;
const life = { type: 'life' } as const;
const queued = { type: 'queued' } as const;
const sending = { type: 'sending' } as const;
const beats = (from: number, to: number): readonly Timed[] =>
  Array.from({ length: (to - from) / 500 }, (_, nth) => [from + (nth + 1) * 500, tick] as const);
/** The effects of each input, without ticks. */
function run(...steps: readonly Timed[]) {
  let state: Liveness = idle;
  const effects: (readonly [number, string])[] = [];
  for (const [nowMs, input, more] of steps) {
    const [next, performed] = nextLiveness(state, input, at(nowMs, more), LIVENESS_MS);
    state = next;
    for (const { type } of performed) if (type !== 'tick-after') effects.push([nowMs, type]);
  }
  return { state, effects };
}

describe('the silence of a server', () => {
  it('W29: a late tick sends no ping, because what arrived meanwhile was not read yet', () => {
    expect(run([0, opened], [17_000, tick]).effects).toEqual([]);
    expect(run([0, opened], [17_000, tick], [17_500, tick]).effects).toEqual([[17_500, 'ask']]);
    expect(run([0, opened], [17_000, tick], [17_500, tick, { heardMs: 17_001 }]).effects).toEqual(
      [],
    );
  });
});

const asked: readonly Timed[] = [
  [0, opened],
  [15_000, tick],
];

describe('a ping', () => {
  it('W29, R30: 5 s without an answer are a failure, and a late answer is life', () => {
    const { state, effects } = run(...asked, ...beats(15_000, 23_000), [23_000, life]);
    expect([state.phase, effects]).toEqual([
      'listening',
      [
        [15_000, 'ask'],
        [20_000, 'doubt'],
        [23_000, 'rest'],
        [23_000, 'trust'],
      ],
    ]);
  });

  it.each([
    [0, 25_000],
    [0.998, 30_000],
  ])('R30: without a late answer the watches are lost after 10 to 15 s: %d', (random, lostMs) => {
    const steps = [
      [0, opened],
      [15_000, tick, { random }],
      ...beats(15_000, 40_000),
    ] satisfies Timed[];
    const { state, effects } = run(...steps);
    expect(effects.find(([, type]) => type === 'lose')).toEqual([lostMs, 'lose']);
    expect(state).toEqual(idle);
  });

  it('W29: a wait on the side of the client, a blocked thread and a sleep do not count', () => {
    const waits = run(...asked, [15_000, queued], ...beats(15_000, 100_000), [100_000, sending]);
    expect([waits.state.phase, waits.state.waitedMs]).toEqual(['asking', 0]);
    const gaps = Array.from({ length: 20 }, (_, nth) => [20_000 + nth * 4_000, tick] as const);
    expect(run(...asked, ...gaps).state).toMatchObject({ phase: 'asking', waitedMs: 0 });
    const slept = run(...asked, ...beats(15_000, 19_000), [3_600_000, tick]);
    expect(slept.state).toMatchObject({ phase: 'asking', waitedMs: 4_000 });
  });

  it('W27, R30: whatever happens, at most one ping is open, each doubt ends in trust or a loss, and no tick is left over', () => {
    const input = fc.constantFrom<LivenessInput>(
      ...[opened, { type: 'closed' } as const, life, queued, sending, tick, tick, tick],
      { type: 'failed', why: 'refused' },
    );
    const step = fc.record({
      input,
      afterMs: fc.constantFrom(1, 500, 5_000, 20_000),
      mayAsk: fc.boolean(),
      random: fc.constantFrom(0, 0.5),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let state = idle;
        let nowMs = 0;
        let asking = false;
        let doubted = false;
        let ticks = false;
        for (const { input, afterMs, ...more } of steps) {
          nowMs += afterMs;
          if (input.type === 'tick' && !ticks) continue;
          if (input.type === 'tick') ticks = false;
          const [next, effects] = nextLiveness(state, input, at(nowMs, more), LIVENESS_MS);
          state = next;
          for (const effect of effects) {
            if (effect.type === 'tick-after') ticks = true;
            else if (effect.type === 'ask') {
              expect(asking).toBe(false);
              asking = true;
            } else if (effect.type === 'rest') asking = ticks = false;
            else {
              expect(effect.type === 'doubt' ? !doubted : effect.type === 'lose' || doubted).toBe(
                true,
              );
              doubted = effect.type === 'doubt';
            }
          }
          if (input.type === 'closed') doubted = false;
          expect([asking, ticks, doubted]).toEqual([
            state.phase === 'asking' || state.phase === 'doubting',
            state.phase !== 'idle',
            state.phase === 'doubting',
          ]);
        }
      }),
      { numRuns: 300 },
    );
  });
});
