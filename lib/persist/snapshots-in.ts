/** `snapshotsIn`, the part of an informer that keeps its objects in a store. */
import type { InformerPart, InformerPort } from '../informer/part.ts';
import type { ListerWatcher, ReadCollection } from '../list-watch/lister-watcher.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Delta } from '../reflector/delta.ts';
import { reflect } from '../reflector/reflector.ts';
import type { ReflectorStatus } from '../reflector/status.ts';
import { Keeper } from './keeper.ts';
import { SharedStore } from './shared-store.ts';
import { decodingOf } from './snapshot-head.ts';
import { checkedSnapshotOptions, type SnapshotOptions } from './snapshot-options.ts';
import type { SnapshotStore } from './snapshot-store.ts';

/** The option `persist` of an informer or a factory, as {@link snapshotsIn} returns it. */
export interface PersistPart {
  (port: never): void;
  /**
   * Deletes everything that was stored for an identity, for example when the user signs out. Running informers of this
   * identity store nothing more. Resolves when it is deleted. Call it before `close()`: after that only `fileSnapshots`, which
   * opens the folder again, does not reject. @defaultValue the identity of the options
   */
  forget(identity?: string): Promise<void>;
  /** Writes what is due and releases the store. Informers that still run store nothing more. */
  close(): Promise<void>;
}

/** The keepers of one informer, one per ListerWatcher of the run. */
class Persisting<T extends KubernetesObject> implements InformerPart<T> {
  readonly #port: InformerPort<T>;
  readonly #shared: SharedStore;
  #keepers: Keeper<T>[] = [];
  #leave: () => void = () => undefined;

  constructor(port: InformerPort<T>, shared: SharedStore) {
    this.#port = port;
    this.#shared = shared;
    const { forgotten } = shared;
    port.source.reflector = (listerWatcher, options = {}) => {
      if (shared.forgotten !== forgotten) return reflect(listerWatcher, options);
      const collection = collectionOf(port, listerWatcher);
      const keeper = new Keeper<T>(port, shared, listerWatcher.scope || undefined, collection);
      const at = port.sources.indexOf(listerWatcher);
      this.#keepers[at] = keeper;
      shared.keepers.add(keeper);
      return keeper.reflect(listerWatcher, options);
    };
  }

  begin(): void {
    this.#leave = this.#port.join({
      next: (set) => {
        if (set.reset || set.cause === 'resync') return;
        const keys = set.changes.map(({ key }) => key);
        for (const keeper of this.#keepers) keeper.touched(keys);
      },
    });
  }

  sources(): void {
    for (const keeper of this.#keepers) {
      void keeper.stop().then(() => this.#shared.keepers.delete(keeper));
    }
    this.#keepers = [];
  }

  status(at: number, { blocked, error }: ReflectorStatus): void {
    const keeper = this.#keepers[at];
    if (blocked !== undefined && blocked !== 'wrong-kind') keeper?.refused();
    // The error of another kind of failure stays until a request succeeds.
    else if (error === undefined) keeper?.succeeded();
  }

  committed(deltas: readonly Delta<T>[]): void {
    for (const keeper of this.#keepers) keeper.committed(deltas);
  }

  end(): void {
    this.#leave();
    this.sources();
  }
}

/** The collection of a ListerWatcher. Throws a `TypeError` if it cannot be stored. */
function collectionOf<T extends KubernetesObject>(
  port: InformerPort<T>,
  listerWatcher: ListerWatcher<T>,
): ReadCollection {
  const collection = listerWatcher.collection;
  if (collection !== undefined) return collection;
  throw new TypeError(
    `${port.name}: persist needs ListerWatchers that say what they read; use createListWatch, or set its member collection`,
  );
}

/**
 * The option `persist` of an informer or a factory over any {@link SnapshotStore}: keeps the objects of some kinds in the store
 * and starts from them without a list of the collection.
 *
 * The stored objects are shown first, with `status.stale` and not synced. A watch from their version then brings them up to
 * date, and the informer is synced when it has reached the version that the server had at the start. If that is not possible,
 * the informer lists as without a store. Throws a `TypeError` on options that could store or show what they must not.
 *
 * @example
 * ```ts
 * import { createClient, createInformerFactory, type SnapshotStore, snapshotsIn } from 'rx-informer';
 * import { services } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const nothing: SnapshotStore = {
 *   read: async () => undefined,
 *   write: async () => undefined,
 *   delete: async () => undefined,
 *   heads: async () => new Map(),
 *   close: async () => undefined,
 * };
 * const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
 * const factory = createInformerFactory(client, {
 *   persist: snapshotsIn(nothing, { identity: 'alice', kinds: [services] }),
 * });
 * factory.informer(services);
 * factory.start();
 * await factory.whenSynced({ timeoutMs: 5_000 });
 * await factory.stop();
 * ```
 */
export function snapshotsIn(
  store: SnapshotStore,
  options: SnapshotOptions,
  maker = 'snapshotsIn',
): PersistPart {
  const checked = checkedSnapshotOptions(maker, options);
  const shared = new SharedStore(store, checked);
  const join = (port: InformerPort<KubernetesObject>) => {
    const collections = port.sources.map(({ collection }) => collection);
    const { group, version, resource: plural } = port.metricAttributes ?? {};
    const decodings = collections.map((each) => each && decodingOf(each));
    const [first] = decodings;
    const resource = first?.resource ?? { group, version, plural };
    const isNamed = checked.kinds.some(
      (kind) =>
        kind.group === resource.group &&
        kind.version === resource.version &&
        kind.plural === resource.plural,
    );
    if ((!isNamed && resource.plural !== undefined) || first?.projection?.eventKind === 'Table')
      return;
    for (const source of port.sources) collectionOf(port, source);
    if (port.partial) {
      throw new TypeError(
        `${port.name}: persist is not supported, because this informer holds only some shards of its collection`,
      );
    }
    if (
      decodings.some((each) => each?.transform !== undefined) &&
      checked.transformVersion === ''
    ) {
      throw new TypeError(
        `${port.name}: persist needs a transformVersion, because a transform changes the stored objects; pass any text that changes with the transform`,
      );
    }
    port.attach(Persisting, () => new Persisting(port, shared));
  };
  return Object.assign(join as (port: never) => void, {
    forget: (identity = checked.identity) => shared.forget(identity),
    close: () => shared.close(),
  });
}
