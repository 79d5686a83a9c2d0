/** Filters the lists of a follower, and remembers what the list in progress has emitted, while the shards change. */
import type { Refused } from '../../decode/watch-event.ts';
import { metaNamespaceKeyFunc as keyOf } from '../../meta/key.ts';
import { type KubernetesObject, uidOf, versionOf } from '../../meta/kubernetes-object.ts';
import { isOlder } from '../../meta/resource-version.ts';
import type { ShardFilter, ShardFilterBy } from '../../meta/shard-ranges/shard-filter.ts';
import type { Delta, Replaced, Replacing } from '../../reflector/delta.ts';

/** What is left of a part after the filter. */
interface Selected<T> {
  readonly objects: readonly T[];
  readonly keys: readonly string[];
  readonly refused: readonly Refused[];
  /** The keys that earlier parts contain, and that belong to other shards now. */
  readonly removed: readonly string[];
}

export class ListedKeys<T extends KubernetesObject> {
  readonly #by: ShardFilterBy;
  readonly #scope: { readonly scope?: string };
  /** What the list has emitted, by key. */
  readonly #emitted = new Map<string, { readonly object: T } | { readonly refused: Refused }>();
  /** The objects of the list that belong to other shards, by key. Only by owner: they may have been in these shards before. */
  readonly #elsewhere = new Map<string, Elsewhere<T>>();

  constructor(by: ShardFilterBy, scope: string | undefined) {
    this.#by = by;
    this.#scope = scope ? { scope } : {};
  }

  /** Forgets the list in progress. */
  clear(): void {
    this.#emitted.clear();
    this.#elsewhere.clear();
  }

  part(delta: Replacing<T>, filter: ShardFilter): Delta<T>[] {
    for (const key of delta.removed ?? []) {
      this.#emitted.delete(key);
      this.#elsewhere.delete(key);
    }
    const { removed, refused, ...selected } = this.#select(delta, filter, delta.keys !== undefined);
    const gone = [...(delta.removed ?? []), ...removed];
    const part: Replacing<T> = {
      ...delta,
      ...selected,
      ...(gone.length === 0 ? {} : { removed: gone }),
      ...(delta.refused === undefined ? {} : { refused }),
    };
    return [...this.#left(removed), part];
  }

  /** Completes the list. */
  end(delta: Replaced<T>, filter: ShardFilter): Delta<T>[] {
    const { objects, refused, removed } = this.#select(delta, filter, this.#emitted.size > 0);
    const list: Replaced<T> = {
      ...delta,
      objects,
      within: filter,
      ...(delta.refused === undefined ? {} : { refused }),
    };
    const out: Delta<T>[] = [
      ...this.#left(this.#elsewhere.keys()),
      ...this.#without(removed),
      list,
    ];
    this.clear();
    return out;
  }

  /** The parts that take back what was emitted and is not in the filter. */
  takenBack(filter: ShardFilter): Delta<T>[] {
    const removed: string[] = [];
    for (const [key, each] of this.#emitted) {
      const isKept =
        'object' in each ? filter.contains(each.object) : filter.containsRefused(each.refused);
      if (isKept) continue;
      removed.push(key);
      this.#emitted.delete(key);
    }
    return this.#without(removed);
  }

  #without(removed: readonly string[]): Delta<T>[] {
    return removed.length === 0
      ? []
      : [{ type: 'replacing', ...this.#scope, objects: [], removed }];
  }

  #left(keys: Iterable<string>): Delta<T>[] {
    const left = [...keys].flatMap((key) => this.#elsewhere.get(key) ?? []);
    return left.length === 0 ? [] : [leaves(left)];
  }

  /** `repeats`: a key may be in the list twice, for example because an object of another shard has taken the name. */
  #select(
    { objects: all, refused: refusals = [], ...rest }: Replacing<T> | Replaced<T>,
    filter: ShardFilter,
    repeats: boolean,
  ): Selected<T> {
    const given = 'keys' in rest ? rest.keys : undefined;
    const [objects, keys, refused, removed]: [T[], string[], Refused[], string[]] = [
      [],
      [],
      [],
      [],
    ];
    const drop = (key: string, state: () => Elsewhere<T>) => {
      if (this.#emitted.delete(key)) removed.push(key);
      if (this.#by === 'owner') this.#elsewhere.set(key, state());
    };
    for (let at = 0; at < all.length; at++) {
      const object = all[at] as T;
      const isInside = filter.contains(object);
      if (!isInside && !repeats && this.#by !== 'owner') continue;
      const key = given?.[at] ?? (object.metadata?.name ? keyOf(object) : '');
      if (!isInside) {
        drop(key, () => ({ key, uid: uidOf(object), resourceVersion: versionOf(object) }));
        continue;
      }
      objects.push(object);
      keys.push(key);
      this.#elsewhere.delete(key);
      // The store reports an object without a key.
      if (key !== '') this.#emitted.set(key, { object });
    }
    for (const each of refusals) {
      const { key } = each;
      if (!filter.containsRefused(each)) {
        drop(key, () => elsewhere({ type: 'refused', key, refused: each }));
        continue;
      }
      refused.push(each);
      this.#elsewhere.delete(key);
      this.#emitted.set(key, { refused: each });
    }
    return { objects, keys, refused, removed };
  }
}

/** The state of an object that is in a shard that is not held. */
interface Elsewhere<T = unknown> {
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
