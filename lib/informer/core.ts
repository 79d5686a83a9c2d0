/** The state of one informer that its run, its lifecycle and its parts share: store, status, listeners and the parts. */
import { type Observable, Subject } from 'rxjs';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import type { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { MetricAttributes } from '../meta/metrics.ts';
import type { Delta } from '../reflector/delta.ts';
import { limitsOf, type RefreshOrder } from '../reflector/reflect-options.ts';
import type { reflect } from '../reflector/reflector.ts';
import { type Backoff, reliableBackoff } from '../rx/backoff.ts';
import { allOf, type Demand, reliable, unlimited } from '../rx/demand.ts';
import { Drain } from '../rx/drain.ts';
import { Holders } from '../rx/sharing/holders.ts';
import { Hub } from '../rx/sharing/hub.ts';
import { type ResolvedTiming, timingOf } from '../rx/timing.ts';
import { createIndexer } from '../store/create-indexer.ts';
import { byNamespace, NAMESPACE_INDEX } from '../store/index-funcs.ts';
import type { Indexer } from '../store/indexer.ts';
import { contentsOf, type Listener } from './listener.ts';
import { checkedResyncPeriod, type SharedInformerOptions } from './options.ts';
import type { InformerPart, InformerPort } from './part.ts';
import type { SourceSet } from './sources.ts';
import { createReporter, type Reporter } from './status/reporter.ts';
import { StatusBoard } from './status/status-board.ts';

/** The ListerWatchers of an informer, and how it follows them. */
export interface InformerSource<T extends KubernetesObject> {
  readonly listerWatchers: readonly ListerWatcher<T>[];
  /** Replaces the ListerWatchers in each run. */
  readonly sources$?: Observable<SourceSet<T>> | undefined;
  /** Follows a ListerWatcher. @defaultValue `reflect` */
  reflector?: typeof reflect<T> | undefined;
  /** Whether the reflector passes on only some shards of the collection. */
  readonly partial?: boolean | undefined;
  /** The name of the function that creates the informer, for errors. */
  readonly caller: string;
}

export abstract class InformerCore<T extends KubernetesObject> implements InformerPort<T> {
  readonly name: string;
  readonly options: SharedInformerOptions<T>;
  readonly source: InformerSource<T>;
  readonly timing: ResolvedTiming;
  readonly backoff: Backoff | undefined;
  readonly drain: Drain = new Drain();
  readonly store: Indexer<T>;
  readonly board: StatusBoard<T>;
  /** The position of a listener is the revision of the store that it has. */
  readonly listeners: Hub<Listener<T>> = new Hub();
  readonly report: Reporter['report'];
  readonly warn: Reporter['warn'];
  readonly resyncMs: number;
  readonly requestTimeoutMs: number;
  /** Asked before each read and each pop. */
  readonly demand: Demand;
  /** Deltas of the informer's own, which pass the queue with those of the reflectors. */
  readonly retried$: Subject<readonly Delta<T>[]> = new Subject();
  readonly orders$: Subject<{ readonly at: number; readonly order: RefreshOrder }> = new Subject();
  sources: readonly ListerWatcher<T>[];
  /** The delta queue of the current run. */
  queue: { readonly size: number } | undefined;
  readonly #parts = new Map<unknown, InformerPart<T>>();
  readonly #resumed = new Subject<void>();
  readonly #pauses = new Holders(() => this.#resumed.next());

  constructor(source: InformerSource<T>, options: SharedInformerOptions<T>) {
    const { name = 'informer', indexers, mutationGuard } = options;
    this.name = name;
    this.source = source;
    this.options = options;
    this.sources = source.listerWatchers;
    this.resyncMs = checkedResyncPeriod(options.resyncPeriodMs, source.caller);
    // Checked here, too, because a reflector is created when the run begins.
    this.requestTimeoutMs = limitsOf(options, source.caller).requestTimeoutMs;
    const { report, warn } = createReporter(name, options);
    this.report = report;
    const reporting = (subscriber: string) => (error: unknown) => report(error, { subscriber });
    this.timing = timingOf(options, reporting('random'));
    const { backoff } = options;
    this.backoff = backoff && reliableBackoff(backoff, reporting('backoff'));
    this.warn = warn;
    this.store = createIndexer<T>({
      indexers: indexers ?? { [NAMESPACE_INDEX]: byNamespace },
      mutationGuard,
    });
    this.board = new StatusBoard({
      indexer: this.store,
      scheduler: this.timing.scheduler,
      drain: this.drain,
      warn,
      onTransition: () => {
        let rejected = false;
        for (const part of this.#parts.values()) rejected = part.transition?.() || rejected;
        return rejected;
      },
    });
    this.demand = allOf(
      () => (this.#pauses.count === 0 ? null : this.#resumed),
      reliable(options.demand ?? unlimited, reporting('demand')),
    );
  }

  abstract readonly active: boolean;
  abstract readonly stopError: ApiError | undefined;
  abstract leaving(): void;
  abstract remove(): Promise<void>;

  get partial(): boolean {
    return this.source.partial ?? false;
  }

  get metricAttributes(): MetricAttributes | undefined {
    return this.options.metricAttributes;
  }

  get queueLength(): number {
    return this.queue?.size ?? 0;
  }

  get waiting(): number {
    let waiting = 0;
    for (const part of this.#parts.values()) waiting += part.waiting?.() ?? 0;
    return waiting;
  }

  /** Calls every part. */
  each(call: (part: InformerPart<T>) => void): void {
    for (const part of this.#parts.values()) call(part);
  }

  attach<P extends InformerPart<T>>(kind: unknown, make: () => P): P {
    const known = this.#parts.get(kind);
    if (known !== undefined) return known as P;
    const part = make();
    this.#parts.set(kind, part);
    if (!this.active) return part;
    this.drain.enter(() => {
      part.begin?.();
      part.sources?.(this.sources);
      for (const [at, { scope = '' }] of this.sources.entries()) {
        const status = this.board.reflectors.get(scope);
        if (status !== undefined) part.status?.(at, status);
      }
    });
    return part;
  }

  join(listener: Listener<T>): () => void {
    // The store commits before it notifies, so there is no gap between the snapshot and the next set, and no duplicate.
    const snapshot = contentsOf(this.store, 'snapshot');
    const leave = this.listeners.add(listener, snapshot.rev);
    listener.next(snapshot);
    return leave;
  }

  order(at: number, order: RefreshOrder): void {
    this.orders$.next({ at, order });
  }

  pause(): () => void {
    return this.#pauses.hold();
  }

  retryRefused(): void {
    if (this.store.refused.size > 0) this.retried$.next([{ type: 'retry' }]);
  }

  caughtUp(): void {
    this.each((part) => part.caughtUp?.());
  }
}
