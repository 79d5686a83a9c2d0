/** The implementation of a view. */
import { Observable, ReplaySubject, Subscription } from 'rxjs';
import type { InformerStatus } from '../../informer/status/status.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import { atEndOfTurn, inTurn } from '../../rx/drain.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import { UNKNOWN } from '../../store/origin.ts';
import { SetSource } from '../../store/set-source.ts';
import { FollowedInformers, isResting } from '../engine/informers.ts';
import type { Lineage } from '../engine/lineage.ts';
import { shallowEqual } from '../operators/shallow-equal.ts';
import { latestOf } from './latest-of.ts';
import { checkListener, Listeners } from './listeners.ts';
import {
  NO_VIEW_STATUS,
  type RowView,
  type View,
  type ViewSnapshot,
  type ViewStatus,
} from './view.ts';
import { ViewRows } from './view-rows.ts';

/** The parts of a view. */
export interface ViewParts<T> {
  readonly source: Observable<AnyChangeSet<T>>;
  /** In place of the status of the informers of the pipe. */
  readonly status$?: Observable<InformerStatus> | undefined;
  readonly isFrozen: boolean;
}

export class RowsView<T> implements View<T> {
  readonly #parts: ViewParts<T>;
  readonly #rows: ViewRows<T>;
  readonly #listeners = new Listeners();
  readonly #rowListeners = new Map<string, Listeners>();
  /** Completes or errors as the source does; one for each run. */
  #end = new ReplaySubject<never>(1);
  #status: ViewStatus = NO_VIEW_STATUS;
  #snapshot: ViewSnapshot<T> | undefined;
  #run: Subscription | undefined;
  #followed: FollowedInformers | undefined;
  #lineage = UNKNOWN as Lineage;
  #holders = 0;
  #isNotifying = false;
  /** Whether the rows are those of the run, not of a former one. */
  #hasRows = false;
  /** Whether the rows are those of a former run, because the present one has no complete answer yet. */
  #isFormer = false;
  /** Whether they are, and an informer was not synced since. Otherwise the present rows come with the next frame. */
  #isOld = false;
  /** Whether the run has completed or failed. */
  #isOver = false;
  /** Why the run has failed. */
  #error: Error | undefined;
  /** Whether the run has completed otherwise than by the stop of an informer. */
  #hasEnded = false;

  constructor(parts: ViewParts<T>) {
    this.#parts = parts;
    this.#rows = new ViewRows(parts.isFrozen);
  }

  readonly items$: Observable<readonly Stored<T>[]> = this.#shown(() => this.#rows.list());
  readonly status$: Observable<ViewStatus> = this.#shown(() => this.#status);

  // Fields, so that they work without the view.
  readonly getSnapshot = (): ViewSnapshot<T> => {
    const { total } = this.#rows;
    const isOld = this.#isOld;
    const synced = this.#rows.synced && !isOld;
    const rows = this.#rows.list();
    const status = this.#status;
    this.#snapshot ??= Object.freeze({
      ...{ rows, total, synced, status },
      ...((status.stale || isOld) && rows.length > 0 && { stale: true as const }),
      ...(this.#error && { error: this.#error }),
    });
    return this.#snapshot;
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    checkListener(listener);
    // Held before the listener is added, because React must not be called for the first set, which is in the snapshot.
    const release = this.#hold();
    const remove = this.#listeners.add(listener);
    return () => {
      if (remove()) release();
    };
  };

  readonly select = (id: string): RowView<T> => {
    this.#rows.index();
    return {
      getSnapshot: () => this.#rows.get(id),
      subscribe: (listener) => {
        checkListener(listener);
        const release = this.#hold();
        const listeners = this.#rowListeners.get(id) ?? new Listeners();
        this.#rowListeners.set(id, listeners);
        const remove = listeners.add(listener);
        return () => {
          if (!remove()) return;
          if (listeners.size === 0 && this.#rowListeners.get(id) === listeners) {
            this.#rowListeners.delete(id);
          }
          release();
        };
      },
    };
  };

  readonly [Symbol.asyncIterator] = (): AsyncIterableIterator<readonly Stored<T>[]> =>
    latestOf({
      hold: () => this.#hold(),
      listen: (listener) => this.#listeners.add(listener),
      read: () => this.#rows.list(),
      end: () => this.#end,
    });

  /** A part of the snapshot, emitted at first and whenever it is another one. */
  #shown<V>(read: () => V): Observable<V> {
    return new Observable<V>((subscriber) => {
      const release = this.#hold();
      let shown: V | undefined;
      const show = () => {
        const now = read();
        if (now === shown) return;
        shown = now;
        subscriber.next(now);
      };
      const remove = this.#listeners.add(show);
      subscriber.add(() => {
        remove();
        release();
      });
      show();
      subscriber.add(this.#end.subscribe(subscriber));
    });
  }

  #hold(): () => void {
    this.#holders++;
    if (this.#followed === undefined) {
      this.#followed = new FollowedInformers(
        () => this.#readStatus(),
        () => {
          if (this.#hasEnded) return;
          const former = this.#run;
          this.#start();
          // Afterwards, because it keeps the other informers of the pipe running.
          former?.unsubscribe();
        },
      );
      this.#follow(false);
    }
    if (this.#run === undefined || this.#run.closed) this.#start();
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#holders--;
      if (this.#holders > 0) return;
      // First, because what the operators refused belongs to the rows that stay readable.
      this.#followed?.unsubscribe();
      this.#followed = undefined;
      this.#run?.unsubscribe();
      this.#run = undefined;
    };
  }

  /** While the view subscribes, the informers of its former run are kept, because the new one may have them, too. */
  #follow(keep: boolean): void {
    const { status$ } = this.#parts;
    const { informers, refusedRows } = this.#lineage;
    const followed = status$ === undefined ? informers : new Set([status$]);
    this.#followed?.follow({ informers: followed, refusedRows }, keep);
    this.#readStatus();
  }

  #readStatus(): void {
    const statuses: readonly InformerStatus[] = this.#followed?.statuses ?? [];
    if (this.#isFormer && !this.#isOld && statuses.some(({ synced }) => !synced)) {
      this.#isOld = true;
      this.#changed();
    }
    // A pipe that does not complete with its informers, as behind `switchMap`, has the rows of a run that is over.
    const isStopped = statuses.length > 0 && statuses.every(({ phase }) => phase === 'stopped');
    if (isStopped && this.#rows.synced) this.#unsync();
    const { refusedRows: before } = this.#status;
    // A run that is over refuses nothing any more, but its rows stay.
    const all = this.#isOver ? before : [...this.#lineage.refusedRows].flatMap(({ rows }) => rows);
    const refusedRows = shallowEqual(all, before) ? before : Object.freeze(all);
    const { merge } = this.#lineage;
    const merged = statuses.length > 1 ? merge?.(statuses) : statuses[0];
    // The rows may wait for a frame, and are live with it. Until then those of a former run are shown.
    const isWaiting = !(this.#rows.synced && this.#hasRows) && !this.#isOver;
    const isBehind = merged?.live === true && (isWaiting || this.#error !== undefined);
    const status = { ...merged, ...(isBehind && { live: false }), refusedRows };
    if (shallowEqual(status, this.#status)) return;
    this.#status = Object.freeze(status);
    this.#changed();
  }

  #start(): void {
    // A run that takes the place of one that has not ended ends what the former would have ended.
    if (this.#isOver) this.#end = new ReplaySubject<never>(1);
    const end = this.#end;
    this.#isOver = false;
    this.#hasEnded = false;
    if (this.#error !== undefined) {
      this.#error = undefined;
      this.#changed();
    }
    this.#followed?.subscribed();
    // Assigned before subscribing, because the source may complete synchronously.
    const run = new Subscription();
    this.#run = run;
    this.#isFormer ||= this.#hasRows;
    this.#hasRows = false;
    let isSubscribing = true;
    const sets = new SetSource<T>(() => {
      if (this.#run !== run) return;
      this.#lineage = sets.origin as Lineage;
      this.#follow(isSubscribing);
    });
    run.add(
      sets.subscribe(this.#parts.source, {
        next: (set) => {
          if (this.#run === run) inTurn(() => this.#apply(sets.take(set)));
        },
        error: (error) => {
          if (this.#run !== run) return;
          // In a turn, so that observers of the streams receive the error alone.
          inTurn(() => {
            this.#isOver = true;
            this.#error = error instanceof Error ? error : new Error(String(error));
            this.#changed();
            this.#readStatus();
            run.unsubscribe();
            if (!end.observed) reportUnhandled(error);
            end.error(error);
          });
        },
        complete: () => {
          if (this.#run !== run) return;
          this.#isOver = true;
          // The stop of an informer completes its streams. A pipe that completed otherwise has ended.
          this.#hasEnded = this.#followed?.statuses.some(isResting) !== true;
          // From now on the rows are stale.
          if (!this.#hasEnded) this.#unsync();
          run.unsubscribe();
          end.complete();
        },
      }),
    );
    isSubscribing = false;
    if (this.#run === run) this.#follow(false);
    // Most sources give their rows within the turn.
    atEndOfTurn(this.#lineage.rank + 1, () => {
      if (!this.#hasRows) this.#readStatus();
    });
  }

  #unsync(): void {
    this.#rows.synced = false;
    this.#changed();
  }

  #apply(set: AnyChangeSet<T>): void {
    if (this.#status.refusedRows.length > 0) this.#readStatus();
    // A new informer begins empty. The former rows stand until it has some.
    if (this.#isFormer && !this.#hasRows && !set.synced && set.changes.length === 0) return;
    const wasOld = this.#isOld;
    const changed = this.#rows.apply(set, set.reset || !this.#hasRows);
    this.#hasRows = true;
    if (set.synced) this.#isFormer = this.#isOld = false;
    if (this.#status.live !== true) this.#readStatus();
    if (changed === undefined && this.#isOld === wasOld) return;
    for (const id of changed ?? []) this.#rowListeners.get(id)?.changed();
    this.#changed();
  }

  /** The snapshot is another one. The listeners are called at the end of the turn, after all that it changes. */
  #changed(): void {
    this.#snapshot = undefined;
    this.#listeners.changed();
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    atEndOfTurn(this.#lineage.rank + 1, () => {
      this.#isNotifying = false;
      for (const listeners of [...this.#rowListeners.values()]) listeners.notify();
      this.#listeners.notify();
    });
  }
}
