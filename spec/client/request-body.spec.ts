/** Request bodies: which values are accepted, and how they are sent. */
import { createClient } from 'rx-informer';
import { describe, expect, it } from 'vitest';

/** A client that records the content type and the body of each request, or `none` without a body. */
function kept() {
  const sent: string[] = [];
  const client = createClient({
    baseUrl: 'http://server',
    fetch: async (_url, init) => {
      const { headers = {}, body } = init ?? {};
      const text = body === undefined ? 'none' : await new Response(body).text();
      sent.push(`${headers['content-type'] ?? '-'} ${text}`);
      return new Response('{}', { headers: { 'content-type': 'application/json' } });
    },
  });
  const put = (body: unknown, headers?: Record<string, string>) =>
    client.request({ method: 'PUT', path: '/x', body, ...(headers ? { headers } : {}) });
  return { put, sent };
}

const bytes = new TextEncoder().encode('{"a":"é"}');
/** The same bytes in the middle of a longer buffer. */
function padded(): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(bytes.length + 4);
  all.set(bytes, 2);
  return all.subarray(2, 2 + bytes.length);
}

describe('a body', () => {
  it.each<[string, () => unknown]>([
    ['text', () => '{"a":"é"}'],
    ['a Uint8Array', padded],
    ['a Buffer', () => Buffer.from(bytes)],
    ['an ArrayBuffer', () => bytes.slice().buffer],
    [
      'a SharedArrayBuffer',
      () => {
        const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
        shared.set(bytes);
        return shared.buffer;
      },
    ],
    [
      'a DataView',
      () => {
        const { buffer, byteOffset, byteLength } = padded();
        return new DataView(buffer, byteOffset, byteLength);
      },
    ],
    ['a Blob', () => new Blob([bytes])],
  ])('C22: %s is sent as it is', async (_name, body) => {
    const { put, sent } = kept();
    await put(body());
    await put(body(), { 'Content-Type': 'application/json-patch+json' });
    expect(sent).toEqual(['- {"a":"é"}', 'application/json-patch+json {"a":"é"}']);
  });

  it('C22: data is sent as JSON, a missing body is not sent, and a Blob is sent with its own type', async () => {
    const { put, sent } = kept();
    const own = { toJSON: () => ({ made: 'by its own' }) };
    class Model {
      readonly kind = 'Pod';
    }
    const bodies = [{ a: [1] }, [1], null, 7, true, own, new Model(), new Date(0), undefined];
    for (const body of bodies) await put(body);
    await put(new Blob(['a: 1'], { type: 'application/yaml' }));
    expect(sent).toEqual([
      'application/json {"a":[1]}',
      'application/json [1]',
      'application/json null',
      'application/json 7',
      'application/json true',
      'application/json {"made":"by its own"}',
      'application/json {"kind":"Pod"}',
      'application/json "1970-01-01T00:00:00.000Z"',
      '- none',
      'application/yaml a: 1',
    ]);
  });

  const cyclic: Record<string, unknown> = { secret: 'hunter2' };
  cyclic['self'] = cyclic;
  it.each<[string, unknown]>([
    ['a circular structure', cyclic],
    ['a bigint', { size: 10n }],
    [
      'a toJSON that throws',
      {
        toJSON() {
          throw new Error('hunter2');
        },
      },
    ],
    ['a function', () => 'hunter2'],
    ['a symbol', Symbol('hunter2')],
    ['a Promise', Promise.resolve({ a: 'hunter2' })],
    ['a Map', new Map([['a', 'hunter2']])],
    ['a stream', new ReadableStream()],
    ['NaN', { spec: { replicas: Number.NaN, token: 'hunter2' } }],
    ['Infinity in a list', { items: [1, Number.POSITIVE_INFINITY] }],
    ['a form', new FormData()],
    ['search parameters', new URLSearchParams('a=hunter2')],
  ])(
    'C22, T3: %s rejects the call before anything is sent, and is not quoted',
    async (_name, body) => {
      const { put, sent } = kept();
      // A rejection, not a throw, because a caller may handle only the promise.
      const rejected = put(body);
      const failure = await rejected.catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(TypeError);
      const { message, cause } = failure as TypeError;
      expect(message).toMatch(
        /^PUT http:\/\/server\/x: the body .*; pass text, bytes, a Blob or plain data$/,
      );
      expect(message).not.toContain('hunter2');
      expect(cause).toBeUndefined();
      expect(sent).toEqual([]);
    },
  );

  it('C22: a Blob that cannot be read rejects the call', async () => {
    const { put, sent } = kept();
    const blob = new Blob(['x']);
    blob.arrayBuffer = () => Promise.reject(new Error('the file is gone'));
    await expect(put(blob)).rejects.toThrow('PUT http://server/x: the body could not be read');
    expect(sent).toEqual([]);
  });

  it('C22: a retried call sends the complete body again', async () => {
    const sent: string[] = [];
    const client = createClient({
      baseUrl: 'http://server',
      fetch: async (_url, init) => {
        sent.push(await new Response(init?.body).text());
        const busy = sent.length < 3;
        return new Response('{}', {
          status: busy ? 429 : 200,
          headers: { 'content-type': 'application/json', ...(busy ? { 'retry-after': '0' } : {}) },
        });
      },
    });
    await client.request({ method: 'PUT', path: '/x', body: new Blob(['once']) });
    expect(sent).toEqual(['once', 'once', 'once']);
  });
});
