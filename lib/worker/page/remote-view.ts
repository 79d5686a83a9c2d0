/** A view of a query that a worker answers. */
import { Observable } from 'rxjs';
import type { ApiError } from '../../meta/api-error.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import { latestOf } from '../../query/view/latest-of.ts';
import { checkListener, Listeners } from '../../query/view/listeners.ts';
import {
  NO_VIEW_STATUS,
  type RowView,
  type View,
  type ViewSnapshot,
  type ViewStatus,
} from '../../query/view/view.ts';
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

export class RemoteView implements View<unknown> {
  readonly query: CarriedQuery;
  readonly #parts: RemoteViewParts;
  readonly rows: RemoteRows = new RemoteRows();
  /** The status that the worker has sent last, also after the worker was lost. */
  sent: ViewStatus = NO_VIEW_STATUS;
  /** The rows of another worker, until they are complete. */
  #next: RemoteRows | undefined;
  readonly #listeners = new Listeners();
  readonly #rowListeners = new Map<string, Listeners>();
  #holders = 0;
  #leave: (() => void) | undefined;
  /** What the connection to the worker says in place of the worker. */
  #lost: ViewStatus | undefined;
  #isStale = false;
  /** Why the worker cannot answer the query. */
  #error: Error | undefined;
  /** Since when rows that stay are out of date. The next worker does not know them. */
  #sinceMs: EpochMs | undefined;
  #snapshot: ViewSnapshot<unknown> | undefined;

  constructor(parts: RemoteViewParts) {
    this.#parts = parts;
    this.query = parts.query;
  }

  readonly items$: Observable<readonly Stored<unknown>[]> = this.#shown(
    () => this.getSnapshot().rows,
  );
  readonly status$: Observable<ViewStatus> = this.#shown(() => this.getSnapshot().status);

  // Fields, so that they work without the view.
  readonly getSnapshot = (): ViewSnapshot<unknown> => {
    const { list, total, synced } = this.rows;
    const status = this.#lost ?? this.sent;
    const stale = this.#isStale || status.stale || status.phase === 'stopped';
    this.#snapshot ??= Object.freeze({
      rows: list as readonly Stored<unknown>[],
      total,
      synced: synced && !this.#isStale,
      status,
      ...(stale && list.length > 0 && { stale: true as const }),
      ...(this.#error && { error: this.#error }),
    });
    return this.#snapshot;
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    checkListener(listener);
    const release = this.#hold();
    const remove = this.#listeners.add(listener);
    return () => {
      if (remove()) release();
    };
  };

  readonly select = (id: string): RowView<unknown> => ({
    getSnapshot: () => this.rows.get(id) as Stored<unknown> | undefined,
    subscribe: (listener) => {
      checkListener(listener);
      const release = this.#hold();
      const listeners = this.#rowListeners.get(id) ?? new Listeners();
      this.#rowListeners.set(id, listeners);
      const remove = listeners.add(listener);
      return () => {
        if (!remove()) return;
        if (listeners.size === 0) this.#rowListeners.delete(id);
        release();
      };
    },
  });

  readonly [Symbol.asyncIterator] = (): AsyncIterableIterator<readonly Stored<unknown>[]> =>
    latestOf({
      hold: () => this.#hold(),
      listen: (listener) => this.#listeners.add(listener),
      read: () => this.getSnapshot().rows,
      end: () => new Observable<never>(),
    });

  /** Takes a difference, and tells nobody yet. */
  take(difference: RowDifference): void {
    const { status, error } = difference;
    if (error !== undefined) return this.refuse(readError(error));
    if (status !== undefined) this.sent = readStatus(status);
    this.#lost = this.#error = undefined;
    if (this.#isStale) return this.#succeed(difference);
    this.#changed(this.rows.apply(difference));
  }

  /** The rows of a worker that was lost stay until those of the next one are complete, or may not be read any longer. */
  #succeed(difference: RowDifference): void {
    this.#next ??= new RemoteRows();
    this.#next.apply(difference);
    const isReady = difference.synced || this.sent.blocked !== undefined;
    if (!isReady && this.rows.list.length > 0) {
      this.#lost = this.#aged(this.sent);
      return this.#changed([]);
    }
    this.#isStale = false;
    this.#changed(this.rows.replace(this.#next));
    this.#next = undefined;
  }

  /** The worker cannot answer the query. The rows that were there are out of date. */
  refuse(error: Error): void {
    this.lose({ ...NO_VIEW_STATUS, phase: 'stopped', live: false, error: error as ApiError });
    this.#error = error;
  }

  /** Shows a status of the connection. The rows stay, marked as stale; they were right until `sinceMs`. */
  lose(status: ViewStatus | undefined, sinceMs: EpochMs = this.#parts.heardMs()): void {
    const hasRows = this.rows.list.length > 0;
    this.#error = undefined;
    if (!this.#isStale) this.#sinceMs = this.sent.staleSinceMs ?? (hasRows ? sinceMs : undefined);
    const { error, blocked, ...sent } = this.sent;
    this.#lost = this.#aged(status ?? { ...sent, phase: 'connecting', live: false });
    this.#isStale = true;
    this.#next = undefined;
    this.#changed([]);
  }

  /** Drops the rows, which may not be shown any longer. */
  clear(status: ViewStatus): void {
    const gone = this.rows.clear();
    this.sent = NO_VIEW_STATUS;
    this.#lost = Object.freeze(status);
    this.#error = undefined;
    this.#isStale = false;
    this.#next = undefined;
    this.#changed(gone);
  }

  /** A status with the age of the rows that stay. */
  #aged(status: ViewStatus): ViewStatus {
    return Object.freeze({ ...status, staleSinceMs: this.#sinceMs });
  }

  notify(): void {
    for (const listeners of [...this.#rowListeners.values()]) listeners.notify();
    this.#listeners.notify();
  }

  #changed(ids: readonly string[]): void {
    this.#snapshot = undefined;
    for (const id of ids) this.#rowListeners.get(id)?.changed();
    this.#listeners.changed();
  }

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
    });
  }

  #hold(): () => void {
    if (this.#holders++ === 0) this.#leave = this.#parts.used();
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      if (--this.#holders === 0) this.#leave?.();
    };
  }
}
