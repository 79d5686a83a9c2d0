import { jsonDecoding } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { metadataProjection } from '../../lib/decode/projection.ts';
import * as fc from '../support/fast-check.ts';
import { bytes, cuts, list, pods } from './decoder.ts';

const item = (name: string, more: object = {}) => ({
  metadata: { name, namespace: 'd', uid: name, resourceVersion: '1' },
  ...more,
});
const typed = (object: object) => ({ kind: 'Pod', apiVersion: 'v1', ...object });
const head = { kind: 'PodList', apiVersion: 'v1' };
const metadata = { resourceVersion: '9' };

const tricky = [
  item('a', { text: 'ß € 😀 "items": [ \\" ]}' }),
  item('b', { items: [{ items: [1, '}'] }], data: { items: '[{' } }),
  item('c', { empty: {}, none: [], deep: [[[{}]]] }),
];
const bodies: Record<string, string> = {
  'items last': JSON.stringify({ ...head, metadata, items: tricky }),
  'items first': JSON.stringify({ items: tricky, metadata, ...head }),
  'white space everywhere': JSON.stringify({ ...head, metadata, items: tricky }, null, '\t'),
  'a field called items in the metadata': JSON.stringify({
    ...head,
    metadata: { annotations: { items: '[' }, items: [{ a: 1 }], ...metadata },
    items: tricky,
  }),
  'a value that is items': JSON.stringify({
    ...head,
    x: 'items',
    y: [{}],
    metadata,
    items: tricky,
  }),
};

describe('the items of a list', () => {
  it.each(Object.entries(bodies))('D8: items are emitted one by one: %s', (_name, body) => {
    const { out, metadata: found, failure } = list([body]);
    expect(failure).toBeUndefined();
    expect(out).toEqual(tricky.map(typed));
    expect(found).toEqual(metadata);
  });

  it.each(Object.entries(bodies))('D1, D8: a body may be cut at any byte: %s', (_name, body) => {
    const expected = list([body]);
    for (const chunks of cuts(bytes(body))) expect(list(chunks)).toEqual(expected);
  });

  it('D1, D8: a body may arrive byte by byte', () => {
    const body = bytes(bodies['items last'] ?? '');
    expect(list([...body].map((byte) => new Uint8Array([byte])))).toEqual(list([body]));
  });

  it('D8: the items of any list equal the result of JSON.parse', () => {
    const anItem = fc.record({
      metadata: fc.record({ name: fc.constantFrom('a', 'b') }),
      spec: fc.jsonValue({ maxDepth: 3 }),
    });
    const aBody = fc.tuple(fc.array(anItem, { maxLength: 4 }), fc.boolean(), fc.nat(3));
    fc.assert(
      fc.property(aBody, fc.nat(), ([items, first, indent], cut) => {
        const body = first ? { items, metadata, ...head } : { ...head, metadata, items };
        const text = bytes(JSON.stringify(body, null, indent));
        const at = cut % (text.length + 1);
        const { out, failure } = list([text.subarray(0, at), text.subarray(at)]);
        expect(failure).toBeUndefined();
        // -0 does not survive JSON, so both sides pass through the text form.
        expect(out).toEqual(items.map((each) => typed(JSON.parse(JSON.stringify(each)))));
      }),
      { numRuns: 150 },
    );
  });

  it('D8: a body that ends early anywhere is an error', () => {
    for (const body of [bodies['items last'], bodies['items first']]) {
      const text = bytes(body ?? '');
      for (let end = 0; end < text.length; end++) {
        const { failure, metadata: found } = list([text.subarray(0, end)]);
        expect(failure, `cut at ${end}`).toMatch(/cut off/);
        expect(found).toBeUndefined();
      }
    }
  });

  it.each<[string, string]>([
    ['null', '{"kind":"PodList","items":null,"metadata":{"resourceVersion":"9"}}'],
    ['an empty array', '{"kind":"PodList","items":[],"metadata":{"resourceVersion":"9"}}'],
    ['missing', '{"kind":"PodList","metadata":{"resourceVersion":"9"}}'],
  ])('D8: items that are %s count as an empty list', (_name, body) => {
    for (const chunks of cuts(bytes(body))) {
      expect(list(chunks)).toMatchObject({ out: [], metadata, failure: undefined });
    }
  });

  it.each<[string, string, RegExp]>([
    ['an object', '"items":{"a":[{}]}', /the items are not a list of objects/],
    ['a string', '"items":"a"', /the items are not a list of objects/],
    ['null', '"items":[null]', /the items are not a list of objects/],
    ['numbers', '"items":[7,7]', /the items are not a list of objects/],
    ['lists', '"items":[[{"metadata":{"name":"a"}}]]', /the items are not a list of objects/],
    ['behind another name', '"it\\u0065ms":[{"metadata":{"name":"a"}}]', /not a list of objects/],
    ['listed twice', '"items":[{"metadata":{"name":"a"}}],"items":[]', /not a list of objects/],
    ['separated by markup', '"items":[{"metadata":{"name":"a"}}<p>oops</p>]', /not JSON/],
    ['not separated', '"items":[{"metadata":{"name":"a"}}{"metadata":{"name":"b"}}]', /not JSON/],
    ['followed by a comma', '"items":[{"metadata":{"name":"a"}},]', /not JSON/],
  ])('D8: items that are %s are an error and no empty list', (_name, items, expected) => {
    for (const chunks of cuts(
      bytes(`{"kind":"PodList","metadata":{"resourceVersion":"9"},${items}}`),
    )) {
      const { failure, metadata: found } = list(chunks);
      expect([failure, found]).toEqual([expect.stringMatching(expected), undefined]);
    }
  });

  it('D8: a body with any other byte in it is an error, or gives as many items as JSON.parse', () => {
    const items = [item('a'), item('b', { text: ']},{' }), item('c')];
    const text = JSON.stringify({ ...head, metadata, items });
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.constantFrom(...'{}[],:"\\0n x'), (at, other) => {
        for (const to of [at, at + 1]) {
          const body = text.slice(0, at) + other + text.slice(to);
          const { out, refusals, failure } = list([body]);
          if (failure !== undefined) continue;
          const { items: parsed = [] } = JSON.parse(body) as { items?: unknown[] | null };
          expect(out.length + refusals.length, body).toBe(parsed?.length ?? 0);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('D7: items that are empty or of another kind are refused and reported', () => {
    const items = [{}, { kind: 'Node', metadata: { name: 'n' } }, item('a'), { metadata: {} }];
    const body = JSON.stringify({ ...head, metadata, items });
    const { out, refusals, failure } = list(body.split(/(?<=\})(?=,)/));
    expect([out, failure]).toEqual([[typed(item('a'))], undefined]);
    expect(refusals.map(({ reason: { message } }) => message)).toEqual([
      'pods: expected a Pod, got an object without metadata',
      'pods: expected a Pod, got a Node',
      'pods: expected a Pod, got an object without a name',
    ]);
  });

  it.each([
    ['null', 'null'],
    ['a number', '7'],
    ['text with brackets', '"]},{"'],
    ['a list of objects', '[{"metadata":{"name":"x"}}]'],
  ])('D7: an item that is %s is refused and reported, and the others are emitted', (_what, odd) => {
    const at = (items: string) =>
      `{"kind":"PodList","items":${items},"metadata":{"resourceVersion":"9"}}`;
    const one = JSON.stringify(item('a'));
    for (const items of [`[${odd},${one}]`, `[${one},${odd}]`]) {
      for (const chunks of cuts(bytes(at(items)))) {
        const { out, refusals, failure, metadata: found } = list(chunks);
        expect([out, failure, found]).toEqual([[typed(item('a'))], undefined, metadata]);
        expect(refusals.map(({ reason: { message }, count }) => [message, count])).toEqual([
          ['pods: expected a Pod, got a value that is not an object', 1],
        ]);
      }
    }
  });

  it('I63: the refused items of one chunk are one report with their count', () => {
    const { refusals, failure } = list([
      `{"kind":"PodList","items":[${'{},'.repeat(999)}`,
      `${'{"kind":"Node"},'.repeat(500)}{"metadata":{}}],"metadata":{"resourceVersion":"9"}}`,
    ]);
    expect(failure).toBeUndefined();
    expect(refusals.map(({ reason: { message }, count }) => [message, count])).toEqual([
      ['pods: expected a Pod, got an object without metadata; the last of 999 refused items', 999],
      ['pods: expected a Pod, got an object without a name; the last of 501 refused items', 501],
    ]);
  });

  it('D8: an item over the size limit is an error, wherever it is cut', () => {
    const items = [item('a'), item('b', { text: 'x'.repeat(300) }), item('c')];
    const body = bytes(JSON.stringify({ ...head, metadata, items }));
    for (const chunks of cuts(body)) {
      const { failure, reason } = list(chunks, { maxFrameBytes: 200 });
      expect(failure).toMatch(/an item of the list is longer than 200 bytes/);
      expect(reason).toBe('TooLarge');
    }
    expect(list([body], { maxFrameBytes: 400 }).failure).toBeUndefined();
  });

  it('D8: metadata over the size limit is an error, too', () => {
    const body = JSON.stringify({ ...head, metadata: { ...metadata, continue: 'x'.repeat(300) } });
    expect(list([body], { maxFrameBytes: 200 }).reason).toBe('TooLarge');
  });
});

describe('a body that is not a list', () => {
  it.each<[string, string | Uint8Array, RegExp]>([
    ['markup', '<html>{"password":"hush"}</html>', /not JSON|cut off/],
    ['a string', '"hush"', /cut off/],
    ['an empty body', '', /cut off/],
    ['two bodies', '{"metadata":{}}{"hush":1}', /not JSON/],
    ['one bracket too many', '{"metadata":{}}}', /cut off/],
    ['a bracket of the other kind', '{"items":[}', /cut off/],
    [
      'an item that is not JSON',
      '{"items":[{"password":hush}],"metadata":{}}',
      /an item of \d+ characters is not JSON/,
    ],
    ['invalid UTF-8', new Uint8Array([...bytes('{"a":"'), 0xff, 0x22, 0x7d]), /not UTF-8/],
    ['invalid UTF-8 at its end', new Uint8Array([...bytes('{"a":"'), 0xe2, 0x82]), /cut off|UTF-8/],
    // Fault seed 16: this body was taken for an empty list, which deleted every object.
    ['an object without a kind', '{}', /expected a PodList, got no kind/],
    ['a Table', '{"kind":"Table","metadata":{}}', /expected a PodList, got "Table"/],
    ['a Status', '{"kind":"Status","metadata":{}}', /expected a PodList, got "Status"/],
  ])(
    'D6, D7, D8: a body that is not a list is an error that does not quote it: %s',
    (_name, body, message) => {
      const { failure, metadata: found, reason } = list([body]);
      expect(failure).toMatch(message);
      expect(failure).not.toContain('hush');
      expect(found).toBeUndefined();
      expect(['Malformed', 'Unexpected', 'WrongKind']).toContain(reason);
    },
  );
});

describe('a list that is refused with HTTP status 200', () => {
  const status = { kind: 'Status', status: 'Failure', message: 'too old', reason: 'Expired' };
  it.each([
    ['complete objects', {}],
    ['metadata only', { projection: metadataProjection }],
  ])(
    'D7: has the error of its Status (client-go: rest/request.go, Result.Into): %s',
    (_what, options) => {
      const refused = (more: object) => {
        const { failure, code, reason } = list([JSON.stringify({ ...status, ...more })], options);
        return [failure, code, reason];
      };
      expect(refused({ code: 410 })).toEqual(['too old', 410, 'Expired']);
      expect(refused({})).toEqual(['too old', 500, 'Expired']);
    },
  );
});

describe('an item without an end', () => {
  it('D8: an item is gathered up to the limit, and no further', () => {
    const decoder = jsonDecoding().list({
      resource: pods,
      maxFrameBytes: 1_000,
      keepManagedFields: false,
      onRefused: () => undefined,
    });
    decoder.push(bytes('{"kind":"PodList","items":[{"metadata":{"name":"a"},"text":"'));
    let sent = 0;
    for (; decoder.failure === undefined && sent < 20_000; sent += 100) {
      decoder.push(bytes('x'.repeat(100)));
    }
    expect(decoder.failure).toMatchObject({ reason: 'TooLarge' });
    expect(sent).toBeLessThan(1_200);
  });
});

describe('the metadata of a list', () => {
  it('D8: the metadata contain the version, the token and the remaining count', () => {
    const all = { resourceVersion: '7', continue: 'C', remainingItemCount: 3, selfLink: '/x' };
    expect(list([JSON.stringify({ ...head, metadata: all, items: [] })]).metadata).toEqual({
      resourceVersion: '7',
      continue: 'C',
      remainingItemCount: 3,
    });
  });

  it.each([
    ['{"kind":"List","items":[]}'],
    ['{"kind":"PodList","metadata":null,"items":[]}'],
    ['{"kind":"PodList","metadata":{"continue":"","resourceVersion":5}}'],
  ])('D8: the metadata may be missing: %s', (body) => {
    expect(list([body])).toMatchObject({ metadata: { resourceVersion: '' }, failure: undefined });
  });

  it('W70: managed fields before white space and a comma are removed', () => {
    const body =
      '{"kind":"PodList","metadata":{},"items":[{"metadata":{"managedFields":[] ,"name":"a"}}]}';
    const { out, failure } = list([body]);
    expect(failure).toBeUndefined();
    expect(out).toEqual([{ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' } }]);
  });
});
