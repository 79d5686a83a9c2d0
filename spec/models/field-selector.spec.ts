/** Field selectors compared with a slow and simple matcher. */

import { parseFieldSelector } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';

const field = fc.constantFrom(
  'metadata.name',
  'spec.nodeName',
  'status.phase',
  'a.b.c',
  'nothing',
  'toString',
  'a.__proto__',
  // As in apimachinery, spaces belong to the field and to the value.
  'metadata.name ',
  ' status.phase',
);
const value = fc.constantFrom('', 'x', 'y', 'true', '7', 'a,b', 'a=b', '\\', 'null', ' x', 'x ');
const leaf = fc.constantFrom<unknown>(
  '',
  'x',
  'y',
  true,
  7,
  null,
  undefined,
  'a,b',
  'a=b',
  '\\',
  ' x',
  'x ',
  {},
  [],
);
const object = fc.record({
  metadata: fc.record({ name: leaf }),
  spec: fc.oneof(fc.constant(null), fc.record({ nodeName: leaf })),
  status: fc.oneof(fc.constant('a text'), fc.record({ phase: leaf })),
  a: fc.record({ b: fc.oneof(leaf, fc.record({ c: leaf })) }),
});

/** The value as kubectl would print it; '' for a value that is not a scalar. */
function slowValue(of: unknown, path: string): string {
  const at = path.split('.').reduce<unknown>((inner, name) => {
    const there = Object.entries(typeof inner === 'object' && inner !== null ? inner : {});
    return there.find(([key]) => key === name)?.[1];
  }, of);
  return ['string', 'number', 'boolean'].includes(typeof at) ? `${at}` : '';
}

describe('field selectors', () => {
  it('M3: agree with a slow matcher, and their text form has the same meaning', () => {
    const term = fc.record({ field, operator: fc.constantFrom('=', '==', '!='), value });
    let hits = 0;
    fc.assert(
      fc.property(fc.array(term, { maxLength: 3 }), object, (terms, of) => {
        const write = ({ field, operator, value }: (typeof terms)[number]) =>
          `${field}${operator}${value.replace(/[\\,=]/g, '\\$&')}`;
        const expected = terms.every(
          (each) => (slowValue(of, each.field) === each.value) === (each.operator !== '!='),
        );
        if (expected && terms.length > 0) hits++;
        const selector = parseFieldSelector(terms.map(write).join(','));
        expect(selector.matches(of)).toBe(expected);
        const again = parseFieldSelector(selector.toString());
        expect(again.matches(of)).toBe(expected);
        expect(again.toString()).toBe(selector.toString());
      }),
      { numRuns: 500 },
    );
    expect(hits).toBeGreaterThan(20);
  });
});
