/**
 * The change sets that a slow reader has not received yet. A single one is kept as it is. Several are folded, so that at most one
 * change of a row waits and no deletion is lost.
 */
import { foldRow, type Net, unfold } from '../delta/net-change.ts';
import {
  type AnyChangeSet,
  type ChangeSet,
  type ChangeSetHead,
  commonCause,
  createChangeSet,
} from './change-set.ts';

/** The change sets that wait for one reader. */
export class Waiting<T> {
  /** The sets that wait as they are. While there are some, nothing is folded. */
  protected sets: AnyChangeSet<T>[] = [];
  readonly #nets = new Map<string, Net<T>>();
  /** Of the set that the nets make. */
  #head: ChangeSetHead<T> | undefined;
  /** What the reader knows by the set that it took last. */
  #known: Partial<ChangeSetHead<T>> = { synced: false };

  /** How many changes wait. */
  get size(): number {
    return this.sets.reduce((sum, { changes }) => sum + changes.length, this.#nets.size);
  }

  /** Whether nothing waits, not even a set without changes, which may say that the store is synced. */
  get isEmpty(): boolean {
    return this.sets.length === 0 && !this.isFolded;
  }

  /** Adds a set. A reset takes the place of all that waits. */
  push(set: AnyChangeSet<T>): void {
    if (set.reset) this.clear();
    if (this.isFolded) this.fold(set, 0);
    else this.wait(set);
  }

  /** Takes one set, that of all nets if they are folded; `undefined` if the set would say nothing new. */
  take(): ChangeSet<T> | undefined {
    const set = this.shift() ?? this.#folded();
    if (set === undefined) return undefined;
    const { reset, synced, origin, order, total } = set as ChangeSetHead<T>;
    const known = this.#known;
    const isSame =
      synced === known.synced &&
      origin === known.origin &&
      order === known.order &&
      total === known.total;
    if (!isSame) this.#known = { synced, origin, order, total };
    else if (!reset && set.changes.length === 0) return undefined;
    return set as ChangeSet<T>;
  }

  /** Drops all that waits. */
  clear(): void {
    this.sets = [];
    this.#nets.clear();
    this.#head = undefined;
  }

  protected get isFolded(): boolean {
    return this.#head !== undefined;
  }

  /** The only set is taken by pop(), which takes a third of the time. */
  protected shift(): AnyChangeSet<T> | undefined {
    return this.sets.length === 1 ? this.sets.pop() : this.sets.shift();
  }

  /** Adds a set to those that wait as they are. Several are folded. */
  protected wait(set: AnyChangeSet<T>): void {
    this.sets.push(set);
    if (this.sets.length > 1) this.foldAll();
  }

  protected foldAll(): void {
    const { sets } = this;
    this.sets = [];
    for (const [at, set] of sets.entries()) this.fold(set, sets.length - 1 - at);
  }

  /** Folds a set. `later`: how many sets were pushed after it. */
  protected fold(set: AnyChangeSet<T>, _later: number): void {
    for (const change of set.changes) foldRow(this.#nets, change);
    const { rev, resourceVersion, synced, origin, reset } = set;
    const { order, total } = set as ChangeSetHead<T>;
    const now = { rev, resourceVersion, synced, origin, order, total };
    const before = this.#head;
    // Later sets become part of a reset.
    if (before?.reset) this.#head = { ...before, ...now };
    else {
      const initial = set.initial && (before?.initial ?? true);
      this.#head = { ...now, initial, reset, cause: commonCause(before?.cause, set.cause) };
    }
  }

  #folded(): ChangeSet<T> | undefined {
    const head = this.#head;
    if (head === undefined) return undefined;
    const changes = unfold(this.#nets.values());
    this.#nets.clear();
    this.#head = undefined;
    return createChangeSet<T>(head, changes);
  }
}
