/**
 * The source of a reader of change sets: where its rows come from, and what a `reset` means for a reader that has the rows of
 * several emitters, as behind `merge`.
 */
import { type Observable, type Observer, Subscription } from 'rxjs';
import type { Change } from '../delta/net-change.ts';
import type { Stored } from '../meta/kubernetes-object.ts';
import { type AnyChangeSet, type ChangeSet, headOf } from './change-set.ts';
import { isSameOrigin, type Origin, readOrigins, UNKNOWN, unite } from './origin.ts';

type Rows<T> = Map<string, Pick<Change<T>, 'key' | 'of'> & { readonly object: Stored<T> }>;

/** Brings the rows up to date. */
function applied<T>(rows: Rows<T>, { changes }: AnyChangeSet<T>): Rows<T> {
  for (const { id, key, object, of } of changes) {
    if (object === undefined) rows.delete(id);
    else rows.set(id, { key, object, of });
  }
  return rows;
}

/** One subscription of a reader. */
export class SetSource<T> {
  readonly #onOrigin: () => void;
  /** The last origin of each emitter. */
  readonly #origins = new Map<object, Origin>();
  /** Where the rows come from: that of all emitters together. */
  origin: Origin = UNKNOWN;
  /** The origin of the last set. */
  #last: Origin | undefined;
  /** The emitter of all rows that no other one has. */
  #first: object | undefined;
  /** The rows of the others, if there are some. */
  #others: Map<object, Rows<T>> | undefined;

  /** `onOrigin` is called when the rows come from elsewhere. */
  constructor(onOrigin: () => void = () => undefined) {
    this.#onOrigin = onOrigin;
  }

  /** Subscribes, and hears where the sets will come from. */
  subscribe<V>(source: Observable<V>, observer: Partial<Observer<V>>): Subscription {
    let subscription = Subscription.EMPTY;
    readOrigins(
      (origin) => this.#note(origin),
      () => {
        subscription = source.subscribe(observer);
      },
    );
    return subscription;
  }

  /** Returns the set that a reader with the rows of all emitters takes for this one. */
  take(set: AnyChangeSet<T>): AnyChangeSet<T> {
    const { origin, reset } = set;
    if (reset) this.#forgetFormer(origin?.emitter);
    if (origin !== this.#last) {
      this.#last = origin;
      if (origin !== undefined) this.#note(origin);
    }
    if (reset) return this.#reset(set, origin?.emitter);
    this.#first ??= origin?.emitter;
    const others = this.#others;
    if (others === undefined) return set;
    const rows = others.get(origin?.emitter as object);
    if (rows !== undefined) applied(rows, set);
    return set.order === undefined ? set : unordered(set, set.changes, false);
  }

  /** A reader hears of another emitter when it subscribes, or by its first set. */
  #note(origin: Origin): void {
    const { emitter } = origin;
    const known = this.#origins.get(emitter);
    const { subscription = known?.subscription } = origin;
    this.#origins.set(emitter, { ...origin, subscription });
    if (known === undefined || !isSameOrigin(known, origin)) this.#unite();
  }

  #unite(): void {
    this.origin = unite([...this.#origins.values()]);
    this.#onOrigin();
  }

  #isOpen(emitter: object | undefined): boolean {
    return this.#origins.get(emitter as object)?.subscription?.closed === false;
  }

  /** The reader has left an emitter, as `switchMap` does, when another one begins. */
  #forgetFormer(emitter: object | undefined): void {
    const { size } = this.#origins;
    for (const each of this.#origins.keys()) {
      if (each !== emitter && !this.#isOpen(each)) this.#origins.delete(each);
    }
    // Otherwise it is united when the new emitter is noted.
    const isNoted = emitter === undefined || this.#origins.has(emitter);
    if (isNoted && this.#origins.size < size) this.#unite();
  }

  /** A reset is about the rows of its own emitter, and about those that the reader has left. */
  #reset(set: AnyChangeSet<T>, emitter: object | undefined): AnyChangeSet<T> {
    const stays = (each: object | undefined) =>
      emitter !== undefined && each !== emitter && this.#isOpen(each);
    const others = this.#others ?? new Map<object, Rows<T>>();
    const gone: Rows<T> = new Map();
    for (const [each, rows] of others) {
      if (stays(each)) continue;
      others.delete(each);
      for (const [id, row] of rows) gone.set(id, row);
    }
    if (!stays(this.#first)) {
      this.#first = emitter;
      this.#others = others.size === 0 ? undefined : others;
      if (this.#others === undefined) return set;
      const kept: Change<T>[] = [];
      for (const rows of others.values()) for (const [id, row] of rows) kept.push({ id, ...row });
      return unordered(set, kept.concat(set.changes), true);
    }
    this.#others = others.set(emitter as object, applied(new Map(), set));
    const changes = set.changes.map((change) => {
      const previous = gone.get(change.id)?.object;
      gone.delete(change.id);
      return previous === undefined ? change : { ...change, previous };
    });
    const deletions = Array.from(gone, ([id, { key, object }]): Change<T> => {
      return { id, key, previous: object, last: object };
    });
    return unordered(set, deletions.concat(changes), false);
  }
}

/** The rows of several emitters have no order. Its readers need no lists of objects, so a view does not load them. */
function unordered<T>(
  set: AnyChangeSet<T>,
  changes: readonly Change<T>[],
  reset: boolean,
): AnyChangeSet<T> {
  return { ...headOf(set as ChangeSet<T>), reset, changes } as AnyChangeSet<T>;
}
