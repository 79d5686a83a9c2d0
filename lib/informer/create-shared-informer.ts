/**
 * The run, shared: who holds it, who is told, and what it says of itself.
 * client-go: tools/cache/shared_informer.go, sharedIndexInformer.
 */
import { Observable } from 'rxjs';
import { map, mergeMap } from 'rxjs/operators';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { allOf, reliable, unlimited } from '../rx/demand.ts';
import { Drain } from '../rx/drain.ts';
import { lease } from '../rx/lease.ts';
import { timingOf } from '../rx/timing.ts';
import type { ChangeSet } from '../store/change-set.ts';
import type { ChangeStream } from '../store/change-stream.ts';
import { byNamespace, NAMESPACE_INDEX } from '../store/index-funcs.ts';
import { createIndexer } from '../store/indexer.ts';
import { deliver } from './delivery.ts';
import { Hub, snapshotSet } from './hub.ts';
import { InformerMeter } from './informer-metrics.ts';
import { isolated } from './isolated.ts';
import type { SharedInformerOptions } from './options.ts';
import { PauseCounter } from './pause-counter.ts';
import { checkedResyncPeriod, Registrations } from './registrations.ts';
import { createReporter } from './reporter.ts';
import { createRun } from './run.ts';
import type { SharedInformer } from './shared-informer.ts';
import type { InformerPhase } from './status.ts';
import { StatusBoard } from './status-board.ts';
import { isAtLeast, notAVersion, observed, Waits } from './waits.ts';

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
      'createSharedInformer: several ListerWatchers need a scope (namespace) of their own each, or one would delete what another listed',
    );
  }
  return scopes as string[];
}

/**
 * An informer over one ListerWatcher, or over several of different namespaces in one store.
 *
 * Nothing is sent before `start()` or the first subscription to a data stream. Throws a `TypeError` when several
 * ListerWatchers share a scope, or a period is no number.
 *
 * @example
 * ```ts
 * import { createClient, createListWatch, createSharedInformer } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const informer = createSharedInformer(createListWatch(client, pods));
 * const names: string[] = [];
 * informer.added$.subscribe((pod) => names.push(pod.metadata?.name ?? ''));
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * names; // => ['web-0']
 * await informer.stop();
 * ```
 */
export function createSharedInformer<T extends KubernetesObject>(
  source: ListerWatcher<T> | readonly ListerWatcher<T>[],
  options: SharedInformerOptions<T> = {},
): SharedInformer<T> {
  const listerWatchers = Array.isArray(source)
    ? (source as readonly ListerWatcher<T>[])
    : [source as ListerWatcher<T>];
  const scopes = checkedScopes(listerWatchers);
  const timing = timingOf(options);
  const { scheduler } = timing;
  const { name = 'informer', lingerMs = 30_000 } = options;
  const indexer = createIndexer<T>({
    indexers: options.indexers ?? { [NAMESPACE_INDEX]: byNamespace },
    ...(options.mutationGuard === undefined ? {} : { mutationGuard: options.mutationGuard }),
  });
  const drain = new Drain();
  const hub = new Hub(indexer);
  const waits = new Waits(scheduler);
  const quarantine = indexer.refused;
  const pauses = new PauseCounter();
  const board = new StatusBoard({ indexer, quarantine, scheduler });

  const { report, warn } = createReporter(name, options);
  const demand = reliable(options.demand ?? unlimited, (error) =>
    report(error, { subscriber: 'demand' }),
  );
  const resyncMs = checkedResyncPeriod(options.resyncPeriodMs, 'createSharedInformer');
  const { metrics, metricAttributes } = options;
  const meter = new InformerMeter({
    name,
    indexer,
    board,
    scheduler,
    metrics,
    metricAttributes,
    pending: () => registrations.lag,
  });
  const { run$, retryRefused } = createRun({
    listerWatchers,
    scopes,
    indexer,
    drain,
    board,
    meter,
    quarantine,
    demand: allOf(pauses.demand, demand),
    resyncMs,
    timing,
    options,
    deliver: (set) => hub.deliver(set),
    onCommitted: () => {
      waits.check();
      board.publishRefusals();
      meter.moved();
    },
  });
  const registrations = new Registrations<T>({
    indexer,
    hub,
    drain,
    scheduler,
    resyncMs,
    isRunning: () => line.active,
    beforeResync: retryRefused,
    notSynced: (who, timeoutMs) => board.notSynced(who, timeoutMs),
    pause: () => pauses.pause(),
    onCaughtUp: () => meter.moved(),
    report,
    warn,
  });

  const end = (phase: Extract<InformerPhase, 'idle' | 'stopped'>) => {
    quarantine.clear();
    board.end(phase);
    // Nobody looks at it any more. With handlers attached it stays, so that the next list tells them the difference.
    if (phase === 'idle' && registrations.size === 0) indexer.clear();
    board.publish();
  };
  const complete = () => {
    const error = ApiError.local('Stopped', `${name} was stopped`);
    waits.reject(error);
    registrations.fail(error);
    hub.complete();
    board.complete();
    meter.complete();
  };
  const line = lease(run$, {
    lingerMs,
    scheduler,
    onStart: () => {
      indexer.transaction((transaction) =>
        transaction.mark({ synced: false, resourceVersion: '' }),
      );
      board.begin();
      meter.begin();
      registrations.begin();
    },
    onEnd: (why) =>
      drain.run(() => {
        meter.end();
        registrations.rest(why !== 'linger');
        end(why === 'linger' ? 'idle' : 'stopped');
        if (why !== 'complete') return;
        pin = undefined;
        stopped = true;
        complete();
      }),
  });
  let pin: (() => void) | undefined;
  let stopped = false;

  /** Holds the run; both ways pass the drain, so that a hold made in a callback comes after it. */
  const hold = (): (() => void) => {
    let released = false;
    let release: (() => void) | undefined;
    drain.run(() => {
      if (released) return;
      stopped = false;
      release = line.acquire();
    });
    return () => {
      released = true;
      if (release !== undefined) drain.run(release);
    };
  };
  const joined = (): Observable<ChangeSet<T>> =>
    new Observable<ChangeSet<T>>((subscriber) => {
      const leave = hub.join({
        next: (set) => subscriber.next(set),
        complete: () => subscriber.complete(),
      });
      // In this order: who leaves is told nothing more, and lets go of the run after that.
      subscriber.add(leave);
      if (!subscriber.closed) subscriber.add(hold());
    });
  const reporting =
    <V>(keyOf: (value: V) => string | undefined) =>
    (error: unknown, subscriber: string, value: V) => {
      const key = keyOf(value);
      report(error, { subscriber, ...(key === undefined ? {} : { key }) });
    };
  const stream = <V>(of: Observable<V>, keyOf: (value: V) => string | undefined) =>
    isolated(of, reporting(keyOf));
  const firstKey = (set: ChangeSet<T>) => set.changes[0]?.key;
  const changes$: ChangeStream<T> = stream(joined(), firstKey);

  return {
    name,
    indexer,
    changes$,
    added$: stream(joined().pipe(mergeMap((set) => set.added)), (object) => indexer.keyOf(object)),
    updated$: stream(joined().pipe(mergeMap((set) => set.updated)), ({ object }) =>
      indexer.keyOf(object),
    ),
    deleted$: stream(joined().pipe(mergeMap((set) => set.deleted)), ({ key }) => key),
    snapshot$: stream(joined().pipe(map(() => indexer.snapshot$.value)), () => undefined),
    status$: stream(board.status$, () => undefined),
    metrics$: stream(meter.metrics$, () => undefined),
    synced$: stream(board.synced$, () => undefined),
    get status() {
      return board.status;
    },
    get hasSynced() {
      return indexer.synced;
    },
    get lastSyncResourceVersion() {
      return indexer.resourceVersion;
    },
    get isStopped() {
      return stopped;
    },
    deliver: (policy) =>
      deliver(
        {
          changes$: joined(),
          snapshot: () => snapshotSet(indexer),
          pause: () => pauses.pause(),
          report: reporting(firstKey),
        },
        policy,
      ),
    addEventHandler: (handler, handlerOptions = {}) => registrations.add(handler, handlerOptions),
    removeEventHandler: (registration, removal = {}) => registrations.remove(registration, removal),
    start: () => {
      drain.run(() => {
        stopped = false;
        pin ??= line.acquire();
      });
    },
    stop: () =>
      new Promise<void>((resolve) => {
        drain.run(() => {
          stopped = true;
          pin?.();
          pin = undefined;
          if (line.active) line.end();
          else end('stopped');
          drain.run(() => {
            complete();
            resolve();
          });
        });
      }),
    whenSynced: (wait = {}) =>
      waits.until<void>(
        () => (indexer.synced ? { value: undefined } : undefined),
        wait,
        () => board.notSynced(name, wait.timeoutMs ?? 0),
      ),
    whenObserved: (key, target, wait = {}) => {
      const wrong = notAVersion(
        'whenObserved',
        typeof target === 'string' ? target : target.resourceVersion,
      );
      if (wrong !== undefined) return Promise.reject(wrong);
      return waits.until(
        () => observed(indexer, key, target),
        wait,
        () => board.notObserved(name, key, wait.timeoutMs ?? 0),
      );
    },
    whenAtLeast: (resourceVersion, wait = {}) => {
      const wrong = notAVersion('whenAtLeast', resourceVersion);
      if (wrong !== undefined) return Promise.reject(wrong);
      return waits.until<void>(
        () => (isAtLeast(indexer, resourceVersion) ? { value: undefined } : undefined),
        wait,
        () => board.notObserved(name, `version ${resourceVersion}`, wait.timeoutMs ?? 0),
      );
    },
  };
}
