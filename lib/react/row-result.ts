/** What the hooks return: immutable values, which are the same objects until something that they show has changed. */
import type { InformerStatus } from '../informer/status/status.ts';
import type { Stored } from '../meta/kubernetes-object.ts';
import { NO_ROWS, NO_VIEW_STATUS, type ViewSnapshot, type ViewStatus } from '../query/view/view.ts';

/** What {@link useStatus} returns. */
export interface StatusResult {
  /** Whether the complete answer has been received. */
  readonly synced: boolean;
  readonly status: ViewStatus;
  /**
   * Why there is no answer, or no longer a current one, although the informer keeps trying: the server refuses the
   * requests (`status.blocked`). Also the error of a view whose pipe has failed. Failures that a retry alone can heal
   * are in `status.error` only.
   */
  readonly error: Error | undefined;
}

/** What {@link useList}, {@link useQuery} and {@link useView} return. It never changes. */
export interface ListResult<Row> extends StatusResult {
  /** The rows. A row is the same object until it changes, and the array is the same until a row changes. */
  readonly rows: readonly Stored<Row>[];
  /** The number of rows without `limit` and `offset`. */
  readonly total: number;
  /**
   * Whether the rows answer the former arguments, because the answer to the present ones is not complete yet, come from a store on
   * disk or from before a stop or a pause of the component (React's `<Activity>`) and are not confirmed yet, or are no longer
   * updated, because an informer of theirs was stopped.
   */
  readonly stale: boolean;
}

/** The answer without a request: on a server, and if there is nothing to ask. */
export const NO_RESULT: ListResult<never> = /* @__PURE__ */ Object.freeze({
  rows: NO_ROWS,
  total: 0,
  synced: false,
  stale: false,
  status: NO_VIEW_STATUS,
  error: undefined,
});

/** The error of a status that blocks the answer. */
export function blockingError({
  blocked,
  error,
}: Pick<Partial<InformerStatus>, 'blocked' | 'error'>): Error | undefined {
  return blocked === undefined ? undefined : error;
}

/** The result that a snapshot gives. If it is not kept, its use has ended, and nothing keeps its rows up to date. */
export function resultOf<Row>(snapshot: ViewSnapshot<Row>, isKept: boolean): ListResult<Row> {
  const { rows, total, synced, stale: isLost } = snapshot;
  const error = snapshot.error ?? blockingError(snapshot.status);
  const isFormer = !isKept && rows.length > 0;
  const stale = isLost === true || isFormer || snapshot.status.phase === 'stopped';
  const status = isKept ? snapshot.status : Object.freeze({ ...snapshot.status, live: false });
  return Object.freeze({ rows, total, synced, stale, status, error });
}
