/**
 * An informer with one handler: the same stages as a shared informer, without subscribers that join or leave.
 * client-go: tools/cache/controller.go, NewIndexerInformer and NewInformerWithOptions.
 */
import type { Observable, Subscription } from 'rxjs';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { allOf, reliable, unlimited } from '../rx/demand.ts';
import { Drain } from '../rx/drain.ts';
import { reportingErrors } from '../rx/report-unhandled.ts';
import { timingOf } from '../rx/timing.ts';
import { byNamespace, NAMESPACE_INDEX } from '../store/index-funcs.ts';
import { createIndexer, type IndexerReader } from '../store/indexer.ts';
import type { DeliveryPolicy } from './handlers/delivery.ts';
import type { ResourceEventHandler } from './handlers/event-handler.ts';
import { HandlerFeed } from './handlers/handler-feed.ts';
import { checkedResyncPeriod } from './handlers/registrations.ts';
import { reportSubscriberErrors } from './handlers/report-subscriber-errors.ts';
import type { InformerOptions } from './options.ts';
import { PauseCounter } from './pause-counter.ts';
import { createRun } from './run.ts';
import { InformerMeter, type InformerMetrics } from './status/informer-metrics.ts';
import { createReporter } from './status/reporter.ts';
import type { InformerStatus } from './status/status.ts';
import { StatusBoard } from './status/status-board.ts';
import { type SyncWaitOptions, Waits } from './waits.ts';

/** The options of {@link createInformer}. */
export interface UnsharedInformerOptions<T> extends InformerOptions<T> {
  /** How changes are queued, and how many, while the handler is busy. @defaultValue { kind: 'conflate' } */
  readonly delivery?: DeliveryPolicy<T> | undefined;
}

/** A live, indexed copy of a collection with one handler. Create it with {@link createInformer}. */
export interface Informer<T extends KubernetesObject> {
  readonly name: string;
  /** The store, read-only. */
  readonly indexer: IndexerReader<T>;
  /** Emits the status on subscription, then each transition. Completes at a stop, never errors. */
  readonly status$: Observable<InformerStatus>;
  /** The current status. */
  readonly status: InformerStatus;
  /**
   * Emits the metrics on subscription, then after each commit and each transition. Completes at a stop, never errors.
   */
  readonly metrics$: Observable<InformerMetrics>;
  /** Whether the store is synced, and the handler has returned (its promises have settled) for the first list. */
  readonly hasSynced: boolean;
  readonly lastSyncResourceVersion: string;
  readonly isStopped: boolean;
  /** How many changes wait for the handler. */
  readonly lag: number;
  /**
   * Begins a run, unless one is in progress. After a stop, the first list of the new run reports the difference to the
   * handler.
   */
  start(): void;
  /** Ends the run like `SharedInformer.stop`. */
  stop(): Promise<void>;
  /** Lists again like `SharedInformer.refresh`. */
  refresh(): Promise<void>;
  /**
   * Resolves when `hasSynced` is true. Rejects with the last cause when `timeoutMs` has passed, and with reason
   * `Stopped` when the informer is stopped or was stopped before. Rejects immediately with the cause while the server
   * refuses the first list (`status.blocked`), unless `whileBlocked` is `'wait'`.
   */
  whenSynced(options?: SyncWaitOptions): Promise<void>;
}

/**
 * Creates an informer over one ListerWatcher with one handler: `reflect`, `deltaFifo`, `applyDeltas`, and the handler.
 *
 * No request is sent before `start()`. The handler is called like a handler of `SharedInformer.addEventHandler`: a
 * promise that it returns is awaited, and an error that it throws is reported. Throws a `TypeError` if a period or a
 * limit is not a valid number. client-go: NewIndexerInformer, whose informers can run only once.
 *
 * @example
 * ```ts
 * import { createClient, createInformer, createListWatch } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const keys: string[] = [];
 * const informer = createInformer(createListWatch(client, pods), {
 *   onAdd: (_pod, { key }) => keys.push(key),
 * });
 * informer.start();
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * keys; // => ['shop/web-0']
 * await informer.stop();
 * ```
 */
export function createInformer<T extends KubernetesObject>(
  listerWatcher: ListerWatcher<T>,
  handler: ResourceEventHandler<T>,
  options: UnsharedInformerOptions<T> = {},
): Informer<T> {
  const timing = timingOf(options);
  const { scheduler } = timing;
  const { name = 'informer', delivery, metrics, metricAttributes } = options;
  const indexer = createIndexer<T>({
    indexers: options.indexers ?? { [NAMESPACE_INDEX]: byNamespace },
    ...(options.mutationGuard === undefined ? {} : { mutationGuard: options.mutationGuard }),
  });
  const drain = new Drain();
  const quarantine = indexer.refused;
  const pauses = new PauseCounter();
  const reporter = createReporter(name, options);
  const board = new StatusBoard({
    ...{ indexer, quarantine, scheduler, drain },
    onTransition: () => waits.check(),
    warn: reporter.warn,
  });
  const pending = () => feed.lag;
  const meter = new InformerMeter({
    ...{ name, indexer, board, scheduler, metrics, metricAttributes, pending },
  });
  const demand = reliable(options.demand ?? unlimited, (error) =>
    reporter.report(error, { subscriber: 'demand' }),
  );
  const host = {
    drain,
    scheduler,
    pause: () => pauses.pause(),
    onCaughtUp: () => meter.moved(),
    ...reporter,
  };
  const feed = new HandlerFeed<T>(
    host,
    handler,
    'handler',
    delivery === undefined ? {} : { delivery },
    () => waits.check(),
  );
  const { run$, refresh } = createRun<T>({
    name,
    listerWatchers: [listerWatcher],
    scopes: listerWatcher.scope ? [listerWatcher.scope] : [],
    indexer,
    drain,
    board,
    meter,
    quarantine,
    demand: allOf(pauses.demand, demand),
    resyncMs: checkedResyncPeriod(options.resyncPeriodMs, 'createInformer'),
    timing,
    options,
    deliver: (set) => feed.push(set),
    onCommitted: () => {
      board.publishCommit();
      meter.moved();
    },
  });
  let run: Subscription | undefined;
  let stopped = false;
  const stopError = () => (stopped ? ApiError.local('Stopped', `${name} was stopped`) : undefined);
  const waits = new Waits({ scheduler, drain, stopError });
  const end = (completeSubscribers: () => void) => {
    if (!stopped) {
      stopped = true;
      reportingErrors(() => run?.unsubscribe())();
      run = undefined;
      meter.end();
      feed.hold();
      quarantine.clear();
      board.end('stopped');
      indexer.transaction((write) => write.mark({ synced: false }));
      board.publish();
    }
    waits.reject(stopError() as ApiError);
    completeSubscribers();
  };
  const reportThrown = (error: unknown, subscriber: string) =>
    reporter.report(error, { subscriber });
  return {
    name,
    indexer,
    status$: reportSubscriberErrors(board.status$, reportThrown),
    metrics$: reportSubscriberErrors(meter.metrics$, reportThrown),
    get status() {
      return board.status;
    },
    get hasSynced() {
      return feed.synced && indexer.synced;
    },
    get lastSyncResourceVersion() {
      return indexer.resourceVersion;
    },
    get isStopped() {
      return stopped;
    },
    get lag() {
      return feed.lag;
    },
    start: () =>
      drain.run(() => {
        if (run !== undefined) return;
        stopped = false;
        indexer.transaction((write) => write.mark({ synced: false, resourceVersion: '' }));
        board.begin();
        meter.begin();
        feed.begin();
        run = run$.subscribe({ complete: () => drain.run(() => end(board.completer())) });
      }),
    refresh,
    stop: () => {
      const completeSubscribers = board.completer();
      return new Promise<void>((resolve) => {
        drain.run(() => {
          end(completeSubscribers);
          resolve();
        });
      });
    },
    whenSynced: (wait = {}) =>
      waits.until<void>(
        () => (feed.synced && indexer.synced ? { value: undefined } : undefined),
        wait,
        () => board.notSynced(name, wait.timeoutMs ?? 0),
        () => board.blocking(name, wait),
      ),
  };
}
