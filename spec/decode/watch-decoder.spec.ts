import { ApiError } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';
import { bytes, cuts, list, type Options, watch } from './decoder.ts';

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
  const expected = watch([lines]);

  it('D1: lines are decoded to events', () => {
    expect(expected.failure).toBeUndefined();
    expect(expected.out).toEqual([
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

  it('D1: lines may be cut at any byte, and the transport may reuse its chunks', () => {
    for (const [head, tail] of cuts(bytes(lines))) expect(watch([head, tail])).toEqual(expected);
  });

  it('D1: lines may be cut anywhere, any number of times', () => {
    const text = bytes(lines);
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (places) => {
        const at = [0, ...places.sort((a, b) => a - b), text.length];
        const chunks = at.slice(1).map((end, index) => text.subarray(at[index], end));
        expect(watch(chunks)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it('D6: a body that ends within a line is an error; earlier events are kept', () => {
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

describe('an invalid line', () => {
  const good = line('ADDED', object('a', 1));
  const secret = 'c3VwZXItc2VjcmV0';
  const bad: Record<string, string | Uint8Array> = {
    'invalid JSON': `{"type":"ADDED","object":{"data":{"password":"${secret}"},}}\n`,
    'a type without a closing quote': '{"type":"ADDED!,"object":{"kind":"Pod"}}\n',
    'markup of a proxy': `<html>${secret}</html>\n`,
    'invalid UTF-8': new Uint8Array([...bytes(`{"password":"${secret}`), 0xff, 0x22, 0x7d, 0x0a]),
    'a control character': `{"password":"${secret}\u0001"}\n`,
  };
  const join = (...parts: (string | Uint8Array)[]) =>
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? bytes(part) : part)));

  it.each(Object.entries(bad))(
    'D6: a line with %s ends the stream with an error that does not quote it',
    (_name, text) => {
      for (const chunks of [
        [good, text, good],
        [join(good, text, good)],
        [join(good, text), good],
      ]) {
        const { out, failure } = watch(chunks, { ends: false });
        expect(out.map(({ type }) => type)).toEqual(['ADDED']);
        expect(failure).toMatch(/is not (JSON|UTF-8)/);
        expect(failure).not.toContain(secret.slice(0, 6));
        expect(JSON.stringify(failure)).not.toContain('password');
      }
    },
  );

  it('D6: nothing is decoded after an invalid line, not even the end of the body', () => {
    const { out, failure } = watch([good, 'x\n', good, good.slice(0, 9)]);
    expect([out.length, failure]).toEqual([1, 'a line of 1 characters is not JSON']);
  });

  it('D8: a line over the size limit is an error, wherever it is cut', () => {
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

  it('D8: a line of exactly the size limit is valid', () => {
    const size = bytes(good).length - 1;
    for (const chunks of [[good + good], [good.slice(0, 40), good.slice(40)]]) {
      expect(watch(chunks, { maxFrameBytes: size }).failure).toBeUndefined();
      expect(watch(chunks, { maxFrameBytes: size - 1 }).failure).toContain('longer than');
    }
  });
});

describe('input that is not an object of the kind', () => {
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
    ['an object without metadata', line('ADDED', { kind: 'Pod' }), /an object without metadata/],
    ['an object without a name', line('MODIFIED', { metadata: {} }), /an object without a name/],
    ...['namespace', 'uid', 'resourceVersion'].map((field): [string, string, RegExp] => [
      `an object whose ${field} is not a string`,
      line('MODIFIED', { metadata: { name: 'a', [field]: 5 } }),
      /an object whose name, namespace, UID or version is not a string/,
    ]),
    ['null', line('DELETED', null), /a value that is not an object/],
    ['a string', line('ADDED', 'x'), /a value that is not an object/],
    [
      'an unknown event type',
      line('RENAMED', object('a', 1)),
      /unknown watch event type "RENAMED"/,
    ],
    ['an event without type', '{"object":{}}\n', /unknown watch event type "undefined"/],
    ['JSON that is not an event', '5\n', /unknown watch event type "undefined"/],
    ['null', 'null\n', /unknown watch event type/],
    ['a bookmark without version', line('BOOKMARK', { metadata: {} }), /a bookmark without/],
  ])(
    'D7: %s is refused and reported, and the stream continues (TestReflectorWatchHandler)',
    (_name, text, reason) => {
      const { out, refusals, failure } = watch([text, line('ADDED', object('b', 2))]);
      expect(failure).toBeUndefined();
      expect(out.map((event) => 'key' in event && event.key)).toEqual(['d/b']);
      expect(refusals.map(({ reason: { message } }) => message)).toEqual([
        expect.stringMatching(reason),
      ]);
      expect(refusals[0]?.reason.reason).toBe('Unexpected');
    },
  );

  it.each([
    ['\ufeff{"kind":"PodList","metadata":{},"items":[]}', 'begins with a byte order mark (BOM)'],
    ['<!doctype html><title>ß</title>', 'it is a page (HTML or XML)'],
    ['\n <html>{"a":[]}</html>', 'it is a page (HTML or XML)'],
    ['<html>ßßßßßßßß', 'it is a page (HTML or XML)'],
  ])('D6: the error for the body %j says what it is', (body, what) => {
    expect(list([body]).failure).toContain(what);
    expect(watch([`${body}\n`]).failure).toContain(what);
  });

  it('D6: another body that is not JSON is not called a page', () => {
    for (const body of ['not json', '{"a":<']) {
      expect(watch([`${body}\n`]).failure).toMatch(/is not JSON$/);
    }
  });

  it('D9: within a list, a bookmark without a version is passed on, and ends the list only as an end mark', () => {
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const bookmarks = [
      line('BOOKMARK', { kind: 'Pod', metadata: {} }),
      line('BOOKMARK', { kind: 'Pod', metadata: { resourceVersion: 7, annotations } }),
    ];
    const decoded = bookmarks.map((each) => watch([each, each], { reuse: false }));
    const event = { type: 'BOOKMARK', resourceVersion: '' };
    expect(decoded.map(({ out }) => out)).toEqual([
      [{ ...event, initialEventsEnd: false }],
      [{ ...event, initialEventsEnd: true }],
    ]);
    // The second bookmark is not within the list any more.
    expect(decoded.map(({ refusals }) => refusals.length)).toEqual([1, 1]);
  });

  it('D7: an object whose kind or name is not a string is refused, and the stream continues', () => {
    const lines = ['{"kind":{"toString":1}', '{"kind":["hush"]', '{"kind":7', '{"kind":"Pod"'].map(
      (start) => `{"type":"ADDED","object":${start},"metadata":{"name":{"toString":"hush"}}}}\n`,
    );
    const good = '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}\n';
    const { out, refusals, failure } = watch([...lines, good]);
    expect([out.length, failure]).toEqual([1, undefined]);
    expect(refusals.map(({ reason }) => reason.reason)).toEqual(Array(4).fill('Unexpected'));
    expect(refusals.map(({ reason }) => reason.message).join()).not.toContain('hush');
    const long = `{"type":"ADDED","object":{"kind":"${'x'.repeat(10_000)}","metadata":{}}}\n`;
    expect(watch([long]).refusals[0]?.reason.message.length).toBeLessThan(120);
  });

  it('I63: the refused events of one chunk are one report with their count, also if the stream ends there', () => {
    const lines = [line('ADDED', {}), line('RENAMED', {}), line('BOOKMARK', {})].join('');
    const { refusals, failure } = watch([lines.repeat(100), `${line('MODIFIED', 7)}oops\n`]);
    expect(failure).toBe('a line of 4 characters is not JSON');
    expect(refusals.map(({ reason: { message }, count }) => [message, count])).toEqual([
      ['pods: a bookmark without resourceVersion; the last of 300 refused items', 300],
      ['pods: expected a Pod, got a value that is not an object', 1],
    ]);
  });

  it('D7: the report does not quote the object', () => {
    const { refusals } = watch([line('ADDED', { kind: 'Secret', data: { password: 'hush' } })]);
    expect(refusals[0]?.reason.message).not.toContain('hush');
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
  ])(
    'D9: a bookmark with the annotations %j ends the initial events: %j (TestWatchList)',
    (annotations, initialEventsEnd) => {
      expect(watch([bookmark(annotations as object)]).out).toEqual([
        { type: 'BOOKMARK', resourceVersion: '9', initialEventsEnd },
      ]);
    },
  );

  it('D9: only a BOOKMARK ends the initial events', () => {
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

  it('D10: an ERROR event carries its Status: code, reason, message, retryAfter', () => {
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

  it('D10: an ERROR event with code 410 is recognized as expired', () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
    expect(errorOf(status)?.isExpired).toBe(true);
  });

  it.each([[null], ['x'], [{ kind: 'Pod' }]])(
    'D10: an ERROR event with the invalid Status %j is still an error',
    (status) => {
      expect(errorOf(status)?.reason).toBe('Unexpected');
    },
  );
});
