/** `jsonDifference`: its steps, applied to the first value, give the second. */

import { editPatch, type JsonPatchOperation, jsonDifference, jsonPointer } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';
import { applyJsonPatch } from './apply-json-patch.ts';

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).map(frozen);
  return Object.freeze(value);
}

const name = fc.oneof(
  fc.constantFrom('a', 'b', '/', '~', '~1', '', '0', '-', 'constructor', 'length'),
  // V8 (Node 24.21) parses the key `"` as `\` if it has parsed that key at the same position before.
  fc.string({ maxLength: 3 }).filter((text) => !text.includes('\\')),
);
const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Json>(null, true, 0, 1, '', 'x'),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4 }) as fc.Arbitrary<Json>,
  ),
})).value;
const root = fc.dictionary(name, json, { maxKeys: 5 }) as fc.Arbitrary<{ [name: string]: Json }>;

/** One random change of a recipe. `walk` chooses the place. */
const mutation = fc.record({
  walk: fc.array(fc.nat(20), { maxLength: 4 }),
  act: fc.constantFrom('set', 'delete', 'push', 'unshift', 'splice', 'reverse', 'move', 'shorten'),
  at: fc.nat(6),
  name,
  value: json,
});
type Mutation = typeof mutation extends fc.Arbitrary<infer M> ? M : never;

function mutate(draft: Json, { walk, act, at, name, value }: Mutation): void {
  let place = draft as Json[] | { [name: string]: Json };
  for (const step of walk) {
    const inside = Object.values(place).filter((each) => typeof each === 'object' && each !== null);
    if (inside.length === 0) break;
    place = inside[step % inside.length] as Json[];
  }
  if (Array.isArray(place)) {
    if (act === 'push') place.push(value);
    else if (act === 'unshift') place.unshift(value);
    else if (act === 'splice') place.splice(at % (place.length + 1), 1 + (at % 2), value);
    else if (act === 'reverse') place.reverse();
    else if (act === 'shorten') place.length = Math.min(place.length, at);
    else if (act === 'move' && place.length > 0)
      place.unshift(place.splice(at % place.length, 1)[0] as Json);
    else if (act === 'delete') place.splice(at, 1);
    else if (place.length > 0) place[at % place.length] = value;
    return;
  }
  const names = Object.keys(place);
  const present = names[at % Math.max(1, names.length)] ?? name;
  if (act === 'delete') delete place[present];
  else if (act === 'move' && Object.hasOwn(place, present)) {
    const moved = place[present] as Json;
    delete place[present];
    place[name] = moved;
  } else place[act === 'set' ? present : name] = value;
}

describe('the patch steps of an edit', () => {
  const metadata = { name: 'n', uid: 'u', resourceVersion: '7' };

  it.each(['resourceVersion', 'uid'] as const)(
    'C12: turn the base into the result of the recipe (check: %s)',
    (check) => {
      fc.assert(
        fc.property(root, fc.array(mutation, { maxLength: 6 }), (data, mutations) => {
          const base = frozen({ metadata, data });
          const before = JSON.stringify(base);
          const expected = structuredClone(data);
          for (const each of mutations) mutate(expected, structuredClone(each));
          const steps = editPatch(
            base,
            (draft) => {
              for (const each of mutations) mutate(draft.data as Json, structuredClone(each));
            },
            check,
          );
          expect(JSON.stringify(base)).toBe(before);
          const sent = JSON.parse(JSON.stringify(steps)) as JsonPatchOperation[];
          if (sent.length > 0)
            expect(sent[0]).toMatchObject({ op: 'test', value: metadata[check] });
          expect(applyJsonPatch(base, sent)).toEqual({ metadata, data: expected });
        }),
        { numRuns: 1_000 },
      );
    },
  );

  it('C12: turn any value into any other, and are empty for equal values', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(applyJsonPatch(a, jsonDifference(a, b))).toEqual(b);
        expect(jsonDifference(a, structuredClone(a))).toEqual([]);
        expect(applyJsonPatch(a, jsonDifference(a, b, { guard: true }))).toEqual(b);
      }),
      { numRuns: 1_000 },
    );
  });

  it('C12: are few: an item inserted at any place of a list is one step', () => {
    const list = Array.from({ length: 50 }, (_, at) => ({ at }));
    const item = { at: -1 };
    for (const at of [0, 25, 50]) {
      const steps = jsonDifference(list, list.toSpliced(at, 0, item));
      expect(steps).toEqual([{ op: 'add', path: `/${at}`, value: item }]);
      if (at < 50)
        expect(jsonDifference(list, list.toSpliced(at, 1))).toEqual([
          { op: 'remove', path: `/${at}` },
        ]);
    }
    expect(jsonDifference({ list }, { list: list.with(7, { at: 70 }) })).toEqual([
      { op: 'replace', path: '/list/7/at', value: 70 },
    ]);
  });

  it('C12: test the complete list before they change its items, if guarded', () => {
    const before = { a: [[1], [2]], b: 1, c: [1] };
    const after = { a: [[1], [3]], b: 2, c: [1] };
    expect(jsonDifference(before, after, { guard: true })).toEqual([
      { op: 'test', path: '/a', value: [[1], [2]] },
      { op: 'replace', path: '/a/1/0', value: 3 },
      { op: 'replace', path: '/b', value: 2 },
    ]);
  });

  it('C12: test the complete list or map before they add, remove or replace it, if guarded', () => {
    const before = { gone: [1], map: { x: 1 }, single: 1, list: { was: 'a map' } };
    const after = { fresh: ['f'], word: 'w', single: 2, list: ['now', { a: [1] }] };
    expect(jsonDifference(before, after, { guard: true })).toEqual([
      { op: 'test', path: '/gone', value: [1] },
      { op: 'remove', path: '/gone' },
      { op: 'test', path: '/map', value: { x: 1 } },
      { op: 'remove', path: '/map' },
      { op: 'test', path: '/fresh', value: null },
      { op: 'add', path: '/fresh', value: ['f'] },
      { op: 'add', path: '/word', value: 'w' },
      { op: 'replace', path: '/single', value: 2 },
      { op: 'test', path: '/list', value: { was: 'a map' } },
      { op: 'replace', path: '/list', value: ['now', { a: [1] }] },
    ]);
    const inList = jsonDifference({ a: [{ b: [1] }] }, { a: [{ c: [2] }] }, { guard: true });
    expect(inList.filter(({ op }) => op === 'test')).toHaveLength(1);
  });

  it('C12: compare values in their JSON form: dates by their time, and 0 like -0', () => {
    const at = (ms: number) => ({ spec: { at: new Date(ms), list: [new Date(ms)] } });
    expect(jsonDifference(at(1), at(1), { guard: true })).toEqual([]);
    expect(
      jsonDifference(at(1), { spec: { at: new Date(1).toJSON(), list: [at(1).spec.at] } }),
    ).toEqual([]);
    const later = new Date(2);
    expect(JSON.parse(JSON.stringify(jsonDifference(at(1), at(2))))).toEqual([
      { op: 'replace', path: '/spec/at', value: later.toJSON() },
      { op: 'replace', path: '/spec/list/0', value: later.toJSON() },
    ]);
    expect(jsonDifference({ a: 0, b: [-0], c: [0] }, { a: -0, b: [0], c: [-0] })).toEqual([]);
    expect(jsonDifference([undefined], [null])).toEqual([]);
  });

  it('C12: refuse values that JSON would lose or send as null', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    for (const [value, expected] of [
      [Number.NaN, /^\/spec\/replicas is NaN, which is not JSON/],
      [-Infinity, /is -Infinity/],
      [10n, /is a bigint/],
      [() => 1, /is a function/],
      [Symbol('s'), /is a symbol/],
      [new Date(Number.NaN), /becomes null by its own toJSON/],
      [new Map([['a', 1]]), /has a custom prototype/],
      [cyclic, /contains itself/],
    ] as const) {
      for (const before of [{ spec: {} }, { spec: { replicas: 1 } }, { spec: { replicas: {} } }]) {
        const differ = () => jsonDifference(before, { spec: { replicas: value } });
        expect(differ).toThrow(TypeError);
        expect(differ).toThrow(expected);
      }
      expect(() => jsonDifference({}, { list: [{ deep: value }] })).toThrow(TypeError);
      expect(() => jsonDifference({ list: [{}] }, { list: [value] })).toThrow(TypeError);
    }
    // Values that did not change are not sent, so they are not refused.
    const odd = { a: Number.NaN, b: () => 1 };
    expect(jsonDifference(odd, { ...odd })).toEqual([]);
  });

  it.each<[string, unknown, unknown, string]>([
    ['an added hole', { list: [1] }, { list: Object.assign([1], { 2: 3 }) }, '/list/1'],
    ['an added undefined', { list: [1] }, { list: [1, undefined] }, '/list/1'],
    ['an item that is undefined now', { list: [1, 2] }, { list: [undefined, 2] }, '/list/0'],
    ['a hole in an added list', {}, { list: Object.assign([], { 1: 3 }) }, '/list/0'],
    ['an undefined in an added object', {}, { a: { list: [undefined] } }, '/a/list/0'],
    [
      'a hole in an added item',
      { list: [] },
      { list: [[Object.assign([], { 1: 3 })]] },
      '/list/0/0/0',
    ],
  ])('C12: refuse %s, which JSON sends as null', (_name, before, after, place) => {
    expect(() => jsonDifference(before, after)).toThrow(
      `${place} is undefined, which a list sends as null; remove the item by splice, or write null`,
    );
  });

  it('C12: send nothing for an item that was undefined, or null, and still is', () => {
    expect(jsonDifference([undefined, 1], [undefined, 2])).toEqual([
      { op: 'replace', path: '/1', value: 2 },
    ]);
    expect(jsonDifference([null, 1, 1], [undefined, 2, 1])).toEqual([
      { op: 'replace', path: '/1', value: 2 },
    ]);
  });

  it('C12: escape names, and treat undefined as absent', () => {
    expect(jsonDifference({}, { 'a/b~c': { '': 1 } })).toEqual([
      { op: 'add', path: '/a~1b~0c', value: { '': 1 } },
    ]);
    expect(jsonPointer(['~1', 0, ''])).toBe('/~01/0/');
    expect(jsonDifference({ a: 1, b: undefined }, { a: undefined, b: undefined })).toEqual([
      { op: 'remove', path: '/a' },
    ]);
  });

  it('C12: keep an existing key __proto__, and refuse to lose one', () => {
    const base = JSON.parse('{"metadata":{"labels":{"__proto__":"x","a":"1"}}}') as {
      metadata: { labels: Record<string, string> };
    };
    const recipe = (draft: typeof base) => {
      draft.metadata.labels['a'] = '2';
    };
    expect(editPatch(base, recipe).slice(1)).toEqual([
      { op: 'replace', path: '/metadata/labels/a', value: '2' },
    ]);
    const removal = jsonDifference(base, { metadata: { labels: { a: '1' } } });
    expect(removal).toEqual([{ op: 'remove', path: '/metadata/labels/__proto__' }]);
    const replacement = JSON.parse('{"__proto__":"y","a":"1"}') as Record<string, string>;
    const replace = (draft: typeof base) => {
      draft.metadata.labels = replacement;
    };
    expect(editPatch(base, replace).slice(1)).toEqual([
      { op: 'replace', path: '/metadata/labels/__proto__', value: 'y' },
    ]);
    const pollute = (draft: typeof base) => {
      Object.assign(draft.metadata, JSON.parse('{"__proto__":{"polluted":"yes"}}'));
    };
    expect(() => editPatch(base, pollute)).toThrow();
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
    const nested = () => ({ metadata: { annotations: { x: Object.create({ y: 1 }) } } });
    expect(() => jsonDifference({}, nested())).toThrow(
      /\/metadata\/annotations\/x has a custom prototype/,
    );
  });
});
