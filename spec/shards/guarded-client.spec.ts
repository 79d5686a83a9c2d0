/** The writes of a reconcile: nothing leaves after its slot is lost, and nothing is overwritten unseen. */
import {
  createClient,
  createResourceClient,
  guardedClient,
  type KubeRequest,
  type Transport,
  type TransportRequest,
} from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { configMaps } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { firstValueFrom, of as rxOf, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { liveSignal } from '../../lib/rx/live-signal.ts';
import { listen } from '../node/servers.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { eventually } from '../support/patience.ts';

/** The signal of a reconcile whose slot is lost when `lost` is set, without an event. */
function reconcile() {
  const state = { lost: false };
  const controller = new AbortController();
  const signal = liveSignal(controller, () =>
    state.lost ? new Error('the slot is lost') : undefined,
  );
  return { state, signal };
}

const write = { method: 'PUT', path: '/a', body: { metadata: { resourceVersion: '1' } } };

describe('the signal of a reconcile', () => {
  it('H13: it aborts when it is read, with the reason, and tells its listeners once', () => {
    const { state, signal } = reconcile();
    const reasons: unknown[] = [];
    signal.addEventListener('abort', () => reasons.push(signal.reason.message));
    expect(signal.aborted).toBe(false);
    signal.throwIfAborted();
    state.lost = true;
    expect(() => signal.throwIfAborted()).toThrow('the slot is lost');
    expect([signal.aborted, reasons]).toEqual([true, ['the slot is lost']]);
  });

  it('H13: a write that waits for the rate limit is not sent if the slot is lost by its turn', async () => {
    const time = new VirtualTime();
    const sent: string[] = [];
    const client = createClient({
      ...{ baseUrl: 'http://fake', qps: 1, burst: 1, scheduler: time },
      fetch: async (input) => {
        sent.push(input);
        return new Response('{}', { headers: { 'content-type': 'application/json' } });
      },
    });
    await client.request({ path: '/first' });
    const { state, signal } = reconcile();
    const writing = guardedClient(client, signal).request(write);
    const refused = expect(writing).rejects.toThrow(/aborted/);
    state.lost = true;
    await time.advance(1_000);
    await refused;
    expect(sent).toEqual(['http://fake/first']);
  });

  it('H13: a write that waits for a connection is not sent if the slot is lost by then', async () => {
    const seen: string[] = [];
    let answer = () => {};
    const server = await listen('http', (request, response) => {
      seen.push(request.url ?? '');
      answer = () => response.end('{}');
    });
    const baseUrl = server.url;
    const single = createUndiciTransport({ baseUrl, maxConnections: 1 });
    const kinds: string[] = [];
    const transport: Transport = {
      ...single,
      send: (request) => single.send(request).pipe(tap(({ kind }) => void kinds.push(kind))),
    };
    const client = createClient({ baseUrl, transport });
    const first = client.request({ path: '/first' });
    await eventually(() => expect(seen).toEqual(['/first']));
    const { state, signal } = reconcile();
    const writing = guardedClient(client, signal).request(write);
    const refused = expect(writing).rejects.toThrow(/aborted/);
    await eventually(() => kinds.filter((kind) => kind === 'queued').length === 2);
    state.lost = true;
    answer();
    await first;
    await refused;
    const last = client.request({ path: '/last' });
    await eventually(() => expect(seen).toContain('/last'));
    answer();
    await last;
    expect(seen).toEqual(['/first', '/last']);
    await client.close();
    await server.close();
  });

  it('H13: a stream is sent only while both the reconcile and its caller say so', () => {
    let asked: (() => boolean) | undefined;
    const client = Object.assign(createClient({ baseUrl: 'http://fake' }), {
      send: ({ maySend }: TransportRequest) => {
        asked = maySend;
        return rxOf<never>();
      },
    });
    const { state, signal } = reconcile();
    let isWanted = true;
    const request = { method: 'GET', path: '/a', use: 'watch' } as const;
    guardedClient(client, signal)
      .send({ ...request, maySend: () => isWanted })
      .subscribe();
    expect(asked?.()).toBe(true);
    isWanted = false;
    expect(asked?.()).toBe(false);
    isWanted = true;
    state.lost = true;
    expect(asked?.()).toBe(false);
  });

  it('H13: the signal of a call aborts it as well', async () => {
    const { signal } = reconcile();
    const own = new AbortController();
    const client = createClient({ baseUrl: 'http://fake', fetch: () => new Promise(() => {}) });
    const writing = guardedClient(client, signal).request({ ...write, signal: own.signal });
    own.abort();
    await expect(writing).rejects.toMatchObject({ reason: 'Aborted' });
  });
});

describe('guardedClient', () => {
  it('H14: writes without a version or a UID are refused, others are sent', async () => {
    const sent: KubeRequest[] = [];
    const client = Object.assign(createClient({ baseUrl: 'http://fake' }), {
      request: async (request: KubeRequest) => {
        sent.push(request);
        return {};
      },
      send: () => rxOf('sent'),
    });
    const guarded = guardedClient(client, new AbortController().signal);
    const send = (method: string, body: unknown) => guarded.request({ method, path: '/a', body });
    const blind = [
      ['PUT', { metadata: { name: 'a' } }],
      ['PUT', undefined],
      ['PATCH', '{"metadata":{"labels":{}}}'],
      ['PATCH', '[{"op":"test","path":"/spec/a","value":1},{"op":"remove","path":"/spec/a"}]'],
      ['PATCH', '[{"op":"test","path":"/metadata/resourceVersion"}]'],
      ['PATCH', 'no JSON'],
      ['put', { metadata: { name: 'a' } }],
      // A server takes version 0 for none.
      ['PUT', { metadata: { resourceVersion: '0' } }],
      ['PATCH', '[{"op":"test","path":"/metadata/resourceVersion","value":"0"}]'],
    ] as const;
    for (const [method, body] of blind) {
      await expect(send(method, body)).rejects.toThrow(TypeError);
      await expect(send(method, body)).rejects.toThrow(/neither metadata.resourceVersion nor/);
    }
    const stream = (body: string) =>
      firstValueFrom(
        guarded.send({
          method: 'PUT',
          path: '/a',
          use: 'call',
          body: new TextEncoder().encode(body),
        }),
      );
    await expect(stream('{"metadata":{}}')).rejects.toThrow(/neither metadata.resourceVersion nor/);
    expect(sent).toEqual([]);
    expect(await stream('{"metadata":{"uid":"u"}}')).toBe('sent');
    await send('PUT', { metadata: { resourceVersion: '7' } });
    await send('PATCH', '{"metadata":{"uid":"u"}}');
    await send('PATCH', '[{"op":"test","path":"/metadata/uid","value":"u"}]');
    await send('POST', { metadata: { name: 'a' } });
    await send('DELETE', undefined);
    expect(sent.map(({ method }) => method)).toEqual(['PUT', 'PATCH', 'PATCH', 'POST', 'DELETE']);
  });

  it('H14: edits and updates of a read object pass, and the traits of the client stay', async () => {
    const server = createFakeApiServer();
    const made = server.objects.create(configMaps, { metadata: { namespace: 'a', name: 'b' } });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const guarded = guardedClient(client, new AbortController().signal);
    const calls = createResourceClient(guarded, configMaps);
    const edited = await calls.edit(made, (draft) => {
      draft.data = { a: '1' };
    });
    await expect(calls.update({ ...made, data: {} })).rejects.toMatchObject({ code: 409 });
    await calls.update({ ...edited, data: { a: '2' } });
    expect([guarded.baseUrl, guarded.mayCompress]).toEqual(['http://fake', true]);
  });
});
