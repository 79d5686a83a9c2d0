import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { differentialDecoding, type WatchEvent } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { Difference, mismatch } from '../../lib/decode/differential/difference.ts';
import { DifferentialReader } from '../../lib/decode/differential/differential-reader.ts';
import { KeptDocument, WordText } from '../../lib/decode/differential/document.ts';
import { RecentDocuments } from '../../lib/decode/differential/recent-documents.ts';
import { Scalars } from '../../lib/decode/differential/scalars.ts';
import { Shapes } from '../../lib/decode/differential/shapes.ts';
import { StoredDifference } from '../../lib/decode/differential/stored-difference.ts';
import { reuseUnchanged } from '../../lib/meta/reuse-unchanged.ts';
import { decodings } from '../support/decodings.ts';
import * as fc from '../support/fast-check.ts';
import { type Anything, bytes, context, pod, pods } from './decoder.ts';

/** A document that is kept with its value. */
function kept(text: string): KeptDocument {
  const document = new KeptDocument();
  const encoded = bytes(text);
  document.set(encoded, 0, encoded.length);
  document.value = JSON.parse(text);
  return document;
}

const shapes = new Shapes();

/** Reads a text that has others around it. */
function within(text: string, read: (bytes: Uint8Array, from: number, to: number) => unknown) {
  const line = bytes(`##${text}#`);
  return read(line, 2, line.length - 1);
}

/** What a text is compared with: the former text and its value, or a stored value alone. */
interface Former {
  readonly value: unknown;
  /** Returns the value of the text; `undefined` if it must be parsed completely, which may show that it is not JSON. */
  read(text: string): unknown;
}
const FORMERS: Readonly<Record<string, (text: string) => Former>> = {
  'the former text': (text) => {
    const document = kept(text);
    const difference = new Difference(shapes);
    return {
      get value() {
        return document.value;
      },
      read(now) {
        try {
          return within(now, (...line) => difference.read(document, ...line));
        } catch {
          return undefined;
        }
      },
    };
  },
  'the stored object': (text) => {
    let value: unknown = JSON.parse(text);
    const difference = new StoredDifference(context);
    return {
      get value() {
        return value;
      },
      read(now) {
        const read = within(now, (...line) => difference.read(value as Anything, ...line));
        value = read ?? value;
        return read;
      },
    };
  },
};

const line = (type: string, object: unknown) => bytes(`${JSON.stringify({ type, object })}\n`);

describe.each(Object.entries(FORMERS))('the difference of a text to %s', (_name, formerOf) => {
  it('D16: only the members that differ are parsed, and the others keep their value', () => {
    const former = formerOf(JSON.stringify(pod(1, 'False')));
    const before = former.value as ReturnType<typeof pod>;
    const text = JSON.stringify(pod(12, 'True'));
    const now = former.read(text) as ReturnType<typeof pod>;
    expect(JSON.stringify(now)).toBe(text);
    expect(now.spec).toBe(before.spec);
    expect(now.metadata.labels).toBe(before.metadata.labels);
    expect(now.status.conditions[0]).toBe(before.status.conditions[0]);
    expect(now.status.conditions[1]).not.toBe(before.status.conditions[1]);
    expect(JSON.stringify(before)).toBe(JSON.stringify(pod(1, 'False')));
    expect(former.read(text)).toBe(now);
  });

  it('S60: the items of an array that has grown stay the same', () => {
    const former = formerOf(JSON.stringify(pod(1, 'False')));
    const before = former.value as ReturnType<typeof pod>;
    const next = pod(2, 'False');
    next.status.conditions.unshift({ type: 'Initialized', status: 'True' });
    const now = former.read(JSON.stringify(next)) as ReturnType<typeof pod>;
    expect(now).toStrictEqual(next);
    expect(
      now.status.conditions.slice(1).map((each, at) => each === before.status.conditions[at]),
    ).toEqual([true, true]);
  });

  const unusual: Record<string, readonly [earlier: string, text: string]> = {
    'a number that grows': ['{"a":1,"b":12}', '{"a":12,"b":123}'],
    'a long number': ['{"a":123456789012345}', '{"a":1234567890123456}'],
    'a number that loses digits': ['{"a":-12.5e3,"b":[1,23]}', '{"a":-12.5,"b":[1,2]}'],
    'a number of another form': ['{"a":-12.5e3,"c":1}', '{"a":-12500,"c":1.0}'],
    'minus zero': ['{"a":0,"b":1}', '{"a":-0,"b":1}'],
    'a word': ['{"a":true,"b":null,"c":false}', '{"a":null,"b":false,"c":true}'],
    'another type': ['{"a":{"x":1},"b":[1],"c":"1"}', '{"a":[1],"b":{"x":1},"c":1}'],
    'a repeated name': ['{"a":1,"b":2}', '{"a":1,"a":1,"b":2}'],
    'a repeated name in the earlier text': ['{"a":1,"a":2,"b":3}', '{"a":1,"a":3,"b":3}'],
    'a repeated name in the later text': ['{"a":1,"b":2,"c":3}', '{"a":1,"a":2,"c":3}'],
    'an added member': ['{"a":{"b":1}}', '{"a":{"b":1,"c":2}}'],
    'a removed member': ['{"a":{"b":1,"c":2},"d":0}', '{"a":{"b":1},"d":0}'],
    'an added item': ['{"a":[1,2]}', '{"a":[1,2,3]}'],
    'an emptied array': ['{"a":[1,2]}', '{"a":[]}'],
    'a filled object': ['{"a":{},"b":[]}', '{"a":{"x":1},"b":[1]}'],
    'names in another order': ['{"a":1,"b":2}', '{"b":2,"a":1}'],
    __proto__: ['{"a":{"__proto__":1,"b":1}}', '{"a":{"__proto__":2,"b":1}}'],
    'an integer as a name': ['{"b":1,"1":1,"0":2}', '{"b":1,"1":3,"0":4}'],
    'an escaped name': ['{"\\u0061":1,"a ":2}', '{"\\u0061":2,"a ":3}'],
    'a name that is escaped now': ['{"a":1,"b\\n":2}', '{"\\u0061":1,"b\\n":2}'],
    'the same name, once escaped': ['{"\\u0061":1,"a":2}', '{"\\u0061":2,"a":3}'],
    'escapes at the end of a string': ['{"a":"x\\\\","b":"\\""}', '{"a":"y\\\\","b":"\\"\\\\"}'],
    'a text with the characters of an escape': ['{"a":"x\\\\n"}', '{"a":"x\\n"}'],
    'a quote in a stored string': ['{"a":"x\\",\\"b"}', '{"a":"x","b":1}'],
    'a lone surrogate': ['{"a":"\\ud800","b":1}', '{"a":"\\udc00","b":2}'],
    'longer characters': ['{"a":"ß€😀","é":1}', '{"a":"ß€😁","é":2}'],
    'a change within a character': ['{"a":"é"}', '{"a":"è"}'],
    'long strings': [`{"a":"${'x'.repeat(300)}"}`, `{"a":"${'x'.repeat(299)}y"}`],
    'white space': ['{"a": 1, "b":2}', '{"a": 2, "b":3}'],
    'white space that moves': ['{"a": 1, "b":2}', '{"a": 1,"b":2 }'],
    'white space within': ['{"a":{"b":[1,2]}}', '{"a":{"b":[1, 2]}}'],
  };
  it.each(Object.entries(unusual))('D16: %s gives what JSON.parse gives', (_name, [from, to]) => {
    for (const [earlier, text] of [
      [from, to],
      [to, from],
    ] as const) {
      const value = formerOf(earlier).read(text) ?? JSON.parse(text);
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
    '{"a":2,"b":"x}',
    '{"a":2,"b":[1}}',
    '{"a":2,"b":1]',
    '{"a":2,"b":01}',
    '{"a":2,"b":1}}',
  ])('D16: %s, which is not JSON, is refused', (text) => {
    for (const former of ['{"a":1,"b":"x"}', '{"a":1,"b":1}', '{"a":1,"b":[1]}']) {
      expect(formerOf(former).read(text)).toBeUndefined();
    }
  });

  it('D16: a bracket of the other kind is refused', () => {
    expect(formerOf('{"a":[1]}').read('{"a":[1}}')).toBeUndefined();
    expect(formerOf('{"a":{"b":1}}').read('{"a":{"b":1]}')).toBeUndefined();
  });

  it('D16: a deeply nested text does not overflow the stack', () => {
    const nested = (value: number) => `${'{"a":['.repeat(1500)}${value}${']}'.repeat(1500)}`;
    const value = formerOf(nested(1)).read(nested(2)) ?? JSON.parse(nested(2));
    expect(JSON.stringify(value)).toBe(nested(2));
  });

  it('D16, S60: any documents give what JSON.parse gives, and the stored object keeps every part that they have in common', () => {
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
      fc.property(fc.array(document, { minLength: 2, maxLength: 5 }), (documents) => {
        const [first = '{}', ...texts] = documents.map((each) => JSON.stringify(each));
        let former = formerOf(first);
        for (const text of texts) {
          const had = former.value;
          const before = JSON.stringify(had);
          const read = former.read(text);
          expect(JSON.stringify(had)).toBe(before);
          if (read === undefined) former = formerOf(text);
          else {
            expect(read).toStrictEqual(JSON.parse(text));
            if (formerOf !== FORMERS['the former text']) {
              expect(reuseUnchanged(had, read)).toBe(read);
            }
          }
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the difference of two texts', () => {
  it('D16: a member that was removed after parsing is neither parsed nor added', () => {
    const text = (time: string) =>
      `{"a":{"managedFields":[{"time":"${time}"}],"b":1},"c":${time.length}}`;
    const earlier = kept(text('1'));
    const compared = (now: string) =>
      within(now, (...line) => new Difference(shapes).read(earlier, ...line));
    delete (earlier.value as { a: { managedFields?: unknown } }).a.managedFields;
    expect(compared(text('20'))).toEqual({ a: { b: 1 }, c: 2 });
    expect(compared(text(JSON.stringify('x"],"}]:{[\\').slice(1, -1)))).toMatchObject({
      a: { b: 1 },
    });
  });
});

describe('the lists of names', () => {
  it('D16: names that are not recognized again are not stored again each time', () => {
    const own = new Shapes();
    const text = bytes('{"k:\\"a":1}');
    const positions = [1, 9, 10];
    expect([own.of(text, positions), own.of(text, positions)]).toEqual([undefined, undefined]);
    expect(own.of(bytes('{"a":1}'), [1, 5, 6])).toBe(0);
  });
});

describe('short values', () => {
  it('D16: integers of any number of digits are read as JSON.parse reads them', () => {
    const scalars = new Scalars();
    const digits = '918273645546372819';
    for (let length = 1; length <= 18; length++) {
      for (let last = 0; last < 100; last++) {
        const text = `${digits.slice(0, length)}${last}`;
        const encoded = bytes(text);
        expect(scalars.read(encoded, 0, encoded.length)).toBe(JSON.parse(text));
      }
    }
  });
});

describe('the buffer of the difference', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;

  it('D17: nothing of the object that was read last stays', async () => {
    const difference = new Difference(shapes);
    const seen = (() => {
      const document = kept(JSON.stringify(pod(1, 'a')));
      const text = bytes(JSON.stringify(pod(2, 'b')));
      expect(difference.read(document, text, 0, text.length)).toEqual(pod(2, 'b'));
      return new WeakRef(document);
    })();
    for (let round = 0; round < 20 && seen.deref() !== undefined; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    expect([seen.deref(), difference]).toEqual([undefined, difference]);
  });
});

describe('mismatch', () => {
  it('D16: the first difference is found at any position and any distance', () => {
    const a = new WordText();
    const b = new WordText();
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 90 }),
        fc.nat(8),
        fc.nat(8),
        fc.nat(100),
        (content, aAt, bAt, place) => {
          const other = Uint8Array.from(content);
          const at = place % content.length;
          other[at] = (other[at] ?? 0) ^ 1;
          a.set(Uint8Array.of(...Array(aAt).fill(7), ...content), 0, aAt + content.length);
          b.set(Uint8Array.of(...Array(bAt).fill(9), ...other), 0, bAt + other.length);
          expect(mismatch(a, aAt, b, bAt, content.length)).toBe(at);
          expect(mismatch(a, aAt, b, bAt, at)).toBe(at);
        },
      ),
    );
  });
});

describe('the texts that are kept', () => {
  it('D17: their bytes stay within the limit, and a text that is used stays longest', () => {
    const recent = new RecentDocuments(64 * 1024);
    const text = new Uint8Array(2000);
    recent.keep(-1, '', text, 0, text.length, {});
    for (let hash = 0; hash < 500; hash++) {
      recent.keep(hash, '', text, 0, text.length, {});
      expect(recent.bytes).toBeLessThanOrEqual(64 * 1024);
      expect(recent.find(-1, '')).toBeDefined();
    }
    expect(recent.bytes).toBeGreaterThan(20 * 2000);
    for (let hash = -1; hash < 500; hash++) recent.drop(hash);
    expect(recent.bytes).toBe(0);
  });

  it('D17: a text that was used once has one second chance', () => {
    const recent = new RecentDocuments(64 * 1024);
    const text = new Uint8Array(2000);
    recent.keep(-1, '', text, 0, text.length, {});
    recent.find(-1, '');
    for (let hash = 0; hash < 500; hash++) recent.keep(hash, '', text, 0, text.length, {});
    expect(recent.find(-1, '')).toBeUndefined();
  });

  it('D17: a text that is a large part of the limit is not kept', () => {
    const recent = new RecentDocuments(64 * 1024);
    recent.keep(1, '', new Uint8Array(10_000), 0, 10_000, {});
    expect([recent.find(1, ''), recent.bytes]).toEqual([undefined, 0]);
  });

  it('D17: a text that has grown to a large part of the limit is neither compared nor kept', () => {
    const decoding = differentialDecoding({ maxBytes: 64 * 1024 });
    const decoder = decoding.watch<Anything>(context);
    for (const [version, length] of [1, 1, 1, 10_000, 1, 1].entries()) {
      const object = pod(version, 'a', { data: 'x'.repeat(length) });
      expect(decoder.push(line('MODIFIED', object))).toMatchObject([{ object }]);
    }
    expect(decoding.counts).toEqual({ compared: 2, parsed: 4, unchanged: 0 });
  });

  it('D17: objects that change in turn are kept only if their texts are within the limit together', () => {
    const recent = new RecentDocuments(64 * 1024);
    const counts = { compared: 0, parsed: 0, unchanged: 0 };
    const reader = new DifferentialReader<Anything>(context, recent, counts);
    const data = 'x'.repeat(2000);
    let version = 0;
    const readInTurn = (objects: number, times: number) => {
      for (let event = 0; event < objects * times; event++) {
        const object = { ...pod(++version, 'a'), data };
        object.metadata.uid = `u${event % objects}`;
        const text = bytes(JSON.stringify(object));
        expect(reader.read(text, 0, text.length, false)).toEqual(object);
      }
      const { compared } = counts;
      counts.compared = 0;
      // A kept text needs 3,539 bytes with its table.
      return [compared, Math.round(recent.bytes / 3539)];
    };
    expect(readInTurn(100, 5)).toEqual([0, 0]);
    // The first change of each follows its last change among the others too late.
    expect(readInTurn(10, 5)).toEqual([30, 10]);
    // Kept texts stay, so their objects are compared among others that are not kept.
    expect(readInTurn(100, 5)).toEqual([50, 10]);
  });

  it('D17: the names of members count for the limit, and are forgotten when they reach their part of it', () => {
    const maxBytes = 256 * 1024;
    const recent = new RecentDocuments(maxBytes);
    const counts = { compared: 0, parsed: 0, unchanged: 0 };
    const reader = new DifferentialReader<Anything>(context, recent, counts);
    const read = (uid: string, data: object, isLast = false) => {
      const object = { ...pod(counts.compared + counts.parsed, 'a'), data };
      object.metadata.uid = uid;
      const text = bytes(JSON.stringify(object));
      expect(reader.read(text, 0, text.length, isLast)).toEqual(object);
    };
    let most = 0;
    for (let index = 0; index < 300; index++) {
      const name = String(index).padEnd(300, 'x');
      for (const value of [1, 2, 3, 4])
        read(`u${index % 20}`, { [name]: { [`${name}-2`]: value } });
      most = Math.max(most, recent.shapes.bytes);
      expect(recent.bytes).toBeLessThanOrEqual(maxBytes);
    }
    // The last states of each object are compared, also after the names were forgotten.
    expect(counts.compared).toBeGreaterThan(600);
    expect(most).toBeGreaterThan(maxBytes / 16);
    expect(most).toBeLessThanOrEqual(maxBytes / 8);
    for (let index = 0; index < 20; index++) read(`u${index}`, {}, true);
    expect(recent.bytes).toBe(0);
  });
});

describe('differentialDecoding', () => {
  const read = (decoding: ReturnType<typeof differentialDecoding>, chunks: Uint8Array[]) => {
    const decoder = decoding.watch<Anything>(context);
    return chunks.flatMap((chunk) => decoder.push(chunk) ?? []) as (WatchEvent<Anything> & {
      object: Anything & ReturnType<typeof pod>;
    })[];
  };

  it('D17: the third change of an object is compared with the second, also on the next watch', () => {
    const decoding = differentialDecoding();
    const [, second] = read(decoding, [line('ADDED', pod(1, 'a')), line('MODIFIED', pod(2, 'b'))]);
    expect(decoding.counts).toEqual({ compared: 0, parsed: 2, unchanged: 0 });
    const [third] = read(decoding, [line('MODIFIED', pod(3, 'c'))]);
    expect(decoding.counts).toEqual({ compared: 1, parsed: 2, unchanged: 0 });
    expect(third?.object).toEqual(pod(3, 'c'));
    expect(third?.object.spec).toBe(second?.object.spec);
  });

  it.each([
    ['one hash', 'uid-Aa', 'uid-BB'],
    ['no UID', '', ''],
  ])('D17, S60: objects of different UIDs share no parts: two with %s', (_what, one, two) => {
    const decoding = differentialDecoding();
    const named = (name: string, uid: string, version: number) => {
      const object = pod(version, 'a');
      Object.assign(object.metadata, { name, uid });
      return line('MODIFIED', object);
    };
    const states = [named('a', one, 1), named('a', one, 2), named('b', two, 3), named('b', two, 4)];
    const [, before, after, last] = read(decoding, [...states, named('a', one, 5)]);
    expect(after?.object.spec).toEqual(before?.object.spec);
    expect(after?.object.spec).not.toBe(before?.object.spec);
    expect(last?.object.spec === after?.object.spec).toBe(one !== '');
    expect(decoding.counts.compared).toBe(one === '' ? 0 : 1);
  });

  it('D17: the parts of the stored object are kept, even if the store has another JavaScript object', () => {
    const decoding = differentialDecoding();
    const stored = new Map<string, Anything>();
    const known = { get: (key: string) => stored.get(key), keys: () => stored.keys(), size: 1 };
    const reader = decoding.watch<Anything>({ ...context, known });
    const push = (type: string, object: object) => {
      const [event] = reader.push(line(type, object)) ?? [];
      return (event as unknown as { object: Anything & ReturnType<typeof pod> }).object;
    };
    push('ADDED', pod(1, 'a'));
    const second = push('MODIFIED', pod(2, 'b'));
    const twin = structuredClone(second);
    stored.set('a', twin);
    const third = push('MODIFIED', pod(3, 'c'));
    expect(third.spec).toBe(twin.spec);
    // Another content under the same version is not taken.
    const wrong = structuredClone(third);
    for (const container of wrong.spec.containers) container.image = 'other';
    stored.set('a', wrong);
    expect(push('MODIFIED', pod(4, 'd'))).toEqual(pod(4, 'd'));
    expect(decoding.counts).toMatchObject({ compared: 2, parsed: 2 });
  });

  it('D17: collections that share a decoding and keep other fields have no values in common', () => {
    const decoding = differentialDecoding();
    const managed = (version: number) => {
      const { kind: _kind, ...rest } = pod(version, 'a');
      return { ...rest, metadata: { ...rest.metadata, managedFields: [{ manager: 'x' }] } };
    };
    const whole = decoding.watch<Anything>({ ...context, keepManagedFields: true });
    const cut = decoding.watch<Anything>(context);
    const other = decoding.watch<Anything>({ ...context, resource: { ...pods, kind: 'Other' } });
    for (let version = 1; version < 4; version++) {
      const text = line('MODIFIED', managed(version));
      const { kind: _kind, ...bare } = pod(version, 'a');
      expect(cut.push(text)).toMatchObject([{ object: bare }]);
      expect(whole.push(text)).toMatchObject([{ object: managed(version) }]);
      expect(other.push(text)).toMatchObject([{ object: { kind: 'Other' } }]);
    }
    expect(decoding.counts).toMatchObject({ compared: 3 });
  });

  it('D17: the text of a deleted object is dropped', () => {
    const decoding = differentialDecoding();
    const types = ['ADDED', 'MODIFIED', 'DELETED', 'ADDED'];
    const events = read(
      decoding,
      types.map((type, at) => line(type, pod(at, 'a'))),
    );
    expect(events.map(({ object }) => object)).toEqual(types.map((_, at) => pod(at, 'a')));
    expect(decoding.counts).toEqual({ compared: 1, parsed: 3, unchanged: 0 });
  });

  it.each(Object.entries(decodings))(
    'D18: an object of a list with the UID and the version of a known one is not parsed (%s)',
    (_name, make) => {
      const decoding = make();
      const stored = pod(7, 'a') as unknown as Anything;
      const known = {
        get: (key: string) => (key === 'a' ? stored : undefined),
        keys: () => ['a'],
        size: 1,
      };
      const reusing = { ...context, known, reuse: true };
      const texts = [pod(7, 'other'), pod(8, 'b')].map((each) => JSON.stringify(each));
      const list = decoding.list<Anything>(reusing);
      const body = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[${texts}]}`;
      const part = list.push(bytes(body));
      expect(part).toMatchObject({ unparsed: true });
      expect(part?.items[0]).toBe(stored);
      expect(part?.items[1]).toEqual(pod(8, 'b'));
      const watch = decoding.watch<Anything>(reusing);
      const [event, changed] =
        watch.push(bytes(texts.map((text) => `{"type":"ADDED","object":${text}}\n`).join(''))) ??
        [];
      expect(event).toEqual({ type: 'ADDED', key: 'a', object: stored, unparsed: true });
      expect(changed).toMatchObject({ object: pod(8, 'b') });
      if ('counts' in decoding) expect(decoding.counts).toMatchObject({ parsed: 2, unchanged: 2 });
      const without = decoding.list<Anything>({ ...context, known }).push(bytes(body));
      expect(without?.items[0]).toEqual(pod(7, 'other'));
    },
  );
});
