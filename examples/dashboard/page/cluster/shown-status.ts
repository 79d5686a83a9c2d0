/** The status of a view of the worker, with what the connection to the worker says. */
import type { View, ViewStatus } from 'rx-informer';
import { Observable } from 'rxjs';

/** A status as the page shows it. */
export type ShownStatus = ViewStatus;

/** Emits the status synchronously, then whenever it changes. */
export function statusOf<R>(view: View<R>): Observable<ShownStatus> {
  return new Observable((subscriber) => {
    let last: ViewStatus | undefined;
    let wasStale: boolean | undefined;
    const look = () => {
      const { status, stale = false } = view.getSnapshot();
      if (status === last && stale === wasStale) return;
      last = status;
      wasStale = stale;
      // The rows of the former page, before the worker has answered.
      subscriber.next(stale && !status.stale ? { ...status, synced: false, stale } : status);
    };
    const leave = view.subscribe(look);
    look();
    return leave;
  });
}
