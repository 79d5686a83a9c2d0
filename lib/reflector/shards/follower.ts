/**
 * One reflector that follows some ranges of a collection. Its deltas are filtered, and it knows the version up to which
 * they are complete, so that another follower can continue for it.
 */
import { type Observer, Subscription } from 'rxjs';
import type { Refused } from '../../decode/watch-event.ts';
import type { ListerWatcher } from '../../list-watch/lister-watcher.ts';
import { metaNamespaceKeyFunc as keyOf } from '../../meta/key.ts';
import { type KubernetesObject, versionOf } from '../../meta/kubernetes-object.ts';
import { isOlder } from '../../meta/resource-version.ts';
import { commonRanges, type ShardRange, sameRanges } from '../../meta/shard-ranges/ranges.ts';
import {
  createShardFilter,
  type ShardFilter,
  type ShardFilterBy,
} from '../../meta/shard-ranges/shard-filter.ts';
import type { Delta } from '../delta.ts';
import type { ReflectOptions } from '../reflect-options.ts';
import { reflect } from '../reflector.ts';
import type { ReflectorStatus } from '../status.ts';
import type { ServerFilter } from './server-filter.ts';
import { type Requesting, shardRequests } from './shard-requests.ts';

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
  readonly listerWatcher: ListerWatcher<T>;
  readonly options: ReflectOptions<T>;
  /** The version to watch from without a list, and what was received beyond it; absent: list first. */
  readonly resume?: { readonly from: string; readonly received: readonly Received[] };
  /** Called after each status, and after each change of `isWatching`. */
  onStatus(): void;
}

/** The version that a delta shows; '' if it shows none. */
function versionIn<T extends KubernetesObject>(delta: Delta<T>): string {
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
  const version = versionIn(delta);
  return {
    type: 'rebalanced',
    resolve: (known) => (isOlder(version, versionOf(known.get(delta.key))) ? [] : [delta]),
  };
}

type Keyed<T> = Extract<Delta<T>, { key: string }>;
type Part<T> = Extract<Delta<T>, { type: 'replacing' }>;
type Replaced<T> = Extract<Delta<T>, { type: 'replaced' }>;

export class Follower<T extends KubernetesObject> implements Requesting {
  readonly by: ShardFilterBy;
  readonly server: ServerFilter;
  /** The ranges that it follows. They can only shrink. */
  ranges: readonly ShardRange[];
  filter: ShardFilter;
  /** The ranges that the last request selects; they may be more. */
  requested: readonly ShardRange[];
  /** Everything up to this version has been emitted. */
  resourceVersion: string;
  /** Whether a list is complete. */
  listed: boolean;
  /** Whether the last request was a watch. */
  isWatching = false;
  /** Whether a list was ordered that has not been answered. */
  isRefreshing = false;
  status: ReflectorStatus | undefined;
  readonly #parts: FollowerParts<T>;
  /** What the watch repeats. */
  #received: readonly Received[];
  /** What the list in progress has emitted, so that the objects that leave can be taken back. */
  #parted: { objects: T[]; refused: Refused[] } = { objects: [], refused: [] };
  #subscription: Subscription | undefined;

  constructor(parts: FollowerParts<T>) {
    this.#parts = parts;
    this.by = parts.by;
    this.server = parts.server;
    this.ranges = parts.ranges;
    this.requested = parts.ranges;
    this.filter = createShardFilter(parts.by, parts.ranges);
    this.resourceVersion = parts.resume?.from ?? '';
    this.listed = parts.resume !== undefined;
    this.#received = parts.resume?.received ?? [];
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
    this.isWatching = kind === 'watch';
  }

  /** Keeps only what is in `owned`. Returns whether something left. */
  narrow(owned: readonly ShardRange[]): boolean {
    const kept = commonRanges(this.ranges, owned);
    if (sameRanges(kept, this.ranges)) return false;
    this.ranges = kept;
    this.filter = createShardFilter(this.by, kept);
    return true;
  }

  /** The part that takes objects back that the list in progress has emitted and that are not followed any more. */
  takenBack(): Delta<T>[] {
    const { objects, refused } = this.#parted;
    const removed = [
      ...objects.filter((object) => !this.filter.contains(object)).map(keyOf),
      ...refused.filter((each) => !this.filter.containsRefused(each)).map(({ key }) => key),
    ];
    const { scope } = this.#parts.listerWatcher;
    if (removed.length === 0) return [];
    return [{ type: 'replacing', ...(scope ? { scope } : {}), objects: [], removed }];
  }

  /** Filters deltas, and moves the version. */
  take(deltas: readonly Delta<T>[]): Delta<T>[] {
    const out: Delta<T>[] = [];
    for (const delta of deltas) {
      if (delta.type === 'replacing') out.push(this.#part(delta));
      else if (delta.type === 'replaced') out.push(this.#list(delta));
      else if ('key' in delta) this.#keyed(delta, out);
      else {
        if (delta.type === 'replace-abort') this.#parted = { objects: [], refused: [] };
        out.push(delta);
      }
      const version = versionIn(delta);
      if (version !== '' && !isOlder(version, this.resourceVersion)) this.resourceVersion = version;
    }
    this.#received = this.#received.filter(({ resourceVersion }) =>
      isOlder(this.resourceVersion, resourceVersion),
    );
    return out;
  }

  #part(delta: Part<T>): Part<T> {
    const { contains } = this.filter;
    const objects: T[] = [];
    const keys: string[] = [];
    for (let at = 0; at < delta.objects.length; at++) {
      const object = delta.objects[at] as T;
      if (!contains(object)) continue;
      objects.push(object);
      this.#parted.objects.push(object);
      if (delta.keys !== undefined) keys.push(delta.keys[at] as string);
    }
    const rejected = this.#accepted(delta.rejected);
    for (const refused of rejected) this.#parted.refused.push(refused);
    return {
      ...delta,
      objects,
      ...(delta.keys === undefined ? {} : { keys }),
      ...(delta.rejected === undefined ? {} : { rejected }),
    };
  }

  #list(delta: Replaced<T>): Replaced<T> {
    const { filter } = this;
    this.listed = true;
    this.resourceVersion = delta.resourceVersion;
    this.#received = [];
    this.#parted = { objects: [], refused: [] };
    return {
      ...delta,
      objects: delta.objects.filter(filter.contains),
      within: filter,
      ...(delta.rejected === undefined ? {} : { rejected: this.#accepted(delta.rejected) }),
    };
  }

  #accepted(refused: readonly Refused[] = []): readonly Refused[] {
    return refused.filter((each) => this.filter.containsRefused(each));
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
    if (this.#isRepeated(delta)) return;
    if (delta.type === 'refused') {
      if (this.filter.containsRefused(delta.refused)) out.push(delta);
      return;
    }
    const { key, object } = delta;
    if (object === undefined || this.filter.contains(object)) out.push(delta);
    else if (this.by === 'owner' && delta.type === 'updated') {
      // The object has another owner now, or none.
      out.push({ type: 'deleted', key, object, finalStateUnknown: false, cause: 'rebalance' });
    }
  }

  /** Whether the follower before this one, or the list of the shards that arrived, has had this change already. */
  #isRepeated(delta: Keyed<T>): boolean {
    if (this.#received.length === 0) return false;
    const version = versionIn(delta);
    if (version === '') return false;
    return this.#received.some(({ filter, resourceVersion }) => {
      if (isOlder(resourceVersion, version)) return false;
      if (delta.type === 'refused') return filter.containsRefused(delta.refused);
      return delta.object !== undefined && filter.contains(delta.object);
    });
  }
}
