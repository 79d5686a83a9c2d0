/** A view of a query that another process answers: a worker, or a server. */
import type { SchedulerLike } from 'rxjs';
import type { ApiError } from '../meta/api-error.ts';
import { NOTHING_SHOWN, type ShownRun } from '../query/view/shown.ts';
import { ShownView } from '../query/view/shown-view.ts';
import { NO_VIEW_STATUS, type ViewStatus } from '../query/view/view.ts';
import type { EpochMs } from '../rx/timing.ts';
import { readError, readStatus } from './carried-errors.ts';
import { RemoteRows } from './remote-rows.ts';
import type { RowDifference } from './row-difference.ts';

/** The parts of a remote view. */
export interface RemoteViewParts {
  readonly scheduler: SchedulerLike;
  /** When the other side was last heard. */
  heardMs(): EpochMs;
  /** The view has its first subscriber, or another one while its query has ended, which is asked again. */
  ask(): void;
  /** The view has lost its last subscriber. */
  leave(): void;
}

/** Its methods change several things one after another, so they are called within a turn. */
export class RemoteView extends ShownView<unknown, RemoteRows> {
  readonly #parts: RemoteViewParts;
  /** The status that was sent last, also after the other side was lost. */
  sent: ViewStatus = NO_VIEW_STATUS;
  /** The rows of another process, until they are complete. The former ones stay meanwhile. */
  #next: RemoteRows | undefined;
  /** The status with which the rows that stay were sent. */
  #former: ViewStatus = NO_VIEW_STATUS;
  /** Since when rows that stay are out of date. The next process does not know them. Absent while they are those of the present one. */
  sinceMs: EpochMs | undefined;

  constructor(parts: RemoteViewParts) {
    super(new RemoteRows());
    this.#parts = parts;
  }

  protected override entered(isFirst: boolean): void {
    if (!isFirst && this.shown.run === 'begun') return;
    this.become({ rows: this.shown.rows, run: 'begun' });
    this.#parts.ask();
  }

  protected override left(): void {
    this.#parts.leave();
  }

  take(difference: RowDifference): void {
    const { status, error, synced, stale, run = 'begun' } = difference;
    if (status !== undefined) this.sent = readStatus(status, this.#parts.scheduler.now());
    if (this.shown.run === 'failed') this.#again();
    const next = this.#next;
    next?.apply(difference);
    const { blocked, access } = this.sent;
    const former = this.#former;
    // Painted rows were sent with none.
    const isSame = former === NO_VIEW_STATUS || access?.message === former.access?.message;
    // The rows of a process that was lost stay until those of the next one are complete, or may not be read any longer.
    const isLater = next && !synced && !blocked && (!access || isSame);
    if (isLater) this.#showAged(this.sent);
    else {
      this.#next = undefined;
      this.sinceMs = undefined;
      const changed = next === undefined ? this.rows.apply(difference) : this.rows.replace(next);
      const partial = this.rows.list.length > 0 ? 'incomplete' : 'none';
      const rows = stale ? 'outdated' : synced ? 'complete' : partial;
      this.become({ rows, run: 'begun' });
      this.show(this.sent);
      this.changed(changed);
    }
    if (error !== undefined) this.refuse(readError(error));
    else if (run !== 'begun') this.#finish(run);
  }

  /** The query cannot be answered. The rows that were there stay. */
  refuse(error: Error): void {
    this.#age();
    this.become({ rows: this.shown.rows, run: 'failed', error });
    this.end.error(error);
    const status = { ...NO_VIEW_STATUS, phase: 'stopped', live: false } as const;
    this.#showAged({ ...status, error: error as ApiError });
  }

  /** Shows a status of the connection. The rows stay, marked as stale; they were right until `sinceMs`. */
  lose(status: ViewStatus | undefined, sinceMs?: EpochMs): void {
    this.#age(sinceMs);
    this.#again();
    const { error, blocked, ...sent } = this.sent;
    this.#showAged(status ?? { ...sent, phase: 'connecting', live: false });
  }

  /** Nothing follows, unless somebody subscribes again. The rows stay, marked as stale, unless the run has ended before. */
  cut(status: ViewStatus): void {
    if (this.shown.run !== 'begun') return;
    this.lose(status);
    this.#finish('ended');
  }

  #finish(run: ShownRun): void {
    // First, so that streams emit the last rows before they complete.
    this.tell();
    this.become({ ...this.shown, run });
  }

  /** Drops the rows, which may not be shown any longer. */
  clear(status: ViewStatus): void {
    this.become(NOTHING_SHOWN);
    this.sent = NO_VIEW_STATUS;
    this.#next = undefined;
    this.show(status);
    this.changed(this.rows.clear());
  }

  /** The query is asked again. Its rows stay until the answer is complete. */
  #again(): void {
    const stays = this.shown.rows !== 'none';
    this.become({ rows: stays ? 'outdated' : 'none', run: 'begun' });
    this.#next = stays ? new RemoteRows() : undefined;
  }

  /** The rows are right until now, unless they are out of date already. */
  #age(sinceMs: EpochMs = this.#parts.heardMs()): void {
    if (this.#next !== undefined || this.shown.run === 'failed') return;
    this.#former = this.sent;
    this.sinceMs = this.sent.staleSinceMs ?? (this.rows.list.length > 0 ? sinceMs : undefined);
  }

  /** Shows a status with the age of the rows that stay. */
  #showAged(status: ViewStatus): void {
    this.show({ ...status, staleSinceMs: this.sinceMs });
  }
}
