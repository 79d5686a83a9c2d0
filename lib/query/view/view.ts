/** The types of a view: rows for a page, by the interfaces that each framework expects of a source. */
import type { Observable } from 'rxjs';
import type { InformerStatus } from '../../informer/status/status.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import type { RefusedRow } from '../engine/refused-rows.ts';

/**
 * The status of a view: that of the informers of its pipe, several of them merged, and the rows that the operators of
 * the pipe keep out. The informer's fields are absent if the pipe has no informer.
 */
export interface ViewStatus extends Partial<InformerStatus> {
  /** The rows that are kept out because a function of an operator threw. */
  readonly refusedRows: readonly RefusedRow[];
}

/** No rows. */
export const NO_ROWS: readonly never[] = /* @__PURE__ */ Object.freeze([]);

/** The status of a view that was never used. */
export const NO_VIEW_STATUS: ViewStatus = /* @__PURE__ */ Object.freeze({ refusedRows: NO_ROWS });

/** The contents of a view at one moment. They never change. */
export interface ViewSnapshot<T> {
  /** The rows, in the order of the pipe, or without an order as they were added. The same array until a row changes. */
  readonly rows: readonly Stored<T>[];
  /** The number of rows before a window was cut out; without a window `rows.length`. */
  readonly total: number;
  /** Whether every source has held a complete list. */
  readonly synced: boolean;
  readonly status: ViewStatus;
  /**
   * Set if the rows may be out of date: they come from a store on disk and are not confirmed yet, they are those of a former run
   * of the informers, or the worker that has them was lost.
   */
  readonly stale?: true | undefined;
  /** The error with which the pipe has failed. The rows stay, and are not live. Absent again when the view subscribes to the pipe again. */
  readonly error?: Error | undefined;
}

/** A view of one row. */
export interface RowView<T> {
  getSnapshot(): Stored<T> | undefined;
  /**
   * Calls the listener after each change of the row, never during the subscription. Returns the function that
   * unsubscribes.
   */
  subscribe(listener: () => void): () => void;
}

/**
 * The rows of a pipe. The view subscribes to its source with its first subscriber and unsubscribes with its last; the
 * last rows stay readable. If an informer of the pipe was stopped and runs again, or if the source has completed and
 * another subscriber arrives, the view subscribes to its source again.
 *
 * The methods work without the view: `useSyncExternalStore(view.subscribe, view.getSnapshot)`.
 */
export interface View<T> {
  /** Emits the rows synchronously, then whenever they change (Svelte, Angular, Vue). Errors only if the pipe errors. */
  readonly items$: Observable<readonly Stored<T>[]>;
  /** Emits the status synchronously, then whenever it changes. Completes as `items$` does. */
  readonly status$: Observable<ViewStatus>;
  /** Returns what the view shows: the same object until the rows, the total, `synced`, the status or the error change. */
  readonly getSnapshot: () => ViewSnapshot<T>;
  /**
   * Calls the listener after the snapshot has changed, once a turn, never during the subscription (React's
   * useSyncExternalStore). Returns the function that unsubscribes.
   */
  readonly subscribe: (listener: () => void) => () => void;
  /** A view of one row by its id, which is the UID of an object. */
  readonly select: (id: string) => RowView<T>;
  /** Yields the latest rows each time the loop continues; intermediate rows are skipped. */
  readonly [Symbol.asyncIterator]: () => AsyncIterableIterator<readonly Stored<T>[]>;
}
