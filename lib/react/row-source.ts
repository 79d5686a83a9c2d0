/** A source of rows for hooks: a view with its results, which any number of components share. */
import { Subscription } from 'rxjs';
import type { View } from '../query/view/view.ts';
import { Hub } from '../rx/sharing/hub.ts';
import { leftLater } from './left-later.ts';
import { type ListResult, NO_RESULT, resultOf } from './row-result.ts';

/** What `useSyncExternalStore` takes. The methods work without the object. */
export interface RowSource<Row> {
  readonly subscribe: (listener: () => void) => () => void;
  readonly getSnapshot: () => ListResult<Row>;
}

/** The source of a hook that has nothing to ask. */
export const SKIPPED: RowSource<never> = {
  subscribe: () => () => undefined,
  getSnapshot: () => NO_RESULT,
};

/** Told of the use of a source. */
export interface SourceObserver {
  /** The source has its first listener. Returns the function to call when it has lost its last one. */
  used(): () => void;
  /** The result has changed. */
  changed(): void;
  /** Whether the rows of a use that has ended linger, so that another use would have the present ones at once. */
  lingers(): boolean;
}

/** The rows of a view. The view is subscribed with the first listener. */
export class ViewSource<Row> implements RowSource<Row> {
  readonly view: View<Row>;
  readonly #observer: SourceObserver | undefined;
  readonly #enter = leftLater(() => this.#hold());
  readonly #listeners = new Hub<() => void>();
  /** Absent before the first listener, closed after the last one. */
  #held: Subscription | undefined;
  /** Ends with the run of the view. */
  #run = Subscription.EMPTY;
  #result: ListResult<Row> | undefined;
  #snapshot: unknown;
  #wasKept = true;

  constructor(view: View<Row>, observer?: SourceObserver) {
    this.view = view;
    this.#observer = observer;
  }

  /** Whether its rows are not those of a use that has ended. */
  get isCurrent(): boolean {
    return this.#held?.closed !== true;
  }

  readonly getSnapshot = (): ListResult<Row> => {
    const snapshot = this.view.getSnapshot();
    const isKept = this.isCurrent || this.#observer?.lingers() === true;
    if (this.#result === undefined || this.#snapshot !== snapshot || this.#wasKept !== isKept) {
      this.#snapshot = snapshot;
      this.#wasKept = isKept;
      this.#result = resultOf(snapshot, isKept);
    }
    return this.#result;
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    // A view whose pipe has ended subscribes to it again for another subscriber.
    if (this.#held?.closed === false && this.#run.closed) this.#follow(this.#held);
    const leave = this.#enter();
    const remove = this.#listeners.add(listener);
    return () => {
      remove();
      leave();
    };
  };

  #hold(): Subscription {
    const held = new Subscription();
    this.#held = held;
    this.#follow(held);
    held.add(this.view.subscribe(() => this.#notify()));
    held.add(this.#observer?.used());
    return held;
  }

  /** The snapshot has the error of the run, so it is not reported as unhandled. */
  #follow(held: Subscription): void {
    this.#run = this.view.status$.subscribe({ error: () => undefined });
    held.add(this.#run);
  }

  #notify(): void {
    this.#listeners.tell((listener) => listener());
    this.#observer?.changed();
  }
}

const sources = /* @__PURE__ */ new WeakMap<object, ViewSource<unknown>>();

/** The source of a view: the same one for all components that use the view. */
export function sourceOfView<Row>(view: View<Row>): ViewSource<Row> {
  const known = sources.get(view) ?? new ViewSource<unknown>(view);
  sources.set(view, known);
  return known as ViewSource<Row>;
}

/** A source whose rows are those of the former arguments until its own answer is complete, or is refused. */
export class SucceedingSource<Row> implements RowSource<Row> {
  readonly subscribe: RowSource<Row>['subscribe'];
  readonly #source: RowSource<Row>;
  #former: ListResult<Row> | undefined;
  #now: ListResult<Row> | undefined;
  #shown: ListResult<Row> | undefined;

  constructor(source: RowSource<Row>, former: ListResult<Row>) {
    this.#source = source;
    this.#former = former;
    this.subscribe = source.subscribe;
  }

  readonly getSnapshot = (): ListResult<Row> => {
    const now = this.#source.getSnapshot();
    // A refused query has no answer, and the former rows would look like one. Later the answer may be incomplete again, for example
    // after a restart. Then its own rows stand.
    if (now.synced || now.error !== undefined) this.#former = undefined;
    if (this.#former === undefined) return now;
    if (this.#now !== now || this.#shown === undefined) {
      const { rows, total } = this.#former;
      this.#now = now;
      this.#shown = Object.freeze({ ...now, rows, total, stale: true });
    }
    return this.#shown;
  };
}
