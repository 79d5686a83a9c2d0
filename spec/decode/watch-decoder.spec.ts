import fc from 'fast-check';
import { ApiError } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { bytes, cuts, type Options, watch } from './decoder.ts';

const object = (name: string, version: number, more: object = {}) => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, namespace: 'd', uid: name, resourceVersion: String(version) },
  ...more,
});
const line = (type: string, body: unknown) => `${JSON.stringify({ type, object: body })}\n`;

const lines = [
  line('ADDED', object('a', 1, { text: 'ß € 😀 "q" \\ \n {}[]' })),
  '\n',
  line('MODIFIED', object('a', 2)),
  ' \r\n',
  line('DELETED', object('a', 3)),
  line('BOOKMARK', {
    kind: 'Pod',
    metadata: { resourceVersion: '4', annotations: { 'k8s.io/initial-events-end': 'true' } },
  }),
].join('');

describe('the lines of a watch', () => {
  const whole = watch([lines]);

  it('D1: are events', () => {
    expect(whole.failure).toBeUndefined();
    expect(whole.out).toEqual([
      {
        type: 'ADDED',
        key: 'd/a',
        object: object('a', 1, { text: 'ß € 😀 "q" \\ \n {}[]' }),
      },
      { type: 'MODIFIED', key: 'd/a', object: object('a', 2) },
      { type: 'DELETED', key: 'd/a', object: object('a', 3), resourceVersion: '3' },
      { type: 'BOOKMARK', resourceVersion: '4', initialEventsEnd: true },
    ]);
  });

  it('D1: may be cut at every byte, and the bytes are only lent', () => {
    for (const [head, tail] of cuts(bytes(lines))) expect(watch([head, tail])).toEqual(whole);
  });

  it('D1: may be cut anywhere, any number of times', () => {
    const text = bytes(lines);
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (places) => {
        const at = [0, ...places.sort((a, b) => a - b), text.length];
        const chunks = at.slice(1).map((end, index) => text.subarray(at[index], end));
        expect(watch(chunks)).toEqual(whole);
      }),
      { numRuns: 60 },
    );
  });

  it('D6: that end in the middle of one are an error that keeps what came before', () => {
    const text = bytes(lines);
    const newlines = [...text.keys()].filter((at) => text[at] === 10);
    for (let end = 0; end <= text.length; end++) {
      const { out, failure } = watch([text.subarray(0, end)]);
      const before = newlines.filter((at) => at < end).length;
      const inLine = end > 0 && text[end - 1] !== 10;
      if (inLine) expect(failure, `cut at ${end}`).toMatch(/ended inside a line \(\d+ bytes/);
      else expect(failure).toBeUndefined();
      expect(out.length).toBe([1, 1, 2, 2, 3, 4].slice(0, before).at(-1) ?? 0);
    }
  });
});

describe('a bad line', () => {
  const good = line('ADDED', object('a', 1));
  const secret = 'c3VwZXItc2VjcmV0';
  const bad: Record<string, string | Uint8Array> = {
    'no JSON': `{"type":"ADDED","object":{"data":{"password":"${secret}"},}}\n`,
    'markup of a proxy': `<html>${secret}</html>\n`,
    'no UTF-8': new Uint8Array([...bytes(`{"password":"${secret}`), 0xff, 0x22, 0x7d, 0x0a]),
    'a control character': `{"password":"${secret}\u0001"}\n`,
  };
  const join = (...parts: (string | Uint8Array)[]) =>
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? bytes(part) : part)));

  it.each(Object.entries(bad))('D6: of %s ends it, without a quote', (_name, text) => {
    for (const chunks of [[good, text, good], [join(good, text, good)], [join(good, text), good]]) {
      const { out, failure } = watch(chunks, { ends: false });
      expect(out.map(({ type }) => type)).toEqual(['ADDED']);
      expect(failure).toMatch(/is not (JSON|UTF-8)/);
      expect(failure).not.toContain(secret.slice(0, 6));
      expect(JSON.stringify(failure)).not.toContain('password');
    }
  });

  it('D6: after it nothing is decoded any more, the end included', () => {
    const { out, failure } = watch([good, 'x\n', good, good.slice(0, 9)]);
    expect([out.length, failure]).toEqual([1, 'a line of 1 characters is not JSON']);
  });

  it('D8: over its bound is an error, however it is cut', () => {
    const long = line('ADDED', object('b', 2, { text: 'x'.repeat(500) }));
    const maxFrameBytes = 300;
    for (const [head, tail] of cuts(bytes(good + long + good))) {
      const { out, failure } = watch([head, tail], { maxFrameBytes, ends: false });
      expect(out.map(({ type }) => type)).toEqual(['ADDED']);
      expect(failure).toBe(
        'a line is longer than 300 bytes; raise maxFrameBytes if such objects are expected',
      );
    }
  });

  it('D8: of just its bound is none', () => {
    const size = bytes(good).length - 1;
    for (const chunks of [[good + good], [good.slice(0, 40), good.slice(40)]]) {
      expect(watch(chunks, { maxFrameBytes: size }).failure).toBeUndefined();
      expect(watch(chunks, { maxFrameBytes: size - 1 }).failure).toContain('longer than');
    }
  });
});

describe('what is no object of the kind', () => {
  it.each<[string, string, RegExp]>([
    [
      'another kind',
      line('ADDED', { ...object('a', 1), kind: 'Node' }),
      /expected a Pod, got a Node/,
    ],
    [
      'a Table',
      line('ADDED', { kind: 'Table', apiVersion: 'meta.k8s.io/v1', rows: [] }),
      /got a Table/,
    ],
    ['one without metadata', line('ADDED', { kind: 'Pod' }), /one without metadata/],
    ['one without a name', line('MODIFIED', { metadata: {} }), /one without a name/],
    ...['namespace', 'uid', 'resourceVersion'].map((field): [string, string, RegExp] => [
      `one whose ${field} is no text`,
      line('MODIFIED', { metadata: { name: 'a', [field]: 5 } }),
      /one whose name, namespace, UID or version is not text/,
    ]),
    ['no object', line('DELETED', null), /no object/],
    ['a text', line('ADDED', 'x'), /no object/],
    [
      'an unknown event type',
      line('RENAMED', object('a', 1)),
      /unknown watch event type "RENAMED"/,
    ],
    ['an event without type', '{"object":{}}\n', /unknown watch event type "undefined"/],
    ['JSON that is no event', '5\n', /unknown watch event type "undefined"/],
    ['null', 'null\n', /unknown watch event type/],
    ['a bookmark without version', line('BOOKMARK', { metadata: {} }), /a bookmark without/],
  ])(
    'D7: %s is skipped and reported, and the others go on (TestReflectorWatchHandler)',
    (_name, text, reason) => {
      const { out, skipped, failure } = watch([text, line('ADDED', object('b', 2))]);
      expect(failure).toBeUndefined();
      expect(out.map((event) => 'key' in event && event.key)).toEqual(['d/b']);
      expect(skipped.map(({ reason: { message } }) => message)).toEqual([
        expect.stringMatching(reason),
      ]);
      expect(skipped[0]?.reason.reason).toBe('Unexpected');
    },
  );

  it('D7: one whose kind or name is no text is skipped, and the stream goes on', () => {
    const lines = ['{"kind":{"toString":1}', '{"kind":["hush"]', '{"kind":7', '{"kind":"Pod"'].map(
      (start) => `{"type":"ADDED","object":${start},"metadata":{"name":{"toString":"hush"}}}}\n`,
    );
    const good = '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}\n';
    const { out, skipped, failure } = watch([...lines, good]);
    expect([out.length, failure]).toEqual([1, undefined]);
    expect(skipped.map(({ reason }) => reason.reason)).toEqual(Array(4).fill('Unexpected'));
    expect(skipped.map(({ reason }) => reason.message).join()).not.toContain('hush');
    const long = `{"type":"ADDED","object":{"kind":"${'x'.repeat(10_000)}","metadata":{}}}\n`;
    expect(watch([long]).skipped[0]?.reason.message.length).toBeLessThan(120);
  });

  it('D7: a report of it does not quote it', () => {
    const { skipped } = watch([line('ADDED', { kind: 'Secret', data: { password: 'hush' } })]);
    expect(skipped[0]?.reason.message).not.toContain('hush');
  });
});

describe('a bookmark', () => {
  const bookmark = (annotations?: object) =>
    line('BOOKMARK', { kind: 'Pod', metadata: { resourceVersion: '9', annotations } });

  it.each<[unknown, boolean]>([
    [{ 'k8s.io/initial-events-end': 'true' }, true],
    [{ 'k8s.io/initial-events-end': 'True' }, false],
    [{ 'k8s.io/initial-events-end': '' }, false],
    [{ 'k8s.io/initial-events-end': true }, false],
    [{ 'k8s.io/initial-events-end': 'false' }, false],
    [{ other: 'true' }, false],
    [undefined, false],
  ])('D9: with %j ends the initial events: %j (TestWatchList)', (annotations, initialEventsEnd) => {
    expect(watch([bookmark(annotations as object)]).out).toEqual([
      { type: 'BOOKMARK', resourceVersion: '9', initialEventsEnd },
    ]);
  });

  it('D9: only a BOOKMARK does', () => {
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const added = { kind: 'Pod', metadata: { name: 'a', annotations } };
    expect(watch([line('ADDED', added)]).out.map(({ type }) => type)).toEqual(['ADDED']);
  });
});

describe('an ERROR event', () => {
  const errorOf = (status: unknown, options: Options = {}) => {
    const event = watch([line('ERROR', status)], options).out[0];
    return event?.type === 'ERROR' ? event.error : undefined;
  };

  it('D10: carries its Status: code, reason, message, retryAfter', () => {
    const error = errorOf({
      kind: 'Status',
      code: 429,
      reason: 'TooManyRequests',
      message: 'slow down',
      details: { retryAfterSeconds: 3 },
    });
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 429, reason: 'TooManyRequests', retryAfterMs: 3_000 });
    expect(error?.message).toBe('slow down');
  });

  it('D10: of 410 is known as expired', () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
    expect(errorOf(status)?.isExpired).toBe(true);
  });

  it.each([[null], ['x'], [{ kind: 'Pod' }]])('D10: with %j is an error all the same', (status) => {
    expect(errorOf(status)?.reason).toBe('Unexpected');
  });
});
