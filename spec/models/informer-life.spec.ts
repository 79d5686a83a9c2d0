/**
 * Model test of the lifecycle of an informer: every call in every order, also within every kind of callback, with every kind of
 * scope, linger, demand and policy.
 */

import { config } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { allReported } from '../support/errors.ts';
import * as fc from '../support/fast-check.ts';
import {
  type Act,
  CALLBACKS,
  type Callback,
  isOwn,
  OBSERVED,
  POLICIES,
  STREAMS,
  World,
  type WorldOptions,
} from './life-world.ts';

type Step =
  | { readonly act: Act }
  | { readonly within: Callback; readonly acts: readonly Act[] }
  | { readonly passMs: number };

const at = fc.nat(7);
const one = <K extends string>(...names: readonly [K, ...K[]]) => fc.constantFrom(...names);
const ACTS: Record<Act['do'], fc.Arbitrary<Act>> = {
  start: fc.constant({ do: 'start' }),
  stop: fc.constant({ do: 'stop' }),
  expire: fc.constant({ do: 'expire' }),
  close: fc.constant({ do: 'close' }),
  ready: fc.constant({ do: 'ready' }),
  throw: fc.constant({ do: 'throw' }),
  subscribe: fc.record({ do: one('subscribe'), stream: one(...STREAMS), messy: fc.boolean() }),
  deliver: fc.record({ do: one('deliver'), policy: one(...POLICIES) }),
  leave: fc.record({ do: one('leave'), at }),
  view: fc.record({ do: one('view'), at }),
  listen: fc.record({ do: one('listen'), stream: one(...OBSERVED) }),
  hush: fc.record({ do: one('hush'), at }),
  handle: fc.record({
    do: one('handle'),
    slow: fc.boolean(),
    policy: one(...POLICIES),
    resyncPeriodMs: fc.constantFrom(0, 1_000),
  }),
  remove: fc.record({ do: one('remove'), at, pending: one('drop', 'drain') }),
  write: fc.record({ do: one('write'), at, end: fc.boolean() }),
  refuse: fc.record({ do: one('refuse'), at, on: fc.boolean() }),
  capacity: fc.record({ do: one('capacity'), open: fc.boolean() }),
  deny: fc.record({ do: one('deny'), on: fc.boolean() }),
  wait: fc.constantFrom<Act>(
    ...[{ do: 'wait' as const }, { do: 'wait' as const, timeoutMs: 50 }],
    ...[0, 1].map((handler) => ({ do: 'wait' as const, handler })),
    { do: 'wait', whileBlocked: 'wait' },
    { do: 'wait', whileBlocked: 'wait', timeoutMs: 50, handler: 0 },
  ),
};
const KINDS = Object.keys(ACTS) as Act['do'][];

/** A sequence of a few kinds of calls. With all kinds in each, orders that need two of a kind would rarely occur. */
const life: fc.Arbitrary<readonly Step[]> = fc
  .record({
    kinds: fc.subarray(KINDS, { minLength: 2, maxLength: 6 }),
    callbacks: fc.subarray([...CALLBACKS], { minLength: 1, maxLength: 3 }),
  })
  .chain(({ kinds, callbacks }) => {
    const act = fc.oneof(
      ...[...kinds, 'subscribe' as const, 'write' as const].map((kind) => ACTS[kind]),
    );
    // An error that a call throws outside of a callback reaches the caller.
    const called = act.filter((each) => each.do !== 'throw');
    const step: fc.Arbitrary<Step> = fc.oneof(
      { weight: 5, arbitrary: called.map((each) => ({ act: each })) },
      {
        weight: 3,
        arbitrary: fc.record({
          within: fc.constantFrom(...callbacks),
          acts: fc.array(act, { minLength: 1, maxLength: 4 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ passMs: fc.constantFrom(0, 1, 3, 10, 100, 2_000, 11_000) }),
      },
    );
    return fc.array(step, { maxLength: 25, size: 'max' });
  });
const options: fc.Arbitrary<WorldOptions> = fc.record({
  lingerMs: fc.constantFrom(0, 10, 3e9, Number.POSITIVE_INFINITY),
  latencyMs: fc.constantFrom(0, 0, 3),
  polled: fc.constantFrom(false, false, true),
  scopes: fc.constantFrom<readonly (string | undefined)[]>([undefined], [''], ['a'], ['a', 'b']),
  compression: fc.constantFrom('none' as const, 'latest' as const),
});

const RUNS = Number(process.env['LIFE_RUNS'] ?? 400);

const reported: string[] = [];
beforeEach(() => {
  config.onUnhandledError = (error) => reported.push(String(error));
});
afterEach(async () => {
  // rxjs reports errors with a timer, so the last reports arrive later.
  await allReported();
  config.onUnhandledError = null;
});

describe('the lifecycle of an informer', () => {
  it('I2, I3, I5, I7, I8, I64, I65, I70: calls take effect in their order wherever they are made, and every consumer ends in the state of the server (TestSharedInformerStartRace, TestSharedInformerInitializationRace)', async () => {
    await fc.assert(
      fc.asyncProperty(options, life, async (of, steps) => {
        const world = new World(of);
        for (const each of steps) {
          if ('act' in each) world.act(each.act);
          else if ('within' in each) world.plan(each.within, each.acts);
          else await world.pass(each.passMs);
          await world.pass(0);
          world.check();
        }
        await world.end();
        expect(reported.filter((error) => !isOwn(error))).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  }, 3_600_000);
});
