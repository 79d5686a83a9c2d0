/// <reference types="node" />
/** Decompresses a gzip body while it arrives. */
import { createGunzip } from 'node:zlib';

/** A body that is being decompressed. */
export interface Gunzip {
  write(bytes: Uint8Array): void;
  /** The compressed body is complete. */
  end(): void;
  /** Stops the decompression. The sink is not called afterwards. */
  release(): void;
}

/** Calls `next` with each decompressed piece, then `complete`. Calls `error` if the body is not gzip or is cut. */
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
  // The listener stays after the release, because an error without a listener would end the process.
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
