/**
 * The source of a reader of change sets: where its rows come from, and what `reset` and `synced` mean for a reader that has the
 * rows of several emitters, as behind `merge`.
 */
import { type Observable, type Observer, Subscription } from 'rxjs';
import { type AnyChangeSet, type ChangeSet, type ChangeSetHead, headOf } from './change-set.ts';
import { additions, applied, difference, type Rows } from './held-rows.ts';
import { isSameOrigin, type Origin, readOrigins, UNKNOWN, unite } from './origin.ts';

/** Reads the sets of a source. */
export interface SetReader<T> {
  /** `isFirst`: the set was emitted during the call of `read`. */
  next(set: AnyChangeSet<T>, isFirst: boolean): void;
  error(error: unknown): void;
  complete(): void;
}

/** The last origin of an emitter. */
interface Emitter extends Origin {
  /** As its last set said; `undefined` before its first one. */
  readonly synced: boolean | undefined;
}

/** One subscription of a reader. */
export class SetSource<T> {
  readonly #onOrigin: () => void;
  readonly #emitters = new Map<object, Emitter>();
  /** Where the rows come from: that of all emitters together. */
  origin: Origin = UNKNOWN;
  /** Whether a set had an order, and there were rows of another emitter beside its own. */
  hasLostOrder = false;
  /** The origin of the last set, if later ones of it say the same to a reader with the rows of all emitters. */
  #only: Origin | undefined;
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
      (origin) => this.#note(origin, undefined),
      () => {
        subscription = source.subscribe(observer);
      },
    );
    return subscription;
  }

  /**
   * Subscribes to sets. The reader gets each as one takes it that has the rows of all emitters, in a task of its own. First sets of
   * several emitters, which arrive during the call, are one set. Otherwise the first of them would take the rows of the others
   * from a reader that subscribes again, and they would bring these rows back.
   */
  read(
    source: Observable<AnyChangeSet<T>>,
    reader: SetReader<T>,
    run: (task: () => void) => void = (task) => task(),
  ): Subscription {
    let first: AnyChangeSet<T>[] | undefined = [];
    const begin = () => {
      const given = first ?? [];
      first = undefined;
      if (given.length > 0) run(() => this.#begin(given, reader));
    };
    const subscription = this.subscribe(source, {
      next: (given) => {
        if (first !== undefined) first.push(given);
        else {
          run(() => {
            const isPlain = given.origin === this.#only && given.synced && !given.reset;
            reader.next(isPlain ? given : this.#taken(given), false);
          });
        }
      },
      error: (error) => {
        begin();
        reader.error(error);
      },
      complete: () => {
        begin();
        reader.complete();
      },
    });
    // Streams that are subscribed while the first sets are handled are not sources of the reader's subscriber.
    readOrigins(undefined, begin);
    return subscription;
  }

  #begin(given: readonly AnyChangeSet<T>[], reader: SetReader<T>): void {
    const groups: AnyChangeSet<T>[][] = [];
    for (const each of given) {
      const set = this.#taken(each);
      const group = groups.at(-1);
      if (each.reset && !set.reset && group?.[0]?.reset) group.push(set);
      else groups.push([set]);
    }
    for (const group of groups) reader.next(inOne(group), true);
  }

  /** The set that a reader with the rows of all emitters takes for this one. */
  #taken(given: AnyChangeSet<T>): AnyChangeSet<T> {
    const { origin, reset } = given;
    const emitter = origin?.emitter;
    if (reset) this.#forgetFormer(emitter);
    if (origin !== undefined) this.#note(origin, given.synced);
    const set = reset ? this.#reset(given, emitter) : this.#changed(given, emitter);
    const { order, total } = set as ChangeSetHead<T>;
    if (given.order !== undefined && order === undefined) this.hasLostOrder = true;
    const isBehind = [...this.#emitters].some(
      ([each, { synced }]) => synced === false && this.#isOpen(each),
    );
    this.#only = this.#others === undefined && !isBehind ? origin : undefined;
    return given.synced && isBehind
      ? like(set, { synced: false, changes: set.changes, order, total })
      : set;
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
  #note(origin: Origin, synced: boolean | undefined): void {
    const { emitter } = origin;
    const known = this.#emitters.get(emitter);
    const { subscription = known?.subscription } = origin;
    this.#emitters.set(emitter, { ...origin, subscription, synced: synced ?? known?.synced });
    if (known === undefined || !isSameOrigin(known, origin)) this.#unite();
  }

  #unite(): void {
    this.origin = unite([...this.#emitters.values()]);
    this.#onOrigin();
  }

  #isOpen(emitter: object | undefined): boolean {
    return this.#emitters.get(emitter as object)?.subscription?.closed === false;
  }

  /** The reader has left an emitter, as `switchMap` does, when another one begins. */
  #forgetFormer(emitter: object | undefined): void {
    const { size } = this.#emitters;
    for (const each of this.#emitters.keys()) {
      if (each !== emitter && !this.#isOpen(each)) this.#emitters.delete(each);
    }
    // Otherwise it is united when the new emitter is noted.
    const isNoted = emitter === undefined || this.#emitters.has(emitter);
    if (isNoted && this.#emitters.size < size) this.#unite();
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
