import { createUndiciTransport } from 'rx-informer/node';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  comparingStored,
  StoredDifference,
} from '../../lib/decode/differential/stored-difference.ts';
import { ObjectHead } from '../../lib/decode/object-head.ts';
import { reuseUnchanged } from '../../lib/meta/reuse-unchanged.ts';
import * as fc from '../support/fast-check.ts';
import { type Anything, bytes, pods } from './decoder.ts';

const pod = (version: number, ready: string, more: object = {}) => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'a', uid: 'u1', resourceVersion: String(version), labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'web:1', ports: [80, 443], tty: false }] },
  status: {
    conditions: [
      { type: 'PodScheduled', status: 'True', lastProbeTime: null },
      { type: 'Ready', status: ready },
    ],
    restarts: 0,
  },
  ...more,
});

function storeOf(...objects: readonly Anything[]) {
  const stored = new Map(objects.map((each) => [`${each.metadata?.name}`, each]));
  return { get: (key: string) => stored.get(key), keys: () => stored.keys(), size: stored.size };
}

const context = {
  resource: pods,
  maxFrameBytes: 1_000_000,
  keepManagedFields: false,
  onRefused: () => undefined,
};

/** Reads a text by comparing it with a value. */
function compared(stored: unknown, text: string, keepManagedFields = false): unknown {
  const line = bytes(`##${text}#`);
  const difference = new StoredDifference({ ...context, keepManagedFields });
  return difference.read(stored as Anything, line, 2, line.length - 1);
}

describe('the difference of a text to a stored object', () => {
  it('D16: only the members that differ are parsed, and the others keep their value', () => {
    const before = pod(1, 'False');
    const text = JSON.stringify(pod(12, 'True'));
    const now = compared(before, text) as ReturnType<typeof pod>;
    expect(JSON.stringify(now)).toBe(text);
    expect(now.spec).toBe(before.spec);
    expect(now.metadata.labels).toBe(before.metadata.labels);
    expect(now.status.conditions[0]).toBe(before.status.conditions[0]);
    expect(now.status.conditions[1]).not.toBe(before.status.conditions[1]);
    expect(JSON.stringify(before)).toBe(JSON.stringify(pod(1, 'False')));
    expect(compared(before, JSON.stringify(before))).toBe(before);
  });

  it('S60: the items of an array that has grown stay the same', () => {
    const before = pod(1, 'False');
    const next = pod(2, 'False');
    next.status.conditions.unshift({ type: 'Initialized', status: 'True' });
    const now = compared(before, JSON.stringify(next)) as typeof next;
    expect(now).toStrictEqual(next);
    expect(now.status.conditions[2]).toBe(before.status.conditions[1]);
  });

  it.each([
    ['first', '"managedFields":[{"f:\\"}":{}}],"name":"a","uid":"u1"'],
    ['between others', '"name":"a","managedFields":[{"f:\\"}":{}}],"uid":"u1"'],
    ['last', '"name":"a","uid":"u1","managedFields":[{"f:\\"}":{}}]'],
  ])('D6: managedFields that are %s are left out, unless they are kept', (_place, metadata) => {
    const text = `{"metadata":{${metadata}},"spec":{"managedFields":1}}`;
    const whole = JSON.parse(text) as { metadata: { managedFields?: unknown } };
    const stored = structuredClone(whole);
    delete stored.metadata.managedFields;
    expect(compared(stored, text)).toBe(stored);
    expect(compared(whole, text, true)).toBe(whole);
    expect(compared(stored, text, true)).toStrictEqual(whole);
    expect(compared(stored, text.replace('Fields":1', 'Fields":1,"a":2'))).toStrictEqual({
      ...stored,
      spec: { managedFields: 1, a: 2 },
    });
  });

  it('D6: a member of another object is not taken for managedFields', () => {
    const text =
      '{"metadata":{"name":"a"},"spec":{"managedFields":1,"a":2},"managedFields":3,"b":4}';
    const stored = { metadata: { name: 'a' }, spec: { a: 2 }, b: 4 };
    expect(compared(stored, text)).toBeUndefined();
    const inSpec = text.replace('"managedFields":3,', '');
    expect(compared(stored, inSpec)).toStrictEqual(JSON.parse(inSpec));
  });

  it('S60: instances of classes are replaced by plain objects', () => {
    class Point {
      x = 1;
    }
    const read = compared({ a: new Point(), b: 1 }, '{"a":{"x":1},"b":2}');
    expect(read).toStrictEqual({ a: { x: 1 }, b: 2 });
  });

  const pairs: Record<string, readonly [earlier: string, text: string]> = {
    'a number that grows': ['{"a":1,"b":12}', '{"a":12,"b":123}'],
    'a long number': ['{"a":123456789012345}', '{"a":1234567890123456}'],
    'another number': ['{"a":-12.5e3,"b":[1,23],"c":1}', '{"a":-12.5,"b":[1,2],"c":1.0}'],
    'minus zero': ['{"a":0,"b":1}', '{"a":-0,"b":1}'],
    'a word': ['{"a":true,"b":null,"c":false}', '{"a":null,"b":false,"c":true}'],
    'another type': ['{"a":{"x":1},"b":[1],"c":"1"}', '{"a":[1],"b":{"x":1},"c":1}'],
    'a repeated name': ['{"a":1,"b":2}', '{"a":1,"a":1,"b":2}'],
    'an added member': ['{"a":{"b":1}}', '{"a":{"b":1,"c":2}}'],
    'an emptied array': ['{"a":[1,2]}', '{"a":[]}'],
    'a filled object': ['{"a":{},"b":[]}', '{"a":{"x":1},"b":[1]}'],
    'names in another order': ['{"a":1,"b":2}', '{"b":2,"a":1}'],
    __proto__: ['{"a":{"__proto__":1,"b":1}}', '{"a":{"__proto__":2,"b":1}}'],
    'an integer as a name': ['{"b":1,"1":1,"0":2}', '{"b":1,"1":3,"0":4}'],
    'an escaped name': ['{"a":1,"b\\n":2}', '{"\\u0061":1,"b\\n":2}'],
    'escapes in strings': ['{"a":"x\\\\","b":"\\""}', '{"a":"y\\\\","b":"\\"\\\\"}'],
    'a text with the characters of an escape': ['{"a":"x\\\\n"}', '{"a":"x\\n"}'],
    'a quote in a stored string': ['{"a":"x\\",\\"b"}', '{"a":"x","b":1}'],
    'longer characters': ['{"a":"ß€😀","é":1}', '{"a":"ß€😁","é":2}'],
    'long strings': [`{"a":"${'x'.repeat(300)}"}`, `{"a":"${'x'.repeat(299)}y"}`],
    'white space': ['{"a": 1, "b":2}', '{"a": 1,"b":2 }'],
    'white space within': ['{"a":{"b":[1,2]}}', '{"a":{"b":[1, 2]}}'],
  };
  it.each(Object.entries(pairs))('D16: %s gives what JSON.parse gives', (_name, [from, to]) => {
    for (const [earlier, text] of [
      [from, to],
      [to, from],
    ] as const) {
      const value = compared(JSON.parse(earlier), text) ?? JSON.parse(text);
      expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
      expect(value).toStrictEqual(JSON.parse(text));
    }
  });

  it.each([
    '{"a":1,"b":"x"',
    '{"a":1,"b":"x}',
    '{"a":01,"b":"x"}',
    '{"a":1 "b":"x"}',
    '{"a":1,"b":"x"]',
    '{"a":1,"b":"x"}}',
    '{"a":1,"b":}',
    '{"a":1,"b":"x",}',
    '{"a":1x,"b":"x"}',
  ])('D16: %s, which is not JSON, is refused', (text) => {
    expect(compared({ a: 1, b: 'x' }, text)).toBeUndefined();
  });

  it('D16: an array that ends with a brace is refused', () => {
    expect(compared({ a: [1] }, '{"a":[1}}')).toBeUndefined();
    expect(compared({ a: { b: 1 } }, '{"a":{"b":1]}')).toBeUndefined();
  });

  it('D16: a control character and a byte that is not UTF-8 are refused where the stored string has them', () => {
    expect(compared({ a: 'x\ty' }, '{"a":"x\ty"}')).toBeUndefined();
    const line = Uint8Array.from(bytes('{"a":"x?"}'), (byte) => (byte === 0x3f ? 0xe9 : byte));
    const stored = { a: 'xé' } as unknown as Anything;
    expect(new StoredDifference(context).read(stored, line, 0, line.length)).toBeUndefined();
  });

  it('D16: a deeply nested text does not overflow the stack', () => {
    const nested = (value: number) => `${'{"a":['.repeat(1500)}${value}${']}'.repeat(1500)}`;
    const value = compared(JSON.parse(nested(1)), nested(2)) ?? JSON.parse(nested(2));
    expect(JSON.stringify(value)).toBe(nested(2));
  });

  it('D16, S60: any two documents give what JSON.parse gives, with every part that they have in common', () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(null, true, false, 0, -0, 1, 12, 1.5e300, '', 'a', '"', '\\', '\t', 'é😀'),
        fc.array(tie('any'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c', '0', 'é', '"'), tie('any'), { maxKeys: 4 }),
      ),
    })).any;
    const document = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value, { maxKeys: 4 });
    fc.assert(
      fc.property(document, document, (earlier, later) => {
        const text = JSON.stringify(later);
        const stored: unknown = JSON.parse(JSON.stringify(earlier));
        const read = compared(stored, text);
        expect(stored).toStrictEqual(JSON.parse(JSON.stringify(earlier)));
        if (read === undefined) return;
        expect(read).toStrictEqual(JSON.parse(text));
        expect(reuseUnchanged(stored, read)).toBe(read);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('the stored object of a text', () => {
  const found = (text: object, ...stored: readonly Anything[]) => {
    const line = bytes(JSON.stringify(text));
    const head = new ObjectHead();
    head.open(line, 0, line.length);
    head.find(head.uid);
    return new StoredDifference({ ...context, known: storeOf(...stored) }).find(head, line);
  };

  it('D17: it has the name and the UID of the text', () => {
    const stored = pod(1, 'True');
    const other = { ...stored, metadata: { ...stored.metadata, uid: 'u2' } };
    expect(found(pod(2, 'True'), stored)).toBe(stored);
    expect(found(other, stored)).toBeUndefined();
    expect(found(pod(2, 'True'))).toBeUndefined();
    expect(
      found({ metadata: { name: 'a', uid: '' } }, { metadata: { name: 'a' } }),
    ).toBeUndefined();
  });
});

describe('a decoder over undici', () => {
  beforeAll(() => void comparingStored());

  const first = pod(1, 'False') as Anything;
  const lineOf = (type: string, object: unknown) => bytes(`${JSON.stringify({ type, object })}\n`);
  const watching = (more: object) => {
    const { decoding: make } = createUndiciTransport({ baseUrl: 'http://127.0.0.1:1' });
    const decoding = (make as typeof comparingStored extends () => infer Make ? Make : never)();
    return { decoding, decoder: decoding.watch<Anything>({ ...context, ...more }) };
  };

  it('D16: compares the first change of an object with the stored one, which is its basis', () => {
    const { decoding, decoder } = watching({ known: storeOf(first) });
    const [event] = decoder.push(lineOf('MODIFIED', pod(2, 'True'))) ?? [];
    expect(event).toEqual({ type: 'MODIFIED', key: 'a', object: pod(2, 'True'), basis: first });
    expect((event as { object: Anything }).object['spec']).toBe(first['spec']);
    expect(decoding.counts).toEqual({ compared: 1, parsed: 0, unchanged: 0 });
  });

  it('D15: compares nothing under a transform, because the stored object is not what was received', () => {
    const { decoding, decoder } = watching({
      known: storeOf(first),
      transform: (it: Anything) => it,
    });
    decoder.push(lineOf('MODIFIED', pod(2, 'True')));
    expect(decoding.counts).toEqual({ compared: 0, parsed: 1, unchanged: 0 });
  });

  it('D18: parses the objects of a streaming LIST, and compares those of the events after it', () => {
    const { decoding, decoder } = watching({ known: storeOf(first), reuse: false });
    decoder.push(lineOf('ADDED', pod(2, 'True')));
    expect(decoding.counts).toEqual({ compared: 0, parsed: 1, unchanged: 0 });
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const end = { kind: 'Pod', metadata: { resourceVersion: '3', annotations } };
    decoder.push(lineOf('BOOKMARK', end));
    decoder.push(
      lineOf('ADDED', { ...pod(4, 'True'), metadata: { ...first.metadata, uid: 'u1' } }),
    );
    expect(decoding.counts.compared).toBe(1);
  });
});
