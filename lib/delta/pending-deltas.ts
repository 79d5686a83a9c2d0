/** The entries of a queue of deltas, and what two deletions of one key have in common. */
import { type KubernetesObject, uidOf } from '../meta/kubernetes-object.ts';
import type { Deletion as Deleted, Delta } from '../reflector/delta.ts';

/** Folds the waiting deltas of one queue. */
export interface Folding<T> {
  /** Folds a delta into the entry of its key, or appends a new entry. Returns whether it has appended one. */
  push(delta: Keyed<T>, entries: Entry<T>[]): boolean;
  /** Begins with new entries: the deltas that follow are not folded into earlier ones. */
  forget(): void;
}

/** How deltas of one key are folded while they wait. Makes the folding of one queue. */
export type Compression = <T>() => Folding<T>;

export type Keyed<T> = Extract<Delta<T>, { key: string }>;
export type RefusedDelta<T> = Extract<Delta<T>, { type: 'refused' }>;
export type Present<T> = Exclude<Keyed<T>, Deleted<T> | RefusedDelta<T>>;

/** A place in the queue: a single delta, which may stand for a complete list, or the net delta of one key. */
export type Entry<T> = Delta<T> | NetDelta<T>;

/** The net delta of one key. */
export interface NetDelta<T> {
  readonly type: 'net';
  /** The deletion to deliver first. `present`, if set, is delivered after it. */
  deleted: Deleted<T> | undefined;
  /** A later deletion of another object of this name. Both are kept, because the consumer has one of the two objects. */
  deletedLater: Deleted<T> | undefined;
  present: Present<T> | undefined;
  /** The newest state, if it was refused. It is delivered after `present`, the newest accepted state. */
  refused: RefusedDelta<T> | undefined;
  /** Whether an object was created and deleted while it waited, so its deletion may be unknown to the consumer. */
  fleeting: boolean;
}

export function uid(object: unknown): string {
  return uidOf(object as KubernetesObject);
}

/** Whether two deletions of one key delete the same object. */
export function isSameDeletion<T>(a: Deleted<T>, b: Deleted<T>): boolean {
  return uid(a.object ?? b.object) === uid(b.object ?? a.object);
}

/**
 * The one of two deletions of an object that has more information; if they have the same, the later one.
 * client-go: delta_fifo.go, dedupDeltas.
 */
export function betterInformed<T>(a: Deleted<T>, b: Deleted<T>): Deleted<T> {
  const known = (delta: Deleted<T>) =>
    (delta.finalStateUnknown ? 0 : 2) + (delta.object === undefined ? 0 : 1);
  return known(a) > known(b) ? a : b;
}
