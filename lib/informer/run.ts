/**
 * The run of one informer: connects the stages, from the ListerWatchers to the delivery of change sets. Each subscription
 * is one run, and one generation of the informer.
 */
import { defer, EMPTY, merge, Observable, of, Subject } from 'rxjs';
import {
  exhaustMap,
  filter,
  finalize,
  ignoreElements,
  map,
  switchMap,
  takeUntil,
  tap,
} from 'rxjs/operators';
import { deltaFifo } from '../delta/delta-fifo.ts';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import { ApiError } from '../meta/api-error.ts';
import { inScope } from '../meta/key.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { shownError } from '../meta/shown-text.ts';
import type { Delta } from '../reflector/delta.ts';
import { reflect } from '../reflector/reflector.ts';
import { strict } from '../rx/demand.ts';
import { inDrain } from '../rx/drain.ts';
import { longInterval } from '../rx/long-timer.ts';
import { nextMacrotask } from '../rx/next-macrotask.ts';
import { type ChangeSet, createChangeSet } from '../store/change-set.ts';
import { applyDeltas } from '../store/commit/apply-deltas.ts';
import type { Indexer } from '../store/indexer.ts';
import type { InformerCore } from './core.ts';

/** Lets the parts of the informer surround the processing of each batch, for example to measure it. */
function around<T extends KubernetesObject>(
  informer: InformerCore<T>,
  source: Observable<readonly Delta<T>[]>,
): Observable<readonly Delta<T>[]> {
  return new Observable((subscriber) =>
    source.subscribe({
      next: (deltas) => {
        let batch = () => subscriber.next(deltas);
        informer.each((part) => {
          if (part.around === undefined) return;
          const inner = batch;
          batch = () => part.around?.(inner, deltas);
        });
        batch();
      },
      error: (error) => subscriber.error(error),
      complete: () => subscriber.complete(),
    }),
  );
}

/**
 * Emits a delta for each stored object that belongs to none of these scopes, which have changed. Its cause is `rebalance`, as when a shard
 * leaves, because nobody has deleted the object, and a controller must not act on its absence.
 */
function leftovers<T>(
  store: Indexer<T>,
  scopes: readonly string[],
): Observable<readonly Delta<T>[]> {
  if (scopes.length === 0) return EMPTY;
  const gone = [...new Set([...store.keys(), ...store.refused.keys()])].filter(
    (key) => !scopes.some((scope) => inScope(key, scope)),
  );
  const deltas = gone.map(
    (key) => ({ type: 'deleted', key, finalStateUnknown: false, cause: 'rebalance' }) as const,
  );
  return deltas.length === 0 ? EMPTY : of(deltas);
}

/** The stages of one run over the ListerWatchers `informer.sources`. */
class Stages<T extends KubernetesObject> {
  readonly #informer: InformerCore<T>;
  readonly #generation: number;
  readonly #ended = new Subject<void>();
  readonly #refusals = new Subject<void>();

  constructor(informer: InformerCore<T>) {
    this.#informer = informer;
    this.#generation = informer.board.generation;
  }

  /** The run. Emits nothing, and completes when all reflectors have completed. */
  get run$(): Observable<never> {
    const { drain, demand, store, board, options, listeners, resyncMs, source, timing } =
      this.#informer;
    const scopes = this.#informer.sources.flatMap(({ scope }) => scope || []);
    const { scheduler } = timing;
    const resync$ = resyncMs === 0 ? EMPTY : longInterval(resyncMs, scheduler);
    const deltas$ = merge(
      merge(...this.#informer.sources.map((each, at) => this.#reflected(each, at))).pipe(
        finalize(() => this.#ended.next()),
      ),
      this.#informer.retried$.pipe(inDrain(drain), takeUntil(this.#ended)),
      leftovers(store, source.sources$ === undefined ? [] : scopes).pipe(inDrain(drain)),
    );
    // Everything runs in the drain, because the queue resolves what it pops against a store that must contain all
    // earlier commits.
    const commits$ = deltas$.pipe(
      deltaFifo<T>({
        known: store,
        ready: strict(() => demand()?.pipe(inDrain(drain)) ?? null),
        resync$: resync$.pipe(
          inDrain(drain),
          tap(() => this.#informer.retryRefused()),
          takeUntil(this.#ended),
        ),
        compression: options.compression,
        onUnknownDeletion: () => board.unknownDeletion(),
        onQueue: (queue) => {
          this.#informer.queue = queue;
        },
      }),
    );
    const sets$: Observable<ChangeSet<T>> = around(this.#informer, commits$).pipe(
      applyDeltas(store, {
        scopes,
        unchangedParts: options.unchangedParts,
        onRefused: ({ key, error }) => {
          if (key === '') this.#refuseItem(ApiError.local('Refused', shownError(error)));
        },
        onCommitted: (deltas) => {
          this.#informer.each((part) => part.committed?.(deltas));
          board.publishCommit();
        },
      }),
      tap((set) => listeners.tell((listener) => listener.next(set), set.rev)),
    );
    // Published once per turn of the event loop, because a server may send nothing but objects that are refused.
    const refusals$ = this.#refusals.pipe(
      exhaustMap(() => nextMacrotask(scheduler)),
      takeUntil(this.#ended),
      tap(() => this.#within(() => board.publish())),
    );
    return merge(refusals$, sets$).pipe(ignoreElements());
  }

  /** The deltas of one ListerWatcher. */
  #reflected(listerWatcher: ListerWatcher<T>, at: number): Observable<readonly Delta<T>[]> {
    const { source, options, timing, backoff, demand, store, board, drain, orders$ } =
      this.#informer;
    const { reflector = reflect<T> } = source;
    const each = this.#informer.each.bind(this.#informer);
    return reflector(listerWatcher, {
      ...options,
      ...timing,
      backoff,
      demand,
      known: store,
      onStatus: (status) =>
        this.#within(() => {
          board.reflectors.set(listerWatcher.scope ?? '', status);
          board.publish();
          each((part) => part.status?.(at, status));
        }),
      onRefused: (refusal) => {
        // An object that can be tried again travels to the commit with the other deltas.
        if (refusal.key === undefined || refusal.retry === undefined)
          this.#refuseItem(refusal.reason, refusal.count);
      },
      refresh$: orders$.pipe(
        filter((ordered) => ordered.at === at),
        map(({ order }) => order),
      ),
      onRefreshed: (error) => this.#within(() => each((part) => part.answered?.(at, error))),
    }).pipe(
      inDrain(drain),
      tap({
        next: (deltas) => each((part) => part.received?.(at, deltas)),
        complete: () => each((part) => part.ended?.(at)),
      }),
    );
  }

  /** Runs the task in order with the commits, unless the run has ended. */
  #within(task: () => void): void {
    const { drain, board } = this.#informer;
    drain.run(() => {
      if (board.generation === this.#generation) task();
    });
  }

  #refuseItem(reason: ApiError, count?: number): void {
    this.#informer.board.refuseItem(reason, count);
    this.#refusals.next();
  }
}

/**
 * Marks the store as not synced, as at the beginning of a run, because the scopes have changed within the run. It is synced again when each
 * new scope has its first list. The objects stay.
 */
function beginAnew<T extends KubernetesObject>({ store, board, listeners }: InformerCore<T>): void {
  const wasSynced = store.synced;
  store.transaction((transaction) => transaction.mark({ synced: false, resourceVersion: '' }));
  if (wasSynced) {
    const { rev } = store;
    const head = { rev, synced: false, resourceVersion: '', initial: false, reset: false } as const;
    const set = createChangeSet<T>({ ...head, cause: 'rebalance' }, []);
    listeners.tell((listener) => listener.next(set), rev);
  }
  board.publish();
}

/** The run of an informer, over its ListerWatchers or over those that `sources$` emits, one set after another. */
export function createRun<T extends KubernetesObject>(
  informer: InformerCore<T>,
): Observable<never> {
  const { listerWatchers, sources$ } = informer.source;
  const runOver = (sources: readonly ListerWatcher<T>[]) => {
    informer.sources = sources;
    informer.each((part) => part.sources?.(sources));
    return new Stages(informer).run$;
  };
  if (sources$ === undefined) return defer(() => runOver(listerWatchers));
  return sources$.pipe(
    inDrain(informer.drain),
    switchMap(({ listerWatchers: current, access }, at) => {
      informer.board.rescope(access);
      if (at > 0) beginAnew(informer);
      return runOver(current);
    }),
  );
}
