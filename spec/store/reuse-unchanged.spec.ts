import { isDeepStrictEqual } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { reuseUnchanged } from '../../lib/meta/reuse-unchanged.ts';
import { sameContent } from '../../lib/meta/same-content.ts';
import { guardObject } from '../../lib/store/mutation-guard.ts';
import * as fc from '../support/fast-check.ts';
import { expectSharedParts, partsOf, textOf, texts } from './shared-parts.ts';

/** Merges two texts of JSON, both frozen. */
function merged(before: string, after: string) {
  const previous = guardObject(JSON.parse(before), 'freeze');
  const next = guardObject(JSON.parse(after), 'freeze');
  return { previous, next, result: reuseUnchanged(previous, next) };
}

describe('reuseUnchanged', () => {
  it('S60: the result equals the new value, and every unchanged part is that of the previous value', () => {
    fc.assert(
      fc.property(texts, ([before, after]) => {
        const { previous, next, result } = merged(before, after);
        expect(textOf(result)).toBe(textOf(JSON.parse(after)));
        expect(isDeepStrictEqual(result, next)).toBe(true);
        expectSharedParts(previous, result);
        // Neither argument has changed.
        expect([textOf(previous), textOf(next)]).toEqual(
          [before, after].map((text) => textOf(JSON.parse(text))),
        );
      }),
      { numRuns: 3_000 },
    );
  });

  it('S60: the new value itself is returned if it shares no part, or shares all parts already', () => {
    fc.assert(
      fc.property(texts, ([before, after]) => {
        const { previous, next, result } = merged(before, after);
        const had = new Set(partsOf(previous));
        if (!partsOf(result).some((part) => had.has(part))) expect(result).toBe(next);
        expect(reuseUnchanged(previous, result)).toBe(result);
        expect(reuseUnchanged(previous, previous)).toBe(previous);
      }),
      { numRuns: 1_000 },
    );
  });

  it('S60: of an array in which an item was inserted, removed, or added, the other items are the previous ones', () => {
    const items = (letters: string) =>
      `[${[...letters].map((type) => `{"type":"${type}","on":[1]}`)}]`;
    const kept = (before: string, after: string) => {
      const { previous, result } = merged(items(before), items(after));
      return result
        .map((item: { type: string }) => (previous.includes(item) ? item.type : '-'))
        .join('');
    };
    expect(kept('ABC', 'XABC')).toBe('-ABC');
    expect(kept('ABC', 'ABCX')).toBe('ABC-');
    expect(kept('ABCD', 'ABXD')).toBe('AB-D');
    expect(kept('ABCD', 'ACD')).toBe('ACD');
    expect(kept('ABCD', 'XABCYD')).toBe('-----D');
  });

  it('S60: nested arrays of other lengths do not multiply the comparisons', () => {
    let previous: unknown[] = [{ a: 1 }];
    let next: unknown[] = [{ a: 2 }];
    for (let depth = 0; depth < 60; depth++) {
      previous = [previous, previous];
      next = [next];
    }
    expect(reuseUnchanged(previous, next)).toBe(next);
  });

  it('S60: the order of members counts, and so does the sign of zero', () => {
    for (const [before, after] of [
      ['{"m":{"a":1,"b":2}}', '{"m":{"b":2,"a":1}}'],
      ['{"m":{"a":0}}', '{"m":{"a":-0}}'],
      ['{"m":[0]}', '{"m":[-0]}'],
      ['{"m":{"a":1}}', '{"m":{"a":1,"b":2}}'],
      ['{"m":{"a":1,"b":2}}', '{"m":{"a":1}}'],
      ['{"m":{}}', '{"m":[]}'],
      ['{"m":{}}', '{"m":null}'],
    ] as const) {
      const { next, result } = merged(before, after);
      expect(result, after).toBe(next);
    }
  });

  it('S60, S21: a member named __proto__ is an ordinary member', () => {
    const { previous, result } = merged(
      '{"__proto__":{"a":[1]},"b":1}',
      '{"__proto__":{"a":[1]},"b":2}',
    );
    expect(Object.keys(result)).toEqual(['__proto__', 'b']);
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    const own = (object: object) => Object.getOwnPropertyDescriptor(object, '__proto__')?.value;
    expect(own(result)).toBe(own(previous));
    const added = merged('{"b":1}', '{"__proto__":{},"constructor":{},"b":1}');
    expect(added.result).toBe(added.next);
  });

  it('S60: instances of classes stay those of the new value, and plain objects keep their prototypes', () => {
    class Port {
      n = 1;
    }
    class Ports extends Array<number> {}
    const make = (changed: number) => ({
      ...{ changed, port: new Port(), date: new Date(0), map: new Map(), ports: Ports.of(1) },
      bytes: new Uint8Array(1),
      run: Function.prototype,
      bare: Object.assign(Object.create(null), { changed, same: [1] }),
      foreign: runInNewContext('({ list: [{}] })'),
    });
    const [previous, next] = [make(1), make(2)];
    const result = reuseUnchanged(previous, next);
    expect(result).toStrictEqual(next);
    for (const name of ['port', 'date', 'map', 'ports', 'bytes'] as const)
      expect(result[name]).toBe(next[name]);
    expect(result.bare.same).toBe(previous.bare.same);
    expect(Object.getPrototypeOf(result.bare)).toBe(null);
    const realm = runInNewContext(
      '({ one: { at: 1, list: [{ a: [] }, 1], map: {} }, two: { at: 2, list: [{ a: [] }, 2], map: {} } })',
    );
    const shared = reuseUnchanged(realm.one, realm.two);
    expect(shared).toEqual({ at: 2, list: [{ a: [] }, 2], map: {} });
    expect([shared.map, shared.list[0]]).toEqual([realm.one.map, realm.one.list[0]]);
    expect(shared.map).toBe(realm.one.map);
    expect(shared.list[0]).toBe(realm.one.list[0]);
    expect(Object.getPrototypeOf(shared)).toBe(Object.getPrototypeOf(realm.two));
  });

  it('S60: an accessor is read like any member', () => {
    const make = (version: number) =>
      Object.defineProperty({ metadata: { labels: {}, version } }, 'spec', {
        enumerable: true,
        get: () => ({ containers: [] }),
      }) as { metadata: { labels: object; version: number }; spec?: object };
    const plain = { metadata: { labels: {}, version: 1 }, spec: { containers: [] } };
    expect(reuseUnchanged(plain, make(1))).toBe(plain);
    const shared = reuseUnchanged(plain, make(2));
    expect(shared).toEqual({ ...plain, metadata: { labels: {}, version: 2 } });
    expect(shared.spec).toBe(plain.spec);
    expect(shared.metadata.labels).toBe(plain.metadata.labels);
  });

  it('S60, T7: values too deep for the stack, and values that throw when read, are returned as they are', () => {
    const deep = () => JSON.parse(`${'{"a":['.repeat(50_000)}1${']}'.repeat(50_000)}`);
    const next = deep();
    expect(reuseUnchanged(deep(), next)).toBe(next);
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const revoked = { a: [], proxy };
    expect(reuseUnchanged({ a: [], proxy: {} }, revoked)).toBe(revoked);
    // The next comparison is not affected.
    const { previous, result } = merged('{"a":[{}],"b":1}', '{"a":[{}],"b":2}');
    expect(result.a).toBe(previous.a);
  });

  it('S60: an accessor that compares other values does not disturb the comparison', () => {
    const inner = (at: number) => ({ part: [], at, more: [{}], last: 1 });
    const make = (at: number) => ({
      a: [{}],
      at,
      m: Object.defineProperty({}, 'x', {
        enumerable: true,
        get: () => reuseUnchanged(inner(1), inner(2)).at,
      }),
      z: [1],
    });
    const previous = make(1);
    const result = reuseUnchanged(previous, make(2));
    expect(result).toStrictEqual({ a: [{}], at: 2, m: { x: 2 }, z: [1] });
    expect([result.a === previous.a, result.z === previous.z]).toEqual([true, true]);
  });

  it('S60: the comparison keeps no object alive', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const compared = () => {
      const { previous } = merged('{"a":[{}],"b":[[{}]],"c":1}', '{"a":[{}],"b":[[{}]],"c":2}');
      return partsOf(previous).map((part) => new WeakRef(part));
    };
    const parts = compared();
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    expect(parts.map((part) => part.deref())).toEqual(parts.map(() => undefined));
  });
});

it('S60: what is nested too deeply to be compared counts as another content', () => {
  const deep = () => JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`) as unknown;
  expect(sameContent(deep(), deep())).toBe(false);
});
