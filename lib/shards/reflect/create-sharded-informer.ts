/** A shared informer that holds only some shards of a collection, while the shards change. */

import { sharedInformerOf } from '../../informer/create-shared-informer.ts';
import { InformerLifecycle } from '../../informer/lifecycle.ts';
import type { SharedInformerOptions } from '../../informer/options.ts';
import type { SharedInformer } from '../../informer/shared-informer.ts';
import type { ListerWatcher } from '../../list-watch/lister-watcher.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { createShardFilter } from '../../meta/shard-ranges/shard-filter.ts';
import { type OwnedShards, reflectShards } from './reflect-shards.ts';

/** The options of {@link createShardedInformer}. Audits are not supported, because they compare complete collections. */
export interface ShardedInformerOptions<T, Names extends string = string>
  extends Omit<SharedInformerOptions<T, Names>, 'audit'> {
  /** The shards that this replica owns. */
  readonly shards: OwnedShards;
}

/**
 * Creates a shared informer that holds only the objects of the shards that `shards.ranges$` emits.
 *
 * The server is asked to send only these objects (`shardSelector`, feature gate ShardedListAndWatch), and the client
 * always filters by the same hash, because a server without the gate ignores the selector and sends everything.
 * `status.shards` says whether the server filters. If ranges arrive, only they are listed, and one watch over all of
 * them follows. If ranges leave, their objects leave the store in a set with the cause `rebalance`: `onLeave` of a
 * handler is called instead of `onDelete`, `set.left` contains them instead of `set.deleted`, and a controller queues
 * no key. Before the first ranges nothing is requested. Without ranges the informer is synced and empty.
 *
 * A deletion while a range moves between replicas may be seen by no replica, so clean up with finalizers. Owning a
 * range is not a permission to write: the former owner may not have heard of the change yet.
 *
 * Throws a `TypeError` like `createSharedInformer`, if `shards.by` is none of 'uid', 'namespace' and 'owner', and if the
 * option `audit` is given.
 *
 * @experimental
 * @example
 * ```ts
 * import { createClient, createListWatch, createShardedInformer, shardRanges } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 * import { BehaviorSubject } from 'rxjs';
 *
 * const server = createFakeApiServer();
 * for (const namespace of ['shop', 'cart']) {
 *   server.objects.create(pods, { metadata: { namespace, name: 'web-0' } });
 * }
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * // The first of two replicas owns half of the 64 slots.
 * const ranges$ = new BehaviorSubject(shardRanges(Array.from({ length: 32 }, (_, slot) => slot)));
 * const informer = createShardedInformer(createListWatch(client, pods), {
 *   shards: { by: 'namespace', ranges$ },
 * });
 * informer.start();
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * informer.indexer.listKeys(); // => ['shop/web-0']
 * await informer.stop();
 * ```
 */
export function createShardedInformer<T extends KubernetesObject, Names extends string = string>(
  listerWatcher: ListerWatcher<T>,
  options: ShardedInformerOptions<T, Names>,
): SharedInformer<T, Names> {
  const { shards, ...rest } = options;
  createShardFilter(shards.by, []);
  return sharedInformerOf<T>(
    new InformerLifecycle(
      {
        listerWatchers: [listerWatcher],
        reflector: reflectShards<T>(shards),
        partial: true,
        caller: 'createShardedInformer',
      },
      rest,
    ),
  );
}
