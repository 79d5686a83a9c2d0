/** Builds the parts of one shared informer and connects them: store, run, status, waits, handlers and lifecycle. */
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { checkedDuration } from '../rx/checked-option.ts';
import { allOf, reliable, unlimited } from '../rx/demand.ts';
import { Drain } from '../rx/drain.ts';
import { timingOf } from '../rx/timing.ts';
import { byNamespace, NAMESPACE_INDEX } from '../store/index-funcs.ts';
import { createIndexer, type Indexer } from '../store/indexer.ts';
import { FanOut } from './fan-out.ts';
import { checkedResyncPeriod, Registrations } from './handlers/registrations.ts';
import { Lifecycle } from './lifecycle.ts';
import type { SharedInformerOptions } from './options.ts';
import { PauseCounter } from './pause-counter.ts';
import { createRun, type Run } from './run.ts';
import { InformerMeter } from './status/informer-metrics.ts';
import { createReporter, type Reporter } from './status/reporter.ts';
import { StatusBoard } from './status/status-board.ts';
import { Waits } from './waits.ts';

/** The parts of one informer. */
export interface Assembly<T extends KubernetesObject> {
  readonly name: string;
  readonly indexer: Indexer<T>;
  readonly drain: Drain;
  readonly hub: FanOut<T>;
  readonly waits: Waits;
  readonly pauses: PauseCounter;
  readonly report: Reporter['report'];
  readonly board: StatusBoard<T>;
  readonly meter: InformerMeter;
  readonly run: Run;
  readonly registrations: Registrations<T>;
  readonly lifecycle: Lifecycle<T>;
}

function checkedScopes<T>(listerWatchers: readonly ListerWatcher<T>[]): readonly string[] {
  if (listerWatchers.length === 0)
    throw new TypeError('createSharedInformer: no ListerWatcher given');
  if (listerWatchers.length === 1) {
    const { scope } = listerWatchers[0] as ListerWatcher<T>;
    return scope ? [scope] : [];
  }
  const scopes = listerWatchers.map(({ scope }) => scope || undefined);
  if (scopes.includes(undefined) || new Set(scopes).size < scopes.length) {
    throw new TypeError(
      'createSharedInformer: each of several ListerWatchers needs a scope (namespace) of its own, because otherwise a list of one would delete the objects of another',
    );
  }
  return scopes as string[];
}

/** Builds the parts. Nothing runs before the lifecycle is started or held. */
export function assemble<T extends KubernetesObject>(
  listerWatchers: readonly ListerWatcher<T>[],
  options: SharedInformerOptions<T>,
): Assembly<T> {
  const scopes = checkedScopes(listerWatchers);
  const timing = timingOf(options);
  const { scheduler } = timing;
  const { name = 'informer' } = options;
  const lingerMs = checkedDuration(options.lingerMs ?? 30_000, 'createSharedInformer: lingerMs');
  const indexer = createIndexer<T>({
    indexers: options.indexers ?? { [NAMESPACE_INDEX]: byNamespace },
    ...(options.mutationGuard === undefined ? {} : { mutationGuard: options.mutationGuard }),
  });
  const drain = new Drain();
  const hub = new FanOut(indexer);
  const stopError = () => lifecycle.stopError;
  const waits = new Waits({ scheduler, drain, stopError });
  const quarantine = indexer.refused;
  const pauses = new PauseCounter();
  const { report, warn } = createReporter(name, options);
  const board = new StatusBoard({
    ...{ indexer, quarantine, scheduler, drain },
    onTransition: () => {
      const rejected = waits.check();
      return registrations.check() || rejected;
    },
    warn,
  });
  const demand = reliable(options.demand ?? unlimited, (error) =>
    report(error, { subscriber: 'demand' }),
  );
  const resyncMs = checkedResyncPeriod(options.resyncPeriodMs, 'createSharedInformer');
  const { metrics, metricAttributes } = options;
  const meter = new InformerMeter({
    ...{ name, indexer, board, scheduler, metrics, metricAttributes },
    pending: () => registrations.lag,
  });
  const run = createRun({
    ...{ name, listerWatchers, scopes, indexer, drain, board, meter, quarantine },
    ...{ resyncMs, timing, options },
    demand: allOf(pauses.demand, demand),
    deliver: (set) => hub.deliver(set),
    onCommitted: () => {
      waits.check();
      board.publishCommit();
      meter.moved();
    },
  });
  const registrations: Registrations<T> = new Registrations<T>({
    ...{ indexer, hub, drain, scheduler, resyncMs, report, warn, stopError },
    isRunning: () => lifecycle.active,
    onRemoved: () => drain.run(() => lifecycle.emptyIfUnused()),
    beforeResync: () => run.retryRefused(),
    notSynced: (name, timeoutMs) => board.notSynced(name, timeoutMs),
    blocking: (name, wait) => board.blocking(name, wait),
    pause: () => pauses.pause(),
    onCaughtUp: () => meter.moved(),
  });

  const lifecycle: Lifecycle<T> = new Lifecycle<T>({
    ...{ name, lingerMs, scheduler, drain, indexer, hub, board, meter, quarantine },
    ...{ registrations, waits },
    run$: run.run$,
  });
  return {
    ...{ name, indexer, drain, hub, waits, pauses, report },
    ...{ board, meter, run, registrations, lifecycle },
  };
}
