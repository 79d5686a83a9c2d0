/** Gzip bodies over undici: the request asks for gzip, and the transport decompresses the body. */
import { gzipSync } from 'node:zlib';
import type { TransportEvent, TransportRequest } from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { Subject } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/patience.ts';
import { expectClean, watch } from './seen.ts';
import { type Handler, listen, type Protocol, protocols } from './servers.ts';
import { testOnlyCa } from './test-only-certificates.ts';

const list: TransportRequest = {
  method: 'GET',
  path: '/api/v1/pods',
  use: 'list',
  acceptGzip: true,
};
const text = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => `pod-${at}`));
async function open(protocol: Protocol, handler: Handler) {
  const server = await listen(protocol, handler);
  const transport = createUndiciTransport({ baseUrl: server.url, tls: { ca: testOnlyCa } });
  onTestFinished(() => server.close());
  onTestFinished(() => transport.close());
  return transport;
}

describe.each(protocols)('a request that accepts gzip over %s', (protocol) => {
  it('W31: the request asks for gzip, and the body is emitted decompressed, also if it has several members', async () => {
    const asked: unknown[] = [];
    const transport = await open(protocol, (request, response) => {
      asked.push(request.headers['accept-encoding']);
      response.writeHead(200, { 'content-encoding': 'gzip' });
      const half = text.length / 2;
      const bytes = Buffer.concat([gzipSync(text.slice(0, half)), gzipSync(text.slice(half))]);
      for (let at = 0; at < bytes.length; at += 1000) response.write(bytes.subarray(at, at + 1000));
      response.end();
    });
    const seen = watch(transport.send(list));
    await seen.ended;
    expect(seen).toMatchObject({ status: 200, completed: true });
    expect(seen.text).toBe(text);
    expect(asked).toEqual(['gzip']);
  });

  it('W31: the body may be uncompressed, and no other request asks for gzip', async () => {
    const asked: unknown[] = [];
    const transport = await open(protocol, (request, response) => {
      asked.push(request.headers['accept-encoding']);
      response.end(text);
    });
    for (const request of [list, { ...list, acceptGzip: false }]) {
      const seen = watch(transport.send(request));
      await seen.ended;
      expect(seen.text).toBe(text);
    }
    expect(asked).toEqual(['gzip', 'identity']);
  });

  it('W31: a body that is not gzip, is cut or has another encoding is an error', async () => {
    const bytes = gzipSync(text);
    const bodies: [encoding: string, body: Uint8Array][] = [
      ['gzip', Buffer.from('not gzip at all')],
      ['gzip', bytes.subarray(0, bytes.length / 2)],
      ['br', bytes],
    ];
    const transport = await open(protocol, (request, response) => {
      const [encoding, body] = bodies[Number(request.headers['x-case'])] as (typeof bodies)[0];
      response.writeHead(200, { 'content-encoding': encoding });
      response.end(body);
    });
    for (const at of bodies.keys()) {
      const seen = watch(transport.send({ ...list, headers: { 'x-case': String(at) } }));
      await seen.ended;
      expect(seen.completed).toBe(false);
      expectClean(seen.error, at === 2 ? 'Unexpected' : 'Network', []);
    }
  });

  it('T7: an error whose body is compressed has its status and its Retry-After, also if it cannot be decompressed', async () => {
    const encodings = ['gzip', 'GZIP', 'br', 'deflate', 'identity', ' Identity', ''];
    const body = '{"kind":"Status","message":"later"}';
    const transport = await open(protocol, (request, response) => {
      const encoding = encodings[Number(request.headers['x-case'])] ?? '';
      response.writeHead(429, { 'content-encoding': encoding, 'retry-after': '7' });
      response.end(/gzip/i.test(encoding) ? gzipSync(body) : body);
    });
    for (const at of encodings.keys()) {
      const request = { ...list, acceptGzip: false, headers: { 'x-case': String(at) } };
      const seen = watch(transport.send(request));
      await seen.ended;
      expect(seen, encodings[at]).toMatchObject({ status: 429, completed: true });
      expect(seen.text, encodings[at]).toBe(/br|deflate/.test(encodings[at] ?? '') ? '' : body);
    }
  });

  it('T1: a body is decompressed only as fast as the demand allows', async () => {
    const size = 32 * 2 ** 20;
    const transport = await open(protocol, (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(gzipSync(Buffer.alloc(size, 'x')));
    });
    const opens = new Subject<void>();
    let isOpen = true;
    let bytes = 0;
    let chunks = 0;
    const received = new Promise<void>((resolve, reject) => {
      const next = (event: TransportEvent) => {
        if (event.kind !== 'chunk') return;
        bytes += event.bytes.length;
        chunks++;
        if (chunks === 1) isOpen = false;
      };
      const demand = () => (isOpen ? null : opens);
      transport.send({ ...list, demand }).subscribe({ next, complete: resolve, error: reject });
    });
    await eventually(() => chunks === 1, 'the first chunk');
    // Meanwhile another body is decompressed completely.
    const other = watch(transport.send(list), { keepText: false });
    await other.ended;
    expect(other.bytes).toBe(size);
    expect(chunks).toBe(1);
    isOpen = true;
    opens.next();
    await received;
    expect(bytes).toBe(size);
  });

  it('W31: nothing is emitted after the unsubscription', async () => {
    let ended = false;
    const transport = await open(protocol, (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      const bytes = gzipSync(text);
      response.write(bytes.subarray(0, 5_000));
      response.on('close', () => {
        ended = true;
      });
    });
    const seen = watch(transport.send(list));
    await eventually(() => seen.bytes > 0, 'some bytes');
    seen.subscription.unsubscribe();
    const { bytes } = seen;
    await eventually(() => ended, 'the server to notice');
    expect(seen.bytes).toBe(bytes);
  });
});
