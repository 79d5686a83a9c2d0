/** What shards contain that arrive, and the delta with which they arrive and others leave. */
import type { Refused } from '../../decode/watch-event.ts';
import { metaNamespaceKeyFunc as keyOf } from '../../meta/key.ts';
import { type KubernetesObject, versionOf } from '../../meta/kubernetes-object.ts';
import { isOlder } from '../../meta/resource-version.ts';
import type { ShardFilter } from '../../meta/shard-ranges/shard-filter.ts';
import type { Delta, KnownNow } from '../../reflector/delta.ts';

/** Objects, and objects whose state was refused, by key. */
class Contents<T> {
  readonly objects = new Map<string, T>();
  readonly refused = new Map<string, Refused>();

  set(key: string, object: T): void {
    this.refused.delete(key);
    this.objects.set(key, object);
  }

  delete(key: string): void {
    this.refused.delete(key);
    this.objects.delete(key);
  }
}

/** Collects a list, and the changes after it until its objects are let in. A later list replaces the earlier one. */
export class Arrivals<T extends KubernetesObject> {
  #complete = new Contents<T>();
  /** The list in progress. */
  #listing = new Contents<T>();

  get objects(): ReadonlyMap<string, T> {
    return this.#complete.objects;
  }

  get refused(): ReadonlyMap<string, Refused> {
    return this.#complete.refused;
  }

  take(delta: Delta<T>): void {
    const complete = this.#complete;
    switch (delta.type) {
      case 'replace-abort':
        this.#listing = new Contents();
        return;
      case 'replacing':
        for (const key of delta.removed ?? []) this.#listing.delete(key);
        this.#list(delta);
        return;
      case 'replaced':
        this.#list(delta);
        this.#complete = this.#listing;
        this.#listing = new Contents();
        return;
      case 'added':
      case 'updated':
        return complete.set(delta.key, delta.object);
      case 'deleted':
        return complete.delete(delta.key);
      case 'refused':
        complete.refused.set(delta.key, delta.refused);
        return;
      case 'rebalanced': {
        const known: KnownNow<T> = {
          keys: () => complete.objects.keys(),
          get: (key) => complete.objects.get(key),
          refusedKeys: () => complete.refused.keys(),
          refused: (key) => complete.refused.get(key),
        };
        for (const each of delta.resolve(known)) this.take(each);
      }
    }
  }

  #list(delta: Extract<Delta<T>, { type: 'replacing' | 'replaced' }>): void {
    const { objects, refused = [] } = delta;
    for (const object of objects) {
      if (object.metadata?.name) this.#listing.set(keyOf(object), object);
    }
    for (const each of refused) {
      this.#listing.objects.delete(each.key);
      this.#listing.refused.set(each.key, each);
    }
  }
}

/** The delta after which the store holds only `holds`, and these objects, too. */
export function rebalanced<T extends KubernetesObject>(
  holds: ShardFilter,
  { objects, refused }: Pick<Arrivals<T>, 'objects' | 'refused'> = new Arrivals(),
): Delta<T> {
  const cause = 'rebalance';
  return {
    type: 'rebalanced',
    *resolve(known: KnownNow<T>): Iterable<Delta<T>> {
      // Copied, because the known keys change while the deltas are resolved.
      for (const key of new Set(known.refusedKeys())) {
        const state = known.refused(key);
        if (state === undefined || holds.containsRefused({ ...state, key })) continue;
        // At the version of the refused state, because the stored one may be older.
        const { resourceVersion } = state;
        yield { type: 'deleted', key, finalStateUnknown: false, resourceVersion, cause };
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
        if (holds.containsRefused(each))
          yield { type: 'refused', key: each.key, refused: each, cause };
      }
    },
  };
}
