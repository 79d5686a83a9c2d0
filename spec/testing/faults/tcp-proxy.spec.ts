import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import { createFakeApiServer, createTcpProxy, type TcpProxy } from 'rx-informer/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listen, type TestServer } from '../../node/servers.ts';
import { testOnlyCa } from '../../node/test-only-certificates.ts';
import { VirtualTime } from '../../rx/virtual-time.ts';
import { hangs, pod, pods, Wire } from '../wire.ts';

describe('a TCP proxy', () => {
  const server = createFakeApiServer();
  let served: Awaited<ReturnType<typeof server.serve>>;
  let proxy: TcpProxy;
  let base: string;

  beforeEach(async () => {
    served = await server.serve();
    proxy = await createTcpProxy({ target: served.url });
    base = `http://127.0.0.1:${proxy.port}`;
  });
  afterEach(async () => {
    await proxy.close();
    await served.close();
  });

  const ask = (path = '/version') => fetch(base + path, { headers: { connection: 'close' } });

  it('A58: forwards bytes unchanged, and counts them', async () => {
    server.objects.apply(pods, [pod('big', { pad: 'x'.repeat(300_000) })]);
    const direct = await (await fetch(`${served.url}/api/v1/pods`)).text();
    expect(await (await ask('/api/v1/pods')).text()).toBe(direct);
    expect(proxy.bytesToClients).toBeGreaterThan(300_000);
    expect(proxy.accepted).toBe(1);
    server.objects.delete(pods, { name: 'big', namespace: 'shop' });
  });

  it('A58: drops open connections, and the server notices', async () => {
    const wire = await Wire.open(fetch, 'watch=1', base);
    expect(server.openWatches.length).toBe(1);
    const next = wire.chunk();
    expect(proxy.drop()).toBe(1);
    await expect(next).rejects.toThrow(TypeError);
    while (server.openWatches.length > 0) await new Promise((turn) => setImmediate(turn));
    expect(proxy.connections).toBe(0);
    expect((await ask()).status).toBe(200);
  });

  it('A58: refuses connections until it is healed', async () => {
    const fault = proxy.refuse();
    await expect(ask()).rejects.toThrow(TypeError);
    fault.heal();
    fault.heal();
    expect((await ask()).status).toBe(200);
  });

  it('A58: half-opens connections without notice to either end; after healing, new connections work', async () => {
    const wire = await Wire.open(fetch, 'watch=1', base);
    const fault = proxy.halfOpen();
    const next = wire.chunk();
    const lost = ask();
    server.objects.create(pods, pod('lost'));
    expect([await hangs(next), await hangs(lost)]).toEqual([true, true]);
    fault.heal();
    expect([(await ask()).status, await hangs(next)]).toEqual([200, true]);
    await proxy.close();
    await expect(next).rejects.toThrow(TypeError);
    await expect(lost).rejects.toThrow(TypeError);
    server.objects.delete(pods, { name: 'lost', namespace: 'shop' });
  });

  it('A58: delays both directions', async () => {
    const time = new VirtualTime();
    const slow = await createTcpProxy({ target: served.url, scheduler: time });
    const fault = slow.delay(500);
    let answered = false;
    const answer = fetch(`http://127.0.0.1:${slow.port}/version`).then(() => {
      answered = true;
    });
    // Bytes travel in real time, and the delay runs in virtual time.
    const until = async (is: () => boolean) => {
      while (!is()) await new Promise((turn) => setImmediate(turn));
    };
    await until(() => time.pending === 1);
    await time.advance(499);
    expect(time.pending).toBe(1);
    await time.advance(1);
    await until(() => time.pending === 1);
    expect(answered).toBe(false);
    await time.advance(500);
    await answer;
    fault.heal();
    await slow.close();
  });

  it('A58: throttles the bytes to the client until it is healed', async () => {
    server.objects.apply(pods, [pod('big', { pad: 'x'.repeat(4_000) })]);
    const time = new VirtualTime();
    const slow = await createTcpProxy({ target: served.url, scheduler: time });
    const fault = slow.throttle(10_000);
    let isComplete = false;
    const answer = fetch(`http://127.0.0.1:${slow.port}/api/v1/pods`, {
      headers: { connection: 'close' },
    });
    const read = answer
      .then((response) => response.text())
      .then(() => {
        isComplete = true;
      });
    // Bytes travel in real time, and the pauses between them pass in virtual time.
    while (!isComplete) {
      await time.advance(1);
      expect(slow.bytesToClients).toBeLessThan(10 * time.frame + 1_000);
    }
    await read;
    expect(slow.bytesToClients).toBeGreaterThan(4_000);
    fault.heal();
    await slow.close();
    server.objects.delete(pods, { name: 'big', namespace: 'shop' });
  });

  it('A58: cuts a connection at a given byte', async () => {
    proxy.cutAfter(10);
    await expect(ask()).rejects.toThrow(TypeError);
    const counted = proxy.bytesToClients;
    expect(counted).toBe(10);
    expect((await ask()).status).toBe(200);
  });

  it('A58: resets a connection whose target does not listen', async () => {
    await served.close();
    await expect(ask()).rejects.toThrow(TypeError);
    expect(proxy.connections).toBe(0);
  });
});

describe('a TCP proxy in front of TLS', () => {
  let target: TestServer;
  let proxy: TcpProxy;
  beforeEach(async () => {
    target = await listen('https', (_request, response) => response.end('secret'));
    proxy = await createTcpProxy({ target: target.url });
  });
  afterEach(async () => {
    await proxy.close();
    await target.close();
  });
  const options = () => ({ port: proxy.port, host: '127.0.0.1', ca: testOnlyCa });

  it('A58: forwards TLS end to end', async () => {
    const socket = connectTls(options());
    await once(socket, 'secureConnect');
    expect(socket.authorized).toBe(true);
    socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    let text = '';
    for await (const chunk of socket) text += chunk;
    expect(text).toContain('secret');
  });

  it.each([1, 40, 600])(
    'A58: cuts a connection inside a TLS handshake, after %i bytes',
    async (bytes) => {
      proxy.cutAfter(bytes);
      const socket = connectTls(options());
      const [error] = await once(socket, 'error');
      expect(['ECONNRESET', 'EPIPE']).toContain((error as NodeJS.ErrnoException).code);
      expect(proxy.bytesToClients).toBe(bytes);
      const again = connectTls(options());
      await once(again, 'secureConnect');
      again.destroy();
    },
  );
});
