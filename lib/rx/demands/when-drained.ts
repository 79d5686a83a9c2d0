/** `whenDrained`, a demand that waits for a stream to which its consumer writes. */
import { defer, Observable } from 'rxjs';
import { tap } from 'rxjs/operators';
import type { Demand } from '../demand.ts';

/** The part of Node's `Writable` that is used, such as of a response or a socket. */
export interface DrainableStream {
  /** Whether the buffer is full, and `drain` will be emitted. */
  readonly writableNeedDrain: boolean;
  once(event: 'drain', listener: () => void): unknown;
  removeListener?(event: 'drain', listener: () => void): unknown;
}

/** The part of a `WritableStreamDefaultWriter` that is used. */
export interface DrainableWriter {
  /** How much more may be written without delay; 0 or less if the buffer is full, `null` if the stream has failed. */
  readonly desiredSize: number | null;
  /** Resolves when more may be written. */
  readonly ready: Promise<unknown>;
}

function streamDrained(stream: DrainableStream): Observable<void> {
  return new Observable<void>((subscriber) => {
    const listen = () => stream.once('drain', drained);
    const drained = () => {
      // A listener that was called before this one may have filled the buffer again.
      if (stream.writableNeedDrain) return void listen();
      subscriber.next();
      subscriber.complete();
    };
    listen();
    return () => stream.removeListener?.('drain', drained);
  });
}

/**
 * Creates a demand that is open while a stream accepts more data without buffering beyond its limit: a stream of Node,
 * by `writableNeedDrain` and its event `drain`, or a writer of a web stream, by `desiredSize` and `ready`. It errors if
 * `ready` rejects. A stream of Node that is destroyed emits no `drain`, so unsubscribe when it closes.
 *
 * @example
 * ```ts
 * import { whenDrained } from 'rx-informer';
 *
 * const writer = new WritableStream({ write: () => undefined }).getWriter();
 * const ready = whenDrained(writer); // or of a response of Node: whenDrained(response)
 * ready(); // => null
 * ```
 */
export function whenDrained(writable: DrainableStream | DrainableWriter): Demand {
  if ('writableNeedDrain' in writable) {
    return () => (writable.writableNeedDrain ? streamDrained(writable) : null);
  }
  // A closed writer has no capacity, and its `ready` has resolved: it must not be awaited again and again.
  let resolved: Promise<unknown> | undefined;
  return () => {
    const { desiredSize, ready } = writable;
    if ((desiredSize ?? 0) > 0 || ready === resolved) return null;
    return defer(() => ready).pipe(
      tap(() => {
        resolved = ready;
      }),
    );
  };
}
