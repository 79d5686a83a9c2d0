/** A body as it comes through a proxy with buffers: in pieces of so many bytes, the last one with its end. */
import { type Body, concat } from '../http/body.ts';

/** How much is kept back. */
export interface Holding {
  /** What has gathered is let go when it is so many bytes. @defaultValue 4096 */
  readonly bytes?: number;
  /** The head waits for the first piece, too. @defaultValue true */
  readonly head?: boolean;
}

/** A body that is held back. */
export interface HeldBody extends Body {
  /** Whether there is something to read, or the end. */
  readonly ready: boolean;
}

/** Holds `body` back. */
export function heldBody(body: Body, { bytes: size = 4096 }: Holding): HeldBody {
  const gathered: Uint8Array[] = [];
  let length = 0;
  let ended = false;
  let broken: unknown;
  /** Reads all there is. */
  const gather = () => {
    if (ended) return;
    try {
      for (;;) {
        const chunk = body.read();
        if (chunk === undefined) return;
        if (chunk === null) break;
        gathered.push(chunk);
        length += chunk.length;
      }
    } catch (error) {
      broken = error;
    }
    ended = true;
  };
  const take = (count: number): Uint8Array => {
    const whole = concat(gathered.splice(0));
    length = whole.length - count;
    if (length > 0) gathered.push(whole.subarray(count));
    return whole.subarray(0, count);
  };
  const held: HeldBody = {
    onReadable: undefined,
    get ready() {
      gather();
      return ended || length >= size;
    },
    read() {
      gather();
      if (ended && length > 0) return take(length);
      if (ended && broken !== undefined) throw broken;
      if (ended) return null;
      return length < size ? undefined : take(length - (length % size));
    },
    cancel() {
      body.onReadable = undefined;
      body.cancel();
    },
  };
  body.onReadable = () => held.onReadable?.();
  return held;
}
