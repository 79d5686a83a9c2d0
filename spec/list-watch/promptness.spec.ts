/** What is known of a server, step by step: no time passes here but what the inputs say. */
import { describe, expect, it } from 'vitest';
import {
  isProved,
  nextPromptness,
  type Promptness,
  type PromptnessInput,
  patienceMs,
  unknownPromptness,
} from '../../lib/list-watch/buffering-state.ts';

const at = (passedMs: number) => ({ passedMs, nowMs: 1_000_000 + passedMs });
const stateAfter = (...steps: readonly (readonly [number, PromptnessInput])[]): Promptness =>
  steps.reduce(
    (state, [passedMs, input]) => nextPromptness(state, input, at(passedMs)),
    unknownPromptness,
  );
const rest = { type: 'rest', endsLine: true } as const;
const cut = { type: 'rest', endsLine: false } as const;
const probe = { type: 'probe' } as const;
const probed = (verdict?: 'prompt' | 'held' | 'none'): PromptnessInput =>
  verdict === undefined ? { type: 'probed' } : { type: 'probed', verdict };

describe('what is known of how promptly events come', () => {
  it('W21: a rest at the end of a line proves all watches that began before it', () => {
    const state = stateAfter([500, rest]);
    expect([isProved(state, 400), isProved(state, 500), isProved(state, 501)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(isProved(stateAfter([500, cut]), 400)).toBe(false);
    expect(isProved(stateAfter([100, probe], [500, probed('prompt')]), 400)).toBe(true);
  });

  it('W21: patience is longer with a server that was prompt before, and shorter where something is odd', () => {
    const [unknown, proved] = [unknownPromptness, stateAfter([1, rest])];
    expect([patienceMs(unknown, true), patienceMs(unknown, false)]).toEqual([5_000, 20_000]);
    expect([patienceMs(proved, true), patienceMs(proved, false)]).toEqual([15_000, 65_000]);
  });

  it('W22: a probe whose events came with its end says since when', () => {
    expect(stateAfter([10, probe], [5_010, probed('held')])).toMatchObject({
      heldSinceAtMs: 1_005_010,
      probing: false,
    });
  });

  it.each([
    [[rest], true],
    [[rest, rest], false],
    [[rest, cut, rest], true],
    [[rest, cut, rest, rest], false],
    [[cut, cut, cut], true],
  ])('W24: two rests at the end of a line in a row heal it: %j, still held: %s', (rests, held) => {
    const steps = rests.map((input, step) => [10_000 + step, input] as const);
    const { heldSinceAtMs } = stateAfter([10, probe], [5_010, probed('held')], ...steps);
    expect(heldSinceAtMs !== undefined).toBe(held);
  });

  it('W26: the next probe is a minute later, twice as long after each that showed nothing, 16 minutes at most', () => {
    expect(stateAfter([1_000, probe]).nextProbeMs).toBe(61_000);
    expect(stateAfter([1_000, probe], [3_000, probed()]).nextProbeMs).toBe(61_000);
    let state = unknownPromptness;
    const waits = Array.from({ length: 7 }, (_, step) => {
      const passedMs = step * 10_000_000;
      state = nextPromptness(state, probe, at(passedMs));
      state = nextPromptness(state, probed('none'), at(passedMs));
      return (state.nextProbeMs - passedMs) / 60_000;
    });
    expect(waits).toEqual([1, 2, 4, 8, 16, 16, 16]);
    // A server that answers late each time is prompt in between.
    expect(nextPromptness(state, rest, at(1e8)).fruitless).toBe(7);
    expect(nextPromptness(state, probed('prompt'), at(1e8)).fruitless).toBe(0);
  });
});
