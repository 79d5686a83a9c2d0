/**
 * Bodies of responses, which the reader pulls, so that a slow reader slows down the writer. The in-process `fetch` and
 * the HTTP server read the same bodies.
 */

/** The bytes of a response. */
export interface Body {
  /**
   * Returns the available bytes, `null` at the end, and `undefined` if nothing is available. Throws if the body breaks.
   */
  read(): Uint8Array | null | undefined;
  /** Called, possibly more than once, when `read()` may have more. */
  onReadable: (() => void) | undefined;
  /** Called when the reader leaves. Idempotent. */
  cancel(): void;
}

/** The error of a connection that broke in the middle of a body. */
export class BrokenConnection extends Error {
  override readonly name = 'BrokenConnection';
}

const CHUNK = 65_536;

/** A complete body. With `breakAfter`, the connection breaks after this many bytes. */
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

/** Copies lines into a new chunk. All watches share the lines, and a reader may modify its chunk. */
export function concat(lines: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(lines.reduce((size, line) => size + line.length, 0));
  let at = 0;
  for (const line of lines) {
    joined.set(line, at);
    at += line.length;
  }
  return joined;
}

/** Converts a body to a web stream. The stream reads the body on demand, and errors if `signal` aborts. */
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
