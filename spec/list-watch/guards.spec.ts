/**
 * The guards of watches: the machines that detect a dead way to a server and a proxy that holds back, step by step, and watches that begin
 * before the code of their guards was loaded. Time passes only as the inputs say.
 */

import { createFakeApiServer } from 'rx-informer/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  nextPromptness,
  type Promptness,
  type PromptnessInput,
  unknownPromptness,
} from '../../lib/transport/guards/buffering-state.ts';
import {
  idle,
  type Liveness,
  type LivenessInput,
  nextLiveness,
} from '../../lib/transport/guards/liveness-state.ts';
import { word } from '../reflector/rig.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import * as fc from '../support/fast-check.ts';
import { eventually } from '../support/patience.ts';

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

describe('the promptness of a server', () => {
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

const guards = '../../lib/transport/guards/server-guards.ts' as const;

afterEach(() => {
  vi.doUnmock(guards);
  vi.resetModules();
});

/** A new copy of the library, as after a reload of a page, where the code of the guards is loaded by `load`. */
async function reloaded(load: () => Promise<object>, livenessMs = 15_000) {
  vi.resetModules();
  let loads = 0;
  vi.doMock(guards as string, () => {
    loads++;
    return load();
  });
  const { createClient, createListWatch, createSharedInformer } = await import('rx-informer');
  const { pods } = await import('rx-informer/resources');
  const time = new VirtualTime();
  const server = createFakeApiServer({ scheduler: time, random: () => 0.5 });
  server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
  const client = createClient({
    ...{ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time, livenessMs },
  });
  const follow = () => {
    const source = createListWatch(client, pods, { scheduler: time });
    const informer = createSharedInformer(source, { scheduler: time, random: () => 0.5 });
    informer.start();
    return informer;
  };
  const isPing = ({ query }: (typeof server.requests)[number]) =>
    query['fieldSelector'] === 'metadata.name=rx-informer';
  return {
    ...{ time, server, follow },
    pings: () => server.requests.filter(isPing).length,
    asked: () => server.requests.map(word).join(' '),
    loads: () => loads,
  };
}

/** The same, where the code arrives when the test says so. */
async function waiting(livenessMs?: number) {
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const load = async () => {
    await arrived;
    return vi.importActual(guards);
  };
  const rig = await reloaded(load, livenessMs);
  const loaded = async () => {
    arrive();
    const { loadGuards } = await import('../../lib/transport/guards/watch-guards.ts');
    await loadGuards();
  };
  return { ...rig, loaded };
}

describe('the code of the guards', () => {
  it('T69: a watch does not wait for it, and is guarded when it arrives', async () => {
    const { time, server, follow, pings, loads, loaded } = await waiting();
    const informer = follow();
    await time.advance(30_000);
    expect([informer.status.live, pings(), loads()]).toEqual([true, 0, 1]);
    await loaded();
    await time.advance(16_000);
    expect(pings()).toBe(1);
    server.faults.neverAnswer();
    server.faults.silence();
    await time.advance(25_000);
    expect(informer.status.live).toBe(false);
    await informer.stop();
    expect(time.pending).toBe(0);
  });

  it('T69: what the watch has received before shows that nothing holds its events back', async () => {
    const { time, follow, asked, loaded } = await waiting(Number.POSITIVE_INFINITY);
    const informer = follow();
    await time.advance(1_000);
    await loaded();
    await time.advance(50_000);
    expect([asked(), informer.status.heldBack]).toEqual(['S', undefined]);
    await informer.stop();
  });

  it('T69: if it cannot be loaded, the watch fails with the reason, and the next one requests it again', async () => {
    let fails = true;
    const rig = await reloaded(async () => {
      if (fails) throw new TypeError('Failed to fetch dynamically imported module');
      return vi.importActual(guards);
    });
    const { time, follow, pings, loads } = rig;
    const informer = follow();
    await eventually(() => expect(informer.status.phase).toBe('backoff'));
    expect(informer.status.live).toBe(false);
    expect(informer.status.error?.message).toMatch(
      /^WATCH v1\/pods: the code of the guards could not be loaded: .*reload the page/,
    );
    const retried = () => time.advance(5_000).then(() => loads());
    await eventually(async () => expect(await retried()).toBeGreaterThan(1));
    fails = false;
    await eventually(async () => {
      await time.advance(5_000);
      expect([informer.status.live, informer.status.synced, pings() > 0]).toEqual([
        true,
        true,
        true,
      ]);
    });
    await informer.stop();
    expect(time.pending).toBe(0);
  });

  it('T69: two watches load it once, and one that has ended meanwhile is not guarded', async () => {
    const { time, follow, pings, loads, loaded } = await waiting();
    const [first, second] = [follow(), follow()];
    await time.advance(1_000);
    await first.stop();
    await loaded();
    expect(loads()).toBe(1);
    await second.stop();
    await time.advance(60_000);
    expect([pings(), time.pending]).toEqual([0, 0]);
  });
});
