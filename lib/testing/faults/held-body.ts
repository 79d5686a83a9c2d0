/** Delivers a body like a buffering proxy: in pieces of a fixed size, and the last piece with the end. */
import { type Body, concat } from '../http/body.ts';

/** The options of `holdBack`. */
export interface Holding {
  /** How many bytes are collected before they are sent. @defaultValue 4096 */
  readonly bytes?: number;
  /** Whether the head waits for the first piece, too. @defaultValue true */
  readonly head?: boolean;
}

/** A body that is held back. */
export interface HeldBody extends Body {
  /** Whether a piece or the end can be read now. */
  readonly ready: boolean;
}

/** Holds `body` back until a piece is complete or the body ends. */
export function heldBody(body: Body, { bytes: size = 4096 }: Holding): HeldBody {
  const gathered: Uint8Array[] = [];
  let length = 0;
  let ended = false;
  let broken: unknown;
  /** Reads everything that is available. */
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
    const all = concat(gathered.splice(0));
    length = all.length - count;
    if (length > 0) gathered.push(all.subarray(count));
    return all.subarray(0, count);
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
