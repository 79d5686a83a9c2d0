/**
 * The delta for objects that are still on the server, but in a shard that is not held. Only by owner, because an object
 * may get another owner, but never another UID or namespace.
 */
import { type KubernetesObject, uidOf, versionOf } from '../../meta/kubernetes-object.ts';
import { isOlder } from '../../meta/resource-version.ts';
import type { Delta } from '../delta.ts';

/** The state of an object that is in a shard that is not held. */
export interface Elsewhere<T = unknown> {
  readonly key: string;
  readonly object?: T;
  readonly uid: string;
  readonly resourceVersion: string;
}

type Present<T> = Exclude<Extract<Delta<T>, { key: string }>, { type: 'deleted' }>;

/** The state that a delta shows. */
export function elsewhere<T extends KubernetesObject>(delta: Present<T>): Elsewhere<T> {
  if (delta.type === 'refused') {
    const { key, uid, resourceVersion } = delta.refused;
    return { key, uid, resourceVersion };
  }
  const { key, object } = delta;
  return { key, object, uid: uidOf(object), resourceVersion: versionOf(object) };
}

/** Removes the objects that are known by an earlier state. An object of the same name that is another one stays. */
export function leaves<T extends KubernetesObject>(all: Iterable<Elsewhere<T>>): Delta<T> {
  return {
    type: 'rebalanced',
    *resolve(known): Iterable<Delta<T>> {
      for (const { key, uid, ...last } of all) {
        const had = known.get(key);
        const isKnown =
          (had !== undefined && uidOf(had) === uid) || known.refused(key)?.uid === uid;
        if (!isKnown || isOlder(last.resourceVersion, versionOf(had))) continue;
        const cause = 'rebalance';
        yield { type: 'deleted', key, ...last, finalStateUnknown: false, cause };
      }
    },
  };
}
