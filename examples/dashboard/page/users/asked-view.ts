/** Views of the query that is asked at present. The rows of the former query stay until the next one is answered. */
import type { View, ViewSnapshot } from 'rx-informer';
import type { WorkerQuery } from 'rx-informer/worker';
import {
  combineLatest,
  defer,
  filter,
  type MonoTypeOperatorFunction,
  map,
  type Observable,
  scan,
  share,
  startWith,
  tap,
} from 'rxjs';
import { cluster, paused$ } from '../cluster/cluster.ts';
import { snapshotsOf } from '../cluster/snapshots.ts';

/** What a query shows. Snapshots are held back while the table is paused, once they are complete. */
export function answersOf<R>(query: WorkerQuery<R>): Observable<ViewSnapshot<R>> {
  let isComplete = false;
  return combineLatest([snapshotsOf(cluster.view(query)), paused$]).pipe(
    filter(([, isPaused]) => !isPaused || !isComplete),
    map(([snapshot]) => snapshot),
    tap(({ synced }) => {
      isComplete = synced;
    }),
  );
}

/** Keeps the last complete snapshot until the next query is answered. */
export function untilAnswered<S extends ViewSnapshot<unknown>>(): MonoTypeOperatorFunction<S> {
  return scan((shown: S, next: S) =>
    next.synced || next.status.error !== undefined || !shown.synced ? next : shown,
  );
}

const NOTHING: ViewSnapshot<never> = {
  ...{ rows: [], total: 0, synced: false },
  status: { refusedRows: [] },
};

/** A view for hooks, which read no more of it. */
export function askedView<R>(snapshots$: Observable<ViewSnapshot<R>>): View<R> {
  let shown: ViewSnapshot<R> = NOTHING;
  const changes$ = snapshots$.pipe(
    tap((next) => {
      shown = next;
    }),
    share(),
  );
  const view: Pick<View<R>, 'getSnapshot' | 'status$' | 'subscribe'> = {
    getSnapshot: () => shown,
    status$: defer(() => changes$.pipe(startWith(shown))).pipe(map(({ status }) => status)),
    subscribe(listener) {
      const following = changes$.subscribe(listener);
      return () => following.unsubscribe();
    },
  };
  return view as View<R>;
}
