import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatLabelSelector, parseLabelSelector } from '../../lib/meta/label-selector.ts';

const matches = (text: string, labels: Record<string, string> | undefined) =>
  parseLabelSelector(text).matches(labels);

describe('label selector', () => {
  it.each<[string, Record<string, string> | undefined, boolean]>([
    ['', { a: '1' }, true],
    ['', undefined, true],
    ['a=1', { a: '1' }, true],
    ['a==1', { a: '1' }, true],
    ['a = 1', { a: '1' }, true],
    ['a=1', { a: '2' }, false],
    ['a=1', {}, false],
    ['a=1', undefined, false],
    ['a!=1', { a: '1' }, false],
    ['a!=1', { a: '2' }, true],
    ['a!=1', {}, true],
    ['a!=1', undefined, true],
    ['a in (1,2)', { a: '2' }, true],
    ['a in (1, 2)', { a: '3' }, false],
    ['a in(1)', {}, false],
    ['a notin (1,2)', { a: '1' }, false],
    ['a notin (1,2)', {}, true],
    ['a', { a: '' }, true],
    ['a', {}, false],
    ['!a', {}, true],
    ['!a', { a: '' }, false],
    ['a=', { a: '' }, true],
    ['a=', {}, false],
    ['a in ()', { a: '' }, true],
    ['a in (,x)', { a: '' }, true],
    ['a>5', { a: '10' }, true],
    ['a>5', { a: '5' }, false],
    ['a<5', { a: 'x' }, false],
    ['a=1,b', { a: '1', b: 'x' }, true],
    ['a=1,b', { a: '1' }, false],
    ['in in (in,notin)', { in: 'notin' }, true],
    ['example.com/app=web', { 'example.com/app': 'web' }, true],
  ])('M3: %j on %j is %j', (text, labels, expected) => {
    expect(matches(text, labels)).toBe(expected);
  });

  it('M3: reads own properties only', () => {
    expect(matches('constructor', {})).toBe(false);
    expect(matches('!toString', {})).toBe(true);
    expect(matches('constructor', JSON.parse('{"constructor":"x"}'))).toBe(true);
    expect(matches('hasOwnProperty=x', JSON.parse('{"hasOwnProperty":"x"}'))).toBe(true);
  });

  it.each([
    ['a b', '"b" at position 2', '=, =='],
    ['a=1,', 'the end at position 4', 'a label key'],
    [',a', '"," at position 0', 'a label key'],
    ['a in 1', '"1" at position 5', "'('"],
    ['a in (1', 'the end at position 7', "',' or ')'"],
    ['a=1 2', '"2" at position 4', "',' or the end"],
    ['a==!1', '"!" at position 3', "',' or the end"],
    ['-a=1', '"-a" at position 0', 'a label key'],
    ['a=1_', '"1_" at position 2', 'a label value'],
    ['a>x', '"x" at position 2', 'a whole number'],
    ['__proto__=1', '"__proto__" at position 0', 'a label key'],
  ])('M3: refuses %j: found %s, expected %s', (text, found, expected) => {
    expect(() => parseLabelSelector(text)).toThrow(TypeError);
    expect(() => parseLabelSelector(text)).toThrow(
      `label selector ${JSON.stringify(text)}: found ${found}, expected ${expected}`,
    );
  });

  it('M3: takes a metav1.LabelSelector', () => {
    const selector = {
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['b', 'a'] },
        { key: 'env', operator: 'NotIn', values: ['dev'] },
        { key: 'canary', operator: 'DoesNotExist' },
        { key: 'owner', operator: 'Exists' },
      ],
    };
    expect(formatLabelSelector(selector)).toBe('app=web,!canary,env!=dev,owner,tier in (a,b)');
    expect(parseLabelSelector(selector).matches({ app: 'web', owner: 'x', tier: 'a' })).toBe(true);
    expect(parseLabelSelector({}).isEverything).toBe(true);
    expect(() => formatLabelSelector({ matchExpressions: [{ key: 'a', operator: 'in' }] })).toThrow(
      'expected In, NotIn, Exists or DoesNotExist',
    );
    expect(() => formatLabelSelector({ matchExpressions: [{ key: 'a', operator: 'In' }] })).toThrow(
      'In of "a" needs at least one value',
    );
    expect(() =>
      formatLabelSelector({ matchExpressions: [{ key: 'a', operator: 'constructor' }] }),
    ).toThrow(TypeError);
  });

  const key = fc.constantFrom('a', 'b', 'example.com/c', 'in', 'constructor');
  const value = fc.constantFrom('', '1', '2', 'x', 'notin');
  const term = fc.oneof(
    fc
      .tuple(key, fc.constantFrom('=', '==', '!='), value)
      .map(([k, op, v]) => ({ k, op, vs: [v] })),
    fc
      .tuple(key, fc.constantFrom('in', 'notin'), fc.array(value, { minLength: 1, maxLength: 3 }))
      .map(([k, op, vs]) => ({ k, op, vs })),
    fc.tuple(key, fc.constantFrom('exists', '!')).map(([k, op]) => ({ k, op, vs: [] as string[] })),
  );
  const write = ({ k, op, vs }: { k: string; op: string; vs: string[] }) => {
    if (op === 'exists') return k;
    if (op === '!') return `!${k}`;
    return op.endsWith('in') ? `${k} ${op} (${vs.join(',')})` : `${k}${op}${vs[0]}`;
  };
  const slow = (terms: { k: string; op: string; vs: string[] }[], labels: [string, string][]) =>
    terms.every(({ k, op, vs }) => {
      const own = labels.filter(([name]) => name === k).at(-1);
      if (op === 'exists') return own !== undefined;
      if (op === '!') return own === undefined;
      const hit = own !== undefined && vs.some((v) => v === own[1]);
      return op === 'in' || op === '=' || op === '==' ? hit : !hit;
    });

  it('M3: agrees with a slow matcher, and its text means the same', () => {
    fc.assert(
      fc.property(fc.array(term), fc.array(fc.tuple(key, value)), (terms, labels) => {
        const selector = parseLabelSelector(terms.map(write).join(','));
        const expected = slow(terms, labels);
        expect(selector.matches(Object.fromEntries(labels))).toBe(expected);
        const again = parseLabelSelector(selector.toString());
        expect(again.matches(Object.fromEntries(labels))).toBe(expected);
        expect(again.toString()).toBe(selector.toString());
      }),
    );
  });
});
