/** HTTP/2 streams that a server resets within the body. With some codes Node shows the reset as a regular end. */
import { channel } from 'node:diagnostics_channel';
import { createServer } from 'node:tls';
import { createClient, createResourceClient, type TransportRequest } from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { Subject } from 'rxjs';
import { afterEach, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';
import { expectClean, watch } from './seen.ts';
import { opened, type TestServer } from './servers.ts';
import { testOnlyCa, testOnlyServerCert, testOnlyServerKey } from './test-only-certificates.ts';

// A server that sends single HTTP/2 frames, because Node's own server ends a stream before it resets it.

const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const PREFACE_BYTES = 24;

function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** The frames that can be sent on a stream after its head (status 200). */
interface RawStream {
  data(text: string, isLast?: boolean): void;
  reset(code: number): void;
}

/** Calls `answer` for each request after its head is sent. */
function rawHttp2(answer: (stream: RawStream) => void): Promise<TestServer> {
  const tls = { cert: testOnlyServerCert, key: testOnlyServerKey, ALPNProtocols: ['h2'] };
  const server = createServer(tls, (socket) => {
    socket.on('error', () => {});
    socket.write(frame(SETTINGS, 0, 0));
    let skip = PREFACE_BYTES;
    let bytes = Buffer.alloc(0);
    socket.on('data', (came) => {
      bytes = Buffer.concat([bytes, came]);
      const skipped = Math.min(skip, bytes.length);
      skip -= skipped;
      bytes = bytes.subarray(skipped);
      while (skip === 0 && bytes.length >= 9) {
        const end = 9 + bytes.readUIntBE(0, 3);
        if (bytes.length < end) return;
        const [type, flags = 0, stream] = [bytes[3], bytes[4], bytes.readUInt32BE(5)];
        const payload = bytes.subarray(9, end);
        bytes = bytes.subarray(end);
        if (type === SETTINGS && (flags & 1) === 0) socket.write(frame(SETTINGS, 1, 0));
        if (type === PING && (flags & 1) === 0) socket.write(frame(PING, 1, 0, payload));
        if (type !== HEADERS) continue;
        // HPACK: the indexed field ':status: 200'.
        socket.write(frame(HEADERS, 4, stream, Buffer.from([0x88])));
        answer({
          data: (text, isLast = false) =>
            socket.write(frame(DATA, isLast ? 1 : 0, stream, Buffer.from(text))),
          reset: (code) => {
            const payload = Buffer.alloc(4);
            payload.writeUInt32BE(code);
            socket.write(frame(RST_STREAM, 0, stream, payload));
          },
        });
      }
    });
  });
  return opened(server, 'https');
}

const NO_ERROR = 0;
const INTERNAL_ERROR = 2;
const CANCEL = 8;
const get: TransportRequest = { method: 'GET', path: '/x', use: 'watch' };

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
  expect(listenedTo()).toEqual([]);
});

/** The channels of Node that have a listener. A transport listens while a request is open. */
function listenedTo(): readonly string[] {
  const names = ['created', 'close'].map((event) => `http2.client.stream.${event}`);
  return names.filter((name) => channel(name).hasSubscribers);
}

async function open(answer: (stream: RawStream) => void) {
  const server = await rawHttp2(answer);
  const transport = createUndiciTransport({ baseUrl: server.url, tls: { ca: testOnlyCa } });
  endings.push(server.close, () => transport.close());
  return { server, transport };
}

/** What the servers do after the client has received the first half. */
const later: (() => void)[] = [];
const soon = (task: () => void) => void later.push(task);
/** Lets the servers go on when the condition holds. */
async function goOnWhen(isSo: () => boolean): Promise<void> {
  await eventually(isSo, 'the first half');
  for (const task of later.splice(0)) task();
}

it.each([NO_ERROR, CANCEL, INTERNAL_ERROR])(
  'T18: a stream that is reset with code %i within its body is incomplete',
  async (code) => {
    const { transport } = await open((stream) => {
      stream.data('half');
      soon(() => stream.reset(code));
    });
    const seen = watch(transport.send(get));
    await goOnWhen(() => seen.text === 'half');
    await seen.ended;
    expect([seen.text, seen.completed]).toEqual(['half', false]);
    expectClean(seen.error, 'Network', []);
  },
);

it('T18: a stream that ended before it was reset is complete', async () => {
  const { transport } = await open((stream) => {
    stream.data('half');
    soon(() => {
      stream.data(' and half', true);
      stream.reset(NO_ERROR);
    });
  });
  const both = [watch(transport.send(get)), watch(transport.send(get))];
  await goOnWhen(() => both.every(({ text }) => text === 'half'));
  for (const seen of both) {
    await seen.ended;
    expect(seen).toMatchObject({ text: 'half and half', completed: true });
  }
});

it.each([
  ['complete', true],
  ['reset', false],
])('T18: a %s stream is recognized after a pause of the reader, too', async (how, isComplete) => {
  const { transport } = await open((stream) => {
    stream.data('half');
    soon(() => {
      stream.data(' and half', isComplete);
      if (how === 'reset') stream.reset(NO_ERROR);
    });
  });
  const capacity = new Subject<void>();
  const demand = () => (sent.text === 'half' ? capacity : null);
  const sent = watch(transport.send({ ...get, demand }));
  await goOnWhen(() => sent.text === 'half');
  // On the same connection this comes after the second half.
  const other = watch(transport.send(get));
  await eventually(() => other.text === 'half', 'the first half of another stream');
  expect(sent.text).toBe('half');
  capacity.next();
  await sent.ended;
  expect([sent.text, sent.completed]).toEqual(['half and half', isComplete]);
});

it('T18: the end of each stream of a connection is recognized separately', async () => {
  let requests = 0;
  const { server, transport } = await open((stream) => {
    const nth = requests++;
    stream.data('x');
    soon(() =>
      nth % 2 === 0 ? stream.data('y', true) : stream.reset(nth % 4 === 1 ? NO_ERROR : CANCEL),
    );
  });
  const all = Array.from({ length: 12 }, () => watch(transport.send(get)));
  await goOnWhen(() => all.every(({ text }) => text === 'x'));
  await Promise.all(all.map((seen) => seen.ended));
  expect(all.map(({ completed }) => completed)).toEqual(
    Array.from({ length: 12 }, (_, at) => at % 2 === 0),
  );
  expect(server.connections).toBe(1);
});

it('T18, C10: a log that is cut ends with an error', async () => {
  const { server, transport } = await open((stream) => {
    stream.data('one\ntwo\n');
    soon(() => stream.reset(CANCEL));
  });
  const client = createClient({ baseUrl: server.url, transport });
  const lines: string[] = [];
  const ended = new Promise((resolve) =>
    createResourceClient(client, pods)
      .log('shop/web-0')
      .subscribe({
        next: (line) => lines.push(line),
        complete: () => resolve('complete'),
        error: resolve,
      }),
  );
  await goOnWhen(() => lines.length === 2);
  const end = await ended;
  expect(lines).toEqual(['one', 'two']);
  expect(expectClean(end, 'Network', []).message).toContain('stream was reset before its end');
});

it('T18: requests that are cancelled or closed early leave no listener behind', async () => {
  const { transport } = await open((stream) => stream.data('x'));
  const seen = watch(transport.send(get));
  await eventually(() => seen.bytes === 1, 'a byte');
  seen.subscription.unsubscribe();
  const early = watch(transport.send(get));
  early.subscription.unsubscribe();
  const open_ = watch(transport.send(get));
  await eventually(() => open_.bytes === 1, 'a byte');
  expect(listenedTo()).not.toEqual([]);
  await transport.close();
  expect(listenedTo()).toEqual([]);
});
