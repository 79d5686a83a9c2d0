/** Selectors of labels and of fields: what they mean, and what is refused. */

import {
  createClient,
  createResourceClient,
  formatLabelSelector,
  type LabelSelector,
  parseFieldSelector,
  parseLabelSelector,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';

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
    ['a>5', { a: '9223372036854775807' }, true],
    ['a>5', { a: '9223372036854775808' }, false],
    ['a<5', { a: '-9223372036854775808' }, true],
    ['a<5', { a: '-9223372036854775809' }, false],
    ['a=1,b', { a: '1', b: 'x' }, true],
    ['a=1,b', { a: '1' }, false],
    ['in in (in,notin)', { in: 'notin' }, true],
    ['example.com/app=web', { 'example.com/app': 'web' }, true],
  ])('M3: %j applied to %j is %j', (text, labels, expected) => {
    expect(matches(text, labels)).toBe(expected);
  });

  it('M3: only own properties count as labels', () => {
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
    ['a>x', '"x" at position 2', 'an integer'],
    ['a>9223372036854775808', '"9223372036854775808" at position 2', 'an integer'],
    ['a=1\u00a0', '"1\u00a0" at position 2', 'a label value'],
    ['a\v', '"a\\u000b" at position 0', 'a label key'],
    ['__proto__=1', '"__proto__" at position 0', 'a label key'],
  ])('M3: refuses %j: found %s, expected %s', (text, found, expected) => {
    expect(() => parseLabelSelector(text)).toThrow(TypeError);
    expect(() => parseLabelSelector(text)).toThrow(
      `label selector ${JSON.stringify(text)}: found ${found}, expected ${expected}`,
    );
  });

  it('M3: accepts a metav1.LabelSelector', () => {
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

  it.each<[unknown, RegExp]>([
    // Sent as text, this value would be two requirements, the second on another label.
    [{ matchLabels: { app: 'web,team=b' } }, /value of "app" is "web,team=b"; it must be .* 63/],
    [{ matchLabels: { app: 'web)' } }, /value of "app"/],
    [{ matchLabels: { app: ' web' } }, /value of "app"/],
    [{ matchLabels: { app: 'x'.repeat(64) } }, /value of "app"/],
    [{ matchLabels: { app: 7 } }, /value of "app" is 7/],
    [{ matchLabels: { app: null } }, /value of "app" is null/],
    [{ matchLabels: { 'a=b': 'c' } }, /"a=b" is not a label key/],
    [{ matchLabels: { '!a': 'c' } }, /"!a" is not a label key/],
    [{ matchLabels: { '': 'c' } }, /"" is not a label key/],
    [{ matchLabels: { 'A.com/x': 'c' } }, /"A.com\/x" is not a label key/],
    [{ matchLabels: 'app=web' }, /matchLabels is "app=web"; it must map label keys/],
    [{ matchLabels: undefined }, /matchLabels is undefined; it must map label keys/],
    [{ matchLabels: null, matchExpressions: [] }, /matchLabels is null/],
    [{ matchExpressions: { key: 'a', operator: 'Exists' } }, /matchExpressions is {.*a list/],
    [{ matchExpressions: [null] }, /an expression is null/],
    [{ matchExpressions: [{ key: 'a,b', operator: 'Exists' }] }, /"a,b" is not a label key/],
    [{ matchExpressions: [{ operator: 'Exists' }] }, /undefined is not a label key/],
    [
      { matchExpressions: [{ key: 'a', operator: 'In', values: 'web' }] },
      /values of "a" are "web"/,
    ],
    [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['x', 'a)b'] }] }, /"a\)b"/],
    [{ matchExpressions: [{ key: 'a', operator: 'NotIn', values: [1] }] }, /value of "a" is 1/],
    [{ app: 'web' }, /"app" is not a field of a selector.*{ matchLabels: { "app": … } }/],
    [parseLabelSelector('a=1'), /"requirements" is not a field of a selector/],
    [[], /label selector \[\]: it must be text or a LabelSelector/],
    [7, /label selector 7: it must be/],
    [undefined, /label selector undefined: .*'' selects everything/],
    [null, /label selector null: /],
  ])('M3: refuses the object %j as strictly as a text', (selector, message) => {
    expect(() => parseLabelSelector(selector as object)).toThrow(TypeError);
    expect(() => parseLabelSelector(selector as object)).toThrow(message);
  });

  it('M3, M17: selectors with one meaning have one text form: requirements in order, each once', () => {
    const forms = ['a=1,a!=2,b', 'b,a!=2,a==1', 'a!=2,b,a=1,b,a in (1),a notin (2)'];
    expect([...new Set(forms.map((text) => parseLabelSelector(text).toString()))]).toEqual([
      'a!=2,a=1,b',
    ]);
    const twice = { key: 'a', operator: 'In', values: ['1'] };
    const object = { matchLabels: { a: '1' }, matchExpressions: [twice, twice] };
    expect(parseLabelSelector(object).toString()).toBe('a=1');
    expect(parseLabelSelector(object).requirements).toHaveLength(1);
  });

  it('M3: an object and its text form match the same labels, for arbitrary contents', () => {
    const word = fc.oneof(
      fc.constantFrom('', 'a', 'web', 'x,y', 'a=b', '!a', 'in', '-', 'a_', 'a.b/c', '1)', ' a'),
      fc.string({ maxLength: 4 }),
    );
    const operator = fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist');
    const expression = fc.record({ key: word, operator, values: fc.array(word, { maxLength: 3 }) });
    const object = fc.record(
      { matchLabels: fc.dictionary(word, word), matchExpressions: fc.array(expression) },
      { requiredKeys: [] },
    );
    let read = 0;
    fc.assert(
      fc.property(object, fc.dictionary(word, word), (selector, labels) => {
        let parsed: LabelSelector;
        try {
          parsed = parseLabelSelector(selector);
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
          return;
        }
        read++;
        const again = parseLabelSelector(parsed.toString());
        expect(again.requirements).toEqual(parsed.requirements);
        expect(again.matches(labels)).toBe(parsed.matches(labels));
      }),
      { numRuns: 2_000 },
    );
    expect(read).toBeGreaterThan(100);
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

  it('M3: matches like a simple reference matcher, and so does its text form', () => {
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

const pod = {
  metadata: { name: 'web-0', namespace: 'shop' },
  spec: { nodeName: 'node-1', hostNetwork: true },
  status: { phase: 'Running' },
};

describe('field selector', () => {
  it.each([
    ['', true],
    ['metadata.name=web-0', true],
    ['metadata.name==web-0', true],
    ['metadata.name!=web-0', false],
    ['metadata.name=web-0,status.phase!=Running', false],
    ['metadata.name=web-0,status.phase!=Pending', true],
    ['spec.hostNetwork=true', true],
    ['spec.gone=', true],
    ['spec.gone!=x', true],
    ['spec=', true],
    ['metadata.name = web-0', false],
    ['metadata.name= web-0', false],
    ['a!b=', true],
    ['constructor.name=Object', false],
    ['__proto__.toString!=', false],
  ])('M3: whether %j matches a pod: %j', (text, expected) => {
    expect(parseFieldSelector(text).matches(pod)).toBe(expected);
  });

  it.each([
    ['spec.foo', 'found the end at position 8', '=, == or !='],
    ['=x', 'found "=" at position 0', 'the path of a field'],
    ['a=b=c', 'found "=" at position 3', "',' or the end"],
    ['a=b\\x', 'found "\\\\" at position 3', "'\\\\', '\\,' or '\\='"],
  ])('M3: refuses %j: %s, expected %s', (text, found, expected) => {
    expect(() => parseFieldSelector(text)).toThrow(TypeError);
    expect(() => parseFieldSelector(text)).toThrow(
      `field selector ${JSON.stringify(text)}: ${found}, expected ${expected}`,
    );
  });

  it('M3, M17: selectors with one meaning have one text form: terms in order, one equality sign, each term once', () => {
    const forms = [
      'status.phase!=Failed,spec.nodeName=n',
      'spec.nodeName==n,status.phase!=Failed',
      'spec.nodeName=n,status.phase!=Failed,,spec.nodeName==n',
    ];
    expect([...new Set(forms.map((text) => parseFieldSelector(text).toString()))]).toEqual([
      'spec.nodeName=n,status.phase!=Failed',
    ]);
    const { requirements } = parseFieldSelector('b==2,a!=1');
    expect(requirements.map(({ field }) => field)).toEqual(['b', 'a']);
  });

  it('M3: spaces belong to the field and to the value, as in apimachinery, so a server refuses such a field', async () => {
    const text = 'metadata.name = web-0';
    expect(parseFieldSelector(text).requirements).toEqual([
      { field: 'metadata.name ', operator: '=', value: ' web-0' },
    ]);
    expect(parseFieldSelector(text).toString()).toBe(text);
    const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
    const answer = createResourceClient(client, pods).list({ fieldSelector: text });
    await expect(answer).rejects.toThrow('field label not supported: metadata.name ');
    await expect(answer).rejects.toMatchObject({ code: 400 });
  });

  it('M3: the text form escapes special characters', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (value, other) => {
        const text = `metadata.name=${value.replace(/[\\,=]/g, '\\$&')},metadata.uid!=`;
        const selector = parseFieldSelector(text);
        expect(selector.matches({ metadata: { name: value, uid: 'u' } })).toBe(true);
        expect(selector.matches({ metadata: { name: other, uid: 'u' } })).toBe(other === value);
        expect(selector.toString()).toBe(text);
      }),
    );
  });
});
