/** The contents of a bucket, as read from it, and the states that it should have. */

import type { Change } from '../../delta/net-change.ts';
import { splitMetaNamespaceKey } from '../../meta/key.ts';
import { type KubernetesObject, uidOf, versionOf } from '../../meta/kubernetes-object.ts';
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

/** An object that cannot be written as JSON, for example because it is nested too deeply for the stack. */
export interface UnwritableObject {
  readonly key: string;
  /** Why it cannot be written. */
  readonly message: string;
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

/** Deletions that nobody saw come last, under the version of the list; all others in the order of versions. */
export function inOrder(wanted: readonly Wanted[]): Wanted[] {
  return [...wanted].sort((a, b) => {
    if (a.version === '' || b.version === '') {
      return (a.version === '' ? 1 : 0) - (b.version === '' ? 1 : 0);
    }
    if (isOlder(a.version, b.version)) return -1;
    return isOlder(b.version, a.version) ? 1 : 0;
  });
}

/** The wanted state of an existing object. */
export function present(key: string, object: KubernetesObject): Wanted {
  return {
    ...splitMetaNamespaceKey(key),
    uid: uidOf(object),
    version: versionOf(object),
    isDeletion: false,
    text: () => JSON.stringify(object),
  };
}

/** The wanted state after a change. */
export function wantedOf(change: Change<KubernetesObject>): Wanted {
  const { key, id, object, last, finalStateUnknown } = change;
  if (object !== undefined) return present(key, object);
  const isSeen = last !== undefined && finalStateUnknown !== true;
  return {
    ...splitMetaNamespaceKey(key),
    uid: id,
    version: isSeen ? versionOf(last) : '',
    isDeletion: true,
    text: () => (isSeen ? JSON.stringify(last) : ''),
  };
}

/** The changes that turn the contents of a bucket into those of a store. */
export function difference(
  store: Iterable<readonly [key: string, object: KubernetesObject]>,
  contents: Iterable<InBucket>,
): Wanted[] {
  const wanted: Wanted[] = [];
  const kept = new Set<string>();
  for (const [key, object] of store) {
    kept.add(key);
    wanted.push(present(key, object));
  }
  for (const { namespace, name, uid } of contents) {
    const key = namespace === '' ? name : `${namespace}/${name}`;
    if (kept.has(key)) continue;
    wanted.push({ namespace, name, uid, version: '', isDeletion: true, text: () => '' });
  }
  return wanted;
}
