/**
 * The source of a reader of change sets: where its rows come from, and what `reset` and `synced` mean for a reader that has the
 * rows of several emitters, as behind `merge`.
 */
import { type Observable, type Observer, Subscription } from 'rxjs';
import { inTurn } from '../rx/drain.ts';
import { type AnyChangeSet, type ChangeSet, type ChangeSetHead, headOf } from './change-set.ts';
import { additions, applied, difference, type Rows } from './held-rows.ts';
import { isSameOrigin, type Origin, readOrigins, UNKNOWN, unite } from './origin.ts';

/** Reads the sets of a source. */
export interface SetReader<T> {
  /** `hasLostOrder`: the set had an order, and there are rows of another emitter beside its own. */
  next(set: AnyChangeSet<T>, hasLostOrder: boolean): void;
  error(error: unknown): void;
  complete(): void;
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
  /** The emitters whose last set was not synced. */
  readonly #unsynced = new Set<object | undefined>();
  /** The emitter of all rows that no other one has. */
  #first: object | undefined;
  /** The rows of the others, if there are some. */
  #others: Map<object, Rows<T>> | undefined;

  /** `onOrigin` is called when the rows come from elsewhere. */
  constructor(onOrigin: () => void = () => undefined) {
    this.#onOrigin = onOrigin;
  }

  /** Subscribes, and hears where the values will come from. */
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

  /** Subscribes to sets. The reader gets each as one takes it that has the rows of all emitters. */
  read(source: Observable<AnyChangeSet<T>>, reader: SetReader<T>): Subscription {
    // Until the call returns, first sets of several emitters are one. Otherwise the first of them would take the rows of the
    // others from a reader that subscribes again, and they would bring these rows back.
    const held: AnyChangeSet<T>[] = [];
    let isSubscribing = true;
    let hadOrder = false;
    const pass = () => {
      if (held.length === 0) return;
      const set = inOne(held.splice(0));
      reader.next(set, hadOrder && set.order === undefined);
    };
    const take = (given: AnyChangeSet<T>) => {
      const set = this.#taken(given);
      const hasOrder = given.order !== undefined;
      const isBeside = held.length > 0 && given.reset && !set.reset;
      if (!isBeside) pass();
      if (isBeside || (isSubscribing && set.reset)) {
        hadOrder = hasOrder || (isBeside && hadOrder);
        held.push(set);
      } else reader.next(set, hasOrder && set.order === undefined);
    };
    const subscription = this.subscribe(source, {
      next: (given) => {
        const isSame = given.origin === this.#last && given.synced && !given.reset;
        const isAlone = this.#others === undefined && this.#unsynced.size === 0;
        if (isSame && isAlone && held.length === 0) reader.next(given, false);
        // In one turn, so that a view tells of another origin with its rows.
        else inTurn(() => take(given));
      },
      error: (error) => {
        pass();
        reader.error(error);
      },
      complete: () => {
        pass();
        reader.complete();
      },
    });
    isSubscribing = false;
    // What these sets cause is no source of whoever subscribes to the reader.
    readOrigins(undefined, pass);
    return subscription;
  }

  /** The set that a reader with the rows of all emitters takes for this one. */
  #taken(given: AnyChangeSet<T>): AnyChangeSet<T> {
    const { origin, reset, synced } = given;
    const emitter = origin?.emitter;
    if (reset) this.#forgetFormer(emitter);
    if (origin !== this.#last) {
      this.#last = origin;
      if (origin !== undefined) this.#note(origin);
    }
    if (!synced) this.#unsynced.add(emitter);
    else if (this.#unsynced.size > 0) this.#unsynced.delete(emitter);
    const set = reset ? this.#reset(given, emitter) : this.#changed(given, emitter);
    if (!synced || this.#unsynced.size === 0) return set;
    if (![...this.#unsynced].some((each) => this.#isOpen(each))) return set;
    const { order, total } = set as ChangeSetHead<T>;
    return like(set, { synced: false, changes: set.changes, order, total });
  }

  #changed(set: AnyChangeSet<T>, emitter: object | undefined): AnyChangeSet<T> {
    this.#first ??= emitter;
    const others = this.#others;
    if (others === undefined) return set;
    const rows = others.get(emitter as object);
    if (rows !== undefined) applied(rows, set.changes);
    return set.order === undefined ? set : like(set, { changes: set.changes });
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
      if (each === emitter || this.#isOpen(each)) continue;
      this.#origins.delete(each);
      this.#unsynced.delete(each);
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
      const kept = [...others.values()].flatMap((rows) => additions(rows));
      return like(set, { changes: kept.concat(set.changes) });
    }
    this.#others = others.set(emitter as object, applied(new Map(), set.changes));
    return like(set, { reset: false, changes: difference(gone, set.changes) });
  }
}

/** A set made of another one, without its order. Its readers need no lists of objects, so a view does not load them. */
function like<T>(
  set: AnyChangeSet<T>,
  own: Partial<ChangeSetHead<T>> & Pick<ChangeSet<T>, 'changes'>,
): AnyChangeSet<T> {
  return { ...headOf(set as ChangeSet<T>), reset: set.reset, ...own } as AnyChangeSet<T>;
}

/** A reset and what emitters beside it add to it, as one reset. */
function inOne<T>(sets: readonly AnyChangeSet<T>[]): AnyChangeSet<T> {
  const last = sets.at(-1) as AnyChangeSet<T>;
  if (sets.length === 1) return last;
  const rows: Rows<T> = new Map();
  for (const { changes } of sets) applied(rows, changes);
  return like(last, { reset: true, changes: additions(rows) });
}
