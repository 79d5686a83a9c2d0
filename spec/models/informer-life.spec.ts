/**
 * An informer's whole life against a model: every call in every order, also within every kind of callback, with
 * every kind of scope, linger, demand and policy.
 */
import fc from 'fast-check';
import { config } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Act,
  CALLBACKS,
  type Callback,
  POLICIES,
  STREAMS,
  TOLD,
  World,
  type WorldOptions,
} from './life-world.ts';

type Step =
  | { readonly act: Act }
  | { readonly within: Callback; readonly acts: readonly Act[] }
  | { readonly passMs: number };

const at = fc.nat(7);
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Act>({ do: 'start' }, { do: 'stop' }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Act>({ do: 'expire' }, { do: 'close' }, { do: 'ready' }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('subscribe' as const),
      stream: fc.constantFrom(...STREAMS),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('deliver' as const),
      policy: fc.constantFrom(...POLICIES),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('leave' as const, 'leave' as const, 'view' as const, 'hush' as const),
      at,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('listen' as const), stream: fc.constantFrom(...TOLD) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('handle' as const),
      slow: fc.boolean(),
      policy: fc.constantFrom(...POLICIES),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('remove' as const),
      at,
      pending: fc.constantFrom('drop' as const, 'drain' as const),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('write' as const), at, end: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refuse' as const), at, on: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('room' as const), open: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constantFrom<Act>({ do: 'wait' }, { do: 'wait', timeoutMs: 50 }) },
);
const within: fc.Arbitrary<Step> = fc.record({
  within: fc.constantFrom(...CALLBACKS),
  acts: fc.oneof(
    fc.array(act, { minLength: 1, maxLength: 4 }),
    fc.constant<Act[]>([{ do: 'throw' }]),
  ),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: act.map((of) => ({ act: of })) },
  { weight: 3, arbitrary: within },
  { weight: 2, arbitrary: fc.record({ passMs: fc.constantFrom(0, 1, 3, 10, 100, 2_000) }) },
);
const options: fc.Arbitrary<WorldOptions> = fc.record({
  lingerMs: fc.constantFrom(0, 10, 3e9, Number.POSITIVE_INFINITY),
  latencyMs: fc.constantFrom(0, 0, 3),
  polled: fc.constantFrom(false, false, true),
  scopes: fc.constantFrom<readonly (string | undefined)[]>([undefined], [''], ['a'], ['a', 'b']),
  compression: fc.constantFrom('none' as const, 'latest' as const),
});

const RUNS = Number(process.env['LIFE_RUNS'] ?? 250);

const reported: string[] = [];
beforeEach(() => {
  config.onUnhandledError = (error) => reported.push(String(error));
});
afterEach(() => {
  config.onUnhandledError = null;
});

describe("an informer's life", () => {
  it('I2, I3, I5, I7, I8: calls take effect in their order wherever they are made, and in the end everybody is right', async () => {
    await fc.assert(
      fc.asyncProperty(options, fc.array(step, { maxLength: 25 }), async (of, steps) => {
        const world = new World(of);
        for (const each of steps) {
          if ('act' in each) world.act(each.act);
          else if ('within' in each) world.plan(each.within, each.acts);
          else await world.pass(each.passMs);
          await world.pass(0);
          world.check();
        }
        await world.end();
        expect(reported.filter((error) => error !== 'Error: a consumer threw')).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  }, 120_000);
});
