/** Answers of queries over random JSON objects, beside what loops over all of them give. */

import {
  type Change,
  type ChangeSet,
  createChangeSet,
  defineResource,
  type KubernetesObject,
  type LiveQuery,
  liveQuery,
} from 'rx-informer';
import { Observable, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { answerOf } from '../../lib/query/live-query/answer.ts';
import { conjunctsOf, predicateOf } from '../../lib/query/live-query/predicate.ts';
import * as fc from '../support/fast-check.ts';
import { Mirror } from './mirror.ts';

const things = defineResource({
  group: 'example.com',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
});

type Json = null | boolean | number | string | Json[] | { readonly [name: string]: Json };

const NAMES = ['a', 'b', 'c.d'];
const scalars = fc.constantFrom<Json[]>(0, 1, 2, -1.5, '', 'x', 'xy', '1', '10', true, false);
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalars,
    fc.constant(null),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('json')),
  ),
}));
const objects = fc.dictionary(fc.constantFrom(...NAMES), json);
const steps = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 });

/** A path in brackets, so that the test needs no rule for dots. */
const pathOf = (names: readonly string[]) => names.map((name) => `["${name}"]`).join('');

interface Comparison {
  readonly names: readonly string[];
  readonly operator: string;
  readonly value: Json;
  readonly as: 'text' | 'number' | undefined;
}
type Tree =
  | Comparison
  | { readonly and: Tree[] }
  | { readonly or: Tree[] }
  | { readonly not: Tree };

const comparisons: fc.Arbitrary<Comparison> = fc
  .record({
    names: steps,
    operator: fc.constantFrom(
      'eq',
      'ne',
      'in',
      'lt',
      'lte',
      'gt',
      'gte',
      'exists',
      'prefix',
      'contains',
    ),
    value: fc.constantFrom<Json[]>(0, 1, -1.5, 'x', '1', '10', true),
    as: fc.constantFrom('text' as const, 'number' as const, undefined),
  })
  .map((each) => {
    const { operator, value, as } = each;
    if (operator === 'exists') return { ...each, as: undefined, value: value === true };
    if (operator === 'prefix' || operator === 'contains') {
      return { ...each, as: undefined, value: String(value) };
    }
    const isOdd =
      (as === 'number' && Number.isNaN(Number.parseFloat(String(value)))) ||
      (as === undefined && value === true && operator !== 'eq' && operator !== 'ne');
    const sound = isOdd ? 1 : value;
    return {
      ...each,
      value: operator === 'in' ? [sound, 'xy'].slice(0, as === 'number' ? 1 : 2) : sound,
    };
  });
const { tree: trees } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    comparisons,
    fc.record({ and: fc.array(tie('tree'), { maxLength: 3 }) }),
    fc.record({ or: fc.array(tie('tree'), { maxLength: 3 }) }),
    fc.record({ not: tie('tree') }),
  ),
}));

/** The condition as a query has it. */
function whereOf(tree: Tree): object {
  if ('and' in tree) return { and: tree.and.map(whereOf) };
  if ('or' in tree) return { or: tree.or.map(whereOf) };
  if ('not' in tree) return { not: whereOf(tree.not) };
  const { names, operator, value, as } = tree;
  return { path: pathOf(names), [operator]: value, ...(as === undefined ? {} : { as }) };
}

/** All values at a path: every array is flattened after every step. */
function valuesAt(value: Json | undefined, names: readonly string[]): Json[] {
  const flat = ([value] as unknown[]).flat(9) as (Json | undefined)[];
  const present = flat.filter((each) => each !== null && each !== undefined) as Json[];
  const [name, ...rest] = names;
  if (name === undefined) return present;
  return present.flatMap((each) =>
    typeof each === 'object' ? valuesAt((each as Record<string, Json>)[name], rest) : [],
  );
}

function readAs(value: Json, as: 'text' | 'number' | 'truth'): Json | undefined {
  if (as === 'truth') return typeof value === 'boolean' ? value : undefined;
  if (typeof value === 'object') return undefined;
  if (as === 'text') return `${value}`;
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' && !Number.isNaN(+value)
    ? +value
    : undefined;
}

function naive(tree: Tree, object: Json): boolean {
  if ('and' in tree) return !tree.and.some((each) => !naive(each, object));
  if ('or' in tree) return tree.or.filter((each) => naive(each, object)).length > 0;
  if ('not' in tree) return !naive(tree.not, object);
  const { names, operator, value } = tree;
  const values = valuesAt(object, names);
  if (operator === 'exists') return values.length > 0 === value;
  if (operator === 'ne') return !naive({ ...tree, operator: 'eq' }, object);
  if (operator === 'in') {
    return (value as Json[]).some((each) =>
      naive({ ...tree, operator: 'eq', value: each }, object),
    );
  }
  const own = typeof value === 'string' ? 'text' : typeof value === 'number' ? 'number' : 'truth';
  const as = tree.as ?? own;
  const bound = readAs(value, as);
  return values.some((each) => {
    const read = readAs(each, as);
    if (read === undefined || bound === undefined) return false;
    if (operator === 'eq') return read === bound;
    if (operator === 'lt') return (read as number) < (bound as number);
    if (operator === 'lte') return (read as number) <= (bound as number);
    if (operator === 'gt') return (read as number) > (bound as number);
    if (operator === 'gte') return (read as number) >= (bound as number);
    if (operator === 'prefix') return `${read}`.indexOf(`${value}`) === 0;
    return `${read}`.indexOf(`${value}`) >= 0;
  });
}

/** Rows by id that change; their ids are their keys. */
class Objects {
  readonly rows = new Map<string, Json>();
  readonly #sets = new Subject<ChangeSet<KubernetesObject>>();
  readonly changes$ = new Observable<ChangeSet<KubernetesObject>>((subscriber) => {
    const added = [...this.rows].map(([id, object]) => ({ id, key: id, object }));
    subscriber.next(this.#set(true, added as unknown as Change<KubernetesObject>[]));
    return this.#sets.subscribe(subscriber);
  });

  commit(steps: readonly (readonly [string, Json | undefined])[]): void {
    const byId = new Map(steps);
    const changes: object[] = [];
    for (const [id, object] of [...byId].sort(
      ([, one], [, other]) => +(one !== undefined) - +(other !== undefined),
    )) {
      const previous = this.rows.get(id);
      if (object === undefined) {
        if (previous !== undefined) changes.push({ id, key: id, previous, last: previous });
        this.rows.delete(id);
      } else {
        changes.push({ id, key: id, object, ...(previous === undefined ? {} : { previous }) });
        this.rows.set(id, object);
      }
    }
    if (changes.length === 0) return;
    this.#sets.next(this.#set(false, changes as Change<KubernetesObject>[]));
  }

  #set(reset: boolean, changes: Change<KubernetesObject>[]): ChangeSet<KubernetesObject> {
    const cause = reset ? ('snapshot' as const) : ('watch' as const);
    const head = {
      rev: 1,
      cause,
      reset,
      synced: true,
      initial: reset,
      resourceVersion: '' as const,
    };
    return createChangeSet<KubernetesObject>(head, changes);
  }
}

function mapValues<V, W>(object: Readonly<Record<string, V>>, map: (value: V) => W) {
  return Object.fromEntries(Object.entries(object).map(([name, each]) => [name, map(each)]));
}

function answer(query: LiveQuery, source: Objects) {
  const predicates = conjunctsOf(query.where).map((each) => predicateOf(each, {}));
  return answerOf(query, source.changes$, predicates, {});
}

describe('the answer of a query', () => {
  it('Q63, Q64: conditions hold as loops over all values say', () => {
    fc.assert(
      fc.property(trees, objects, (tree, object) => {
        const query = liveQuery({ from: things, where: whereOf(tree) as never });
        const all = conjunctsOf(query.where).map((each) => predicateOf(each, {}));
        expect(all.every((each) => each(object, 0))).toBe(naive(tree, object));
      }),
      { numRuns: 1_000 },
    );
  });

  it('Q63, Q65, Q66: rows, their order, window and columns are those of a loop, after each set', () => {
    const ids = fc.constantFrom('u0', 'u1', 'u2', 'u3', 'u4', 'u5');
    const batches = fc.array(
      fc.array(fc.tuple(ids, fc.option(objects, { nil: undefined })), { maxLength: 4 }),
      { maxLength: 6 },
    );
    const orders = fc.record({
      names: steps,
      direction: fc.constantFrom('asc' as const, 'desc' as const),
      as: fc.constantFrom('text' as const, 'number' as const, undefined),
    });
    const columns = fc.dictionary(fc.constantFrom('one', 'other'), steps, { minKeys: 1 });
    const specs = fc.record({
      tree: trees,
      orderBy: fc.option(fc.array(orders, { minLength: 1, maxLength: 2 }), { nil: undefined }),
      window: fc.option(fc.tuple(fc.nat(3), fc.nat(4)), { nil: undefined }),
      select: fc.option(columns, { nil: undefined }),
      // A function instead, which keeps these objects out.
      keptOut: fc.option(trees, { nil: undefined }),
    });
    fc.assert(
      fc.property(specs, batches, ({ tree, orderBy, window, select, keptOut }, commits) => {
        const isKeptOut = (object: unknown) =>
          keptOut !== undefined && naive(keptOut, object as Json);
        const query = liveQuery({
          from: things,
          where: whereOf(tree) as never,
          orderBy: orderBy?.map(({ names, ...rest }) => ({ path: pathOf(names), ...rest })),
          offset: window?.[0],
          limit: window?.[1],
          select:
            keptOut === undefined
              ? select && mapValues(select, pathOf)
              : { key: 'kept', project: (object) => (isKeptOut(object) ? undefined : object) },
        });
        const source = new Objects();
        source.commit([['u0', {}]]);
        const mirror = new Mirror(answer(query, source));
        for (const commit of [[], ...commits]) {
          source.commit(commit);
          let rows = [...source.rows].filter(
            ([, object]) => naive(tree, object) && !isKeptOut(object),
          );
          const isOrdered = orderBy !== undefined || window !== undefined;
          rows.sort(
            ([idA, a], [idB, b]) => naiveOrder(orderBy ?? [], a, b) || (idA < idB ? -1 : 1),
          );
          const total = rows.length;
          if (window !== undefined) rows = rows.slice(window[0], window[0] + window[1]);
          expect(mirror.ids()).toEqual(rows.map(([id]) => id));
          if (isOrdered) expect(mirror.sets.at(-1)?.total).toBe(total);
          for (const [id, object] of rows) {
            const row = mirror.rows.get(id)?.object;
            if (keptOut !== undefined) expect(row).toEqual(object);
            else if (select === undefined) expect(row).toBe(object);
            else expect(row).toEqual(mapValues(select, (each) => naiveShown(object, each)));
          }
        }
        mirror.subscription.unsubscribe();
      }),
      { numRuns: 200 },
    );
  });

  it('Q66: a row with the same content is the former row', () => {
    const source = new Objects();
    source.commit([['u0', { a: [{ b: 1 }], x: 1 }]]);
    const query = liveQuery({ from: things, select: { list: 'a', b: 'a.b', none: 'c' } });
    const mirror = new Mirror(answer(query, source));
    const before = mirror.objects();
    expect(before).toEqual([{ list: [{ b: 1 }], b: [1], none: undefined }]);
    source.commit([['u0', { a: [{ b: 1 }], x: 2 }]]);
    expect(mirror.sets).toHaveLength(1);
    source.commit([['u0', { a: [{ b: 2 }], x: 2 }]]);
    expect(mirror.objects()).toEqual([{ list: [{ b: 2 }], b: [2], none: undefined }]);
  });

  it('Q90: a row of columns and its lists are frozen, the parts of objects in it are as the store has them', () => {
    const source = new Objects();
    const part = { b: 1 };
    source.commit([['u0', { a: [part] }]]);
    const query = liveQuery({ from: things, select: { list: 'a', b: 'a.b' } });
    const [row] = new Mirror(answer(query, source)).objects() as [{ list: object[]; b: number[] }];
    expect([row, row.list, row.b, part].map(Object.isFrozen)).toEqual([true, true, true, false]);
    expect(row.list).toEqual([part]);
  });

  it('Q66: a function makes rows, and undefined keeps one out', () => {
    const source = new Objects();
    source.commit([
      ['u0', { n: 1 }],
      ['u1', { n: 2 }],
    ]);
    const project = (object: KubernetesObject & { n?: number }) =>
      object.n === 1 ? undefined : { twice: 2 * (object.n ?? 0) };
    const query = liveQuery({ from: things, select: { key: 'twice', project } });
    expect(new Mirror(answer(query, source)).objects()).toEqual([{ twice: 4 }]);
  });

  it('Q65: absent values come last in both directions, and of several values the leading one counts', () => {
    const source = new Objects();
    source.commit([
      ['u0', { n: [5, 2] }],
      ['u1', {}],
      ['u2', { n: 3 }],
      ['u3', { n: 'odd' }],
      ['u4', { n: null }],
    ]);
    const ids = (orderBy: object) =>
      new Mirror(answer(liveQuery({ from: things, orderBy: orderBy as never }), source)).ids();
    expect(ids({ path: 'n', as: 'number' })).toEqual(['u0', 'u2', 'u1', 'u3', 'u4']);
    expect(ids({ path: 'n', as: 'number', direction: 'desc' })).toEqual([
      'u0',
      'u2',
      'u1',
      'u3',
      'u4',
    ]);
    expect(ids({ path: 'n', direction: 'desc' })).toEqual(['u3', 'u0', 'u2', 'u1', 'u4']);
    const compare = (one: { n?: unknown }, other: { n?: unknown }) =>
      +Array.isArray(other.n) - +Array.isArray(one.n);
    expect(
      ids([
        { key: 'lists', compare },
        { path: 'n', as: 'number' },
      ]),
    ).toEqual(['u0', 'u2', 'u1', 'u3', 'u4']);
    // NaN counts as 0, so the next order decides.
    const incomparable = { key: 'incomparable', compare: () => Number.NaN };
    expect(ids([incomparable, { path: 'n', as: 'number', direction: 'desc' }])[0]).toBe('u0');
    expect(ids([incomparable, { path: 'n', direction: 'desc' }])[0]).toBe('u3');
  });

  it('Q65: NaN, which a transform can give, is absent', () => {
    const source = new Objects();
    source.commit([5, Number.NaN, 3, 4].map((n, at) => [`u${at}`, { n }]));
    const ids = (orderBy: object) =>
      new Mirror(answer(liveQuery({ from: things, orderBy: orderBy as never }), source)).ids();
    expect(ids({ path: 'n' })).toEqual(['u2', 'u3', 'u0', 'u1']);
    expect(ids({ path: 'n', direction: 'desc' })).toEqual(['u0', 'u3', 'u2', 'u1']);
  });

  it('Q65: times and quantities are ordered by what they mean', () => {
    const source = new Objects();
    source.commit([
      ['u0', { t: '2026-01-01T00:30:00Z', q: '1Gi' }],
      ['u1', { t: '2026-01-01T01:00:00+01:00', q: '1500M' }],
      ['u2', { t: '2025-12-31T23:59:59.5Z', q: '500m' }],
    ]);
    const ids = (orderBy: object) =>
      new Mirror(answer(liveQuery({ from: things, orderBy: orderBy as never }), source)).ids();
    expect(ids({ path: 't', as: 'time' })).toEqual(['u2', 'u1', 'u0']);
    expect(ids({ path: 'q', as: 'quantity' })).toEqual(['u2', 'u0', 'u1']);
  });
});

interface NaiveOrder {
  readonly names: readonly string[];
  readonly direction: 'asc' | 'desc';
  readonly as: 'text' | 'number' | undefined;
}

function naiveOrder(orders: readonly NaiveOrder[], a: Json, b: Json): number {
  const rank = (value: Json) => ['boolean', 'number', 'string'].indexOf(typeof value);
  const compare = (x: Json, y: Json) =>
    rank(x) - rank(y) || ((x as number) < (y as number) ? -1 : +((x as number) > (y as number)));
  for (const { names, direction, as } of orders) {
    const sign = direction === 'asc' ? 1 : -1;
    const first = (object: Json) =>
      valuesAt(object, names)
        .map((value) => (as === undefined ? value : readAs(value, as)))
        .filter((value) => value !== undefined && typeof value !== 'object')
        .sort((x, y) => sign * compare(x as Json, y as Json))[0];
    const [x, y] = [first(a), first(b)];
    if (x === undefined && y === undefined) continue;
    if (x === undefined || y === undefined) return x === undefined ? 1 : -1;
    const result = sign * compare(x, y);
    if (result !== 0) return result;
  }
  return 0;
}

/** The value, or a list of the present values as soon as an array is met. */
function naiveShown(object: Json | undefined, names: readonly string[]): unknown {
  if (object === null || object === undefined) return undefined;
  if (Array.isArray(object)) return valuesAt(object, names);
  const [name, ...rest] = names;
  if (name === undefined) return object;
  if (typeof object !== 'object') return undefined;
  return naiveShown((object as Record<string, Json>)[name], rest);
}
