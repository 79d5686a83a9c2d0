/**
 * The run of `reflectShards`: one follower watches all shards that are held. If shards arrive, a second one lists
 * them while the first one watches. Then both end, and one watch over all of them begins at the older of both versions. It repeats changes that
 * one of the two has received already; they are recognized by their versions and dropped. So no change is missed, and no
 * change arrives after a later one.
 */
import { EMPTY, type Observable, Subject, type Subscriber, Subscription } from 'rxjs';
import type { ListerWatcher } from '../../list-watch/lister-watcher.ts';
import type { ApiError } from '../../meta/api-error.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { isOlder, isResourceVersion } from '../../meta/resource-version.ts';
import {
  joinRanges,
  type ShardRange,
  sameRanges,
  withoutRanges,
} from '../../meta/shard-ranges/ranges.ts';
import { createShardFilter, type ShardFilterBy } from '../../meta/shard-ranges/shard-filter.ts';
import type { Delta } from '../../reflector/delta.ts';
import type { ReflectOptions, RefreshOrder } from '../../reflector/reflect-options.ts';
import { Drain } from '../../rx/drain.ts';
import { longTimer } from '../../rx/long-timer.ts';
import { reportingErrors, reportUnhandled } from '../../rx/report-unhandled.ts';
import { timingOf } from '../../rx/timing.ts';
import { Arrivals, rebalanced } from './arrivals.ts';
import { Follower, type FollowerParts } from './follower.ts';
import { QuietTime } from './quiet-time.ts';
import { ShardReport } from './shard-report.ts';
import { ServerFilter } from './shard-requests.ts';

/** After this time without a change of the ranges, a watch that selects too much is requested again. */
const NARROW_AFTER_MS = 1_000;

/** One subscription of `reflectShards`. */
export class ShardReflection<T extends KubernetesObject> {
  readonly by: ShardFilterBy;
  readonly listerWatcher: ListerWatcher<T>;
  readonly options: ReflectOptions<T>;
  readonly subscriber: Subscriber<readonly Delta<T>[]>;
  readonly #drain = new Drain();
  readonly #server = new ServerFilter(() => this.#drain.run(() => this.#publish()));
  readonly #quiet: QuietTime;
  readonly #report: ShardReport;
  readonly #refreshes = new Subject<RefreshOrder>();
  readonly #notifyRefreshed: (error: ApiError | undefined) => void;
  #owned: readonly ShardRange[] | undefined;
  #held: Follower<T> | undefined;
  #arriving: Follower<T> | undefined;
  #contents = new Arrivals<T>();
  #narrowing = new Subscription();
  #closed = false;

  constructor(
    by: ShardFilterBy,
    listerWatcher: ListerWatcher<T>,
    options: ReflectOptions<T>,
    subscriber: Subscriber<readonly Delta<T>[]>,
  ) {
    this.by = by;
    this.listerWatcher = listerWatcher;
    this.options = options;
    this.subscriber = subscriber;
    this.#quiet = new QuietTime(timingOf(options).scheduler);
    this.#report = new ShardReport(reportingErrors(options.onStatus));
    this.#notifyRefreshed = reportingErrors(options.onRefreshed);
  }

  begin(ranges$: Observable<Iterable<ShardRange>>): void {
    const { subscriber, options } = this;
    subscriber.add(() => {
      this.#closed = true;
      this.#held?.stop();
      this.#arriving?.stop();
      this.#narrowing.unsubscribe();
    });
    this.#publish();
    subscriber.add(
      options.refresh$?.subscribe({
        next: (order) => this.#drain.run(() => this.#refresh(order)),
        error: reportUnhandled,
      }),
    );
    subscriber.add(
      ranges$.subscribe({
        next: (ranges) => this.#drain.run(() => this.#own(ranges)),
        // The shards stay as they are, because the objects that are held must not become stale.
        error: reportUnhandled,
      }),
    );
  }

  /** In the drain, so that the follower that receives the order is the one that holds the shards when it is carried out. */
  #refresh(order: RefreshOrder): void {
    if (this.#closed) return;
    // Without shards the store is as new as it can be.
    if (this.#held === undefined) return this.#notifyRefreshed(undefined);
    this.#held.isRefreshing = true;
    this.#refreshes.next(order);
  }

  #emit(deltas: readonly Delta<T>[]): void {
    if (deltas.length > 0 && !this.#closed) this.subscriber.next(deltas);
  }

  #own(ranges: Iterable<ShardRange>): void {
    if (this.#closed) return;
    let owned: readonly ShardRange[];
    try {
      owned = joinRanges(ranges);
    } catch (error) {
      return reportUnhandled(error);
    }
    const isFirst = this.#owned === undefined;
    if (this.#owned !== undefined && sameRanges(this.#owned, owned)) return;
    this.#owned = owned;
    if (isFirst) this.#first(owned);
    else this.#lose(owned);
    this.#gain();
    this.#publish();
  }

  #first(owned: readonly ShardRange[]): void {
    // An earlier run may have left objects of other shards.
    this.#emit([rebalanced<T>(createShardFilter(this.by, owned))]);
    if (owned.length === 0) this.#holdNothing();
    else this.#follow(owned);
  }

  get #scoped(): { readonly scope?: string } {
    const { scope } = this.listerWatcher;
    return scope ? { scope } : {};
  }

  /** Completes the list of no shards, so that the store is synced. */
  #holdNothing(): void {
    const scoped = this.#scoped;
    const within = createShardFilter(this.by, []);
    this.#emit([
      { type: 'replace-abort', ...scoped },
      {
        type: 'replaced',
        ...scoped,
        objects: [],
        resourceVersion: '',
        trustVersions: false,
        within,
      },
    ]);
  }

  #lose(owned: readonly ShardRange[]): void {
    const held = this.#held;
    if (held?.narrow(owned) === true) {
      this.#emit([rebalanced<T>(held.filter), ...held.takenBack()]);
      if (held.ranges.length === 0) {
        const { listed, isRefreshing } = held;
        this.#end(held);
        this.#held = undefined;
        // The list in progress ends without an end of its own.
        if (listed) this.#emit([{ type: 'replace-abort', ...this.#scoped }]);
        else this.#holdNothing();
        if (isRefreshing) this.#notifyRefreshed(undefined);
      }
    }
    const arriving = this.#arriving;
    if (arriving?.narrow(owned) === true && arriving.ranges.length === 0) this.#dropArriving();
    this.#narrowLater();
  }

  #gain(): void {
    if (this.#arriving !== undefined || this.#closed) return;
    const ranges = withoutRanges(this.#owned ?? [], this.#held?.ranges ?? []);
    if (ranges.length === 0) return;
    const { by, listerWatcher, options } = this;
    const arriving = this.#create({
      ...{ by, ranges, listerWatcher },
      options: { ...options, refresh$: EMPTY, initialList: 'pages', onRefreshed: undefined },
    });
    this.#arriving = arriving;
    this.#start(arriving, (deltas) => {
      for (const delta of arriving.take(deltas)) this.#contents.take(delta);
      this.#merge();
    });
  }

  /** Lets the arriving shards in, when they are listed and the held ones are watched. */
  #merge(): void {
    const [held, arriving] = [this.#held, this.#arriving];
    if (this.#closed || arriving?.isComplete !== true) return;
    if (held?.isComplete === false || held?.isRefreshing === true) return;
    // By owner, an object of the list may have left through the held shards since. It must not come back in its older state.
    const isBehind = isOlder(arriving.resourceVersion, held?.resourceVersion ?? '');
    if (isBehind && this.by === 'owner') return;
    const ranges = joinRanges([...(held?.ranges ?? []), ...arriving.ranges]);
    const arrived = rebalanced(createShardFilter(this.by, ranges), this.#contents);
    this.#dropArriving();
    if (held !== undefined) this.#end(held);
    this.#emit([arrived]);
    this.#follow(ranges, [...(held === undefined ? [] : [held]), arriving]);
    this.#gain();
    this.#publish();
  }

  #dropArriving(): void {
    if (this.#arriving !== undefined) this.#end(this.#arriving);
    this.#arriving = undefined;
    this.#contents = new Arrivals();
  }

  /** Watches `ranges` from where the followers before have ended, or lists them first. */
  #follow(ranges: readonly ShardRange[], before: readonly Follower<T>[] = []): void {
    if (this.#closed) return;
    const { by, listerWatcher, options } = this;
    const received = before.flatMap((follower) => follower.received);
    const versions = before.map(({ resourceVersion }) => resourceVersion);
    const oldest = versions.reduce((a, b) => (isOlder(b, a) ? b : a), versions[0] ?? '');
    const resumes = before.length > 0 && versions.every(isResourceVersion);
    const held = this.#create({
      ...{ by, ranges, listerWatcher },
      options: {
        ...options,
        initialList: options.initialList ?? 'pages',
        refresh$: this.#refreshes,
        // In the drain, so that the deltas of the list are emitted before.
        onRefreshed: (error) =>
          this.#drain.run(() => {
            if (held !== this.#held) return;
            held.isRefreshing = false;
            this.#notifyRefreshed(error);
            this.#merge();
          }),
      },
      ...(resumes ? { resume: { from: oldest, received } } : {}),
    });
    this.#held = held;
    this.#start(held, (deltas) => {
      this.#emit(held.take(deltas));
      this.#merge();
    });
  }

  #create(parts: Omit<FollowerParts<T>, 'server' | 'quiet' | 'onStatus'>): Follower<T> {
    return new Follower<T>({
      ...parts,
      ...{ server: this.#server, quiet: this.#quiet },
      onStatus: () =>
        this.#drain.run(() => {
          this.#publish();
          this.#merge();
        }),
    });
  }

  #start(follower: Follower<T>, onDeltas: (deltas: readonly Delta<T>[]) => void): void {
    follower.start({
      next: (deltas) =>
        this.#drain.run(() => {
          if (!follower.isStopped && !this.#closed) onDeltas(deltas);
        }),
      error: (error) => this.#drain.run(() => this.subscriber.error(error)),
      complete: () =>
        this.#drain.run(() => {
          const isCurrent = follower === this.#held || follower === this.#arriving;
          if (isCurrent) this.subscriber.complete();
        }),
    });
  }

  #end(follower: Follower<T>): void {
    follower.stop();
    this.#report.end(follower);
  }

  #narrowLater(): void {
    this.#narrowing.unsubscribe();
    if (this.#closed || this.by === 'owner') return;
    const { scheduler } = timingOf(this.options);
    this.#narrowing = longTimer(NARROW_AFTER_MS, scheduler).subscribe(() =>
      this.#drain.run(() => this.#narrow()),
    );
  }

  #narrow(): void {
    const held = this.#held;
    if (held === undefined || this.#closed || this.#server.filters === false) return;
    if (sameRanges(held.requested, held.ranges) || this.#arriving !== undefined) return;
    if (!held.isComplete || held.isRefreshing) return this.#narrowLater();
    this.#end(held);
    this.#follow(held.ranges, [held]);
    this.#publish();
  }

  #publish(): void {
    if (this.#closed) return;
    const nowMs = timingOf(this.options).scheduler.now();
    if (this.#owned === undefined) return this.#report.unknown(nowMs);
    const shown = { held: this.#held, arriving: this.#arriving };
    this.#report.publish(this.#owned, shown, this.#server.told(this.by), nowMs);
  }
}
