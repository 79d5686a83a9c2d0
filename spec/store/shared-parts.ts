/** Pairs of JSON texts that share parts, and a check of the identities that law S60 demands. */

import { expect } from 'vitest';
import * as fc from '../support/fast-check.ts';

/** Two texts of JSON, of a value before and after a change. */
export type Texts = readonly [before: string, after: string];

const leaf = fc.constantFrom(
  'null',
  'true',
  '0',
  '-0',
  '1',
  '1e21',
  '""',
  '"0"',
  '"a"',
  '"\\ud800"',
);
const name = fc.constantFrom(
  'a',
  'b',
  'c',
  '0',
  '1',
  '__proto__',
  'constructor',
  'length',
  'toString',
);
/** Whether a member or an item exists before, after or both times. */
const presence = fc.constantFrom('both', 'both', 'both', 'both', 'both', 'before', 'after');
type Entry<T> = readonly [typeof presence extends fc.Arbitrary<infer P> ? P : never, T];

function listed<T>(
  entries: readonly Entry<T>[],
  write: (entry: T, at: 0 | 1) => string,
  brackets: string,
): Texts {
  const side = (missing: string, at: 0 | 1) => {
    const there = entries.filter(([when]) => when !== missing).map(([, each]) => write(each, at));
    return `${brackets[0]}${there.join(',')}${brackets[1]}`;
  };
  return [side('after', 0), side('before', 1)];
}

/** Texts that are mostly equal: most values do not change, some members move to another place. */
export const texts: fc.Arbitrary<Texts> = fc.letrec<{ value: Texts; object: Texts; array: Texts }>(
  (tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      { weight: 4, arbitrary: leaf.map((text): Texts => [text, text]) },
      { weight: 1, arbitrary: fc.tuple(leaf, leaf) },
      { weight: 4, arbitrary: tie('object') },
      { weight: 3, arbitrary: tie('array') },
    ),
    object: fc
      .tuple(
        fc.array(fc.tuple(presence, fc.tuple(name, tie('value'))), { maxLength: 5 }),
        fc.constantFrom(false, false, false, false, true),
      )
      .map(([entries, isReversed]) => {
        const write = ([key, value]: readonly [string, Texts], at: 0 | 1) =>
          `${JSON.stringify(key)}:${value[at]}`;
        const [before] = listed(entries, write, '{}');
        return [before, listed(isReversed ? entries.toReversed() : entries, write, '{}')[1]];
      }),
    array: fc
      .array(fc.tuple(presence, tie('value')), { maxLength: 4 })
      .map((entries) => listed(entries, (value, at) => value[at], '[]')),
  }),
).value;

/** The text of a value. It shows the order of the members and the sign of zero. */
export function textOf(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (Object.is(each, -0) ? { minus: 0 } : each));
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The objects and arrays in a value. */
export function partsOf(value: unknown): object[] {
  if (!isObject(value)) return [];
  return [value, ...Object.values(value).flatMap(partsOf)];
}

/** Checks that every part of `next` that is equal to the one at the same place of `previous` is that one. */
export function expectSharedParts(previous: unknown, next: unknown): void {
  if (!isObject(previous) || !isObject(next)) return;
  if (textOf(previous) === textOf(next)) return expect(next).toBe(previous);
  if (Array.isArray(previous) !== Array.isArray(next)) return undefined;
  if (!Array.isArray(previous) || !Array.isArray(next)) {
    for (const [key, value] of Object.entries(next)) {
      if (Object.hasOwn(previous, key))
        expectSharedParts((previous as Record<string, unknown>)[key], value);
    }
    return undefined;
  }
  const longer = next.length - previous.length;
  for (const [at, item] of next.entries()) {
    // After an insertion or a removal the distance from the end counts first.
    const fromEnd = longer === 0 ? undefined : previous[at - longer];
    const isMoved = isObject(fromEnd) && textOf(fromEnd) === textOf(item);
    expectSharedParts(isMoved ? fromEnd : previous[at], item);
  }
}
