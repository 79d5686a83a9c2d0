/**
 * What a slow reader has not received yet. Change sets wait as they are up to a limit. When more wait, they are folded, so
 * that at most one change of a row waits and no deletion is lost; or the reading pauses, or the reader starts over.
 * client-go: tools/cache/shared_informer.go, processorListener, whose buffer is unbounded.
 */
import { type Change, foldChange, isEven, Net, seenBefore, unfold } from '../delta/net-change.ts';
import {
  type AnyChangeSet,
  type Cause,
  type ChangeSet,
  type ChangeSetHead,
  commonCause,
  createChangeSet,
} from './change-set.ts';

/** How change sets wait. */
export interface WaitingOptions<T> {
  /** How many sets wait as they are. A set that waits alone always does. @defaultValue 0 */
  readonly limit?: number | undefined;
  /** When more wait, stops the reading in place of the fold, until the returned function is called. */
  readonly pause?: (() => () => void) | undefined;
  /** When more wait, they are dropped in place of the fold. This makes the set that the reader takes next. */
  readonly startOver?: (() => ChangeSet<T>) | undefined;
  /**
   * The reader takes one change at a time. Then changes are folded by key, because the reader has one object of a key, and
   * each keeps its own cause; otherwise by id, because two rows of a stream may have one key. @defaultValue false
   */
  readonly oneByOne?: boolean | undefined;
}

/** The net change of a row that waits since the set of this number. */
class WaitingNet<T> extends Net<T> {
  readonly since: number;
  cause: Cause;

  constructor(change: Change<T>, since: number, cause: Cause) {
    super(change.key, seenBefore(change));
    this.since = since;
    this.cause = cause;
  }
}

/** The cause of two changes of one key that are folded into one. */
function foldedCause<T>(before: Cause, cause: Cause, { previous, object }: Change<T>): Cause {
  if (cause === 'resync') return before;
  // An update of an object that the reader has not received yet from the first list.
  const isFirst = before === 'initial' || before === 'snapshot';
  return isFirst && previous !== undefined && object !== undefined ? before : cause;
}

/** The change sets that wait for one reader, numbered in the order of their pushes. */
export class Waiting<T> {
  readonly #options: WaitingOptions<T>;
  readonly #limit: number;
  /** The sets that wait as they are. While there are some, nothing is folded. */
  #sets: AnyChangeSet<T>[] = [];
  /** How many changes of the first set were taken. */
  #at = 0;
  /** How many changes the sets have. Absent until it is read, because a set may make its changes when they are read. */
  #inSets: number | undefined;
  readonly #nets = new Map<string, WaitingNet<T>>();
  /** Of the set that the nets make, unless the reader takes one change at a time. */
  #head: ChangeSetHead<T> | undefined;
  /** One iterator for all nets, because a new one would first skip every net that was deleted from the map. */
  #iterator: MapIterator<WaitingNet<T>> | undefined;
  #oldest: WaitingNet<T> | undefined;
  /** The addition that follows a deletion of its key, which was taken, and the number of its net. */
  #successor: Change<T> | undefined;
  #since = 0;
  #startsOver = false;
  #resume: (() => void) | undefined;
  #pushed = 0;
  #cause: Cause = 'watch';
  /** What the reader knows by the set that it took last. */
  #known: Partial<ChangeSetHead<T>> = { synced: false };

  constructor(options: WaitingOptions<T> = {}) {
    this.#options = options;
    this.#limit = options.limit ?? 0;
  }

  /** How many changes wait. */
  get size(): number {
    this.#inSets ??= this.#sets.reduce((sum, { changes }) => sum + changes.length, -this.#at);
    const other = this.#successor !== undefined || this.#startsOver ? 1 : 0;
    return this.#inSets + this.#nets.size + other;
  }

  /** Whether nothing waits, not even a set without changes, which may say that the store is synced. */
  get isEmpty(): boolean {
    return this.#sets.length === 0 && !this.#isFolded && !this.#startsOver;
  }

  /** The number of the last set. */
  get end(): number {
    return this.#pushed;
  }

  /** The number of the first set, or of the last one if they are folded. */
  get endOfBatch(): number {
    return this.#pushed - Math.max(0, this.#sets.length - 1);
  }

  /** The cause of the change that was taken last. */
  get cause(): Cause {
    return this.#cause;
  }

  /** Whether everything was taken that has waited since this set, or since an earlier one. */
  hasPassed(end: number): boolean {
    const { length } = this.#sets;
    if (length > 0) return this.#pushed - length >= end;
    if (this.#successor !== undefined) return this.#since > end;
    return (this.#oldestNet()?.since ?? end + 1) > end;
  }

  /** Adds a set. A reset takes the place of all that waits. */
  push(set: AnyChangeSet<T>): void {
    // A pause stops the reading, but not the resyncs of a handler, which would wait without a limit.
    if (this.#startsOver || (set.cause === 'resync' && this.#resume !== undefined)) return;
    if (set.reset) this.clear();
    this.#pushed++;
    if (this.#isFolded) return this.#fold(set, this.#pushed);
    this.#sets.push(set);
    if (this.#inSets !== undefined) this.#inSets += set.changes.length;
    if (this.#sets.length === 1 || this.#wholeSets <= this.#limit) return;
    const { pause, startOver } = this.#options;
    if (pause !== undefined) this.#resume ??= pause();
    else if (startOver === undefined) this.#foldAll();
    else {
      this.clear();
      this.#startsOver = true;
    }
  }

  /** Takes one set, that of all nets if they are folded; `undefined` if the set would say nothing new. */
  take(): ChangeSet<T> | undefined {
    const set = this.#startsOver ? this.#options.startOver?.() : (this.#shift() ?? this.#folded());
    this.#startsOver = false;
    this.#inSets = undefined;
    if (this.#sets.length === 0) this.release();
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

  /** Takes one change; `undefined` if none waits. */
  next(): Change<T> | undefined {
    const set = this.#sets[0];
    if (set !== undefined) return this.#nextOf(set);
    const successor = this.#successor;
    this.#successor = undefined;
    if (successor !== undefined) return successor;
    const net = this.#oldestNet();
    if (net === undefined) return undefined;
    this.#oldest = undefined;
    this.#nets.delete(net.key);
    this.#cause = net.cause;
    this.#since = net.since;
    const [change, addition] = unfold([net]);
    this.#successor = addition;
    return change;
  }

  /** Drops all that waits. */
  clear(): void {
    this.#sets = [];
    this.#at = 0;
    this.#inSets = undefined;
    this.#nets.clear();
    this.#head = undefined;
    this.#iterator = undefined;
    this.#oldest = undefined;
    this.#successor = undefined;
    this.release();
  }

  /** Ends the pause. */
  release(): void {
    this.#resume?.();
    this.#resume = undefined;
  }

  get #isFolded(): boolean {
    return this.#head !== undefined || this.#nets.size > 0 || this.#successor !== undefined;
  }

  /** How many sets wait of which nothing was taken. */
  get #wholeSets(): number {
    return this.#at > 0 ? this.#sets.length - 1 : this.#sets.length;
  }

  /** The only set is taken by pop(), which takes a third of the time. */
  #shift(): AnyChangeSet<T> | undefined {
    return this.#sets.length === 1 ? this.#sets.pop() : this.#sets.shift();
  }

  #nextOf({ changes, cause }: AnyChangeSet<T>): Change<T> | undefined {
    const change = changes[this.#at++];
    this.#cause = cause;
    if (this.#inSets !== undefined) this.#inSets--;
    if (this.#at === changes.length) {
      this.#shift();
      this.#at = 0;
    }
    if (this.#resume !== undefined && this.#wholeSets === 0) this.release();
    return change;
  }

  #oldestNet(): WaitingNet<T> | undefined {
    while (this.#oldest === undefined || this.#nets.get(this.#oldest.key) !== this.#oldest) {
      this.#oldest = undefined;
      if (this.#nets.size === 0) break;
      this.#iterator ??= this.#nets.values();
      this.#oldest = this.#iterator.next().value;
      if (this.#oldest === undefined) this.#iterator = undefined;
    }
    return this.#oldest;
  }

  #foldAll(): void {
    const sets = this.#sets;
    let number = this.#pushed - sets.length;
    this.#sets = [];
    this.#inSets = undefined;
    for (const set of sets) this.#fold(set, ++number);
  }

  #fold(set: AnyChangeSet<T>, since: number): void {
    const { changes, cause } = set;
    const { oneByOne } = this.#options;
    for (let at = this.#at; at < changes.length; at++) {
      const change = changes[at] as Change<T>;
      const name = oneByOne ? change.key : change.id;
      let net = this.#nets.get(name);
      if (net === undefined) {
        net = new WaitingNet(change, since, cause);
        this.#nets.set(name, net);
      } else net.cause = foldedCause(net.cause, cause, change);
      foldChange(net, change);
      // Otherwise objects that come and go would pile up.
      if (isEven(net)) this.#nets.delete(name);
    }
    this.#at = 0;
    if (!oneByOne) this.#foldHead(set);
  }

  #foldHead(set: AnyChangeSet<T>): void {
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
