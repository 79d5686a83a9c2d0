/**
 * The stages in their order, shared: reflect → deltaFifo → applyDeltas → everyone. What is added here is who
 * holds the run, who is told, and what it says of itself.
 * client-go: tools/cache/shared_informer.go, sharedIndexInformer.
 */
import { defer, EMPTY, interval, merge, Observable, Subject } from 'rxjs';
import { finalize, ignoreElements, map, mergeMap, takeUntil, tap } from 'rxjs/operators';
import type { Skipped } from '../decode/decoding.ts';
import { deltaFifo } from '../delta/delta-fifo.ts';
import type { DeletedObject } from '../delta/net-change.ts';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import { ApiError } from '../meta/api-error.ts';
import { type KubernetesObject, uidOf } from '../meta/kubernetes-object.ts';
import { compareResourceVersion } from '../meta/resource-version.ts';
import type { Delta } from '../reflector/delta.ts';
import { reflect } from '../reflector/reflector.ts';
import type { ReflectorStatus } from '../reflector/status.ts';
import { allOf, unlimited } from '../rx/demand.ts';
import { Drain } from '../rx/drain.ts';
import { lease } from '../rx/lease.ts';
import { timingOf } from '../rx/timing.ts';
import { reportUnhandled } from '../rx/unhandled.ts';
import { applyDeltas } from '../store/apply-deltas.ts';
import type { ChangeSet, UpdatedObject } from '../store/change-set.ts';
import { byNamespace, NAMESPACE_INDEX } from '../store/index-funcs.ts';
import { createIndexer, type IndexerReader, type Snapshot } from '../store/indexer.ts';
import { type Delivery, type DeliveryPolicy, deliver } from './delivery.ts';
import {
  type EventHandlerOptions,
  type EventHandlerRegistration,
  notifyHandler,
  type ResourceEventHandler,
} from './event-handler.ts';
import { Hub, resyncSet, snapshotSet } from './hub.ts';
import { isolated } from './isolated.ts';
import type { SharedInformerOptions, UnhandledErrorContext } from './options.ts';
import { PauseCounter } from './pause-counter.ts';
import { Quarantine } from './quarantine.ts';
import type { InformerPhase, InformerStatus } from './status.ts';
import { StatusBoard } from './status-board.ts';
import { type WaitOptions, Waits } from './waits.ts';

/** A deletion to wait for: this object, not another of its name. */
export interface ObservedDeletion {
  readonly uid: string;
  readonly deleted: true;
}

/**
 * A live, indexed copy of a collection, shared by all who look at it.
 *
 * Subscribing to a data stream starts the run and holds it; it lingers after the last subscriber. `start()` pins
 * it. Handlers, listers and `status$` do not start it. Data streams never error. `stop()` completes all streams
 * and leaves the store readable; the same streams can be subscribed again and belong to a new generation.
 */
export interface SharedInformer<T extends KubernetesObject> {
  readonly name: string;
  /** The store, to read. */
  readonly indexer: IndexerReader<T>;
  /** The state as one `reset` set at once, then each commit. Deletions first, order kept. */
  readonly changes$: Observable<ChangeSet<T>>;
  /** Each object of the store at once, then each new one. Between the three, order is lost. */
  readonly added$: Observable<T>;
  readonly updated$: Observable<UpdatedObject<T>>;
  readonly deleted$: Observable<DeletedObject<T>>;
  /** The newest snapshot at once, then one a commit. */
  readonly snapshot$: Observable<Snapshot<T>>;
  /** The status at once, then each transition. Does not start the informer. */
  readonly status$: Observable<InformerStatus>;
  /** Whether the store has held a whole list, at once and on change. Does not start the informer. */
  readonly synced$: Observable<boolean>;
  readonly hasSynced: boolean;
  readonly lastSyncResourceVersion: string;
  readonly isStopped: boolean;
  /** The latest status. */
  readonly status: InformerStatus;
  /** Change sets under a policy, for a subscriber that may be slow. */
  deliver(policy: DeliveryPolicy<T>): Delivery<T>;
  addEventHandler(
    handler: ResourceEventHandler<T>,
    options?: EventHandlerOptions,
  ): EventHandlerRegistration;
  /** Nothing is delivered after it returns. A registration of another informer, or a removed one, does nothing. */
  removeEventHandler(registration: EventHandlerRegistration): void;
  /** Pins the run. Twice is once. */
  start(): void;
  /** Ends the run. Resolves when nothing of it is left to do. */
  stop(): Promise<void>;
  /** Resolves when synced; rejects with the last cause when `timeoutMs` are over, or when stopped. */
  whenSynced(options?: WaitOptions): Promise<void>;
  /** Resolves once the store shows what a write returned: this version, or that this object is gone. */
  whenObserved(
    key: string,
    target: string | ObservedDeletion,
    options?: WaitOptions,
  ): Promise<T | undefined>;
}

const MIN_RESYNC_MS = 1_000;

function checkedPeriod(periodMs: number | undefined, what: string): number {
  if (periodMs === undefined || periodMs === 0) return 0;
  if (!(periodMs > 0))
    throw new TypeError(`${what}: resyncPeriodMs is ${periodMs}; it must be 0 or more`);
  return Math.max(MIN_RESYNC_MS, periodMs);
}

function checkedScopes<T>(listerWatchers: readonly ListerWatcher<T>[]): readonly string[] {
  if (listerWatchers.length === 0)
    throw new TypeError('createSharedInformer: no ListerWatcher given');
  if (listerWatchers.length === 1) {
    const { scope } = listerWatchers[0] as ListerWatcher<T>;
    return scope === undefined ? [] : [scope];
  }
  const scopes = listerWatchers.map(({ scope }) => scope);
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
  const { scheduler, random } = timingOf(options);
  const { name = 'informer', lingerMs = 30_000, compression = 'none' } = options;
  const resyncMs = checkedPeriod(options.resyncPeriodMs, 'createSharedInformer');
  const indexer = createIndexer<T>({
    indexers: options.indexers ?? { [NAMESPACE_INDEX]: byNamespace },
    ...(options.mutationGuard === undefined ? {} : { mutationGuard: options.mutationGuard }),
  });
  const drain = new Drain();
  const hub = new Hub(indexer);
  const waits = new Waits(scheduler);
  const quarantine = new Quarantine<T>();
  const retried = new Subject<readonly Delta<T>[]>();
  const pauses = new PauseCounter();
  const demand = allOf(pauses.demand, options.demand ?? unlimited);
  const board = new StatusBoard({ indexer, quarantine, scheduler });
  const registrations = new Map<EventHandlerRegistration, () => void>();
  let handlers = 0;

  const report = (error: unknown, context: Omit<UnhandledErrorContext, 'informer'>) => {
    const { onUnhandledError } = options;
    if (onUnhandledError === undefined) return reportUnhandled(error);
    try {
      onUnhandledError(error, { informer: name, ...context });
    } catch (thrown) {
      reportUnhandled(thrown);
    }
    return undefined;
  };
  const tell = () => drain.run(() => board.publish());
  const retryQuarantine = () => {
    if (quarantine.size === 0) return;
    const deltas = quarantine.retry();
    if (deltas.length > 0) retried.next(deltas);
  };

  const reflectors = (): Observable<readonly Delta<T>[]> =>
    merge(
      ...listerWatchers.map((listerWatcher, at) =>
        reflect(listerWatcher, {
          ...options,
          scheduler,
          random,
          demand,
          known: indexer,
          onStatus: (status: ReflectorStatus) => {
            board.reflectors.set(listerWatcher.scope ?? String(at), status);
            tell();
          },
          onSkipped: (skipped: Skipped) => {
            if (!quarantine.skipped(skipped)) board.skip(skipped.reason);
            tell();
          },
        }),
      ),
    );
  const run$ = defer(() => {
    const ended = new Subject<void>();
    const resync$ = resyncMs === 0 ? EMPTY : interval(resyncMs, scheduler);
    const resyncs$ = resync$.pipe(tap(retryQuarantine), takeUntil(ended));
    const deltas$ = merge(
      reflectors().pipe(finalize(() => ended.next())),
      retried.pipe(takeUntil(ended)),
    );
    return deltas$.pipe(
      tap((deltas) => quarantine.observe(deltas)),
      deltaFifo<T>({
        known: indexer,
        ready: demand,
        resync$: resyncs$,
        compression,
        onUnknownDeletion: () => board.unknownDeletion(),
      }),
      applyDeltas(indexer, {
        scopes,
        drain,
        onRejected: (rejection) => quarantine.rejected(rejection),
        onCommitted: () => {
          waits.check();
          board.publish();
        },
      }),
      tap((set) => hub.deliver(set)),
      ignoreElements(),
    );
  });

  const end = (phase: Extract<InformerPhase, 'idle' | 'stopped'>) => {
    quarantine.clear();
    board.end(phase);
    // Nobody looks at it any more. With handlers attached it stays, so that the next list tells them the difference.
    if (phase === 'idle' && registrations.size === 0) indexer.clear();
    board.publish();
  };
  const complete = () => {
    waits.reject(ApiError.local('Stopped', `${name} was stopped`));
    hub.complete();
    board.complete();
  };
  const line = lease(run$, {
    lingerMs,
    scheduler,
    onStart: () => {
      indexer.transaction((transaction) =>
        transaction.mark({ synced: false, resourceVersion: '' }),
      );
      board.begin();
    },
    onEnd: (why) =>
      drain.run(() => {
        end(why === 'linger' ? 'idle' : 'stopped');
        if (why === 'complete') complete();
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
  const stream = <V>(of: Observable<V>, keyOf: (value: V) => string | undefined) =>
    isolated(of, (error, subscriber, value) => {
      const key = keyOf(value);
      report(error, { subscriber, ...(key === undefined ? {} : { key }) });
    });
  const changes$ = stream(joined(), (set) => set.changes[0]?.key);

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
        { changes$: joined(), snapshot: () => snapshotSet(indexer), pause: () => pauses.pause() },
        policy,
      ),
    addEventHandler(handler, handlerOptions = {}) {
      handlers++;
      const subscriber = handlerOptions.name ?? `handler ${handlers}`;
      const periodMs = checkedPeriod(handlerOptions.resyncPeriodMs, subscriber);
      let synced = false;
      let removed = false;
      const next = (set: ChangeSet<T>) => {
        const onThrow = (error: unknown, key: string) => report(error, { subscriber, key });
        notifyHandler(handler, set, onThrow, () => removed);
        if (set.synced) synced = true;
      };
      const registration: EventHandlerRegistration = {
        name: subscriber,
        get hasSynced() {
          return synced;
        },
      };
      let leave: (() => void) | undefined;
      drain.run(() => {
        if (!removed) leave = hub.join({ next, complete: () => undefined });
      });
      const resyncs =
        periodMs === 0
          ? undefined
          : interval(periodMs, scheduler).subscribe(() =>
              drain.run(() => {
                retryQuarantine();
                if (!removed && indexer.synced) next(resyncSet(indexer));
              }),
            );
      registrations.set(registration, () => {
        removed = true;
        leave?.();
        resyncs?.unsubscribe();
      });
      return registration;
    },
    removeEventHandler(registration) {
      registrations.get(registration)?.();
      registrations.delete(registration);
    },
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
      const seen = (): { readonly value: T | undefined } | undefined => {
        const object = indexer.getByKey(key);
        if (typeof target !== 'string') {
          return object === undefined || uidOf(object) !== target.uid
            ? { value: object }
            : undefined;
        }
        const reached = (version: string | undefined) => {
          const order = compareResourceVersion(version ?? '', target);
          return order !== undefined && order >= 0;
        };
        const there =
          reached(object?.metadata?.resourceVersion) || reached(indexer.resourceVersion);
        return there ? { value: object } : undefined;
      };
      if (typeof target === 'string' && compareResourceVersion(target, target) === undefined) {
        const message = `whenObserved: ${JSON.stringify(target)} is no resourceVersion`;
        return Promise.reject(new TypeError(message));
      }
      return waits.until(seen, wait, () => board.notObserved(name, key, wait.timeoutMs ?? 0));
    },
  };
}
