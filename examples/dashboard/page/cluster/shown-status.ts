/** The status of a view of the worker, with what the connection to the worker says. */
import type { View, ViewStatus } from 'rx-informer';
import type { WorkerConnection } from 'rx-informer/worker';
import { distinctUntilChanged, map, type Observable } from 'rxjs';
import { snapshotsOf } from './snapshots.ts';

export interface ShownStatus extends ViewStatus {
  /** The reason why the worker does not answer; absent while it does. */
  readonly worker?: 'lost' | 'failed' | 'signed-out';
}

function shownOf<R>(view: View<R>, { phase }: WorkerConnection): ShownStatus {
  const { status, stale = false } = view.getSnapshot();
  if (phase === 'lost' || phase === 'failed' || phase === 'signed-out') {
    return { ...status, worker: phase };
  }
  // Rows of the former page, or of a worker that was left, before the next answer.
  return stale && !status.stale ? { ...status, synced: false, stale } : status;
}

/** Emits the status synchronously, then whenever the view changes. */
export function statusOf<R>(
  view: View<R>,
  connection: () => WorkerConnection,
): Observable<ShownStatus> {
  return snapshotsOf(view).pipe(
    map(() => shownOf(view, connection())),
    distinctUntilChanged(),
  );
}
