/** A view of a query that a worker answers. */
import type { ApiError } from '../../meta/api-error.ts';
import { ShownView } from '../../query/view/shown-view.ts';
import { NO_VIEW_STATUS, type ViewStatus } from '../../query/view/view.ts';
import type { EpochMs } from '../../rx/timing.ts';
import { readError, readStatus } from '../carried-errors.ts';
import type { CarriedQuery } from '../carried-query.ts';
import type { RowDifference } from '../messages.ts';
import { RemoteRows } from './remote-rows.ts';

/** The parts of a remote view. */
export interface RemoteViewParts {
  readonly query: CarriedQuery;
  /** When the worker was last heard. */
  heardMs(): EpochMs;
  /** The view has its first subscriber. Returns the function to call when it has lost its last one. */
  used(): () => void;
}

/** Its methods change several things one after another, so they are called within a turn. */
export class RemoteView extends ShownView<unknown, RemoteRows> {
  readonly query: CarriedQuery;
  readonly #parts: RemoteViewParts;
  /** The status that the worker has sent last, also after the worker was lost. */
  sent: ViewStatus = NO_VIEW_STATUS;
  /** The rows of another worker, until they are complete. */
  #next: RemoteRows | undefined;
  #leave: (() => void) | undefined;
  /** Since when rows that stay are out of date. The next worker does not know them. */
  #sinceMs: EpochMs | undefined;

  constructor(parts: RemoteViewParts) {
    super(new RemoteRows());
    this.#parts = parts;
    this.query = parts.query;
  }

  protected override entered(isFirst: boolean): void {
    if (isFirst) this.#leave = this.#parts.used();
  }

  protected override left(): void {
    this.#leave?.();
  }

  take(difference: RowDifference): void {
    const { status, error, synced, rows = [] } = difference;
    if (error !== undefined) return this.refuse(readError(error));
    if (status !== undefined) this.sent = readStatus(status);
    if (this.shown.run === 'failed') this.#again();
    const isNext = this.shown.rows === 'outdated';
    // The rows of a worker that was lost stay until those of the next one are complete, or may not be read any longer.
    if (isNext && this.sent.blocked !== undefined) this.send('cleared');
    this.send(synced ? 'complete' : rows.length === 0 ? 'incomplete' : 'partial');
    if (!isNext) {
      this.show(this.sent);
      return this.changed(this.rows.apply(difference));
    }
    this.#next ??= new RemoteRows();
    this.#next.apply(difference);
    if (this.shown.rows === 'outdated') return this.show(this.#aged(this.sent));
    this.show(this.sent);
    this.changed(this.rows.replace(this.#next));
    this.#next = undefined;
  }

  /** The worker cannot answer the query. The rows that were there stay. */
  refuse(error: Error): void {
    this.#age(this.#parts.heardMs());
    this.send('failed', error);
    const status = { ...NO_VIEW_STATUS, phase: 'stopped', live: false } as const;
    this.show(this.#aged({ ...status, error: error as ApiError }));
  }

  /** Shows a status of the connection. The rows stay, marked as stale; they were right until `sinceMs`. */
  lose(status: ViewStatus | undefined, sinceMs: EpochMs = this.#parts.heardMs()): void {
    this.#age(sinceMs);
    this.#again();
    const { error, blocked, ...sent } = this.sent;
    this.show(this.#aged(status ?? { ...sent, phase: 'connecting', live: false }));
    this.#next = undefined;
  }

  /** Drops the rows, which may not be shown any longer. */
  clear(status: ViewStatus): void {
    this.send('cleared');
    this.sent = NO_VIEW_STATUS;
    this.#next = undefined;
    this.show(status);
    this.changed(this.rows.clear());
  }

  /** The query is asked again. */
  #again(): void {
    this.send('begun');
    this.send('behind');
  }

  /** The rows are right until now, unless they are out of date already. */
  #age(sinceMs: EpochMs): void {
    const { rows, run } = this.shown;
    if (rows === 'outdated' || run === 'failed') return;
    this.#sinceMs = this.sent.staleSinceMs ?? (this.rows.list.length > 0 ? sinceMs : undefined);
  }

  /** A status with the age of the rows that stay. */
  #aged(status: ViewStatus): ViewStatus {
    return { ...status, staleSinceMs: this.#sinceMs };
  }
}
