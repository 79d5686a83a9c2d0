/** The state of the proxy detection, step by step. Time passes only as the inputs say. */
import { describe, expect, it } from 'vitest';
import {
  nextPromptness,
  type Promptness,
  type PromptnessInput,
  unknownPromptness,
} from '../../lib/transport/guards/buffering-state.ts';

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

describe('the promptness of a server', () => {
  it.each([
    [[rest], true],
    [[rest, rest], false],
    [[rest, cut, rest], true],
    [[rest, cut, rest, rest], false],
    [[cut, cut, cut], true],
  ])(
    'W23: two pauses at the end of a line in a row show that events are no longer held back: %j, still held: %s',
    (rests, held) => {
      const steps = rests.map((input, step) => [10_000 + step, input] as const);
      const { heldSinceAtMs } = stateAfter([10, probe], [5_010, probed('held')], ...steps);
      expect(heldSinceAtMs !== undefined).toBe(held);
    },
  );

  it('W26: the next probe is a minute later, and the wait doubles after each probe that proved nothing, up to 16 minutes', () => {
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
    // A server that responds late to each probe may be prompt in between.
    expect(nextPromptness(state, rest, at(1e8)).fruitless).toBe(7);
    expect(nextPromptness(state, probed('prompt'), at(1e8)).fruitless).toBe(0);
  });
});
