/// <reference types="node" />
/** Decompresses a gzip body while it arrives. */
import { createGunzip } from 'node:zlib';

/** A body that is being decompressed. */
export interface Gunzip {
  /** Returns whether more can be written now; otherwise `onDrain` is called later. */
  write(bytes: Uint8Array): boolean;
  /** Stops and continues to call `next`. */
  pause(): void;
  resume(): void;
  /** The compressed body is complete. */
  end(): void;
  /** Stops the decompression. The sink is not called afterwards. */
  release(): void;
}

/**
 * Calls `next` with each decompressed piece, then `complete`. Calls `error` if the body is not gzip or is cut. A small body may
 * become very large, so little is decompressed while `next` is paused.
 */
export function gunzip(sink: {
  next(bytes: Uint8Array): void;
  onDrain(): void;
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
  stream.on('drain', unless(sink.onDrain));
  stream.on('end', unless(sink.complete));
  // The listener stays after the release, because an error without a listener would end the process.
  stream.on('error', unless(sink.error));
  return {
    write: (bytes) => stream.write(bytes),
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    end: () => void stream.end(),
    release() {
      released = true;
      stream.destroy();
    },
  };
}
