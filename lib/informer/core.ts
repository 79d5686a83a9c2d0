/** The parts that every informer has, shared or not: store, run, status, metrics and waits. */
import type { Observable, SchedulerLike } from 'rxjs';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import type { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { allOf, reliable, unlimited } from '../rx/demand.ts';
import { Drain } from '../rx/drain.ts';
import { timingOf } from '../rx/timing.ts';
import type { ChangeSet } from '../store/change-set.ts';
import { createIndexer } from '../store/create-indexer.ts';
import { byNamespace, NAMESPACE_INDEX } from '../store/index-funcs.ts';
import type { Indexer } from '../store/indexer.ts';
import type { FeedHost } from './handlers/handler-feed.ts';
import { checkedResyncPeriod } from './handlers/registrations.ts';
import type { InformerOptions } from './options.ts';
import { PauseCounter } from './pause-counter.ts';
import { createRun, type Run, type RunParts } from './run.ts';
import type { SourceSet } from './sources.ts';
import { InformerMeter } from './status/informer-metrics.ts';
import { createReporter } from './status/reporter.ts';
import { StatusBoard } from './status/status-board.ts';
import { Waits } from './waits.ts';

/** The parts of one informer that do not depend on how its change sets reach their consumers. */
export interface Core<T extends KubernetesObject> extends FeedHost {
  readonly name: string;
  readonly scheduler: SchedulerLike;
  readonly indexer: Indexer<T>;
  readonly waits: Waits;
  readonly board: StatusBoard<T>;
  readonly meter: InformerMeter;
  readonly run: Run;
  /** The resync period in milliseconds; 0 means never. */
  readonly resyncMs: number;
}

/** The source of an informer. */
export interface CoreSource<T extends KubernetesObject> {
  readonly listerWatchers: readonly ListerWatcher<T>[];
  readonly scopes: readonly string[];
  readonly sources$?: Observable<SourceSet<T>> | undefined;
  readonly reflector?: RunParts<T>['reflector'];
  /** The name of the function that creates the informer, for errors. */
  readonly caller: string;
}

/** The consumers of an informer's change sets. */
export interface Consumers<T> {
  deliver(set: ChangeSet<T>): void;
  /** How many changes wait for handlers. */
  lag(): number;
  /** Checks the waits of handlers after a transition of the status. Returns whether a wait was rejected. */
  check(): boolean;
  /** The error with which a wait on a stopped informer rejects; `undefined` if the informer is not stopped. */
  stopError(): ApiError | undefined;
}

/** Builds the parts. The consumers are called only after the run has begun, or a wait. */
export function createCore<T extends KubernetesObject>(
  { listerWatchers, scopes, sources$, reflector, caller }: CoreSource<T>,
  options: InformerOptions<T>,
  consumers: Consumers<T>,
): Core<T> {
  const timing = timingOf(options);
  const { scheduler } = timing;
  const { name = 'informer', metrics, metricAttributes } = options;
  const indexer = createIndexer<T>({
    indexers: options.indexers ?? { [NAMESPACE_INDEX]: byNamespace },
    ...(options.mutationGuard === undefined ? {} : { mutationGuard: options.mutationGuard }),
  });
  const drain = new Drain();
  const waits = new Waits({ scheduler, drain, stopError: consumers.stopError });
  const pauses = new PauseCounter();
  const { report, warn } = createReporter(name, options);
  const board = new StatusBoard({
    ...{ indexer, scheduler, drain, warn },
    onTransition: () => {
      const rejected = waits.check();
      return consumers.check() || rejected;
    },
  });
  const demand = reliable(options.demand ?? unlimited, (error) =>
    report(error, { subscriber: 'demand' }),
  );
  const resyncMs = checkedResyncPeriod(options.resyncPeriodMs, caller);
  const meter = new InformerMeter({
    ...{ name, indexer, board, scheduler, metrics, metricAttributes },
    pending: consumers.lag,
  });
  const run = createRun<T>({
    ...{ name, listerWatchers, scopes, indexer, drain, board, meter },
    ...{ resyncMs, timing, options, sources$, reflector },
    demand: allOf(pauses.demand, demand),
    deliver: consumers.deliver,
    onCommitted: () => {
      waits.check();
      board.publishCommit();
      meter.moved();
    },
  });
  return {
    ...{ name, scheduler, indexer, drain, waits, board, meter, run, resyncMs, report, warn },
    pause: () => pauses.pause(),
    onCaughtUp: () => meter.moved(),
  };
}
