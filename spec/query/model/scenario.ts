/** Random scenarios: a pipeline, and what happens to its sources, its parameters, its time and its subscribers. */
import * as fc from '../../support/fast-check.ts';
import type { ListedItem, Step } from '../world.ts';

/** What happens at one moment. `on` is the source: 0 that of the pipeline, 1 the other one. */
export type Simple =
  | { readonly do: 'commit'; readonly on: number; readonly steps: readonly Step[] }
  | { readonly do: 'reset'; readonly on: number; readonly items: readonly ListedItem[] }
  | { readonly do: 'synced'; readonly on: number; readonly synced: boolean }
  | { readonly do: 'turn'; readonly at: number; readonly to: number }
  /** A function begins or ceases to throw for these names, whose objects are evaluated again. */
  | { readonly do: 'break'; readonly names: readonly string[]; readonly isBroken: boolean }
  | { readonly do: 'join' }
  | { readonly do: 'leave'; readonly which: number };

export type Event =
  | Simple
  /** Several events in one turn. */
  | { readonly do: 'together'; readonly events: readonly Simple[] }
  /** Several events while `conflateByKey` is closed. */
  | { readonly do: 'folded'; readonly events: readonly Simple[] }
  /** An event, and another one inside of the first set that it causes. */
  | { readonly do: 'within'; readonly event: Simple; readonly inside: Simple }
  | { readonly do: 'elapse'; readonly ms: number }
  /** The clock is set back. */
  | { readonly do: 'back'; readonly ms: number };

export interface Scenario {
  readonly choices: readonly (readonly [which: number, start: number])[];
  readonly source: 'world' | 'world in turns' | 'informer';
  readonly hasOddIds: boolean;
  /** Whether the first operator has a function that throws at times. */
  readonly isFlaky: boolean;
  readonly events: readonly Event[];
}

const PLAIN = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'];
const ODD = [
  '__proto__',
  'constructor',
  'a/b',
  '/',
  ' ',
  '0',
  '10',
  '9',
  'é',
  '\u{1F600}',
  '\uFF5E',
  '\0',
];
const MANY = Array.from({ length: 60 }, (_, at) => `n${at}`);

/** The uid of the object that is created as the `count`th. */
export function oddUid(count: number): string {
  return `${ODD[count % ODD.length]}${count < ODD.length ? '' : count}`;
}

export function simpleOf(names: readonly string[]): fc.Arbitrary<Simple> {
  const name = fc.constantFrom(...names);
  const n = fc.nat(9);
  const step: fc.Arbitrary<Step> = fc.record({
    name,
    what: fc.constantFrom('set', 'set', 'set', 'delete', 'recreate', 'again'),
    n,
    group: fc.constantFrom('a', 'b', 'c', '__proto__', ''),
  });
  const listed: fc.Arbitrary<ListedItem> = fc.record({ name, n, isNew: fc.boolean() });
  const on = fc.constantFrom(0, 0, 0, 1);
  const steps = fc.array(step, { maxLength: 5 });
  const items = fc.uniqueArray(listed, { selector: (each) => each.name, maxLength: names.length });
  return fc.oneof(
    { weight: 16, arbitrary: fc.record({ do: fc.constant('commit' as const), on, steps }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('reset' as const), on, items }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('synced' as const), on, synced: fc.boolean() }),
    },
    {
      weight: 6,
      arbitrary: fc.record({ do: fc.constant('turn' as const), at: fc.nat(5), to: fc.nat(20) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('break' as const),
        names: fc.array(name, { maxLength: 4 }),
        isBroken: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('join' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), which: fc.nat(3) }) },
  );
}

function eventOf(names: readonly string[]): fc.Arbitrary<Event> {
  const simple = simpleOf(names);
  const events = fc.array(simple, { maxLength: 4 });
  return fc.oneof(
    { weight: 20, arbitrary: simple },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('together' as const), events }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('folded' as const), events }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('within' as const), event: simple, inside: simple }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('elapse' as const), ms: fc.nat(40) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('back' as const), ms: fc.nat(30) }) },
  );
}

export const scenario: fc.Arbitrary<Scenario> = fc
  .constantFrom(PLAIN, PLAIN.slice(0, 3), ODD, MANY)
  .chain((names) =>
    fc.record<Scenario>({
      choices: fc.array(fc.tuple(fc.nat(1_000), fc.nat(40)), {
        minLength: 1,
        maxLength: 5,
        size: 'max',
      }) as never,
      source: fc.constantFrom('world', 'world', 'world in turns', 'world in turns', 'informer'),
      hasOddIds: fc.constant(names === ODD),
      isFlaky: fc.integer({ min: 0, max: 3 }).map((at) => at === 0),
      events: fc.array(eventOf(names), { maxLength: 60, size: 'max' }),
    }),
  );
