/** The rows of a pipe of change sets, as a view. */
import { type Observable, Subscription } from 'rxjs';
import type { InformerStatus } from '../../informer/status/status.ts';
import { atEndOfTurn, inTurn } from '../../rx/drain.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import { UNKNOWN } from '../../store/origin.ts';
import { type SetReader, SetSource } from '../../store/set-source.ts';
import { FollowedInformers, isResting } from '../engine/informers.ts';
import type { Lineage } from '../engine/lineage.ts';
import { shallowEqual } from '../operators/shallow-equal.ts';
import { nextShown, type ShownInput } from './shown.ts';
import { type RowsById, ShownView } from './shown-view.ts';

/** The rows that sets bring up to date. */
export interface RowsOfSets<T> extends RowsById<T> {
  /**
   * Takes a set, and returns the ids of the rows that have changed, if rows are read by id; `undefined` if nothing that is shown
   * has changed. If it is a reset, its rows take the place of all rows.
   */
  apply(set: AnyChangeSet<T>, isReset: boolean): readonly string[] | undefined;
}

/** The parts of a view. */
export interface ViewParts<T, Rows> {
  readonly source: Observable<AnyChangeSet<T>>;
  /** In place of the status of the informers of the pipe. */
  readonly status$?: Observable<InformerStatus> | undefined;
  readonly rows: Rows;
}

export class RowsView<T, Rows extends RowsOfSets<T>> extends ShownView<T, Rows> {
  readonly #parts: ViewParts<T, Rows>;
  #run: Subscription | undefined;
  #followed: FollowedInformers | undefined;
  #lineage = UNKNOWN as Lineage;

  constructor(parts: ViewParts<T, Rows>) {
    super(parts.rows);
    this.#parts = parts;
  }

  protected override entered(isFirst: boolean): void {
    if (isFirst) {
      this.#followed = new FollowedInformers(
        () => this.#readStatus(),
        () => {
          if (this.shown.run === 'ended') return;
          const former = this.#run;
          this.#start();
          // Afterwards, because it keeps the other informers of the pipe running.
          former?.unsubscribe();
        },
      );
      this.#follow(false);
    }
    if (isFirst || this.shown.run !== 'begun') this.#start();
  }

  protected override left(): void {
    // First, because what the operators refused belongs to the rows that stay readable.
    this.#followed?.unsubscribe();
    this.#followed = undefined;
    this.#run?.unsubscribe();
    this.#run = undefined;
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
    if (statuses.some(({ synced }) => !synced)) this.#send('behind');
    // A pipe that does not complete with its informers, as behind `switchMap`, has the rows of a run that is over.
    const isStopped = statuses.length > 0 && statuses.every(({ phase }) => phase === 'stopped');
    if (isStopped) this.#send('incomplete');
    const { rows: which, run } = this.shown;
    const { refusedRows: before } = this.status;
    // A run that is over refuses nothing any more, but its rows stay.
    const isOpen = run === 'begun';
    const all = isOpen ? [...this.#lineage.refusedRows].flatMap(({ rows }) => rows) : before;
    const refusedRows = shallowEqual(all, before) ? before : Object.freeze(all);
    const { merge } = this.#lineage;
    const merged = statuses.length > 1 ? merge?.(statuses) : statuses[0];
    // The rows may wait for a frame, and are live with it. Until then those of a former run are shown.
    const isWaiting = isOpen && which !== 'complete';
    const isBehind = merged?.live === true && (isWaiting || run === 'failed');
    const status = { ...merged, ...(isBehind && { live: false }), refusedRows };
    if (!shallowEqual(status, this.status)) this.show(status);
  }

  #start(): void {
    this.#send('begun');
    this.#followed?.subscribed();
    // Assigned before subscribing, because the source may complete synchronously.
    const run = new Subscription();
    this.#run = run;
    let hasRows = false;
    let isSubscribing = true;
    const sets = new SetSource<T>(() => {
      if (this.#run !== run) return;
      this.#lineage = sets.origin as Lineage;
      this.rank = this.#lineage.rank + 1;
      this.#follow(isSubscribing);
    });
    const reader: SetReader<T> = {
      next: (set) => {
        if (this.#run === run) hasRows = this.#apply(set, hasRows);
      },
      error: (cause) => {
        if (this.#run !== run) return;
        // In a turn, so that observers of the streams receive the error alone.
        inTurn(() => {
          this.#send('failed', cause instanceof Error ? cause : new Error(String(cause)));
          this.#readStatus();
          run.unsubscribe();
          if (this.hearers === 0) reportUnhandled(cause);
          this.end.error(cause);
        });
      },
      complete: () => {
        if (this.#run !== run) return;
        // The stop of an informer completes its streams. A pipe that completed otherwise has ended.
        this.#send(this.#followed?.statuses.some(isResting) === true ? 'stopped' : 'ended');
        run.unsubscribe();
      },
    };
    run.add(sets.read(this.#parts.source, reader, inTurn));
    isSubscribing = false;
    if (this.#run === run) this.#follow(false);
    // Most sources give their rows within the turn.
    atEndOfTurn(this.rank, () => {
      if (!hasRows) this.#readStatus();
    });
  }

  #send(input: ShownInput, error?: Error): void {
    this.become(nextShown(this.shown, input, error));
  }

  /** Returns whether there are rows of the run. */
  #apply(set: AnyChangeSet<T>, hasRows: boolean): boolean {
    if (this.status.refusedRows.length > 0) this.#readStatus();
    // The changes of an ordered set are made when they are read.
    const isEmpty = !set.synced && set.changes.length === 0;
    this.#send(set.synced ? 'complete' : isEmpty ? 'incomplete' : 'partial');
    // A new informer begins empty. The former rows stand until it has some.
    if (this.shown.rows === 'outdated' && isEmpty && !hasRows) return false;
    const changed = this.rows.apply(set, set.reset || !hasRows);
    if (this.status.live !== true) this.#readStatus();
    if (changed !== undefined) this.changed(changed);
    return true;
  }
}
