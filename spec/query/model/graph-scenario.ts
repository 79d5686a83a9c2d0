/** Random scenarios of graphs: long collections, several subscribers, and one that acts within what it receives. */
import * as fc from '../../support/fast-check.ts';
import type { NodeChoice } from './graph.ts';
import { type Simple, simpleOf } from './scenario.ts';

export type GraphEvent =
  | Simple
  /** Two events in one turn. */
  | { readonly do: 'together'; readonly events: readonly Simple[] }
  /** Runs up to that many slices of computations. */
  | { readonly do: 'slices'; readonly most: number }
  /** All objects of a source leave, and this many come. */
  | { readonly do: 'refill'; readonly on: number; readonly size: number; readonly by: number };

export interface GraphScenario {
  readonly choices: readonly NodeChoice[];
  readonly events: readonly GraphEvent[];
  /** How many objects the sources have at first. */
  readonly sizes: readonly [number, number];
  readonly isInTurns: boolean;
  /** What a subscriber of one of the last nodes does within the sets that it receives, if there is such a subscriber. */
  readonly actor: { readonly at: number; readonly acts: readonly GraphEvent[] } | undefined;
}

/** A step of a computation takes 64 rows, so the longest collections take several slices. */
const NAMES = Array.from({ length: 400 }, (_, at) => `n${at}`);
const SIZES = [0, 5, 150, 400];

const simple = simpleOf(NAMES).filter((each) => each.do !== 'break');
const refill: fc.Arbitrary<GraphEvent> = fc.record({
  do: fc.constant('refill' as const),
  on: fc.nat(1),
  size: fc.constantFrom(...SIZES),
  by: fc.nat(9),
});
const event: fc.Arbitrary<GraphEvent> = fc.oneof(
  { weight: 8, arbitrary: simple },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('together' as const),
      events: fc.array(simple, { minLength: 2, maxLength: 2 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('slices' as const),
      most: fc.constantFrom(1, 2, 3, 6, 1_000),
    }),
  },
  { weight: 1, arbitrary: refill },
);

export const graphScenario: fc.Arbitrary<GraphScenario> = fc.record({
  choices: fc.array(
    fc.record({ which: fc.nat(1_000), start: fc.nat(20), one: fc.nat(10), other: fc.nat(10) }),
    { minLength: 1, maxLength: 6, size: 'max' },
  ),
  events: fc.array(event, { maxLength: 14, size: 'max' }),
  sizes: fc.tuple(fc.constantFrom(...SIZES), fc.constantFrom(...SIZES)),
  isInTurns: fc.boolean(),
  actor: fc.option(
    fc.record({
      at: fc.nat(2),
      acts: fc.array(fc.oneof({ weight: 4, arbitrary: simple }, { weight: 1, arbitrary: refill }), {
        maxLength: 12,
        size: 'max',
      }),
    }),
    { nil: undefined },
  ),
});
