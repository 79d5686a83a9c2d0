/**
 * The last step of a pipe of change sets: a view of rows for a page. The view offers the interfaces that React, Vue, Svelte,
 * Angular and async loops each expect of a source.
 */

import { Observable, ReplaySubject, Subscription } from 'rxjs';
import { skipWhile, take, takeWhile } from 'rxjs/operators';
import type { InformerStatus } from '../informer/status/status.ts';
import type { Stored } from '../meta/stored.ts';
import { reportUnhandled } from '../rx/report-unhandled.ts';
import type { ChangeSet } from '../store/change-set.ts';

/** A view of one row. */
export interface RowView<T> {
  getSnapshot(): Stored<T> | undefined;
  /** Calls the listener after each change of the row, never during the subscription. Returns the function that unsubscribes. */
  subscribe(listener: () => void): () => void;
}

/**
 * The rows of a pipe, in the order in which they were added. The view subscribes to its source with its first subscriber and
 * unsubscribes with its last; the last rows stay readable. If the source completes, because the informer was stopped, the view
 * subscribes to it again when the informer runs (which the view sees in `status$`), or when another subscriber arrives.
 */
export interface View<T> {
  /** Emits the rows synchronously, then after each change set (Svelte, Angular, Vue). Errors only if the pipe errors. */
  readonly items$: Observable<readonly Stored<T>[]>;
  /** The status of the informer, if it was passed to the view. */
  readonly status$: Observable<InformerStatus> | undefined;
  /** Returns the current rows: the same array until something changes. */
  getSnapshot(): readonly Stored<T>[];
  /** Calls the listener after each change set, never during the subscription (React's useSyncExternalStore). Returns the function that unsubscribes. */
  subscribe(listener: () => void): () => void;
  /** A view of one row by its id, the UID of the object. */
  select(id: string): RowView<T>;
  /** Yields the latest rows each time the loop continues; intermediate rows are skipped. */
  [Symbol.asyncIterator](): AsyncIterableIterator<readonly Stored<T>[]>;
}

/** Options of {@link toView}. */
export interface ToViewOptions {
  /**
   * The status of the informer, for pages that show it beside the rows. With it, a view that has subscribers while its informer
   * is stopped shows the rows of the next run when the informer is started again.
   */
  readonly status$?: Observable<InformerStatus> | undefined;
}

const EMPTY: readonly never[] = /* @__PURE__ */ Object.freeze([]);

class RowsView<T> implements View<T> {
  readonly status$: Observable<InformerStatus> | undefined;
  readonly #source: Observable<ChangeSet<T>>;
  readonly #rows = new Map<string, Stored<T>>();
  readonly #listeners = new Set<() => void>();
  readonly #rowListeners = new Map<string, Set<() => void>>();
  /** Completes or errors as the source does; one for each run. */
  #end = new ReplaySubject<never>(1);
  #items: readonly Stored<T>[] | undefined = EMPTY;
  #run: Subscription | undefined;
  #restart: Subscription | undefined;
  #holders = 0;

  constructor(source: Observable<ChangeSet<T>>, options: ToViewOptions) {
    this.#source = source;
    this.status$ = options.status$;
  }

  readonly items$: Observable<readonly Stored<T>[]> = new Observable<readonly Stored<T>[]>(
    (subscriber) => {
      const release = this.#hold();
      // Read after holding, which may have filled the rows.
      const first = this.getSnapshot();
      subscriber.next(first);
      const listener = () => subscriber.next(this.getSnapshot());
      // Emits a commit that was made while the first rows were handled.
      if (this.getSnapshot() !== first) listener();
      this.#listeners.add(listener);
      subscriber.add(() => {
        this.#listeners.delete(listener);
        release();
      });
      subscriber.add(this.#end.subscribe(subscriber));
    },
  );

  // Fields, so that they work without the view.
  readonly getSnapshot = (): readonly Stored<T>[] => {
    this.#items ??= Object.freeze([...this.#rows.values()]);
    return this.#items;
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    // Hold before adding the listener: React must not be called for the synchronously replayed first set, which is in the snapshot.
    const release = this.#hold();
    const own = () => listener();
    this.#listeners.add(own);
    return () => {
      if (this.#listeners.delete(own)) release();
    };
  };

  readonly select = (id: string): RowView<T> => {
    return {
      getSnapshot: () => this.#rows.get(id),
      subscribe: (listener) => {
        const release = this.#hold();
        const own = () => listener();
        let listeners = this.#rowListeners.get(id);
        if (listeners === undefined) {
          listeners = new Set();
          this.#rowListeners.set(id, listeners);
        }
        const joined = listeners;
        joined.add(own);
        return () => {
          if (!joined.delete(own)) return;
          if (joined.size === 0) this.#rowListeners.delete(id);
          release();
        };
      },
    };
  };

  [Symbol.asyncIterator](): AsyncIterableIterator<readonly Stored<T>[]> {
    const left = new AbortController();
    const latest = this.#latest(left.signal);
    return {
      next: () => latest.next(),
      // A waiting generator would return only after the next rows.
      return: () => {
        left.abort();
        return latest.return(undefined);
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  async *#latest(left: AbortSignal): AsyncGenerator<readonly Stored<T>[], undefined> {
    let hasNews = true;
    let ended = false;
    let wake: (() => void) | undefined;
    let failure: { readonly error: unknown } | undefined;
    left.addEventListener('abort', () => wake?.());
    const release = this.#hold();
    // Does not use `items$`, which would create an array for each set, although only the latest is read.
    const listener = () => {
      hasNews = true;
      wake?.();
    };
    this.#listeners.add(listener);
    const subscription = this.#end.subscribe({
      error: (error) => {
        failure = { error };
        ended = true;
        wake?.();
      },
      complete: () => {
        ended = true;
        wake?.();
      },
    });
    try {
      while (!left.aborted && (hasNews || !ended)) {
        if (!hasNews) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          wake = undefined;
          continue;
        }
        hasNews = false;
        yield this.getSnapshot();
      }
    } finally {
      subscription.unsubscribe();
      this.#listeners.delete(listener);
      release();
    }
    if (failure !== undefined) throw failure.error;
    return undefined;
  }

  #hold(): () => void {
    this.#holders++;
    if (this.#run === undefined || this.#run.closed) this.#start();
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#holders--;
      if (this.#holders > 0) return;
      this.#run?.unsubscribe();
      this.#run = undefined;
      this.#restart?.unsubscribe();
      this.#restart = undefined;
    };
  }

  #start(): void {
    const end = new ReplaySubject<never>(1);
    this.#end = end;
    this.#restart?.unsubscribe();
    this.#restart = undefined;
    // Assigned before subscribing, because the source may complete synchronously.
    const run = new Subscription();
    this.#run = run;
    // A stop completes both subscriptions, but the pipe may complete later, when the informer runs again.
    let wasStopped = false;
    let subscribing = true;
    run.add(
      this.status$?.subscribe({
        complete: () => {
          wasStopped = !subscribing;
        },
      }),
    );
    subscribing = false;
    run.add(
      this.#source.subscribe({
        next: (set) => this.#apply(set),
        error: (error) => {
          run.unsubscribe();
          if (!end.observed) reportUnhandled(error);
          end.error(error);
        },
        complete: () => {
          run.unsubscribe();
          this.#awaitRestart(wasStopped);
          end.complete();
        },
      }),
    );
  }

  /**
   * Called when the source has completed. If it completed because the informer is stopped or idle, the view subscribes again when
   * the informer runs. A pipe that completed by itself has ended.
   */
  #awaitRestart(wasStopped: boolean): void {
    const { status$ } = this;
    if (status$ === undefined || this.#holders === 0) return;
    const restart = new Subscription();
    this.#restart = restart;
    const watch = (known: boolean) => {
      let subscribing = true;
      const restarted$ = status$.pipe(
        takeWhile((status, at) => known || at > 0 || isResting(status)),
        skipWhile(isResting),
        take(1),
      );
      restart.add(
        restarted$.subscribe({
          next: () => {
            if (this.#restart === restart) this.#start();
          },
          // Another stop completes the status of a stopped informer again.
          complete: () => {
            if (!subscribing && this.#restart === restart) watch(true);
          },
        }),
      );
      subscribing = false;
    };
    watch(wasStopped);
  }

  #apply(set: ChangeSet<T>): void {
    const before = new Map<string, T | undefined>();
    if (set.reset) {
      for (const [id, object] of this.#rows) before.set(id, object);
      this.#rows.clear();
    }
    for (const { id, object } of set.changes) {
      if (!before.has(id)) before.set(id, this.#rows.get(id));
      if (object === undefined) this.#rows.delete(id);
      else this.#rows.set(id, object);
    }
    const changed: string[] = [];
    for (const [id, object] of before) if (this.#rows.get(id) !== object) changed.push(id);
    if (set.reset ? before.size > 0 : changed.length > 0) this.#items = undefined;
    if (this.#rowListeners.size > 0) {
      for (const id of changed) notifyAll(this.#rowListeners.get(id));
    }
    notifyAll(this.#listeners);
  }
}

function isResting({ phase }: InformerStatus): boolean {
  return phase === 'stopped' || phase === 'idle';
}

/** Calls the listeners. A listener that unsubscribes meanwhile is not called, and one that throws does not affect the others. */
function notifyAll(listeners: ReadonlySet<() => void> | undefined): void {
  if (listeners === undefined) return;
  for (const listener of [...listeners]) {
    if (!listeners.has(listener)) continue;
    try {
      listener();
    } catch (error) {
      reportUnhandled(error);
    }
  }
}

/**
 * Creates a {@link View} of a pipe of change sets. It is the last step of the pipe and returns a View, not an Observable.
 *
 * The source is subscribed when the view has its first subscriber. A `reset` set replaces all rows.
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const web = { metadata: { name: 'web', uid: 'u1', resourceVersion: '5' } };
 * const view = toView()(of(changeSet({ added: [web] }))); // with an informer: informer.changes$.pipe(toView())
 * const leave = view.subscribe(() => undefined);
 * view.getSnapshot().length; // => 1
 * view.select('u1').getSnapshot() === web; // => true
 * leave();
 * ```
 */
export function toView<T>(
  options: ToViewOptions = {},
): (changes: Observable<ChangeSet<T>>) => View<T> {
  return (changes) => new RowsView(changes, options);
}
