/** Random lives of a page. */
import * as fc from '../../support/fast-check.ts';
import { DISTURBANCES, type Disturbance } from './cluster.ts';
import { KINDS, type Kind } from './components.ts';
import { OUTCOMES, type Outcome } from './edit-model.ts';
import type { Question } from './questions.ts';

export interface WorldOptions {
  readonly strict: boolean;
  readonly lingerMs: number;
  readonly latencyMs: number;
  /** What the provider is given at first. */
  readonly env: number;
}

type OnCluster = { readonly cluster: number };
type OnSlot = { readonly slot: number };
type OnEnv = { readonly env: number };

export type Act =
  | (OnSlot & { readonly do: 'mount'; readonly kind: Kind; readonly question: Question })
  | (OnSlot & {
      readonly do: 'ask';
      readonly question: Question;
      /** The arguments that change; all, if absent. */
      readonly fields: readonly (keyof Question)[] | undefined;
      readonly transition: boolean;
    })
  | (OnSlot & { readonly do: 'leave' | 'return' | 'dismiss' })
  | (OnSlot & {
      readonly do: 'edit';
      readonly at: number;
      readonly byKey: boolean;
      readonly outcome: Outcome;
    })
  | (OnEnv & { readonly do: 'env'; readonly transition: boolean })
  | (OnEnv & { readonly do: 'stop' | 'start' })
  | (OnEnv & OnSlot & { readonly do: 'remove' | 'keep' })
  | (OnCluster & {
      readonly do: 'write';
      readonly of: number;
      readonly at: number;
      readonly end: boolean;
    })
  | (OnCluster & {
      readonly do: 'deny';
      readonly of: number;
      readonly namespace: string | undefined;
    })
  | (OnCluster & { readonly do: 'disturb'; readonly how: Disturbance })
  | { readonly do: 'heal' };

export interface Step {
  readonly act: Act;
  /** Absent: waits until everything has arrived. */
  readonly passMs: number | undefined;
}

const one = <K extends string>(name: K) => fc.constant(name);
const rarely = fc.constantFrom(false, false, false, true);
const cluster = fc.constantFrom(0, 0, 0, 1);
const env = fc.constantFrom(0, 0, 1, 2, 2, 3);
const foreign = fc.constantFrom(2, 2, 2, 3);
const of = fc.constantFrom(0, 0, 1);
const slot = fc.nat(3);

const question: fc.Arbitrary<Question> = fc.record({
  of,
  off: fc.constantFrom(...Array.from({ length: 12 }, (_, at) => at === 11)),
  namespace: fc.constantFrom<Question['namespace']>('a', 'a', 'b', undefined, ['a', 'b']),
  label: fc.constantFrom('', '', '', 'app=p'),
  name: fc.constantFrom(undefined, undefined, undefined, 'x', 'y'),
  where: rarely,
  columns: fc.constantFrom('all', 'all', 'all', 'all', 'names', 'titles', 'keyed'),
  as: fc.constantFrom(undefined, undefined, 'metadata'),
  order: fc.constantFrom('none', 'name', 'value'),
  limit: fc.constantFrom(undefined, undefined, 1, 2),
  offset: fc.constantFrom(undefined, undefined, undefined, 1),
});
const FIELDS = [
  ...(['of', 'off', 'namespace', 'namespace', 'label', 'name', 'where', 'columns'] as const),
  ...(['columns', 'as', 'as', 'order', 'limit', 'offset'] as const),
];
/** Mostly a few arguments change. */
const fields = fc.option(fc.subarray(FIELDS, { minLength: 1, maxLength: 2 }), {
  nil: undefined,
  freq: 4,
});

const ACTS = {
  leave: fc.record({ do: one('leave'), slot }),
  return: fc.record({ do: one('return'), slot }),
  env: fc.record({ do: one('env'), env, transition: rarely }),
  edit: fc.record({
    do: one('edit'),
    ...{ slot, at: fc.nat(1), byKey: rarely },
    outcome: fc.constantFrom(...OUTCOMES),
  }),
  dismiss: fc.record({ do: one('dismiss'), slot }),
  deny: fc.record({
    do: one('deny'),
    ...{ cluster, of, namespace: fc.constantFrom(undefined, 'a', 'b') },
  }),
  disturb: fc.record({ do: one('disturb'), cluster, how: fc.constantFrom(...DISTURBANCES) }),
  heal: fc.record({ do: one('heal') }),
  stop: fc.record({ do: one('stop'), env: foreign }),
  start: fc.record({ do: one('start'), env: foreign }),
  remove: fc.record({ do: one('remove'), env: foreign, slot }),
  keep: fc.record({ do: one('keep'), env: foreign, slot }),
} satisfies Record<string, fc.Arbitrary<Act>>;
type Other = keyof typeof ACTS;
const OTHERS = Object.keys(ACTS) as Other[];

const ask = fc.record({ do: one('ask'), slot, question, fields, transition: rarely });
const write = fc.record({ do: one('write'), cluster, of, at: fc.nat(5), end: rarely });

function actOf(kinds: readonly Other[]): fc.Arbitrary<Act> {
  const kind = fc.constantFrom(...KINDS.filter((each) => each !== 'edit'));
  // Half of the components edit, if there are edits.
  const mounted = kinds.includes('edit') ? fc.oneof(kind, one('edit')) : kind;
  const mount = fc.record({ do: one('mount'), slot, kind: mounted, question });
  const weighed = (weight: number, arbitrary: fc.Arbitrary<Act>) => ({ weight, arbitrary });
  return fc.oneof(
    ...[weighed(4, mount), weighed(3, ask), weighed(2, write)],
    ...kinds.map((each) => weighed(each === 'edit' ? 5 : 2, ACTS[each])),
  );
}

/** A few kinds of acts in each life. With all kinds, orders that need two of a kind would rarely occur. */
export const life: fc.Arbitrary<readonly Step[]> = fc
  .subarray(OTHERS, { minLength: 1, maxLength: 5 })
  .chain((kinds) => {
    const passMs = fc.constantFrom(0, 0, 1, 17, 60, 350, undefined, undefined);
    const step = fc.record({ act: actOf(kinds), passMs });
    return fc.array(step, { minLength: 3, maxLength: 16, size: 'max' });
  });

export const worldOptions: fc.Arbitrary<WorldOptions> = fc.record({
  strict: fc.boolean(),
  lingerMs: fc.constantFrom(0, 30, 300, 1_000),
  latencyMs: fc.constantFrom(0, 3),
  env,
});
