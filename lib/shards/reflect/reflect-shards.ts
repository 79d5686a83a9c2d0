/** `reflectShards`, which follows only the shards of a collection that this replica owns, while the shards change. */
import { Observable } from 'rxjs';
import type { ListerWatcher } from '../../list-watch/lister-watcher.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { ShardRange } from '../../meta/shard-ranges/ranges.ts';
import type { ShardFilterBy } from '../../meta/shard-ranges/shard-filter.ts';
import type { Delta } from '../../reflector/delta.ts';
import type { ReflectOptions } from '../../reflector/reflect-options.ts';
import { ShardReflection } from './shard-reflection.ts';

/** Which shards a replica owns. */
export interface OwnedShards {
  /** The field whose hash decides to which shard an object belongs. */
  readonly by: ShardFilterBy;
  /** The ranges that this replica owns, each time all of them. Nothing is requested before the first ones. */
  readonly ranges$: Observable<Iterable<ShardRange>>;
}

/**
 * Like `reflect`, but follows only the shards that the replica owns. Each subscription subscribes to `ranges$`. If
 * `ranges$` errors or completes, the shards stay as they are; an error is reported.
 */
export function reflectShards<T extends KubernetesObject>({
  by,
  ranges$,
}: OwnedShards): (
  listerWatcher: ListerWatcher<T>,
  options?: ReflectOptions<T>,
) => Observable<readonly Delta<T>[]> {
  return (listerWatcher, options = {}) =>
    new Observable((subscriber) => {
      new ShardReflection<T>(by, listerWatcher, options, subscriber).begin(ranges$);
    });
}
