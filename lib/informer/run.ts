/**
 * Connects the stages of one run, from the ListerWatchers to the delivery of change sets. Each subscription is one run,
 * and one generation of the informer.
 */
import {
  defer,
  EMPTY,
  identity,
  type MonoTypeOperatorFunction,
  merge,
  Observable,
  of,
  Subject,
} from 'rxjs';
import { exhaustMap, finalize, ignoreElements, switchMap, takeUntil, tap } from 'rxjs/operators';
import { Audits, checkedAudit, initialAudit } from '../audit/audits.ts';
import { deltaFifo } from '../delta/delta-fifo.ts';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import { ApiError } from '../meta/api-error.ts';
import { inScope } from '../meta/key.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { shownError } from '../meta/shown-text.ts';
import type { Delta } from '../reflector/delta.ts';
import { limitsOf } from '../reflector/limits.ts';
import { reflect } from '../reflector/reflector.ts';
import { type Demand, strict } from '../rx/demand.ts';
import { type Drain, through } from '../rx/drain.ts';
import { longInterval } from '../rx/long-timer.ts';
import { nextMacrotask } from '../rx/next-macrotask.ts';
import type { ResolvedTiming } from '../rx/timing.ts';
import { applyDeltas } from '../store/apply-deltas.ts';
import type { ChangeSet } from '../store/change-set.ts';
import type { Indexer } from '../store/indexer.ts';
import type { InformerOptions } from './options.ts';
import { Refresher } from './refresher.ts';
import type { SourceSet } from './sources.ts';
import type { InformerMeter } from './status/informer-metrics.ts';
import type { StatusBoard } from './status/status-board.ts';

/** The parts that a run connects. */
export interface RunParts<T extends KubernetesObject> {
  readonly name: string;
  readonly listerWatchers: readonly ListerWatcher<T>[];
  readonly scopes: readonly string[];
  /** The ListerWatchers of a run if they may change; emits the first ones when they are known. */
  readonly sources$?: Observable<SourceSet<T>> | undefined;
  /** Follows a ListerWatcher. @defaultValue `reflect` */
  readonly reflector?: typeof reflect<T> | undefined;
  readonly indexer: Indexer<T>;
  readonly drain: Drain;
  readonly board: StatusBoard<T>;
  readonly meter: InformerMeter;
  readonly demand: Demand;
  /** The resync period in milliseconds; 0 means never. */
  readonly resyncMs: number;
  readonly timing: ResolvedTiming;
  readonly options: InformerOptions<T>;
  deliver(set: ChangeSet<T>): void;
  onCommitted(): void;
}

/** The run of one informer, and the requests that it accepts while it is in progress. */
export interface Run {
  /** Subscribing begins a run, unsubscribing ends it. */
  readonly run$: Observable<never>;
  /** Tries all refused objects again. */
  retryRefused(): void;
  /** Resolves when every scope has been listed again and the lists are in the store. */
  refresh(): Promise<void>;
}

/** Measures the duration of each batch, from its pop to the return of the last callback. */
function measured<V>(meter: InformerMeter): MonoTypeOperatorFunction<V> {
  return (source) =>
    new Observable<V>((subscriber) =>
      source.subscribe({
        next: (value) => meter.measure(() => subscriber.next(value)),
        error: (error) => subscriber.error(error),
        complete: () => subscriber.complete(),
      }),
    );
}

/** Calls `callback` with each value after the downstream has processed it completely. */
function afterwards<V>(callback: (value: V) => void): MonoTypeOperatorFunction<V> {
  return (source) =>
    new Observable<V>((subscriber) =>
      source.subscribe({
        next: (value) => {
          subscriber.next(value);
          if (!subscriber.closed) callback(value);
        },
        error: (error) => subscriber.error(error),
        complete: () => subscriber.complete(),
      }),
    );
}

/** The scope of a ListerWatcher or of a list; '' for all namespaces. */
function scopeOf(of: { readonly scope?: string | undefined }): string {
  return of.scope ?? '';
}

/** The receivers of what the reflectors of one run report. */
interface ReflectorHost<T extends KubernetesObject> {
  readonly refresher: Refresher;
  readonly audits: Audits<T> | undefined;
  /** Runs the task in order with the commits, unless the run has ended. */
  within(task: () => void): void;
  /** Like `within`, and publishes the status afterwards. */
  publish(task: () => void): void;
  skip(reason: ApiError): void;
}

/** Merges the deltas of the reflectors of all ListerWatchers. */
function reflectAll<T extends KubernetesObject>(
  parts: RunParts<T>,
  { refresher, audits, within, publish, skip }: ReflectorHost<T>,
): Observable<readonly Delta<T>[]> {
  const { reflector = reflect<T> } = parts;
  return merge(
    ...parts.listerWatchers.map((listerWatcher, at) =>
      reflector(listerWatcher, {
        ...parts.options,
        ...parts.timing,
        demand: parts.demand,
        known: parts.indexer,
        onStatus: (status) => {
          publish(() => parts.board.reflectors.set(listerWatcher.scope ?? '', status));
          audits?.onStatus(at, status);
        },
        onSkipped: (skipped) => {
          // An object that can be tried again travels to the commit with the other deltas.
          if (skipped.key === undefined || skipped.retry === undefined) skip(skipped.reason);
        },
        refresh$: merge(refresher.orders$, audits?.orders(at) ?? EMPTY),
        onRefreshed: (error) => within(() => refresher.answered(scopeOf(listerWatcher), error)),
      }).pipe(
        tap({
          next: (deltas) => refresher.emitted(scopeOf(listerWatcher), deltas),
          complete: () => within(() => refresher.ended(scopeOf(listerWatcher))),
        }),
      ),
    ),
  );
}

/**
 * Validates the audit option. Returns a function that creates the audits of one run, if the ListerWatchers support
 * them.
 */
function auditsOf<T extends KubernetesObject>(
  parts: RunParts<T>,
): (listerWatchers: readonly ListerWatcher<T>[]) => Audits<T> | undefined {
  const { board, timing, options } = parts;
  const audit = options.audit && checkedAudit(options.audit);
  if (audit !== undefined) board.expectAudit(initialAudit(parts.listerWatchers));
  return (listerWatchers) => {
    if (audit === undefined || board.audit === 'unsupported') return undefined;
    const { requestTimeoutMs = 30_000 } = options;
    board.audit = initialAudit(listerWatchers);
    return new Audits<T>(listerWatchers, {
      ...audit,
      store: parts.indexer,
      timing,
      requestTimeoutMs,
    });
  };
}

/** The deletion of stored objects that belong to none of these scopes, because the scopes have changed. */
function leftovers<T>(
  indexer: Indexer<T>,
  scopes: readonly string[],
): Observable<readonly Delta<T>[]> {
  if (scopes.length === 0) return EMPTY;
  const gone = [...indexer.keys()].filter((key) => !scopes.some((scope) => inScope(key, scope)));
  const deltas = gone.map((key) => ({ type: 'deleted', key, finalStateUnknown: true }) as const);
  return deltas.length === 0 ? EMPTY : of(deltas);
}

type Sources<T extends KubernetesObject> = Pick<RunParts<T>, 'listerWatchers' | 'scopes'>;

/** Runs over the given ListerWatchers, or over those that `sources$` emits, one set after another. */
function withSources<T extends KubernetesObject>(
  parts: RunParts<T>,
  runOver: (sources: Sources<T>) => Observable<never>,
): Observable<never> {
  const { sources$, drain, board } = parts;
  if (sources$ === undefined) return defer(() => runOver(parts));
  return sources$.pipe(
    through(drain),
    switchMap(({ listerWatchers, access }) => {
      board.reflectors.clear();
      board.access = access;
      return runOver({
        listerWatchers,
        scopes: listerWatchers.flatMap(({ scope }) => scope ?? []),
      });
    }),
  );
}

/** Connects the stages. Nothing happens before `run$` is subscribed. */
export function createRun<T extends KubernetesObject>(parts: RunParts<T>): Run {
  const { indexer, drain, board, meter, demand } = parts;
  // Checked here, too, because a reflector is created when the run begins.
  limitsOf(parts.options);
  const { scheduler } = parts.timing;
  const retried = new Subject<readonly Delta<T>[]>();
  const retryRefused = () => {
    if (indexer.refused.size > 0) retried.next([{ type: 'retry' }]);
  };
  const skips = new Subject<void>();
  const skip = (reason: ApiError) => {
    board.skip(reason);
    skips.next();
  };
  const refresher = new Refresher({ name: parts.name, scheduler, drain });
  const createAudits = auditsOf(parts);
  const runOver = ({ listerWatchers, scopes }: Sources<T>) => {
    const { generation } = board;
    const within = (task: () => void) =>
      drain.run(() => {
        if (board.generation === generation) task();
      });
    const publish = (task: () => void) =>
      within(() => {
        task();
        board.publish();
      });
    const audits = createAudits(listerWatchers);
    refresher.begin(listerWatchers.map(scopeOf));
    const ended = new Subject<void>();
    const resync$ = parts.resyncMs === 0 ? EMPTY : longInterval(parts.resyncMs, scheduler);
    const deltas$ = merge(
      reflectAll({ ...parts, listerWatchers }, { refresher, audits, within, publish, skip }).pipe(
        audits === undefined ? identity : tap((deltas) => audits.received(deltas)),
        finalize(() => ended.next()),
      ),
      retried.pipe(takeUntil(ended)),
      leftovers(indexer, parts.sources$ === undefined ? [] : scopes),
    );
    // From here on everything runs in the drain, because the queue resolves what it pops against a store that must
    // contain all earlier commits.
    const ready = strict(() => demand()?.pipe(through(drain)) ?? null);
    // Published once per turn of the event loop, because a server may send nothing but skipped objects.
    const skipStatus$ = skips.pipe(
      exhaustMap(() => nextMacrotask(scheduler)),
      takeUntil(ended),
      tap(() => publish(() => undefined)),
    );
    const commits$ = deltas$.pipe(
      through(drain),
      deltaFifo<T>({
        known: indexer,
        ready,
        resync$: resync$.pipe(through(drain), tap(retryRefused), takeUntil(ended)),
        compression: parts.options.compression ?? 'none',
        onUnknownDeletion: () => board.unknownDeletion(),
        onQueue: (queue) => {
          meter.queue = queue;
        },
      }),
      measured(meter),
      audits === undefined ? identity : afterwards((deltas) => audits.committed(deltas)),
      applyDeltas(indexer, {
        scopes,
        onRejected: ({ key, error }) => {
          if (key === '') skip(ApiError.local('Rejected', shownError(error)));
        },
        onCommitted: (deltas) => {
          refresher.committed(scopeOf, deltas);
          parts.onCommitted();
        },
      }),
      tap((set) => parts.deliver(set)),
    );
    const audits$ = audits?.status$.pipe(
      takeUntil(ended),
      tap((status) =>
        publish(() => {
          board.audit = status;
        }),
      ),
    );
    return merge(skipStatus$, audits$ ?? EMPTY, commits$).pipe(
      ignoreElements(),
      finalize(() => refresher.end()),
    );
  };
  return { run$: withSources(parts, runOver), retryRefused, refresh: () => refresher.refresh() };
}
