/** Views of the query that is asked at present. The rows of the former query stay until the next one is answered. */
import type { View, ViewSnapshot, ViewStatus } from 'rx-informer';
import type { WorkerQuery } from 'rx-informer/worker';
import {
  combineLatest,
  filter,
  type MonoTypeOperatorFunction,
  map,
  Observable,
  Subscription,
  scan,
  tap,
} from 'rxjs';
import { cluster, paused$ } from '../cluster/cluster.ts';

/** Holds snapshots back while the table is paused, once they are complete. */
function unlessPaused<R>(): MonoTypeOperatorFunction<ViewSnapshot<R>> {
  let isComplete = false;
  return (snapshots$) =>
    combineLatest([snapshots$, paused$]).pipe(
      filter(([, isPaused]) => !isPaused || !isComplete),
      map(([snapshot]) => snapshot),
      tap(({ synced }) => {
        isComplete = synced;
      }),
    );
}

/** What a query shows, now and after each change. */
export function snapshotsOf<R>(query: WorkerQuery<R>): Observable<ViewSnapshot<R>> {
  return new Observable<ViewSnapshot<R>>((subscriber) => {
    const view = cluster.view(query);
    const look = () => subscriber.next(view.getSnapshot());
    const leave = view.subscribe(look);
    look();
    return leave;
  }).pipe(unlessPaused());
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

class AskedView<R> {
  readonly #snapshots$: Observable<ViewSnapshot<R>>;
  readonly #listeners = new Set<() => void>();
  #following = Subscription.EMPTY;
  #shown: ViewSnapshot<R> = NOTHING;

  constructor(snapshots$: Observable<ViewSnapshot<R>>) {
    this.#snapshots$ = snapshots$;
  }

  readonly getSnapshot = () => this.#shown;

  readonly status$ = new Observable<ViewStatus>((subscriber) => {
    const look = () => subscriber.next(this.#shown.status);
    const leave = this.subscribe(look);
    look();
    return leave;
  });

  readonly subscribe = (listener: () => void): (() => void) => {
    if (this.#listeners.size === 0) {
      this.#following = this.#snapshots$.subscribe((next) => {
        this.#shown = next;
        for (const each of this.#listeners) each();
      });
    }
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#following.unsubscribe();
    };
  };
}

/** A view for hooks, which read no more of it. */
export function askedView<R>(snapshots$: Observable<ViewSnapshot<R>>): View<R> {
  return new AskedView(snapshots$) as Pick<
    View<R>,
    'getSnapshot' | 'status$' | 'subscribe'
  > as View<R>;
}
