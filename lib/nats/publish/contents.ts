/** The contents of a bucket, as read from it, and the states that it should have. */
import { isOlder } from '../../meta/resource-version.ts';
import type { Meta } from '../meta.ts';

/** The wanted state of one object. */
export interface Wanted {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The version of the state, or of the deletion; '' for a deletion that nobody saw. */
  readonly version: string;
  readonly isDeletion: boolean;
  /** The object as text; for a deletion its last state, or ''. */
  text(): string;
}

/** An object in the bucket. */
export interface InBucket {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly version: string;
  /** The name of its form, if its publisher names it. */
  readonly content?: string | undefined;
  readonly sequence: number;
}

/** The message of a deleted object, which expires. */
export interface Tombstone {
  readonly namespace: string;
  readonly name: string;
  /** The version of the deletion. */
  readonly version: string;
  readonly sequence: number;
  /** When it was stored, on the publisher's stopwatch. */
  readonly atMs: number;
}

/** The contents of a bucket, as read. */
export interface Contents {
  readonly objects: readonly InBucket[];
  readonly tombstones: readonly Tombstone[];
  /** The sequences of the `_meta` records by namespace. */
  readonly records: ReadonlyMap<string, number>;
  /** The record of the complete collection. */
  readonly meta: Meta | undefined;
  /** The last sequence of the stream. */
  readonly last: number;
}

/** An object that is too large for a message. */
export interface TooLargeObject {
  readonly key: string;
  readonly bytes: number;
}

/** The newest version in a bucket: that of its record, or of a set that a publisher did not end. */
export function newestVersion({ meta, objects, tombstones }: Contents): string {
  let newest = meta?.resourceVersion ?? '';
  for (const { version } of [...objects, ...tombstones]) {
    if (newest === '' || isOlder(newest, version)) newest = version;
  }
  return newest;
}

/** Whether the bucket was used and has no record, as after a purge. It then does not say how far it was. */
export function isPurged({ meta, last }: Contents): boolean {
  return meta === undefined && last > 0;
}

/** Whether an informer at a version may lack what the bucket has or had. */
export function isBehind(version: string, contents: Contents): boolean {
  return isPurged(contents) || isOlder(version, newestVersion(contents));
}
