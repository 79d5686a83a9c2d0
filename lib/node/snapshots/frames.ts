/**
 * The frames of a snapshot file: a length, a checksum, and a payload whose first byte is its type. A reader stops at the
 * first frame that is not complete, and what follows the last commit does not count.
 */
import { crc32 } from 'node:zlib';
import type { LogFile } from './log-files.ts';

/** The first bytes of each file. They change with the format. */
export const MAGIC: Buffer = /* @__PURE__ */ Buffer.from('rxisnap1');

export const FRAME = { head: 1, object: 2, deleted: 3, commit: 4 } as const;
export type FrameType = (typeof FRAME)[keyof typeof FRAME];

const PREFIX = 8;
/** Longer frames are not written by this program. */
const MOST_BYTES = 268_435_456;
const CHUNK = 1_048_576;

/** A frame as bytes. */
export function frame(type: FrameType, ...parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 1);
  const bytes = Buffer.allocUnsafe(PREFIX + length);
  bytes[PREFIX] = type;
  let at = PREFIX + 1;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  bytes.writeUInt32LE(length, 0);
  bytes.writeUInt32LE(crc32(bytes.subarray(PREFIX)), 4);
  return bytes;
}

/** The frame of an object: its key, then its JSON. */
export function objectFrame(key: string, json: Uint8Array): Buffer {
  const name = Buffer.from(key);
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32LE(name.length, 0);
  return frame(FRAME.object, length, name, json);
}

/** A frame that was read. */
export interface Frame {
  readonly type: number;
  /** Without the type. Valid until the next frame is read. */
  readonly payload: Buffer;
  /** Where the payload begins in the file, and where the frame ends. */
  readonly from: number;
  readonly end: number;
}

/** The key in the frame of an object, and the length of what stands before the JSON. */
export function keyIn(payload: Buffer): { readonly key: string; readonly before: number } {
  const before = 4 + payload.readUInt32LE(0);
  return { key: payload.toString('utf8', 4, before), before };
}

/** Reads the complete frames of a file, from the first one on. */
export async function* framesOf(file: LogFile): AsyncGenerator<Frame> {
  const size = await file.size();
  let at = MAGIC.length;
  let chunk: Buffer = Buffer.alloc(0);
  let chunkAt = at;
  /** The bytes from `at` on, if the file has so many. */
  const have = async (bytes: number): Promise<Buffer | undefined> => {
    if (at + bytes > size) return undefined;
    if (at + bytes > chunkAt + chunk.length) {
      chunk = await file.read(at, Math.min(Math.max(bytes, CHUNK), size - at));
      chunkAt = at;
    }
    const from = at - chunkAt;
    return chunk.length < from + bytes ? undefined : chunk.subarray(from, from + bytes);
  };
  for (;;) {
    const prefix = await have(PREFIX);
    if (prefix === undefined) return;
    const length = prefix.readUInt32LE(0);
    const checksum = prefix.readUInt32LE(4);
    if (length === 0 || length > MOST_BYTES) return;
    const bytes = await have(PREFIX + length);
    if (bytes === undefined || crc32(bytes.subarray(PREFIX)) !== checksum) return;
    const end = at + PREFIX + length;
    const payload = bytes.subarray(PREFIX + 1);
    yield { type: bytes[PREFIX] as number, payload, from: at + PREFIX + 1, end };
    at = end;
  }
}
