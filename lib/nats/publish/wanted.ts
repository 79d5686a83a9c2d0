/** The wanted contents of a bucket: the changes of an informer that wait to be published, and the difference after a comparison. */
import type { Change } from '../../delta/net-change.ts';
import { splitMetaNamespaceKey } from '../../meta/key.ts';
import { type KubernetesObject, uidOf, versionOf } from '../../meta/kubernetes-object.ts';
import type { InBucket, Wanted } from './contents.ts';

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
