/**
 * One run: the stages in their order, from the ListerWatchers to whoever is told. One subscription of it is one
 * generation of the informer.
 */
import {
  defer,
  EMPTY,
  identity,
  type MonoTypeOperatorFunction,
  merge,
  Observable,
  Subject,
} from 'rxjs';
import { exhaustMap, finalize, ignoreElements, takeUntil, tap } from 'rxjs/operators';
import { Audits, checkedAudit, initialAudit } from '../audit/audits.ts';
import { deltaFifo } from '../delta/delta-fifo.ts';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { shownError } from '../meta/shown-text.ts';
import type { Delta } from '../reflector/delta.ts';
import { reflect } from '../reflector/reflector.ts';
import type { Demand } from '../rx/demand.ts';
import { type Drain, through } from '../rx/drain.ts';
import { longInterval } from '../rx/long-timer.ts';
import { nextMacrotask } from '../rx/next-macrotask.ts';
import type { ResolvedTiming } from '../rx/timing.ts';
import { applyDeltas } from '../store/apply-deltas.ts';
import type { ChangeSet } from '../store/change-set.ts';
import type { Indexer } from '../store/indexer.ts';
import type { Quarantine } from '../store/quarantine.ts';
import type { InformerOptions } from './options.ts';
import { Refresher } from './refresher.ts';
import type { InformerMeter } from './status/informer-metrics.ts';
import type { StatusBoard } from './status/status-board.ts';

/** What a run is made of. */
export interface RunParts<T extends KubernetesObject> {
  readonly name: string;
  readonly listerWatchers: readonly ListerWatcher<T>[];
  readonly scopes: readonly string[];
  readonly indexer: Indexer<T>;
  readonly drain: Drain;
  readonly board: StatusBoard<T>;
  readonly meter: InformerMeter;
  readonly quarantine: Quarantine;
  readonly demand: Demand;
  /** 0: never. */
  readonly resyncMs: number;
  readonly timing: ResolvedTiming;
  readonly options: InformerOptions<T>;
  deliver(set: ChangeSet<T>): void;
  onCommitted(): void;
}

/** A run, and the way to try again who was refused. */
export interface Run {
  readonly run$: Observable<never>;
  retryRefused(): void;
  /** Resolves when every scope has been listed anew and the lists are in the store. */
  refresh(): Promise<void>;
}

/** Takes the time of each batch, from its pop to its last callback. */
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

/** Tells each batch once all that comes of it is done. */
function after<V>(tell: (value: V) => void): MonoTypeOperatorFunction<V> {
  return (source) =>
    new Observable<V>((subscriber) =>
      source.subscribe({
        next: (value) => {
          subscriber.next(value);
          if (!subscriber.closed) tell(value);
        },
        error: (error) => subscriber.error(error),
        complete: () => subscriber.complete(),
      }),
    );
}

/** The scope of a ListerWatcher. One ListerWatcher alone covers the complete collection, whatever its scope. */
function scopeOf(of: { readonly scope?: string | undefined }): string {
  return of.scope ?? '';
}

/** What the reflectors of one run report to. */
interface ReflectorHost<T extends KubernetesObject> {
  readonly refresher: Refresher;
  readonly audits: Audits<T> | undefined;
  /** Runs in order with the commits, unless the run has ended. */
  within(what: () => void): void;
  /** The same, and publishes the status. */
  tell(what: () => void): void;
  skip(reason: ApiError): void;
}

/** The deltas of all ListerWatchers. */
function reflectAll<T extends KubernetesObject>(
  parts: RunParts<T>,
  { refresher, audits, within, tell, skip }: ReflectorHost<T>,
): Observable<readonly Delta<T>[]> {
  return merge(
    ...parts.listerWatchers.map((listerWatcher, at) =>
      reflect<T>(listerWatcher, {
        ...parts.options,
        ...parts.timing,
        demand: parts.demand,
        known: parts.indexer,
        onStatus: (status) => {
          tell(() => parts.board.reflectors.set(listerWatcher.scope ?? String(at), status));
          audits?.onStatus(at, status);
        },
        onSkipped: (skipped) => {
          // What can be tried again travels with the others, to the commit.
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

/** Checks the audit option. The returned function makes the audits of one run, if the server supports them. */
function auditsOf<T extends KubernetesObject>(parts: RunParts<T>): () => Audits<T> | undefined {
  const { listerWatchers, board, timing, options } = parts;
  const audit = options.audit && checkedAudit(options.audit);
  if (audit !== undefined) board.expectAudit(initialAudit(listerWatchers));
  return () => {
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

/** Puts the stages together. Nothing happens before the run is subscribed. */
export function createRun<T extends KubernetesObject>(parts: RunParts<T>): Run {
  const { listerWatchers, scopes, indexer, drain, board, meter, quarantine, demand } = parts;
  const { scheduler } = parts.timing;
  const retried = new Subject<readonly Delta<T>[]>();
  const retryRefused = () => {
    if (quarantine.size > 0) retried.next([{ type: 'retry' }]);
  };
  const skips = new Subject<void>();
  const skip = (reason: ApiError) => {
    board.skip(reason);
    skips.next();
  };
  const refresher = new Refresher({ name: parts.name, scheduler, drain });
  const createAudits = auditsOf(parts);
  const run$ = defer(() => {
    const { generation } = board;
    // In order with the commits, and nothing of a run that is over.
    const within = (what: () => void) =>
      drain.run(() => {
        if (board.generation === generation) what();
      });
    const tell = (what: () => void) =>
      within(() => {
        what();
        board.publish();
      });
    const audits = createAudits();
    refresher.begin(listerWatchers.map(scopeOf));
    const ended = new Subject<void>();
    const resync$ = parts.resyncMs === 0 ? EMPTY : longInterval(parts.resyncMs, scheduler);
    const deltas$ = merge(
      reflectAll(parts, { refresher, audits, within, tell, skip }).pipe(
        audits === undefined ? identity : tap((deltas) => audits.received(deltas)),
        finalize(() => ended.next()),
      ),
      retried.pipe(takeUntil(ended)),
    );
    // In the drain from here on: the queue resolves what it pops against a store that has seen all before it.
    const ready: Demand = () => demand()?.pipe(through(drain)) ?? null;
    // A server that sends nothing but what is skipped is told of once a turn, not once an object.
    const tellSkips$ = skips.pipe(
      exhaustMap(() => nextMacrotask(scheduler)),
      takeUntil(ended),
      tap(() => tell(() => undefined)),
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
      audits === undefined ? identity : after((deltas) => audits.committed(deltas)),
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
        tell(() => {
          board.audit = status;
        }),
      ),
    );
    return merge(tellSkips$, audits$ ?? EMPTY, commits$).pipe(
      ignoreElements(),
      finalize(() => refresher.end()),
    );
  });
  return { run$, retryRefused, refresh: () => refresher.refresh() };
}
