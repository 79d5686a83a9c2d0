/**
 * The changes that wait for a reader who takes one at a time. They are folded by key, because the reader has one object of a key, and
 * each keeps its own cause.
 * client-go: tools/cache/shared_informer.go, processorListener, whose buffer is unbounded.
 */
import {
  type Change,
  foldChange,
  isEven,
  Net,
  seenBefore,
  unfold,
} from '../../delta/net-change.ts';
import type { AnyChangeSet, Cause } from '../../store/change-set.ts';
import { LimitedWaiting } from '../../store/limited-waiting.ts';

/** The net change of a key that waits since the set of this number. */
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

/** The sets are numbered in the order of their pushes. Each has changes. */
export class WaitingChanges<T> extends LimitedWaiting<T> {
  /** How many changes of the first set were taken. */
  #at = 0;
  /** How many changes the sets have that were not taken. */
  #inSets = 0;
  readonly #nets = new Map<string, WaitingNet<T>>();
  /** One iterator for all nets, because a new one would first skip every net that was deleted from the map. */
  #iterator: MapIterator<WaitingNet<T>> | undefined;
  #oldest: WaitingNet<T> | undefined;
  /** The addition that follows a deletion of its key, which was taken, and the number of its net. */
  #successor: Change<T> | undefined;
  #since = 0;
  #cause: Cause = 'watch';

  override get size(): number {
    return this.#inSets + this.#nets.size + (this.#successor === undefined ? 0 : 1);
  }

  /** The number of the last set. */
  get end(): number {
    return this.pushed;
  }

  /** The number of the first set, or of the last one if they are folded. */
  get endOfBatch(): number {
    return this.pushed - Math.max(0, this.sets.length - 1);
  }

  /** The cause of the change that was taken last. */
  get cause(): Cause {
    return this.#cause;
  }

  /** Whether everything was taken that has waited since this set, or since an earlier one. */
  hasPassed(end: number): boolean {
    const { length } = this.sets;
    if (length > 0) return this.pushed - length >= end;
    if (this.#successor !== undefined) return this.#since > end;
    return (this.#oldestNet()?.since ?? end + 1) > end;
  }

  /** Takes one change; `undefined` if none waits. */
  next(): Change<T> | undefined {
    const set = this.sets[0];
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

  override clear(): void {
    super.clear();
    this.#at = 0;
    this.#inSets = 0;
    this.#nets.clear();
    this.#iterator = undefined;
    this.#oldest = undefined;
    this.#successor = undefined;
  }

  protected override get isFolded(): boolean {
    return this.#nets.size > 0 || this.#successor !== undefined;
  }

  protected override get wholeSets(): number {
    return this.#at > 0 ? this.sets.length - 1 : this.sets.length;
  }

  protected override wait(set: AnyChangeSet<T>): void {
    this.#inSets += set.changes.length;
    super.wait(set);
  }

  protected override fold({ changes, cause }: AnyChangeSet<T>, later: number): void {
    const since = this.pushed - later;
    for (let at = this.#at; at < changes.length; at++) {
      const change = changes[at] as Change<T>;
      const { key } = change;
      let net = this.#nets.get(key);
      if (net === undefined) {
        net = new WaitingNet(change, since, cause);
        this.#nets.set(key, net);
      } else net.cause = foldedCause(net.cause, cause, change);
      foldChange(net, change);
      // Otherwise objects that come and go would pile up.
      if (isEven(net)) this.#nets.delete(key);
    }
    this.#at = 0;
    this.#inSets = 0;
  }

  #nextOf({ changes, cause }: AnyChangeSet<T>): Change<T> | undefined {
    const change = changes[this.#at++];
    this.#cause = cause;
    this.#inSets--;
    if (this.#at === changes.length) {
      this.shift();
      this.#at = 0;
    }
    if (this.wholeSets === 0) this.release();
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
}
