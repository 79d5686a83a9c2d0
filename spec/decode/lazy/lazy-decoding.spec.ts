import assert from 'node:assert';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { produce } from 'immer';
import { ApiError, jsonDecoding, lazyDecoding } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../../lib/meta/deep-freeze.ts';
import { sameContent } from '../../../lib/meta/same-content.ts';
import * as fc from '../../support/fast-check.ts';
import { type Anything, bytes, cuts, list, type Options, watch } from '../decoder.ts';
import { unparsed } from './unread.ts';

const lazily = { decoding: lazyDecoding() };

const POD = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'a', namespace: 'shop', uid: 'u1', resourceVersion: '7', labels: { app: 'b' } },
  spec: { containers: [{ name: 'main', image: 'web:1' }], nodeName: 'n1' },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
};

interface Pod extends Anything {
  metadata: (typeof POD)['metadata'];
  spec: { containers: { name: string; image: string }[]; nodeName: string };
  status: { phase: string };
}

const line = (object: unknown, type = 'ADDED') =>
  `{"type":"${type}","object":${typeof object === 'string' ? object : JSON.stringify(object)}}\n`;

/** The objects of watch events. */
function objectsOf(
  text: string | Uint8Array | readonly Uint8Array[],
  options: Options = {},
): Pod[] {
  const { out, failure } = watch(
    typeof text === 'string' || text instanceof Uint8Array ? [text] : text,
    options,
  );
  expect(failure).toBeUndefined();
  return out.map((event) => ('object' in event ? event.object : undefined) as Pod);
}

/** Decodes one object lazily. */
function received(object: unknown, options: Options = {}): Pod {
  return objectsOf(line(object), { ...lazily, ...options })[0] as Pod;
}

const isLazy = (object: object, name: string) =>
  Object.getOwnPropertyDescriptor(object, name)?.get !== undefined;

/** The names of the members that are not parsed yet, found without reading them. */
function unread(object: object): string[] {
  return Object.keys(object).filter((name) => isLazy(object, name));
}

describe('a lazy object', () => {
  it('D30: metadata and short values are data, and the other members are accessors', () => {
    const pod = received({ ...POD, type: 'Opaque', count: 12, immutable: true, note: null });
    expect(unread(pod)).toEqual(['spec', 'status']);
    expect(pod).toEqual({ ...POD, type: 'Opaque', count: 12, immutable: true, note: null });
    expect(Object.getPrototypeOf(pod)).toBe(Object.prototype);
  });

  it('D30: a member is parsed once', () => {
    const pod = received(POD);
    expect(pod.spec).toBe(pod.spec);
    expect(pod.status).toEqual(POD.status);
  });

  const texts: Record<string, string> = {
    'a custom resource with sorted names': `{"apiVersion":"g/v1","data":{"x":[1]},"kind":"Pod","metadata":{"managedFields":[{"a":"]}"}],"name":"a"},"spec":{}}`,
    'managedFields first': `{"metadata":{"managedFields":[{}],"name":"a"},"spec":{"b":1}}`,
    'only managedFields and a name behind': `{"metadata":{"name":"a","managedFields":[]},"spec":{"b":1}}`,
    'no other member': `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`,
    'no type': `{"metadata":{"name":"a"},"status":{}}`,
    'no type, and metadata behind': `{"data":{"x":"y"},"metadata":{"name":"a"},"more":["z"],"type":"t"}`,
    'a member named __proto__': `{"metadata":{"name":"a"},"__proto__":{"x":1},"spec":{}}`,
    'a repeated name': `{"metadata":{"name":"a"},"spec":{"x":1},"spec":{"y":1}}`,
    'an escaped name': `{"metadata":{"name":"a"},"sp\\u0065c":{"x":1},"spec":{"y":1}}`,
    'a number as a name': `{"metadata":{"name":"a"},"spec":{},"1":{"x":1},"0":{}}`,
    'white space': `{ "metadata": {"name":"a"},\n "spec": {"x": 1} }`,
    'white space within members': `{"metadata":{ "name" : "a" },"spec":{ "x" : [ 1 ] }}`,
    'longer characters': `{"metadata":{"name":"a","labels":{"é":"😀"}},"spec":{"é":"😀€"},"é":"ß","ü":[1]}`,
    'long and escaped texts': `{"metadata":{"name":"a"},"long":"${'x'.repeat(99)}","escaped":"\\"\\\\","tab":"\\t"}`,
    numbers: `{"metadata":{"name":"a"},"a":-0,"b":1e5,"c":12345678901234567890,"d":-12,"e":0.1,"f":0}`,
    'a name like that of managedFields': `{"metadata":{"name":"a","managedFieldz":[1]},"spec":{}}`,
    'an escaped managedFields': `{"metadata":{"name":"a","m\\u0061nagedFields":[1]},"spec":{}}`,
    'metadata that is null': `{"metadata":null,"spec":{}}`,
    'metadata that is an array': `{"metadata":[],"spec":{}}`,
    'no metadata': `{"spec":{}}`,
    'an empty object': '{}',
  };
  it.each(Object.entries(texts))('D30, D3: %s gives what JSON.parse gives', (_name, text) => {
    for (const keepManagedFields of [false, true]) {
      const both = [jsonDecoding(), lazyDecoding()].map((decoding) => {
        const options = { decoding, keepManagedFields };
        const body = `{"kind":"PodList","items":[${text}],"metadata":{"resourceVersion":"1"}}`;
        const events = watch([line(text)], options);
        const items = list([body], options);
        return JSON.stringify([events.out, events.failure, items.out, items.failure]);
      });
      expect(both[1]).toBe(both[0]);
    }
  });

  it('D30, D1: the objects do not depend on where the bytes are cut', () => {
    const text = bytes(line({ ...POD, data: { é: '😀' } }));
    for (const chunks of cuts(text)) {
      expect(objectsOf(chunks, lazily)[0]).toEqual({ ...POD, data: { é: '😀' } });
    }
  });

  it('D30: an object with special names is parsed completely, also after one with the same names', () => {
    const texts = [' ', '', ''].map((space) => `{"metadata":{"name":"a"},"x":{},"0":{}${space}}`);
    const objects = objectsOf(texts.map((text) => line(text)).join(''), lazily);
    expect(objects).toHaveLength(3);
    for (const object of objects) {
      expect(unread(object)).toEqual([]);
      expect(Object.keys(object)).toEqual(['0', 'metadata', 'x', 'kind', 'apiVersion']);
    }
  });

  it.each([
    '[{"a":[{}]},{"b":1}]',
    '[{"a":[{}]}]',
    '[{"f:a}]},":{"b":[]}},{}]',
    '[{"a":"}]}"}]',
    '[{"a":["]"]}]',
    '[]',
    '{}',
    'null',
  ])('D30, D3: managedFields %s are cut at their end', (managed) => {
    for (const more of ['', ',"x":1', ',"labels":{"a":"b"}']) {
      const text = `{"metadata":{"name":"a","managedFields":${managed}${more}},"spec":{"a":[{}]}}`;
      expect(objectsOf(line(text), lazily)).toStrictEqual(objectsOf(line(text)));
    }
  });

  it('D30: any object, read in any order', () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    const name = fc.constantFrom('kind', 'spec', 'status', 'data', 'x', '0', 'é', '"', '__proto__');
    const members = fc.array(fc.tuple(name, value), { maxLength: 6 });
    const metadata = fc.record(
      { name: fc.constant('a'), labels: value, managedFields: value, uid: fc.constant('u') },
      { requiredKeys: ['name'] },
    );
    const document = fc.tuple(metadata, members, fc.nat(6)).map(([meta, others, at]) => {
      const all: [string, unknown][] = others.filter(
        ([each, held]) => each !== 'kind' || held === 'Pod',
      );
      all.splice(at, 0, ['metadata', meta]);
      return `{${all.map(([each, held]) => `${JSON.stringify(each)}:${JSON.stringify(held)}`)}}`;
    });
    fc.assert(
      fc.property(
        fc.array(document, { maxLength: 4 }),
        fc.infiniteStream(fc.nat()),
        (all, order) => {
          const body = all.map((each) => line(each)).join('');
          const expected = objectsOf(body);
          const lazy = objectsOf(body, lazily);
          expect(lazy.length).toBe(expected.length);
          lazy.forEach((object, index) => {
            const names = Object.keys(object);
            names.sort(() => ((order.next().value ?? 0) % 2) - 0.5);
            for (const each of names) void object[each];
            expect(object).toStrictEqual(expected[index]);
            expect(JSON.stringify(object)).toBe(JSON.stringify(expected[index]));
          });
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('D30, D4: a transform receives the lazy object, and may return a new one', () => {
    const seen: string[][] = [];
    const transform = (pod: Anything) => {
      seen.push(unread(pod));
      return { ...pod, spec: undefined };
    };
    expect(received(POD, { transform })).toEqual({ ...POD, spec: undefined });
    expect(seen).toEqual([['spec', 'status']]);
    const same = received(POD, {
      transform: (pod) => ((pod as Pod).spec.nodeName === 'n1' ? pod : {}),
    });
    expect(unread(same)).toEqual(['spec', 'status']);
  });
});

describe('copies of a lazy object', () => {
  const copies: Record<string, (pod: Pod) => unknown> = {
    spread: (pod) => ({ ...pod }),
    'Object.assign': (pod) => Object.assign({}, pod),
    'Object.fromEntries': (pod) => Object.fromEntries(Object.entries(pod)),
    'JSON.stringify': (pod) => JSON.parse(JSON.stringify(pod)),
    structuredClone: (pod) => structuredClone(pod),
    'immer without a change': (pod) => produce(pod, () => undefined),
    'immer, read only': (pod) => produce(pod, (draft) => void draft.spec.containers.length),
  };
  it.each(Object.entries(copies))('D31: %s', (_name, copy) => {
    for (const freeze of [false, true]) {
      const pod = received(POD);
      if (freeze) deepFreeze(pod);
      const copied = copy(pod) as Pod;
      expect(JSON.stringify(copied)).toBe(JSON.stringify(POD));
      expect(copied).toStrictEqual(POD);
    }
  });

  it('D31: immer changes a lazy member, and leaves the others', () => {
    for (const freeze of [false, true]) {
      const pod = received(POD);
      if (freeze) deepFreeze(pod);
      const changed = produce(pod, (draft) => {
        draft.spec.nodeName = 'n2';
      });
      expect(changed).toEqual({ ...POD, spec: { ...POD.spec, nodeName: 'n2' } });
      expect(changed.status).toBe(pod.status);
      expect(changed.spec.containers).toBe(pod.spec.containers);
      expect(pod).toEqual(POD);
    }
  });

  it('D31: objects of a shape share one hidden class, also those of other decodings, read or frozen', () => {
    setFlagsFromString('--allow-natives-syntax');
    const sameClass = new Function('a', 'b', 'return %HaveSameMap(a, b) && %HasFastProperties(a)');
    setFlagsFromString('--no-allow-natives-syntax');
    const share = (shape: object) => {
      const pods = [received(shape), received(shape, { decoding: lazyDecoding() })];
      const fresh = sameClass(...pods);
      void pods[0]?.spec;
      const isRead = sameClass(...pods);
      for (const pod of pods) deepFreeze(pod);
      return fresh && isRead && sameClass(...pods);
    };
    // V8 may replace a hidden class, for example when it learns more of a field's type. The next objects share the new one.
    for (const shape of [POD, { ...POD, reason: 'x', involved: {}, count: 1 }]) {
      expect([1, 2, 3].some(() => share(shape))).toBe(true);
    }
  });

  it('D31: accessors are forgotten when many other names have been seen, and names that are very long have none', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const getter = (() => {
      const pod = received({ ...POD, rare: {} });
      expect(unread(pod)).toEqual(['spec', 'status', 'rare']);
      return new WeakRef(Object.getOwnPropertyDescriptor(pod, 'rare')?.get as object);
    })();
    const held = received({ ...POD, held: { a: 1 } });
    for (let index = 0; index < 1_100; index++) received({ ...POD, [`name${index}`]: {} });
    for (let round = 0; round < 20 && getter.deref() !== undefined; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    expect(getter.deref()).toBeUndefined();
    expect(held['held']).toEqual({ a: 1 });
    expect(unread(received({ ...POD, rare: {} }))).toEqual(['spec', 'status', 'rare']);
    const long = { ...POD, ['x'.repeat(300)]: {} };
    expect(unread(received(long))).toEqual([]);
    expect(received(long)).toEqual(long);
  });

  it('D31: it is deeply equal to a plain object, in both directions', () => {
    assert.deepStrictEqual(received(POD), POD);
    assert.deepStrictEqual(POD, received(POD));
    expect(received(POD)).toStrictEqual(POD);
    expect(POD).toStrictEqual(received(POD));
    expect(sameContent(received(POD), POD)).toBe(true);
    expect(sameContent(received(POD), { ...POD, spec: {} })).toBe(false);
    expect(sameContent(received(POD), received({ ...POD, spec: {} }))).toBe(false);
  });

  it('D33: two lazy objects are compared by the texts of their unread members', () => {
    const [one, other] = [received(POD), received(POD)];
    void other.status;
    expect(sameContent(one, other)).toBe(true);
    expect(unparsed([one, other])).toBe(2);
  });

  it('D31: an object that inherits from it has its members', () => {
    const pod = received(POD);
    const derived = Object.create(pod) as Pod;
    expect(derived.spec).toBe(pod.spec);
  });

  it('D31: reading through a proxy that passes itself as the receiver throws an error', () => {
    const proxy = new Proxy(received(POD), {
      get: (target, name, receiver) => Reflect.get(target, name, receiver),
    });
    expect(() => proxy.spec).toThrow(/spec of a lazy object was read through a proxy/);
  });
});

describe('changes of a lazy object', () => {
  it('D31: a member can be assigned, deleted and defined, whether it was read or not', () => {
    for (const reads of [false, true]) {
      const pod = received(POD);
      const other = received(POD);
      if (reads) void pod.spec;
      pod.spec = { containers: [], nodeName: 'n9' };
      expect(pod).toEqual({ ...POD, spec: { containers: [], nodeName: 'n9' } });
      expect(Object.keys(pod)).toEqual(Object.keys(POD));
      delete (pod as Partial<Pod>).status;
      Object.defineProperty(pod, 'spec', { value: 1 });
      expect(pod).toEqual({ kind: 'Pod', apiVersion: 'v1', metadata: POD.metadata, spec: 1 });
      expect(other).toEqual(POD);
    }
  });

  it('D31, S16: a frozen object gives frozen values, also one that was read before', () => {
    const pod = received(POD);
    expect(Object.isFrozen(pod.status)).toBe(false);
    deepFreeze(pod);
    expect(Object.isFrozen(pod.metadata.labels)).toBe(true);
    for (const name of ['spec', 'status'] as const) expect(Object.isFrozen(pod[name])).toBe(true);
    expect(() => {
      pod.spec.nodeName = 'n2';
    }).toThrow(TypeError);
    expect(() => {
      pod.spec = POD.spec;
    }).toThrow(TypeError);
    expect(() => {
      pod.spec.containers.push(POD.spec.containers[0] as never);
    }).toThrow(TypeError);
    expect(pod).toEqual(POD);
  });
});

describe('errors in a lazy object', () => {
  const secret = 'hunter2';

  it.each([
    `{"a":"${secret}"x}`,
    `[${secret}]`,
    `{"a":01}`,
    `"${secret}\\x${'y'.repeat(99)}"`,
    'tru',
    '01',
    '-',
  ])(
    'D32: a member %s throws an error with the key, without its text, whenever it is read',
    (text) => {
      const object = received(
        `{"metadata":{"name":"a","namespace":"shop"},"spec":${text},"status":{}}`,
      );
      for (let time = 0; time < 2; time++) {
        let thrown: unknown;
        try {
          void object.spec;
        } catch (error) {
          thrown = error;
        }
        expect(thrown).toBeInstanceOf(ApiError);
        expect(String(thrown)).toMatch(/shop\/a: the member "spec" of \d+ characters is not JSON/);
        expect(String(thrown)).not.toContain(secret);
        expect((thrown as ApiError).reason).toBe('Malformed');
      }
      expect(object['status']).toEqual({});
    },
  );

  it.each([
    `{"metadata":{"name":"a"},"spec":{"x":1}`,
    `{"metadata":{"name":"a"},"spec":{"x":1]}]}`,
    `{"metadata":{"name":"a"},"spec":}`,
    `{"metadata":{"name":"a"},"spec":{}x}`,
    `{"metadata":{"name":"a"} "spec":{}}`,
    `{"metadata":{"name":tru},"spec":{}}`,
    `{"metadata":{"name":"a"},"kind":Pod,"spec":{}}`,
  ])('D32, D6: framing and metadata are checked on receipt: %s', (text) => {
    const { out, failure } = watch([line(POD), line(text)], lazily);
    expect(out).toHaveLength(1);
    expect(failure).toMatch(/is not JSON/);
  });

  it('D32, D6: bytes that are not UTF-8 fail on receipt', () => {
    const text = bytes(line(POD));
    text[text.length - 10] = 0xff;
    expect(watch([text], lazily).failure).toMatch(/UTF-8/);
  });
});
