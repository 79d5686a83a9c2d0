/**
 * The run, shared: who holds it, who is told, and what it says of itself.
 * client-go: tools/cache/shared_informer.go, sharedIndexInformer.
 */
import { Observable } from 'rxjs';
import { map, mergeMap } from 'rxjs/operators';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { checkedDuration } from '../rx/checked-option.ts';
import { allOf, reliable, unlimited } from '../rx/demand.ts';
import { Drain } from '../rx/drain.ts';
import { timingOf } from '../rx/timing.ts';
import type { ChangeSet } from '../store/change-set.ts';
import type { ChangeStream } from '../store/change-stream.ts';
import { byNamespace, NAMESPACE_INDEX } from '../store/index-funcs.ts';
import { createIndexer } from '../store/indexer.ts';
import { FanOut, snapshotSet } from './fan-out.ts';
import { deliver } from './handlers/delivery.ts';
import { checkedResyncPeriod, Registrations } from './handlers/registrations.ts';
import { reportSubscriberErrors } from './handlers/report-subscriber-errors.ts';
import { Lifecycle } from './lifecycle.ts';
import type { SharedInformerOptions } from './options.ts';
import { PauseCounter } from './pause-counter.ts';
import { createRun } from './run.ts';
import type { SharedInformer } from './shared-informer.ts';
import { InformerMeter } from './status/informer-metrics.ts';
import { createReporter } from './status/reporter.ts';
import { StatusBoard } from './status/status-board.ts';
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
 * informer.added$.subscribe((pod) => names.push(pod.metadata.name));
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
  const { name = 'informer' } = options;
  const lingerMs = checkedDuration(options.lingerMs ?? 30_000, 'createSharedInformer: lingerMs');
  const indexer = createIndexer<T>({
    indexers: options.indexers ?? { [NAMESPACE_INDEX]: byNamespace },
    ...(options.mutationGuard === undefined ? {} : { mutationGuard: options.mutationGuard }),
  });
  const drain = new Drain();
  const hub = new FanOut(indexer);
  const over = () => lifecycle.over;
  const waits = new Waits({ scheduler, drain, over });
  const quarantine = indexer.refused;
  const pauses = new PauseCounter();
  const { report, warn } = createReporter(name, options);
  const board = new StatusBoard({
    ...{ indexer, quarantine, scheduler, drain },
    onTransition: () => {
      const inVain = waits.check();
      return registrations.check() || inVain;
    },
    warn,
  });
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
  const { run$, retryRefused, refresh } = createRun({
    name,
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
      board.publishCommit();
      meter.moved();
    },
  });
  const registrations: Registrations<T> = new Registrations<T>({
    indexer,
    hub,
    drain,
    scheduler,
    resyncMs,
    isRunning: () => lifecycle.active,
    over,
    onRemoved: () => drain.run(() => lifecycle.forget()),
    beforeResync: retryRefused,
    notSynced: (who, timeoutMs) => board.notSynced(who, timeoutMs),
    blocking: (who, wait) => board.blocking(who, wait),
    pause: () => pauses.pause(),
    onCaughtUp: () => meter.moved(),
    report,
    warn,
  });

  const lifecycle: Lifecycle<T> = new Lifecycle<T>({
    ...{ name, run$, lingerMs, scheduler, drain, indexer, hub, board, meter, quarantine },
    ...{ registrations, waits },
  });
  const joined = (): Observable<ChangeSet<T>> =>
    new Observable<ChangeSet<T>>((subscriber) => {
      // In the drain, so that what the first set causes comes after it.
      drain.enter(() => {
        // Before the first set, so that a stop that this set causes comes after it. Who wants the first set only, as
        // `firstValueFrom` does, needs no run.
        let satisfied = false;
        const letGo = lifecycle.hold(() => satisfied);
        const leave = hub.join({
          next: (set) => subscriber.next(set),
          complete: () => subscriber.complete(),
        });
        satisfied = subscriber.closed;
        // In this order: who leaves is told nothing more, and lets go of the run after that.
        subscriber.add(leave);
        subscriber.add(letGo);
      });
    });
  const reporting =
    <V>(keyOf: (value: V) => string | undefined) =>
    (error: unknown, subscriber: string, value: V) => {
      const key = keyOf(value);
      report(error, { subscriber, ...(key === undefined ? {} : { key }) });
    };
  const stream = <V>(of: Observable<V>, keyOf: (value: V) => string | undefined) =>
    reportSubscriberErrors(of, reporting(keyOf));
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
      return lifecycle.isStopped;
    },
    deliver: (policy) =>
      deliver(
        {
          changes$: joined(),
          drain,
          snapshot: () => snapshotSet(indexer),
          pause: () => pauses.pause(),
          report: reporting(firstKey),
        },
        policy,
      ),
    addEventHandler: (handler, handlerOptions = {}) => registrations.add(handler, handlerOptions),
    removeEventHandler: (registration, removal = {}) => registrations.remove(registration, removal),
    start: () => lifecycle.start(),
    stop: () => lifecycle.stop(),
    refresh,
    whenSynced: (wait = {}) =>
      waits.until<void>(
        () => (indexer.synced ? { value: undefined } : undefined),
        wait,
        () => board.notSynced(name, wait.timeoutMs ?? 0),
        () => board.blocking(name, wait),
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
