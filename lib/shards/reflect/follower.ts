/**
 * One reflector that follows some ranges of a collection. Its deltas are filtered, and it knows the version up to which
 * they are complete, so that another follower can continue for it.
 */
import { type Observer, Subscription } from 'rxjs';
import type { ListerWatcher } from '../../list-watch/lister-watcher.ts';
import { type KubernetesObject, versionOf } from '../../meta/kubernetes-object.ts';
import { isOlder } from '../../meta/resource-version.ts';
import { commonRanges, type ShardRange, sameRanges } from '../../meta/shard-ranges/ranges.ts';
import {
  createShardFilter,
  type ShardFilter,
  type ShardFilterBy,
} from '../../meta/shard-ranges/shard-filter.ts';
import type { Delta } from '../../reflector/delta.ts';
import type { ReflectOptions } from '../../reflector/reflect-options.ts';
import { reflect } from '../../reflector/reflector.ts';
import type { ReflectorStatus } from '../../reflector/status.ts';
import { elsewhere, ListedKeys, leaves } from './listed-keys.ts';
import type { QuietTime } from './quiet-time.ts';
import { type Requesting, type ServerFilter, shardRequests } from './shard-requests.ts';

/** Ranges of which all changes up to a version have been received. */
export interface Received {
  readonly filter: ShardFilter;
  readonly resourceVersion: string;
}

/** The parts of a {@link Follower}. */
export interface FollowerParts<T extends KubernetesObject> {
  readonly by: ShardFilterBy;
  readonly ranges: readonly ShardRange[];
  readonly server: ServerFilter;
  readonly quiet: QuietTime;
  readonly listerWatcher: ListerWatcher<T>;
  readonly options: ReflectOptions<T>;
  /** The version to watch from without a list, and what was received beyond it; absent: list first. */
  readonly resume?: { readonly from: string; readonly received: readonly Received[] };
  /** Called after each status. */
  onStatus(): void;
}

/** The version that a delta shows; '' if it shows none. */
function versionShown<T extends KubernetesObject>(delta: Delta<T>): string {
  switch (delta.type) {
    case 'added':
    case 'updated':
      return versionOf(delta.object);
    case 'deleted':
      return delta.object === undefined ? (delta.resourceVersion ?? '') : versionOf(delta.object);
    case 'refused':
      return delta.refused.resourceVersion;
    case 'bookmark':
      return delta.resourceVersion;
    default:
      return '';
  }
}

/** Drops a change of an object whose name another object has taken later. */
function unlessTaken<T extends KubernetesObject>(delta: Delta<T>): Delta<T> {
  if (!('key' in delta)) return delta;
  const version = versionShown(delta);
  return {
    type: 'rebalanced',
    resolve: (known) => (isOlder(version, versionOf(known.get(delta.key))) ? [] : [delta]),
  };
}

type Keyed<T> = Extract<Delta<T>, { key: string }>;
type Deleted<T> = Extract<Delta<T>, { type: 'deleted' }>;

/** Passes a deletion on only if its object is known, because it may be one of another shard. */
function ifKnown<T>(deletion: Deleted<T>): Delta<T> {
  const { key } = deletion;
  return {
    type: 'rebalanced',
    resolve: (known) =>
      known.get(key) === undefined && known.refused(key) === undefined ? [] : [deletion],
  };
}

export class Follower<T extends KubernetesObject> implements Requesting {
  readonly by: ShardFilterBy;
  readonly server: ServerFilter;
  readonly quiet: QuietTime;
  /** The ranges that it follows. They can only shrink. */
  ranges: readonly ShardRange[];
  filter: ShardFilter;
  /** The ranges that the last request selects; they may be more. */
  requested: readonly ShardRange[];
  /** Everything up to this version has been emitted. */
  resourceVersion: string;
  /** Whether a list was complete at some time. */
  listed: boolean;
  /** Whether a list was ordered that has not been answered. */
  isRefreshing = false;
  status: ReflectorStatus | undefined;
  readonly #parts: FollowerParts<T>;
  /** What the watch repeats. */
  #received: readonly Received[];
  /** Whether a list is in progress or has failed. */
  #isListing: boolean;
  readonly #keys: ListedKeys<T>;
  #subscription: Subscription | undefined;

  constructor(parts: FollowerParts<T>) {
    this.#parts = parts;
    this.by = parts.by;
    this.server = parts.server;
    this.quiet = parts.quiet;
    this.ranges = parts.ranges;
    this.requested = parts.ranges;
    this.filter = createShardFilter(parts.by, parts.ranges);
    this.resourceVersion = parts.resume?.from ?? '';
    this.listed = parts.resume !== undefined;
    this.#isListing = !this.listed;
    this.#received = parts.resume?.received ?? [];
    this.#keys = new ListedKeys(parts.by, parts.listerWatcher.scope);
  }

  /** Whether everything up to `resourceVersion` was received, and no list is in progress or due. */
  get isComplete(): boolean {
    const { phase, error } = this.status ?? {};
    return !this.#isListing && !(phase === 'backoff' && error?.isExpired === true);
  }

  /** What was received: of some ranges more than of the others, if a watch repeats it. */
  get received(): readonly Received[] {
    const { filter, resourceVersion } = this;
    return [...this.#received, { filter, resourceVersion }];
  }

  /** Starts the reflector. The observer receives its deltas, which `take` must be given. */
  start(observer: Observer<readonly Delta<T>[]>): void {
    const { listerWatcher, options, resume, onStatus } = this.#parts;
    const subscription = new Subscription();
    this.#subscription = subscription;
    subscription.add(
      reflect<T>(shardRequests(listerWatcher, this), {
        ...options,
        ...(resume === undefined ? {} : { resumeFrom: resume.from }),
        onStatus: (status) => {
          this.status = status;
          onStatus();
        },
      }).subscribe(observer),
    );
  }

  stop(): void {
    this.#subscription?.unsubscribe();
  }

  get isStopped(): boolean {
    return this.#subscription?.closed === true;
  }

  onRequest(kind: 'list' | 'watch', ranges: readonly ShardRange[]): void {
    this.requested = ranges;
    if (kind === 'list') this.#isListing = true;
  }

  /** Keeps only what is in `owned`. Returns whether something left. */
  narrow(owned: readonly ShardRange[]): boolean {
    const kept = commonRanges(this.ranges, owned);
    if (sameRanges(kept, this.ranges)) return false;
    this.ranges = kept;
    this.filter = createShardFilter(this.by, kept);
    return true;
  }

  /** The parts that take objects back that the list in progress has emitted and that are not followed any more. */
  takenBack(): Delta<T>[] {
    return this.#keys.takenBack(this.filter);
  }

  /** Filters deltas, and moves the version. */
  take(deltas: readonly Delta<T>[]): Delta<T>[] {
    const out: Delta<T>[] = [];
    for (const delta of deltas) {
      if (delta.type === 'replacing') out.push(...this.#keys.part(delta, this.filter));
      else if (delta.type === 'replaced') {
        out.push(...this.#keys.end(delta, this.filter));
        this.listed = true;
        this.#isListing = false;
        this.resourceVersion = delta.resourceVersion;
        this.#received = [];
      } else if ('key' in delta) this.#keyed(delta, out);
      else {
        if (delta.type === 'replace-abort') this.#keys.clear();
        out.push(delta);
      }
      const version = versionShown(delta);
      if (version !== '' && !isOlder(version, this.resourceVersion)) this.resourceVersion = version;
    }
    this.#received = this.#received.filter(({ resourceVersion }) =>
      isOlder(this.resourceVersion, resourceVersion),
    );
    return out;
  }

  #keyed(delta: Keyed<T>, out: Delta<T>[]): void {
    if (this.#received.length > 0) {
      const at = out.length;
      this.#fresh(delta, out);
      // Of what is repeated, one shard is earlier than another, in which a later object may have the same name.
      out.push(...out.splice(at).map(unlessTaken));
    } else this.#fresh(delta, out);
  }

  #fresh(delta: Keyed<T>, out: Delta<T>[]): void {
    const { filter, by } = this;
    const isInside =
      delta.type === 'refused'
        ? filter.containsRefused(delta.refused)
        : delta.object !== undefined && filter.contains(delta.object);
    if (isInside) {
      if (!this.#isRepeated(delta)) out.push(delta);
    } else if (delta.type === 'deleted') {
      // By owner, the stored state may have another owner than the last one, if the states in between were refused.
      if (delta.object === undefined || by === 'owner') out.push(ifKnown(delta));
    } else if (by === 'owner') out.push(leaves([elsewhere(delta)]));
  }

  /** Whether the follower before this one, or the list of the shards that arrived, has had this change already. */
  #isRepeated(delta: Keyed<T>): boolean {
    if (this.#received.length === 0) return false;
    const version = versionShown(delta);
    if (version === '') return false;
    return this.#received.some(({ filter, resourceVersion }) => {
      if (isOlder(resourceVersion, version)) return false;
      if (delta.type === 'refused') return filter.containsRefused(delta.refused);
      return delta.object !== undefined && filter.contains(delta.object);
    });
  }
}
