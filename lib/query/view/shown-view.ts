/** The shell of a view: it shows the rows, the status and the state that its source gives it, and tells its listeners. */
import { Observable, ReplaySubject } from 'rxjs';
import type { Stored } from '../../meta/kubernetes-object.ts';
import { Hub } from '../../rx/sharing/hub.ts';
import { latestOf } from './latest-of.ts';
import { Held, type Listeners, notify } from './listeners.ts';
import { LOOKS, NOTHING_SHOWN, type Shown } from './shown.ts';
import {
  NO_VIEW_STATUS,
  type RowView,
  type View,
  type ViewSnapshot,
  type ViewStatus,
} from './view.ts';

/** The rows of a view. */
export interface RowsById<T> {
  /** In order; the same list until one changes. */
  readonly list: readonly Stored<T>[];
  readonly total: number;
  get(id: string): Stored<T> | undefined;
  /** Rows are read by id from now on. */
  index?(): void;
}

export abstract class ShownView<T, Rows extends RowsById<T>> extends Held implements View<T> {
  readonly rows: Rows;
  shown: Shown = NOTHING_SHOWN;
  protected status: ViewStatus = NO_VIEW_STATUS;
  /** When in a turn the listeners are told. */
  protected rank = 1;
  /** Completes or errors as the source does: one for each run. */
  protected end: ReplaySubject<never> = new ReplaySubject<never>(1);
  /** How many of the listeners receive the end of the run, too. */
  protected hearers = 0;
  readonly #rowListeners = new Map<string, Listeners>();
  #snapshot: ViewSnapshot<T> | undefined;

  constructor(rows: Rows) {
    super();
    this.rows = rows;
  }

  readonly items$: Observable<readonly Stored<T>[]> = this.#part(() => this.rows.list);
  readonly status$: Observable<ViewStatus> = this.#part(() => this.status);

  // Fields, so that they work without the view.
  readonly getSnapshot = (): ViewSnapshot<T> => {
    const { status, shown } = this;
    const { list, total } = this.rows;
    const look = LOOKS[shown.rows];
    const isStale = (look === 'stale' || status.stale) && list.length > 0;
    this.#snapshot ??= Object.freeze({
      ...{ rows: list, total, synced: look === 'synced', status },
      ...(isStale && { stale: true as const }),
      ...(shown.error && { error: shown.error }),
    });
    return this.#snapshot;
  };

  readonly select = (id: string): RowView<T> => {
    this.rows.index?.();
    return {
      getSnapshot: () => this.rows.get(id),
      subscribe: (listener) => this.listen(() => this.#listenersOf(id), listener),
    };
  };

  readonly [Symbol.asyncIterator] = (): AsyncIterableIterator<readonly Stored<T>[]> =>
    latestOf({
      subscribe: this.#hear,
      read: () => this.rows.list,
      end: () => this.end,
    });

  /** Adds a listener who subscribes to the end afterwards. The source may error meanwhile. */
  readonly #hear = (listener: () => void): (() => void) => {
    this.hearers++;
    const leave = this.subscribe(listener);
    return () => {
      this.hearers--;
      leave();
    };
  };

  #listenersOf(id: string): Listeners {
    const listeners: Listeners = this.#rowListeners.get(id) ?? new Hub();
    this.#rowListeners.set(id, listeners);
    return listeners;
  }

  /** A part of the snapshot, emitted at first and whenever it is another one. */
  #part<V>(read: () => V): Observable<V> {
    return new Observable<V>((subscriber) => {
      let shown: V | undefined;
      const show = () => {
        const now = read();
        if (now === shown) return;
        shown = now;
        subscriber.next(now);
      };
      subscriber.add(this.#hear(show));
      show();
      subscriber.add(this.end.subscribe(subscriber));
    });
  }

  protected become(now: Shown): void {
    const before = this.shown;
    if (now === before) return;
    this.shown = now;
    // A run that takes the place of one that has not ended ends what the former would have ended.
    if (now.run === 'begun' && before.run !== 'begun') this.end = new ReplaySubject<never>(1);
    if (LOOKS[before.rows] !== LOOKS[now.rows] || before.error !== now.error) this.changed();
    if (now.run === 'stopped' || now.run === 'ended') this.end.complete();
  }

  protected show(status: ViewStatus): void {
    if (status === this.status) return;
    this.status = Object.freeze(status);
    this.changed();
  }

  /** The snapshot is another one, as are the rows of these ids. The listeners are told after all that the turn changes. */
  protected changed(ids: readonly string[] = []): void {
    this.#snapshot = undefined;
    for (const id of ids) {
      const listeners = this.#rowListeners.get(id);
      if (listeners !== undefined) listeners.position++;
    }
    this.listeners.position++;
    this.due(this.rank);
  }

  protected override tell(): void {
    for (const [id, listeners] of this.#rowListeners) {
      if (listeners.size === 0) this.#rowListeners.delete(id);
      notify(listeners);
    }
    notify(this.listeners);
  }
}
