/**
 * The queue of a busy handler. By default, changes are folded per key as soon as they wait. Under a policy with a limit,
 * that many change sets wait unchanged; if more wait, all of them are folded, or the reading pauses. When changes are
 * folded, each key keeps its own cause, and a deletion is never lost.
 * client-go: tools/cache/shared_informer.go, processorListener, whose buffer is unbounded.
 */

import { type Change, foldChange, type Net, unfold } from '../../delta/net-change.ts';
import type { Cause, ChangeSet } from '../../store/change-set.ts';
import { checkedPolicy, type DeliveryPolicy } from './deliver.ts';
import type { NotificationCause } from './event-handler.ts';

/** A position in a queue: how many changes are before it. The position is kept when changes are folded. */
export interface Marker {
  left: number;
}

const NONE: readonly never[] = [];

function causeOf(cause: Cause): NotificationCause {
  return cause === 'snapshot' ? 'initial' : cause;
}

/** The cause of two changes of one key that are folded into one. */
function foldedCause<T>(
  before: NotificationCause | undefined,
  cause: NotificationCause,
  change: Change<T>,
): NotificationCause {
  if (before === undefined) return cause;
  if (cause === 'resync') return before;
  // An update of an object that the handler has not received yet from the first list.
  const moved = change.previous !== undefined && change.object !== undefined;
  return before === 'initial' && moved ? 'initial' : cause;
}

/** The queue of one registration. */
export class HandlerQueue<T> {
  readonly #policy: DeliveryPolicy<T>;
  readonly #pause: () => () => void;
  readonly #markers = new Set<Marker>();
  /** The changes that are being delivered. */
  #changes: readonly Change<T>[] = NONE;
  #at = 0;
  #cause: NotificationCause = 'watch';
  #sets: ChangeSet<T>[] = [];
  #inSets = 0;
  #nets = new Map<string, Net<T>>();
  #iterator: MapIterator<[string, Net<T>]> | undefined;
  #causes = new Map<string, NotificationCause>();
  #resume: (() => void) | undefined;

  constructor(policy: DeliveryPolicy<T>, pause: () => () => void) {
    this.#policy = checkedPolicy(policy);
    this.#pause = pause;
  }

  /** How many changes wait. */
  get size(): number {
    return this.#changes.length - this.#at + this.#inSets + this.#nets.size;
  }

  /** The cause of the change that was taken last. */
  get cause(): NotificationCause {
    return this.#cause;
  }

  /** Adds a set. If the handler is `busy`, the set waits even if the queue is empty. */
  push(set: ChangeSet<T>, busy: boolean): void {
    const { changes } = set;
    if (changes.length === 0) return;
    // A pause stops the reading, but not the resyncs, which would wait without a limit.
    if (set.cause === 'resync' && this.#resume !== undefined) return;
    const policy = this.#policy;
    const empty = this.size === 0;
    if (empty && (!busy || policy.kind === 'conflate')) {
      this.#begin(set);
      return;
    }
    if (policy.kind === 'conflate' || this.#nets.size > 0) {
      this.#foldAll();
      this.#fold(changes, causeOf(set.cause));
      return;
    }
    this.#sets.push(set);
    this.#inSets += changes.length;
    if (this.#sets.length <= policy.limit) return;
    if (policy.kind === 'buffer' && policy.overflow === 'pause') this.#resume ??= this.#pause();
    else this.#foldAll();
  }

  /** Moves the next changes to the front, and skips keys whose net change is empty. */
  prepare(): void {
    while (this.#at >= this.#changes.length) {
      this.#changes = NONE;
      this.#at = 0;
      const set = this.#sets.shift();
      if (set !== undefined) {
        this.#inSets -= set.changes.length;
        this.#begin(set);
      } else if (!this.#takeNet()) return;
      if (this.#sets.length === 0) this.release();
    }
  }

  /** Takes the next change; `undefined` if no change waits. Call `prepare` first. */
  next(): Change<T> | undefined {
    if (this.#at >= this.#changes.length) return undefined;
    if (this.#markers.size > 0) this.#advanceMarkers();
    const change = this.#changes[this.#at] as Change<T>;
    this.#at++;
    return change;
  }

  /** Returns a marker after the last waiting change. */
  markEnd(): Marker {
    return this.#mark(this.size);
  }

  /** Returns a marker after the current batch: one set, or all folded changes. Call `prepare` first. */
  markBatch(): Marker {
    return this.#mark(this.#changes.length - this.#at + this.#nets.size);
  }

  unmark(marker: Marker | undefined): void {
    if (marker !== undefined) this.#markers.delete(marker);
  }

  /** Drops all waiting changes. */
  clear(): void {
    this.#changes = NONE;
    this.#at = 0;
    this.#sets = [];
    this.#inSets = 0;
    this.#nets = new Map();
    this.#iterator = undefined;
    this.#causes = new Map();
    this.#markers.clear();
    this.release();
  }

  /** Ends the pause of the informer. */
  release(): void {
    this.#resume?.();
    this.#resume = undefined;
  }

  #advanceMarkers(): void {
    for (const marker of this.#markers) if (marker.left > 0) marker.left--;
  }

  #mark(left: number): Marker {
    const marker = { left };
    this.#markers.add(marker);
    return marker;
  }

  #begin(set: ChangeSet<T>): void {
    this.#changes = set.changes;
    this.#at = 0;
    this.#cause = causeOf(set.cause);
  }

  /** Takes the net change of the oldest key: no change, one change, or a deletion and the addition of its successor. */
  #takeNet(): boolean {
    // One iterator for all of them, because a new iterator would first skip every entry that was deleted from the map.
    this.#iterator ??= this.#nets.entries();
    const { done, value } = this.#iterator.next();
    if (done) {
      this.#iterator = undefined;
      return false;
    }
    const [key, net] = value;
    this.#nets.delete(key);
    this.#cause = this.#causes.get(key) ?? 'watch';
    this.#causes.delete(key);
    this.#changes = unfold([net]);
    const more = this.#changes.length - 1;
    if (more !== 0) {
      for (const marker of this.#markers) if (marker.left > 0) marker.left += more;
    }
    return true;
  }

  /** Folds all waiting changes per key, unless they are folded already. */
  #foldAll(): void {
    if (this.#nets.size > 0) return;
    const moved = new Map<Marker, number>();
    let passed = 0;
    const fold = (changes: readonly Change<T>[], cause: NotificationCause) => {
      for (const change of changes) {
        this.#fold([change], cause);
        passed++;
        for (const marker of this.#markers) {
          if (marker.left === passed) moved.set(marker, this.#nets.size);
        }
      }
    };
    fold(this.#changes.slice(this.#at), this.#cause);
    for (const set of this.#sets) fold(set.changes, causeOf(set.cause));
    this.#changes = NONE;
    this.#at = 0;
    this.#sets = [];
    this.#inSets = 0;
    for (const [marker, left] of moved) marker.left = left;
  }

  #fold(changes: readonly Change<T>[], cause: NotificationCause): void {
    for (const change of changes) {
      const { key } = change;
      this.#causes.set(key, foldedCause(this.#causes.get(key), cause, change));
      const { seen, now } = foldChange(this.#nets, change);
      if (seen !== undefined || now !== undefined) continue;
      // Otherwise objects that come and go would pile up. A marker ahead counts the nets before it, so it keeps them.
      if ([...this.#markers].some(({ left }) => left > 0)) continue;
      this.#nets.delete(key);
      this.#causes.delete(key);
    }
  }
}
