import { createUndiciTransport } from 'rx-informer/node';
import { beforeAll, describe, expect, it } from 'vitest';
import { DifferentialReader } from '../../lib/decode/differential/differential-reader.ts';
import { RecentDocuments } from '../../lib/decode/differential/recent-documents.ts';
import {
  comparingStored,
  StoredDifference,
} from '../../lib/decode/differential/stored-difference.ts';
import { ObjectHead } from '../../lib/decode/object-head.ts';
import { type Anything, bytes, context, pod } from './decoder.ts';

function storeOf(...objects: readonly Anything[]) {
  const stored = new Map(objects.map((each) => [`${each.metadata?.name}`, each]));
  return { get: (key: string) => stored.get(key), keys: () => stored.keys(), size: stored.size };
}

/** Reads a text by comparing it with a value. */
function compared(stored: unknown, text: string, keepManagedFields = false): unknown {
  const line = bytes(`##${text}#`);
  const difference = new StoredDifference({ ...context, keepManagedFields });
  return difference.read(stored as Anything, line, 2, line.length - 1);
}

describe('the difference of a text to a stored object', () => {
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

  it('D16: a control character and a byte that is not UTF-8 are refused where the stored string has them', () => {
    expect(compared({ a: 'x\ty' }, '{"a":"x\ty"}')).toBeUndefined();
    const line = Uint8Array.from(bytes('{"a":"x?"}'), (byte) => (byte === 0x3f ? 0xe9 : byte));
    const stored = { a: 'xé' } as unknown as Anything;
    expect(new StoredDifference(context).read(stored, line, 0, line.length)).toBeUndefined();
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

  it('D17: keeps texts only if those that came since their object changed are an eighth of the limit', () => {
    const named = (name: string, version: number): Anything => {
      const object = pod(version, name) as Anything;
      return {
        ...object,
        metadata: { ...object.metadata, name, uid: name },
        data: 'x'.repeat(2000),
      };
    };
    const keptOf = (count: number) => {
      const names = Array.from({ length: count }, (_, at) => `${at}`);
      const recent = new RecentDocuments(64 * 1024);
      const counts = { compared: 0, parsed: 0, unchanged: 0 };
      const known = storeOf(...names.map((name) => named(name, 1)));
      const reader = new DifferentialReader<Anything>({ ...context, known }, recent, counts);
      for (let event = 0; event < count * 3; event++) {
        const text = bytes(JSON.stringify(named(`${event % count}`, event + 2)));
        reader.read(text, 0, text.length, false);
      }
      expect(counts).toEqual({ compared: count * 3, parsed: 0, unchanged: 0 });
      return recent.bytes;
    };
    expect(keptOf(10)).toBe(0);
    expect(keptOf(3)).toBeGreaterThan(3 * 2000);
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
