/// <reference types="node" />
/** Decompresses a body while it arrives. */
import { createGunzip } from 'node:zlib';

/** A body under way. */
export interface Gunzip {
  write(bytes: Uint8Array): void;
  /** The compressed body is complete. */
  end(): void;
  /** Nothing is called any more. */
  release(): void;
}

/** Calls `next` with each decompressed piece, then `complete`; or `error` if the body is not gzip, or is cut. */
export function gunzip(sink: {
  next(bytes: Uint8Array): void;
  complete(): void;
  error(error: Error): void;
}): Gunzip {
  const stream = createGunzip();
  let released = false;
  const unless =
    <A extends readonly unknown[]>(call: (...args: A) => void) =>
    (...args: A) => {
      if (!released) call(...args);
    };
  stream.on('data', unless(sink.next));
  stream.on('end', unless(sink.complete));
  // Also after its release: an error that nobody listens to would end the process.
  stream.on('error', unless(sink.error));
  return {
    write: (bytes) => void stream.write(bytes),
    end: () => void stream.end(),
    release() {
      released = true;
      stream.destroy();
    },
  };
}
