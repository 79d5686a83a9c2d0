/** What conditions, orders and columns read at a path. */
import { expect, it } from 'vitest';
import { shownBy } from '../../lib/query/live-query/path.ts';
import { predicateOf } from '../../lib/query/live-query/predicate.ts';
import * as fc from '../support/fast-check.ts';

/** The values at a path, and whether an array is on the way, by the law alone. */
function valuesAt(value: unknown, names: readonly string[]): { all: unknown[]; isList: boolean } {
  if (Array.isArray(value)) {
    return { all: value.flatMap((each) => valuesAt(each, names).all), isList: true };
  }
  const [name, ...rest] = names;
  if (value === null || value === undefined) return { all: [], isList: false };
  if (name === undefined) return { all: [value], isList: false };
  const isThere = typeof value === 'object' && Object.keys(value).includes(name);
  return isThere ? valuesAt(value[name as never], rest) : { all: [], isList: false };
}

const leaf = fc.constantFrom('ab', 'xABx', '', 7, true, null, undefined, ['b', [null, 'ab']], []);
const fields = fc.record({ name: leaf, namespace: leaf, toString: leaf }, { requiredKeys: [] });
const objects = fc.array(
  fc.record(
    { metadata: fc.oneof(fields, leaf, fc.array(fields, { maxLength: 3 })), name: leaf },
    { requiredKeys: [] },
  ),
  { minLength: 1, maxLength: 6 },
);
const paths = fc.constantFrom(
  'metadata.name',
  'metadata.namespace',
  'metadata.toString',
  'metadata.constructor',
  'metadata',
  'name',
);

it('Q62, Q63, Q66: what is read at a path are the own values at it, through arrays', () => {
  const seen = { lists: 0, found: 0, absent: 0 };
  fc.assert(
    fc.property(objects, paths, paths, fc.boolean(), (all, path, second, isAnd) => {
      const contains = (at: string) => ({ path: at, contains: 'ab', ignoreCase: true }) as const;
      const both = [contains(path), contains(second)];
      const condition = isAnd ? { and: both } : { or: both };
      const holds = predicateOf(condition, {});
      for (const object of all) {
        const at = (text: string) => valuesAt(object, text.split('.'));
        const { all: values, isList } = at(path);
        expect(shownBy(path)(object)).toEqual(isList ? values : values[0]);
        const finds = [path, second].map((text) =>
          at(text).all.some((each) => typeof each === 'string' && /ab/i.test(each)),
        );
        expect(holds(object, 0)).toBe(isAnd ? finds.every(Boolean) : finds.some(Boolean));
        if (isList) seen.lists++;
        else seen[values.length === 0 ? 'absent' : 'found']++;
      }
    }),
    { numRuns: 500 },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(100);
});
