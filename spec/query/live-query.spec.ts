/** `liveQuery` as data: validation, the one form of equal queries, conditions, orders and rows. */

import { annotation, defineResource, label, liveQuery } from 'rx-informer';
import { nodes, pods } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { formatPath, parsePath } from '../../lib/meta/object-path.ts';
import { compareBy, normalOrders } from '../../lib/query/live-query/order-by.ts';
import { predicateOf } from '../../lib/query/live-query/predicate.ts';
import * as fc from '../support/fast-check.ts';

const things = defineResource({
  group: 'example.com',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
});

/** Whether an object satisfies a condition. */
function holds(where: object, object: unknown, nowMs = 0): boolean {
  const query = liveQuery({ from: things, where: where as never });
  return query.where === undefined || predicateOf(query.where, {})(object, nowMs);
}

const keyOf = (spec: object): string => liveQuery({ from: things, ...spec } as never).key;

describe('a query', () => {
  it.each<[object, RegExp]>([
    [{ from: undefined }, /^liveQuery: from is undefined/],
    [{ from: { plural: 'pods' } }, /^liveQuery: from is .*must be a resource/],
    [{ wher: {} }, /^liveQuery: wher is not a field of a query; known here: from, /],
    [{ namespace: [] }, /^liveQuery: namespace is empty/],
    [{ namespace: ['a', ''] }, /^liveQuery: namespace is a list/],
    [{ from: nodes, namespace: 'a' }, /^liveQuery: namespace is "a", but nodes is cluster-scoped/],
    [{ labelSelector: undefined }, /^liveQuery: labelSelector is undefined; give ''/],
    [{ labelSelector: 'a in' }, /^liveQuery: labelSelector is not valid: label selector "a in"/],
    [{ fieldSelector: 'a' }, /^liveQuery: fieldSelector is not valid: field selector "a"/],
    [{ fieldSelector: 5 }, /^liveQuery: fieldSelector is 5; it must be text/],
    [
      { labelSelector: { matchLabels: { a: '1' } } },
      /^liveQuery: labelSelector is \{.*; it must be text; formatLabelSelector/,
    ],
    [{ where: 'a' }, /^liveQuery: where is "a"; it must be { path, eq }, /],
    [
      { where: [{ path: 'a', eq: 1 }] },
      /^liveQuery: where is a list; it must be .* { and: \[ … \] }/,
    ],
    [
      { where: { path: 'a', eq: 'x', ignoreCase: true } },
      /^liveQuery: where.ignoreCase goes with contains or prefix alone$/,
    ],
    [{ where: {} }, /^liveQuery: where is {}; it must be { path, eq }, /],
    [{ where: { path: 'a..b', eq: 1 } }, /^liveQuery: where\.path is "a\.\.b"; it must be a path/],
    [{ where: { path: '', eq: 1 } }, /^liveQuery: where\.path is ""/],
    [{ where: { path: 'a["b]', eq: 1 } }, /^liveQuery: where\.path is/],
    [{ where: { path: 'a' } }, /^liveQuery: where must have one operator of .* and has none/],
    [{ where: { path: 'a', eq: undefined } }, /has none$/],
    [{ where: { path: 'a', gt: 1, lt: 5 } }, /and has lt and gt$/],
    [{ where: { path: 'a', equals: 1 } }, /^liveQuery: where\.equals is not a field/],
    [
      { where: { path: 'a', eq: null } },
      /^liveQuery: where\.eq is null; it must be text, a finite/,
    ],
    [{ where: { path: 'a', eq: Number.NaN } }, /^liveQuery: where\.eq is NaN/],
    [{ where: { path: 'a', gt: true } }, /^liveQuery: where\.gt is true, and truth values/],
    [
      { where: { path: 'a', eq: 'x', as: 'date' } },
      /^liveQuery: where\.as is "date"; it must be one/,
    ],
    [
      { where: { path: 'a', lt: 'x', as: 'time' } },
      /^liveQuery: where\.lt is "x", which cannot be/,
    ],
    [{ where: { path: 'a', lt: '5x', as: 'quantity' } }, /cannot be read as quantity$/],
    [{ where: { path: 'a', prefix: 5 } }, /^liveQuery: where\.prefix is 5; it must be text/],
    [{ where: { path: 'a', prefix: '5', as: 'number' } }, /where\.prefix compares text, but as is/],
    [{ where: { path: 'a', in: 'x' } }, /^liveQuery: where\.in is "x"; it must be a list/],
    [{ where: { path: 'a', in: ['x', {}] } }, /^liveQuery: where\.in\[1\] is \{\}/],
    [
      { where: { path: 'a', exists: 1 } },
      /^liveQuery: where\.exists is 1; it must be true or false/,
    ],
    [
      { where: { and: [{ path: 'a', eq: 1 }, { or: [5] }] } },
      /^liveQuery: where\.and\[1\]\.or\[0\] is 5/,
    ],
    [{ where: { and: [], or: [] } }, /^liveQuery: where\.or is not a field/],
    [{ where: { not: undefined } }, /^liveQuery: where\.not is undefined/],
    [{ where: { and: {} } }, /^liveQuery: where\.and is \{\}; it must be a list of conditions/],
    [{ where: { index: 'a' } }, /^liveQuery: where\.eq is undefined; it must be text/],
    [{ where: { key: '', test: () => true } }, /^liveQuery: where\.key is ""/],
    [
      { where: { key: 'a' } },
      /^liveQuery: where\.test is undefined; it must be the function that "a"/,
    ],
    [{ where: () => true }, /^liveQuery: where is a function; it must be .* or { key, test }$/],
    [{ select: {} }, /^liveQuery: select has no columns/],
    [{ select: 'a' }, /^liveQuery: select is "a"/],
    [
      { select: () => 1 },
      /^liveQuery: select is a function; it must be { column: path } or { key, project }$/,
    ],
    [{ select: { a: 'b.' } }, /^liveQuery: select\.a is "b\."; it must be a path/],
    [{ select: { key: 'a' } }, /^liveQuery: select\.project is missing/],
    [{ select: { project: () => 1 } }, /^liveQuery: select\.key is undefined/],
    [{ orderBy: [] }, /^liveQuery: orderBy is empty/],
    [{ orderBy: 'a' }, /^liveQuery: orderBy is "a"/],
    [
      { orderBy: [{ path: 'a', direction: 'down' }] },
      /^liveQuery: orderBy\[0\]\.direction is "down"/,
    ],
    [
      { orderBy: [{ compare: () => 0 }] },
      /^liveQuery: orderBy\[0\]\.key is undefined; it must be text that names the function$/,
    ],
    [
      { orderBy: { key: 'a', compare: () => 0, direction: 'desc' } },
      /^liveQuery: orderBy\.direction is for a path; swap the operands of compare$/,
    ],
    [{ orderBy: { key: 'a' } }, /^liveQuery: orderBy\.compare is undefined/],
    [{ limit: -1 }, /^liveQuery: limit is -1; it must be a whole number of 0 or more/],
    [{ offset: 1.5 }, /^liveQuery: offset is 1\.5/],
    [{ limit: Number.NaN }, /^liveQuery: limit is NaN;/],
    [{ limit: Number.POSITIVE_INFINITY }, /^liveQuery: limit is Infinity;/],
  ])('Q60: a query is validated when it is made: %j', (spec, message) => {
    expect(() => keyOf(spec)).toThrow(message);
    expect(() => keyOf(spec)).toThrow(TypeError);
  });

  it('Q60: a query is frozen, and made from a query it is that query', () => {
    const query = liveQuery({ from: pods, where: { path: 'status.phase', in: ['a', 'b'] } });
    expect(Object.isFrozen(query)).toBe(true);
    expect(Object.isFrozen(query.where)).toBe(true);
    expect(Object.isFrozen((query.where as { in: unknown }).in)).toBe(true);
    expect(liveQuery(query as never)).toBe(query);
    expect(Object.keys(query)).toEqual(['from', 'where']);
  });

  it('Q61: equal queries have one key, however they are spelled', () => {
    const a = { path: 'spec.a', eq: 1 };
    const b = { path: 'spec.b', gt: 'x' };
    const c = { path: 'spec.c', in: ['z', 'y', 'z'] };
    const test = () => true;
    const same: [object, object][] = [
      [{ namespace: ['b', 'a', 'b'] }, { namespace: ['a', 'b'] }],
      [{ namespace: ['a'] }, { namespace: 'a' }],
      [{ labelSelector: 'b=1, a=2' }, { labelSelector: 'a in (2),b=1' }],
      [{ fieldSelector: 'b=1,a==2' }, { fieldSelector: 'a=2,b=1' }],
      [{ where: { and: [a, b, c] } }, { where: { and: [c, { and: [b, a] }, a] } }],
      [{ where: { or: [a, { or: [b] }] } }, { where: { or: [b, a] } }],
      [{ where: { and: [{ or: [a] }] } }, { where: a }],
      [{ where: { and: [] } }, {}],
      [{ where: { not: { not: b } } }, { where: b }],
      [{ where: { not: a } }, { where: { path: 'spec.a', ne: 1 } }],
      [{ where: { path: 'spec.a', in: [1] } }, { where: a }],
      [{ where: { ...a, as: 'number' } }, { where: a }],
      [{ where: { path: '["spec"]["a"]', eq: 1 } }, { where: a }],
      [
        { where: { path: 'metadata.labels.app', eq: 'a' } },
        { where: { path: label('app'), eq: 'a' } },
      ],
      [{ where: { key: 'a', test } }, { where: { key: 'a', test: () => false } }],
      [{ orderBy: { path: 'a', direction: 'asc' } }, { orderBy: [{ path: 'a' }] }],
      [
        { limit: 5 },
        {
          limit: 5,
          offset: 0,
          orderBy: [{ path: 'metadata.namespace' }, { path: 'metadata.name' }],
        },
      ],
      [{ where: undefined, select: undefined, limit: undefined }, {}],
    ];
    for (const [one, other] of same) expect([one, keyOf(one)]).toEqual([one, keyOf(other)]);
    const different = [
      {},
      { from: pods },
      { namespace: '' },
      { namespace: 'a' },
      { labelSelector: '' },
      { where: a },
      { where: { path: 'spec.a', eq: '1' } },
      { where: { path: 'spec.a', eq: 1, as: 'text' } },
      { where: { or: [] } },
      { where: { and: [a, b] } },
      { where: { or: [a, b] } },
      { where: { key: 'a', test } },
      { select: { a: 'spec.a', b: 'spec.b' } },
      { select: { b: 'spec.b', a: 'spec.a' } },
      { orderBy: { path: 'spec.a' } },
      { orderBy: { path: 'spec.a', direction: 'desc' } },
      { limit: 5 },
      { offset: 5 },
    ].map(keyOf);
    expect(new Set(different).size).toBe(different.length);
  });

  it('Q61: a query that was written as JSON is the same query', () => {
    const query = liveQuery({
      from: pods,
      namespace: ['b', 'a'],
      labelSelector: 'app in (a,b),!c',
      fieldSelector: 'spec.nodeName=a\\,b',
      where: {
        and: [
          { not: { path: annotation('a.b/c"d'), prefix: 'x' } },
          { path: 'spec.containers.resources.limits.cpu', gt: '1', as: 'quantity' },
        ],
      },
      select: { name: 'metadata.name', annotation: annotation('a.b/c') },
      orderBy: [{ path: 'metadata.creationTimestamp', direction: 'desc', as: 'time' }],
      limit: 5,
      offset: 5,
    });
    const copy = liveQuery(JSON.parse(JSON.stringify(query)));
    expect(copy).toEqual(query);
    expect(copy.key).toBe(query.key);
    expect(structuredClone(query)).toEqual(query);
    const select = liveQuery({ from: pods, select: { key: 'a', project: () => 1 } });
    expect(() => liveQuery(JSON.parse(JSON.stringify(select)))).toThrow(
      /select\.project is missing/,
    );
  });

  it('Q62: a path names fields, also with dots, and has one text', () => {
    expect(label('app.kubernetes.io/name')).toBe('metadata.labels["app.kubernetes.io/name"]');
    expect(parsePath('a.b["c.d"].e["f\\"g"]')).toEqual(['a', 'b', 'c.d', 'e', 'f"g']);
    for (const odd of ['', '.', 'a.', '.a', 'a..b', 'a[b]', 'a["b"', 'a["b"]c', 'a b', "a['b']"]) {
      expect([odd, parsePath(odd)]).toEqual([odd, undefined]);
    }
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }), (steps) => {
        expect(parsePath(formatPath(steps))).toEqual(steps);
      }),
    );
  });
});

describe('a condition', () => {
  it('Q63: absent values equal nothing and are not less or greater; ne is the opposite of eq', () => {
    for (const absent of [{}, { a: null }, { a: [] }, { a: [null] }, null]) {
      for (const operator of ['eq', 'lt', 'lte', 'gt', 'gte', 'prefix', 'contains']) {
        expect([operator, holds({ path: 'a', [operator]: '' }, absent)]).toEqual([operator, false]);
      }
      expect(holds({ path: 'a', in: ['', 0, false] }, absent)).toBe(false);
      expect(holds({ path: 'a', ne: 'x' }, absent)).toBe(true);
      expect(holds({ not: { path: 'a', eq: 'x' } }, absent)).toBe(true);
      expect(holds({ path: 'a', exists: true }, absent)).toBe(false);
      expect(holds({ path: 'a', exists: false }, absent)).toBe(true);
    }
    expect(holds({ path: 'a', exists: true }, { a: '' })).toBe(true);
    expect(holds({ path: 'a', exists: true }, { a: {} })).toBe(true);
    expect(holds({ path: 'toString', exists: true }, {})).toBe(false);
    expect(holds({ path: 'a.length', exists: true }, { a: 'text' })).toBe(false);
  });

  it('Q63: a path through an array means some element', () => {
    const object = { c: [{ i: 'a', p: [{ n: 1 }, { n: 5 }] }, { i: 'b' }, null, 'text'] };
    expect(holds({ path: 'c.i', eq: 'b' }, object)).toBe(true);
    expect(holds({ path: 'c.i', ne: 'b' }, object)).toBe(false);
    expect(holds({ path: 'c.i', ne: 'x' }, object)).toBe(true);
    expect(holds({ path: 'c.p.n', gt: 4 }, object)).toBe(true);
    expect(holds({ path: 'c.p.n', gt: 5 }, object)).toBe(false);
    expect(holds({ path: 'c', eq: 'text' }, object)).toBe(true);
  });

  it('Q64: values are compared as text, numbers, times or quantities', () => {
    expect(holds({ path: 'a', eq: '5' }, { a: 5 })).toBe(true);
    expect(holds({ path: 'a', eq: 5 }, { a: '5' })).toBe(true);
    expect(holds({ path: 'a', lt: '9' }, { a: '10' })).toBe(true);
    expect(holds({ path: 'a', lt: '9', as: 'number' }, { a: '10' })).toBe(false);
    expect(holds({ path: 'a', gt: 9 }, { a: '1e1' })).toBe(true);
    expect(holds({ path: 'a', eq: true }, { a: 'true' })).toBe(false);
    expect(holds({ path: 'a', eq: 'true' }, { a: true })).toBe(true);
    expect(holds({ path: 'a', lt: 1_000, as: 'time' }, { a: '1970-01-01T00:00:00.999999Z' })).toBe(
      true,
    );
    expect(
      holds(
        { path: 'a', eq: '2026-01-01T01:00:00+01:00', as: 'time' },
        { a: '2026-01-01T00:00:00Z' },
      ),
    ).toBe(true);
    expect(holds({ path: 'a', eq: '0.5', as: 'quantity' }, { a: '500m' })).toBe(true);
    expect(holds({ path: 'a', gt: '1G', as: 'quantity' }, { a: '1Gi' })).toBe(true);
    expect(holds({ path: 'a', gt: 1, as: 'quantity' }, { a: 2 })).toBe(true);
  });

  it('Q64: times are compared to the microsecond, as Events and Leases have them', () => {
    const at = (digits: string) => `2026-01-01T00:00:00${digits}Z`;
    const rising = ['', '.000001', '.0009', '.000999', '.001', '.001001', '.123456', '.999999'];
    const years = ['1969-12-31T23:59:59.999999Z', ...rising.map(at), '2199-01-01T00:00:00.000001Z'];
    for (const [position, a] of years.entries()) {
      const follower = years[position + 1];
      expect([a, holds({ path: 'a', eq: a, as: 'time' }, { a })]).toEqual([a, true]);
      if (follower === undefined) continue;
      expect([a, holds({ path: 'a', lt: follower, as: 'time' }, { a })]).toEqual([a, true]);
      expect([a, holds({ path: 'a', eq: follower, as: 'time' }, { a })]).toEqual([a, false]);
    }
    const same = ['.1234560Z', '.123456999Z', '.123456+00:00'];
    for (const a of same.map((digits) => `2026-01-01T00:00:00${digits}`)) {
      expect([a, holds({ path: 'a', eq: at('.123456'), as: 'time' }, { a })]).toEqual([a, true]);
    }
    const compare = compareBy(normalOrders({ path: 'a', as: 'time' }));
    const shuffled = [3, 1, 0, 4, 2].map((index) => ({ a: at(rising[index] as string) }));
    expect(shuffled.sort((one, other) => compare(one, other, 0)).map(({ a }) => a)).toEqual(
      rising.slice(0, 5).map(at),
    );
  });

  it('Q64: a value that cannot be read so equals nothing, and none of it is less or greater', () => {
    const odd = [
      ['number', 5, ['5x', '', 'Infinity', '0x5', {}, true]],
      ['time', 0, ['1', 'yesterday', '2026-13-01T00:00:00Z', '1970-01-01', {}]],
      ['quantity', '5', ['5 Gi', 'x', '', {}]],
      ['text', 'a', [{}]],
    ] as const;
    for (const [as, value, unreadable] of odd) {
      for (const a of unreadable) {
        for (const operator of ['eq', 'lt', 'lte', 'gt', 'gte']) {
          expect([as, a, operator, holds({ path: 'a', [operator]: value, as }, { a })]).toEqual([
            as,
            a,
            operator,
            false,
          ]);
        }
        expect(holds({ path: 'a', ne: value, as }, { a })).toBe(true);
      }
    }
  });

  it('Q63: a test is called with the object and the time', () => {
    const test = (object: unknown, nowMs: number) => object === 'o' && nowMs === 7;
    expect(holds({ key: 'k', test }, 'o', 7)).toBe(true);
    expect(holds({ not: { key: 'k', test } }, 'o', 7)).toBe(false);
  });
});
