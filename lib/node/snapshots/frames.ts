/**
 * The form of a snapshot file: the magic bytes, the end of its base, and frames. The base is the collection as it was when
 * the file was made: a head, and objects. It is on the disk before the file has its name. Changes follow, each with a commit.
 *
 * A frame is a length, a checksum, and a payload whose first byte is its type. A reader stops at the first frame that is
 * not complete, and what follows the last commit does not count.
 */
import { crc32 } from 'node:zlib';
import type { LogFile } from './log-files.ts';

/** The first bytes of each file. They change with the format. */
const MAGIC = 'rxisnap2';

export const FRAME = { head: 1, objects: 2, deleted: 3, commit: 4 } as const;
export type FrameType = (typeof FRAME)[keyof typeof FRAME];

/** Where the first frame begins: behind the magic bytes, the end of the base, and the checksum of both. */
export const FIRST = 20;

const PREFIX = 8;
/** Longer frames are not written by this program. */
const MOST_BYTES = 268_435_456;

/** The first bytes of a file whose base ends at this place. */
export function opening(baseEnd: number): Buffer {
  const bytes = Buffer.alloc(FIRST);
  bytes.write(MAGIC);
  bytes.writeDoubleLE(baseEnd, 8);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 16)), 16);
  return bytes;
}

/** Reads the end of the base; `undefined` if the file is of another format. */
export async function baseEndOf(file: LogFile): Promise<number | undefined> {
  const bytes = await file.read(0, FIRST);
  if (bytes.length < FIRST || bytes.toString('latin1', 0, 8) !== MAGIC) return undefined;
  return crc32(bytes.subarray(0, 16)) === bytes.readUInt32LE(16)
    ? bytes.readDoubleLE(8)
    : undefined;
}

/** A frame as bytes. */
export function frame(type: FrameType, parts: readonly Uint8Array[]): Buffer {
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

/** A frame whose payload is a JSON value. */
export function jsonFrame(type: FrameType, value: unknown): Buffer {
  return frame(type, [Buffer.from(JSON.stringify(value))]);
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

/** The JSON value in a frame. */
export function jsonIn({ payload }: Frame): unknown {
  return JSON.parse(payload.toString());
}

/** Reads the complete frames between two places of a file. */
export async function* framesIn(file: LogFile, from: number, to: number): AsyncGenerator<Frame> {
  let prefix = await file.read(from, Math.min(PREFIX, to - from));
  // A new buffer for each frame would cost as much as reading it.
  let buffer: Buffer | undefined;
  for (let at = from; prefix.length === PREFIX; ) {
    const length = prefix.readUInt32LE(0);
    const checksum = prefix.readUInt32LE(4);
    const end = at + PREFIX + length;
    if (length === 0 || length > MOST_BYTES || end > to) return;
    // With the beginning of the next frame, so that each frame needs one read.
    const wanted = Math.min(length + PREFIX, to - at - PREFIX);
    if (buffer === undefined || buffer.length < wanted) buffer = Buffer.allocUnsafe(wanted * 2);
    const bytes = await file.read(at + PREFIX, wanted, buffer);
    const body = bytes.subarray(0, length);
    if (body.length < length || crc32(body) !== checksum) return;
    yield { type: body[0] as number, payload: body.subarray(1), from: at + PREFIX + 1, end };
    prefix = bytes.subarray(length);
    at = end;
  }
}

/** What precedes an object in a frame of objects: the lengths of its key and its JSON, and the key. */
export function objectPrefix(key: string, json: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(8 + Buffer.byteLength(key));
  bytes.writeUInt32LE(bytes.length - 8, 0);
  bytes.writeUInt32LE(json.length, 4);
  bytes.write(key, 8);
  return bytes;
}

/** Calls `visit` with each object of a frame: its key, and the place of its JSON in the payload. */
export function objectsIn(
  payload: Buffer,
  visit: (key: string, from: number, to: number) => void,
): void {
  for (let at = 0; at < payload.length; ) {
    const from = at + 8 + payload.readUInt32LE(at);
    const to = from + payload.readUInt32LE(at + 4);
    visit(payload.toString('utf8', at + 8, from), from, to);
    at = to;
  }
}
