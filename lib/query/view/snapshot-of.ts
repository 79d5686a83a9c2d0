/** `snapshotOf`: several views as one, which changes once a turn. */
import { Observable } from 'rxjs';
import { atEndOfTurn } from '../../rx/drain.ts';
import { Held, notify } from './listeners.ts';
import type { View, ViewSnapshot } from './view.ts';

/** The snapshots of several views at one moment. */
export type Snapshots<V extends readonly View<unknown>[]> = {
  readonly [At in keyof V]: V[At] extends View<infer T> ? ViewSnapshot<T> : never;
};

/**
 * The snapshots of several views. The views are subscribed with the first subscriber and unsubscribed with the last. The
 * methods work without the object.
 */
export interface SnapshotOf<V extends readonly View<unknown>[]> {
  /**
   * Emits the snapshots synchronously, then at the end of each turn that changes one of them. Completes when all views
   * have, and errors if one does.
   */
  readonly snapshots$: Observable<Snapshots<V>>;
  /** Returns the snapshots: the same array until one of them changes. While there are subscribers, it changes once a turn. */
  readonly getSnapshot: () => Snapshots<V>;
  /**
   * Calls the listener after the snapshots have changed, once a turn, never during the subscription (React's
   * useSyncExternalStore). Returns the function that unsubscribes.
   */
  readonly subscribe: (listener: () => void) => () => void;
}

/** The rank of what comes after all operators and views have been brought up to date. */
export const AFTER_ALL = 1e9;

class ViewSnapshots<V extends readonly View<unknown>[]> extends Held implements SnapshotOf<V> {
  readonly #views: V;
  #snapshots: Snapshots<V> | undefined;
  #held: (() => void)[] = [];

  constructor(views: V) {
    super();
    this.#views = views;
  }

  readonly snapshots$: Observable<Snapshots<V>> = new Observable((subscriber) => {
    subscriber.add(this.subscribe(() => subscriber.next(this.getSnapshot())));
    subscriber.next(this.getSnapshot());
    let open = this.#views.length;
    const complete = () => {
      if (--open > 0) return;
      atEndOfTurn(AFTER_ALL, () => {
        // The last snapshots come first.
        this.tell();
        subscriber.complete();
      });
    };
    if (open === 0) complete();
    const error = (cause: unknown) => subscriber.error(cause);
    for (const { items$ } of this.#views) {
      // After `take(1)` or an error, the views would request everything again for nobody.
      if (subscriber.closed) return;
      subscriber.add(items$.subscribe({ error, complete }));
    }
  });

  // A field, so that it works without the object.
  readonly getSnapshot = (): Snapshots<V> => {
    // In the middle of a turn the views may differ in what they have seen of it.
    if (this.#held.length > 0 && this.#snapshots !== undefined) return this.#snapshots;
    return this.#read();
  };

  #read(): Snapshots<V> {
    const before: readonly unknown[] | undefined = this.#snapshots;
    const now = this.#views.map(({ getSnapshot }) => getSnapshot());
    if (before === undefined || now.some((each, at) => each !== before[at])) {
      this.#snapshots = Object.freeze(now) as Snapshots<V>;
    }
    return this.#snapshots as Snapshots<V>;
  }

  protected override entered(isFirst: boolean): void {
    if (!isFirst) return;
    this.#held = this.#views.map(({ subscribe }) => subscribe(() => this.due(AFTER_ALL)));
    this.#read();
  }

  protected override left(): void {
    for (const leave of this.#held.splice(0)) leave();
  }

  protected override tell(): void {
    const before = this.#snapshots;
    if (this.#read() === before) return;
    this.listeners.position++;
    notify(this.listeners);
  }
}

/**
 * Combines several views, so that a page that shows more than one never shows them at different moments: a commit that
 * changes several views changes the combination once. Versions of different resources are not compared, so each view
 * shows what its own informers know. `snapshots$` completes when all views have, and errors if one does.
 *
 * Costs one comparison for each view in a turn that changes one of them.
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { liveFilter, snapshotOf, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const web = { metadata: { name: 'web', uid: 'u1', labels: { app: 'shop' } } };
 * const job = { metadata: { name: 'job', uid: 'u2' } };
 * const changes$ = of(changeSet({ added: [web, job] })); // with an informer: informer.changes$
 * const all = toView(changes$);
 * const shop = toView(changes$.pipe(liveFilter('app=shop')));
 * const page = snapshotOf([all, shop]);
 * const leave = page.subscribe(() => undefined);
 * page.getSnapshot().map(({ rows }) => rows.length); // => [2, 1]
 * leave();
 * ```
 */
export function snapshotOf<const V extends readonly View<unknown>[]>(views: V): SnapshotOf<V> {
  return new ViewSnapshots(views);
}
