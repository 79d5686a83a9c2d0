/**
 * The body of an answer as something that is pulled: the reader asks, so a slow one holds back the writer. The
 * in-process `fetch` and the HTTP server read the same bodies.
 */

/** Bytes on their way to a client. */
export interface Body {
  /** What is ready: bytes, `null` at the end, `undefined` when nothing is. Throws when the body breaks. */
  read(): Uint8Array | null | undefined;
  /** Called, once or more, when `read()` may have something again. */
  onReadable: (() => void) | undefined;
  /** The reader is gone. Idempotent. */
  cancel(): void;
}

/** What a client sees of a connection that broke in the middle of a body. */
export class BrokenConnection extends Error {
  override readonly name = 'BrokenConnection';
}

const CHUNK = 65_536;

/** A body that is all there. With `breakAfter`, the connection breaks after so many bytes. */
export function bytesBody(bytes: Uint8Array, breakAfter?: number): Body {
  const end = Math.min(bytes.length, breakAfter ?? bytes.length);
  let at = 0;
  return {
    onReadable: undefined,
    read() {
      if (at < end) {
        const chunk = bytes.subarray(at, Math.min(end, at + CHUNK));
        at += chunk.length;
        return chunk;
      }
      if (breakAfter !== undefined) throw new BrokenConnection('the connection was closed');
      return null;
    },
    cancel() {
      at = end;
    },
  };
}

/** A chunk of its own: lines are shared by all watches, and a reader may do with its chunk what it likes. */
export function concat(lines: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(lines.reduce((size, line) => size + line.length, 0));
  let at = 0;
  for (const line of lines) {
    whole.set(line, at);
    at += line.length;
  }
  return whole;
}

/** A body as a web stream that reads only when it is read, and errors when `signal` aborts. */
export function toReadableStream(body: Body, signal?: AbortSignal): ReadableStream<Uint8Array> {
  let wake: (() => void) | undefined;
  let finish = () => {};
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    for (;;) {
      let chunk: Uint8Array | null | undefined;
      try {
        chunk = body.read();
      } catch (error) {
        finish();
        // A fetch reports every broken connection as a TypeError.
        controller.error(new TypeError('terminated', { cause: error }));
        return;
      }
      if (chunk === null) {
        finish();
        controller.close();
        return;
      }
      if (chunk !== undefined) {
        controller.enqueue(chunk);
        return;
      }
      const readable = await new Promise<boolean>((resolve) => {
        wake = () => resolve(true);
        body.onReadable = wake;
        stop = () => resolve(false);
      });
      body.onReadable = undefined;
      if (!readable) return;
    }
  };
  let stop = () => {};
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const abort = () => {
          finish();
          body.cancel();
          controller.error(signal?.reason);
          stop();
        };
        finish = () => signal?.removeEventListener('abort', abort);
        signal?.addEventListener('abort', abort);
      },
      pull,
      cancel() {
        finish();
        body.cancel();
        stop();
      },
    },
    { highWaterMark: 0 },
  );
}
