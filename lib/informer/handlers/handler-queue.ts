/**
 * What waits for one handler that is busy. Whole sets wait as they are while the policy allows it; over that they are
 * folded per key, each key with the cause of its own, and a delete is never lost.
 * client-go: tools/cache/shared_informer.go, processorListener, whose buffer is unbounded.
 */

import { type Change, foldChange, type Net, unfold } from '../../delta/net-change.ts';
import { checkedLimit } from '../../rx/checked-option.ts';
import type { Cause, ChangeSet } from '../../store/change-set.ts';
import type { DeliveryPolicy } from './delivery.ts';
import type { NotificationCause } from './event-handler.ts';

/** How many changes from the front of a queue are to be taken yet; it follows them when they are folded. */
export interface Marker {
  left: number;
}

const NONE: readonly never[] = [];

function causeOf(cause: Cause): NotificationCause {
  return cause === 'snapshot' ? 'initial' : cause;
}

/** The cause of two changes of one key in one. */
function foldedCause<T>(
  before: NotificationCause | undefined,
  cause: NotificationCause,
  change: Change<T>,
): NotificationCause {
  if (before === undefined) return cause;
  if (cause === 'resync') return before;
  // Still an object of the first list, newer.
  const moved = change.previous !== undefined && change.object !== undefined;
  return before === 'initial' && moved ? 'initial' : cause;
}

/** The queue of one registration. */
export class HandlerQueue<T> {
  readonly #policy: DeliveryPolicy<T>;
  readonly #pause: () => () => void;
  readonly #markers = new Set<Marker>();
  /** The changes under way. */
  #changes: readonly Change<T>[] = NONE;
  #at = 0;
  #cause: NotificationCause = 'watch';
  #sets: ChangeSet<T>[] = [];
  #inSets = 0;
  #nets = new Map<string, Net<T>>();
  #walk: MapIterator<[string, Net<T>]> | undefined;
  #causes = new Map<string, NotificationCause>();
  #resume: (() => void) | undefined;

  constructor(policy: DeliveryPolicy<T>, pause: () => () => void) {
    if (policy.kind !== 'conflate') checkedLimit(policy.limit, 'delivery: limit');
    this.#policy = policy;
    this.#pause = pause;
  }

  /** Changes that wait. */
  get size(): number {
    return this.#changes.length - this.#at + this.#inSets + this.#nets.size;
  }

  /** Why the change that was taken last came. */
  get cause(): NotificationCause {
    return this.#cause;
  }

  /** `busy`: the handler is, so the set waits whatever else does. */
  push(set: ChangeSet<T>, busy: boolean): void {
    const { changes } = set;
    if (changes.length === 0) return;
    // A pause ends what is read, but not the ticks of a resync, which would wait without bound.
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

  /** Passes over what amounts to nothing. */
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

  /** The next change, or `undefined` when none waits. To be prepared. */
  next(): Change<T> | undefined {
    if (this.#at >= this.#changes.length) return undefined;
    if (this.#markers.size > 0) this.#passed();
    const change = this.#changes[this.#at] as Change<T>;
    this.#at++;
    return change;
  }

  /** A marker after the last that waits. */
  markEnd(): Marker {
    return this.#mark(this.size);
  }

  /** A marker after what is served in one go: a set, or all that is folded. To be prepared. */
  markBatch(): Marker {
    return this.#mark(this.#changes.length - this.#at + this.#nets.size);
  }

  unmark(marker: Marker | undefined): void {
    if (marker !== undefined) this.#markers.delete(marker);
  }

  /** Drops what waits. */
  clear(): void {
    this.#changes = NONE;
    this.#at = 0;
    this.#sets = [];
    this.#inSets = 0;
    this.#nets = new Map();
    this.#walk = undefined;
    this.#causes = new Map();
    this.#markers.clear();
    this.release();
  }

  /** Lets the informer read on. */
  release(): void {
    this.#resume?.();
    this.#resume = undefined;
  }

  #passed(): void {
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

  /** The oldest key becomes the changes under way: none, one, or a deletion and what came in its place. */
  #takeNet(): boolean {
    // One walk over all of them: a map's beginning is far away once many were taken from it.
    this.#walk ??= this.#nets.entries();
    const { done, value } = this.#walk.next();
    if (done) {
      this.#walk = undefined;
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

  /** What waits as it is, per key from now on; nothing to do once it is. */
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
      foldChange(this.#nets, change);
    }
  }
}
