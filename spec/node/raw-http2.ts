/** A server that sends single HTTP/2 frames, because Node's own server ends a stream before it resets it. */
import { createServer } from 'node:tls';
import { opened, type TestServer } from './servers.ts';
import { testOnlyServerCert, testOnlyServerKey } from './test-only-certificates.ts';

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
export interface RawStream {
  data(text: string, isLast?: boolean): void;
  reset(code: number): void;
}

/** Calls `answer` for each request after its head is sent. */
export function rawHttp2(answer: (stream: RawStream) => void): Promise<TestServer> {
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
