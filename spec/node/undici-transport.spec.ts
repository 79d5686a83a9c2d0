import { createUndiciTransport } from 'rx-informer/node';
import { NEVER, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';
import { expectClean, watch } from './seen.ts';
import {
  cut,
  gone,
  listen,
  type Poured,
  pour,
  protocols,
  type Request,
  type Response,
} from './servers.ts';
import { testOnlyCa } from './test-only-certificates.ts';
import { get, open } from './undici-rig.ts';

describe.each(protocols)('over %s', (protocol) => {
  it('T21: the transport reports the protocol after the first head, and how many connections are left', async () => {
    const { transport } = await open(
      protocol,
      (_, response) => {
        response.writeHead(200);
        response.write('x');
      },
      { maxConnections: 9 },
    );
    expect([transport.protocol, transport.connectionsLeft]).toEqual([undefined, 9]);
    const streams = [watch(transport.send(get)), watch(transport.send(get))];
    await eventually(() => streams.every(({ text }) => text === 'x'), 'both streams');
    expect(transport.mayCompress).toBe(false);
    const shares = protocol === 'http2';
    expect(transport.protocol).toBe(shares ? 'h2' : 'http/1.1');
    expect(transport.connectionsLeft).toBe(shares ? Number.POSITIVE_INFINITY : 7);
    for (const { subscription } of streams) subscription.unsubscribe();
    expect(transport.connectionsLeft).toBe(shares ? Number.POSITIVE_INFINITY : 9);
  });

  it('a request is sent as given, and not before the subscription', async () => {
    const requests: Request[] = [];
    const { server, transport } = await open(protocol, (request, response) => {
      requests.push(request);
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        response.writeHead(409, { 'content-type': 'text/plain', warning: '299 - "x"' });
        response.end(`${body}ü`);
      });
    });
    const events = transport.send({
      method: 'PUT',
      path: '/api/v1/namespaces/a/pods/b%2Fc',
      query: { fieldManager: 'me & you' },
      headers: { authorization: 'Bearer x', 'content-type': 'application/json' },
      body: '{"a":1}',
      use: 'call',
    });
    expect(server.connections).toBe(0);
    const seen = watch(events);
    await seen.ended;
    expect(seen).toMatchObject({ status: 409, text: '{"a":1}Ã¼', completed: true });
    expect(seen.header('Warning')).toBe('299 - "x"');
    expect(seen.header('retry-after')).toBeNull();
    expect(requests[0]?.url).toBe('/api/v1/namespaces/a/pods/b%2Fc?fieldManager=me+%26+you');
    expect(requests[0]?.headers).toMatchObject({
      authorization: 'Bearer x',
      'accept-encoding': 'identity',
      'user-agent': 'rx-informer',
    });
  });

  it('a chunk is emitted when it arrives, before the end of the body', async () => {
    let more = () => {};
    const { transport } = await open(protocol, (_, response) => {
      response.write('first\n');
      more = () => response.end('second\n');
    });
    const seen = watch(transport.send(get));
    await eventually(() => seen.text === 'first\n', 'the first line');
    expect(seen.completed).toBe(false);
    more();
    await seen.ended;
    expect(seen).toMatchObject({ text: 'first\nsecond\n', completed: true });
  });

  it('a cut body is an error', async () => {
    const responses: Response[] = [];
    const { transport } = await open(protocol, (_, response) => {
      response.write('{"type":"ADDED"');
      responses.push(response);
    });
    const seen = watch(transport.send({ ...get, headers: { authorization: 'Bearer hunter2' } }));
    await eventually(() => seen.bytes > 0, 'a chunk');
    for (const response of responses) cut(response);
    await seen.ended;
    expect(seen.completed).toBe(false);
    expect(expectClean(seen.error, 'Network', ['hunter2']).message).toMatch(
      /^GET https?:\/\/127.0.0.1:\d+\/api\/v1\/pods: /,
    );
  });

  it('a body shorter than its content-length is an error', async () => {
    const responses: Response[] = [];
    const { transport } = await open(protocol, (_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('too short');
      responses.push(response);
    });
    const seen = watch(transport.send(get));
    await eventually(() => seen.bytes > 0, 'a chunk');
    for (const response of responses) cut(response);
    await seen.ended;
    expectClean(seen.error, 'Network', []);
  });

  it.each(['before the head', 'in the body'])(
    'unsubscribing %s aborts the request, and the server notices',
    async (when) => {
      let seenByServer: Promise<void> | undefined;
      const { transport } = await open(protocol, (request, response) => {
        seenByServer = gone(request);
        if (when === 'in the body') response.write('x');
      });
      const seen = watch(transport.send(get));
      await eventually(
        () => (when === 'in the body' ? seen.bytes > 0 : seenByServer !== undefined),
        'the request',
      );
      seen.subscription.unsubscribe();
      await seenByServer;
      expect(seen).toMatchObject({ completed: false });
      expect(seen.error).toBeUndefined();
    },
  );

  it('a closed demand pauses the server, and no byte is lost', async () => {
    const total = 96 * 2 ** 20;
    let poured: Poured = { written: 0 };
    const { transport } = await open(protocol, (_, response) => {
      poured = pour(response, total);
    });
    const capacity = new Subject<void>();
    let closed = true;
    const demand = () => (closed ? capacity : null);
    const seen = watch(transport.send({ ...get, demand }), { keepText: false });
    await eventually(() => seen.status === 200, 'the head');
    // Waits until the buffers in between are full.
    let before = 0;
    await eventually(() => {
      const isFull = poured.written > 0 && poured.written === before;
      before = poured.written;
      return isFull;
    }, 'full buffers');
    expect(poured.written).toBeLessThan(32 * 2 ** 20);
    expect(seen.bytes).toBe(0);
    capacity.next();
    await eventually(() => seen.bytes > 0, 'one chunk');
    const afterOne = seen.bytes;
    expect(afterOne).toBeLessThan(2 ** 20);
    closed = false;
    capacity.next();
    await seen.ended;
    expect(seen).toMatchObject({ bytes: total, completed: true });
  });

  it('close() errors open requests and all later requests', async () => {
    const { transport } = await open(protocol, (_, response) => {
      response.write('x');
    });
    const seen = watch(transport.send(get));
    await eventually(() => seen.bytes > 0, 'a chunk');
    await transport.close();
    expectClean(seen.error, 'Stopped', []);
    const late = watch(transport.send(get));
    expectClean(late.error, 'Stopped', []);
    await transport.close();
  });

  it('no handle is left behind', async () => {
    const handles = () =>
      process.getActiveResourcesInfo().filter((name) => /TCP|TLS|HTTP|DNS/i.test(name));
    await eventually(() => handles().length === 0, 'the end of the test before');
    const server = await listen(protocol, (_, response) => {
      response.write('x');
    });
    const transport = createUndiciTransport({ baseUrl: server.url, tls: { ca: testOnlyCa } });
    const all = Array.from({ length: 5 }, () => watch(transport.send(get)));
    await eventually(() => all.every((seen) => seen.bytes > 0), 'five bodies');
    expect(handles()).not.toEqual([]);
    all[0]?.subscription.unsubscribe();
    await transport.close();
    await server.close();
    await eventually(() => handles().length === 0, 'no handle');
  });
});

describe('over http2', () => {
  it('20 watches share one connection, and a paused watch does not block the others', async () => {
    let requests = 0;
    const bytes = 24 * 2 ** 20;
    const { server, transport } = await open('http2', (request, response) => {
      requests++;
      if (request.url?.includes('big')) pour(response, bytes);
      else response.write('x');
    });
    const watches = Array.from({ length: 20 }, () => watch(transport.send(get)));
    await eventually(() => watches.every((seen) => seen.bytes === 1), '20 bodies');
    const big = { ...get, path: '/big' };
    const paused = Array.from({ length: 6 }, () =>
      watch(transport.send({ ...big, demand: () => NEVER })),
    );
    await eventually(() => paused.every((seen) => seen.status === 200), 'the paused heads');
    const free = watch(transport.send(big), { keepText: false });
    await free.ended;
    expect(free).toMatchObject({ bytes, completed: true });
    expect(paused.map((seen) => seen.bytes)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(requests).toBe(27);
    expect(server.connections).toBe(1);
  });

  it.each([0, 2, 11])('a stream reset with code %i within the body is an error', async (code) => {
    const responses: Response[] = [];
    const { transport } = await open('http2', (_, response) => {
      response.write('half');
      responses.push(response);
    });
    const seen = watch(transport.send(get));
    await eventually(() => seen.bytes > 0, 'the half');
    for (const response of responses) if ('stream' in response) response.stream.close(code);
    await seen.ended;
    expect(seen.completed).toBe(false);
    expectClean(seen.error, 'Network', []);
  });
});
