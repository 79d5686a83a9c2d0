/** What shards contain that arrive, and the delta with which they arrive and others leave. */
import type { Refused } from '../../decode/watch-event.ts';
import { metaNamespaceKeyFunc as keyOf } from '../../meta/key.ts';
import { type KubernetesObject, versionOf } from '../../meta/kubernetes-object.ts';
import { isOlder } from '../../meta/resource-version.ts';
import type { ShardFilter } from '../../meta/shard-ranges/shard-filter.ts';
import type { Delta, KnownNow } from '../delta.ts';

/** Collects a list, and the changes after it until its objects are let in. */
export class Arrivals<T extends KubernetesObject> {
  readonly objects: Map<string, T> = new Map<string, T>();
  readonly refused: Map<string, Refused> = new Map<string, Refused>();

  take(delta: Delta<T>): void {
    const { objects, refused } = this;
    switch (delta.type) {
      case 'replace-abort':
        objects.clear();
        refused.clear();
        return;
      case 'replacing':
      case 'replaced':
        for (const object of delta.objects)
          if (object.metadata?.name) objects.set(keyOf(object), object);
        for (const each of delta.rejected ?? []) refused.set(each.key, each);
        return;
      case 'added':
      case 'updated':
        refused.delete(delta.key);
        objects.set(delta.key, delta.object);
        return;
      case 'deleted':
        refused.delete(delta.key);
        objects.delete(delta.key);
        return;
      case 'refused':
        refused.set(delta.key, delta.refused);
    }
  }
}

/** The delta after which the store holds only `holds`, and these objects, too. */
export function rebalanced<T extends KubernetesObject>(
  holds: ShardFilter,
  { objects, refused }: Arrivals<T> = new Arrivals(),
): Delta<T> {
  const cause = 'rebalance';
  return {
    type: 'rebalanced',
    *resolve(known: KnownNow<T>): Iterable<Delta<T>> {
      // Copied, because the known keys change while the deltas are resolved.
      for (const key of new Set(known.refusedKeys())) {
        const state = known.refused(key);
        if (state === undefined || holds.containsRefused({ key, uid: state.uid })) continue;
        // Without an object, because the version of the stored one is older than the one that was refused.
        yield { type: 'deleted', key, finalStateUnknown: false, cause };
      }
      for (const key of [...known.keys()]) {
        const object = known.get(key);
        if (object === undefined || holds.contains(object)) continue;
        yield { type: 'deleted', key, object, finalStateUnknown: false, cause };
      }
      for (const object of objects.values()) {
        const key = keyOf(object);
        // An object of another shard may have taken the name since the list was made.
        if (!holds.contains(object) || isOlder(versionOf(object), versionOf(known.get(key))))
          continue;
        yield { type: 'added', key, object, cause };
      }
      for (const each of refused.values()) {
        if (holds.containsRefused(each)) yield { type: 'refused', key: each.key, refused: each };
      }
    },
  };
}
