/**
 * Folds changes of one key into their net change. Commits use this fold, and so do the queues of slow subscribers and
 * handlers. The delta queue does not: it folds deltas by its own rules (`pending-deltas.ts`). The fold is associative:
 * folding change sets one by one and folding their folds give the same result.
 */
import type { Stored } from '../meta/kubernetes-object.ts';

/** Which object a row was made of. The metadata of the object are one. */
export interface RowIdentity {
  readonly uid?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** The name of the cluster, in a stream over several. */
  readonly cluster?: string | undefined;
}

/** The change of one object, as one consumer sees it. */
export interface Change<T> {
  /** The UID, or the key if the object has no UID. An object with another UID under the same name is another object. */
  readonly id: string;
  readonly key: string;
  /** The state that this consumer had; absent if the object is new to this consumer. */
  readonly previous?: Stored<T>;
  /** The state now; absent if the object was deleted. */
  readonly object?: Stored<T>;
  /** For a deletion: the newest known state of the same UID. */
  readonly last?: Stored<T>;
  /** For a deletion: the deletion event was missed, so `last` may be older than the last state on the server. */
  readonly finalStateUnknown?: true;
  /** `object` is absent although the object was not deleted: its shard or namespace has left. */
  readonly left?: true;
  /** The object that the row was made of, if the row is not that object itself, or is one of several clusters. */
  readonly of?: RowIdentity | undefined;
}

/** The change with the identity of its row, if it needs one. */
export function withIdentity<T>(change: Change<T>, of: RowIdentity | undefined): Change<T> {
  return of === undefined ? change : { ...change, of };
}

/** A deleted object. client-go: DeletedFinalStateUnknown, DeletedObject[T]. */
export interface DeletedObject<T> {
  readonly key: string;
  readonly uid: string;
  /** The state that this consumer had, for example for a counter that must subtract it. */
  readonly previous: Stored<T>;
  /** The newest known state of the same UID. */
  readonly object: Stored<T>;
  /** Whether the deletion event was missed, so that `object` may be older than the last state on the server. */
  readonly finalStateUnknown: boolean;
}

interface Identified<T> {
  readonly id: string;
  readonly object: Stored<T>;
  readonly of?: RowIdentity | undefined;
}

/** The net change of one key between two moments of one consumer. At first nothing has changed. */
export class Net<T> {
  readonly key: string;
  /** The object that the consumer had. */
  readonly seen: Identified<T> | undefined;
  /** The object that exists now. */
  now: Identified<T> | undefined;
  /** The newest state of the UID that the consumer had. A tombstone never carries the state of another object. */
  last: Stored<T> | undefined;
  finalStateUnknown = false;
  /** Whether the object that the consumer had was deleted at some time, or has left. */
  deleted = false;
  /** Whether it has left instead. */
  left = false;
  /** Whether to deliver the object even if it has not changed. */
  resync = false;

  constructor(key: string, seen: Identified<T> | undefined) {
    this.key = key;
    this.seen = seen;
    this.now = seen;
    this.last = seen?.object;
  }
}

/** Records that an object exists, in this state. */
export function foldState<T>(net: Net<T>, id: string, object: Stored<T>, of?: RowIdentity): void {
  net.now = { id, object, of };
  if (net.seen === undefined) return;
  if (net.seen.id === id) {
    net.last = object;
    net.deleted = false;
    net.left = false;
  }
  // The object was replaced by another one, so its deletion was missed.
  else if (!net.deleted) {
    net.deleted = true;
    net.finalStateUnknown = true;
  }
}

/** Records a deletion, or that the object has left. `ended` is its last state, if it is known. */
export function foldDeletion<T>(
  net: Net<T>,
  ended: { readonly id: string; readonly object: Stored<T> } | undefined,
  finalStateUnknown: boolean,
  left = false,
): void {
  net.now = undefined;
  if (net.seen === undefined) return;
  const same = ended !== undefined && ended.id === net.seen.id;
  if (net.deleted && !same) return;
  net.deleted = true;
  // If another object has left, the object that the consumer had was replaced by it, and so was deleted.
  net.left = left && same;
  // If another object was deleted, the deletion of the one that the consumer had was missed.
  net.finalStateUnknown = finalStateUnknown || !same;
  if (same) net.last = ended.object;
}

/** The object that the consumer had before a change. */
export function seenBefore<T>({ id, previous }: Change<T>): Identified<T> | undefined {
  return previous === undefined ? undefined : { id, object: previous };
}

/** Folds one change into the net of its row. */
export function foldChange<T>(net: Net<T>, change: Change<T>): void {
  const { id, previous, object, last } = change;
  if (object === undefined) {
    const ended = last ?? previous;
    foldDeletion(
      net,
      ended === undefined ? undefined : { id, object: ended },
      change.finalStateUnknown === true,
      change.left === true,
    );
    return;
  }
  foldState(net, id, object, change.of);
  if (previous === object) net.resync = true;
}

/** Folds one change into the nets of rows by id, because two rows of a stream may have one key. */
export function foldRow<T>(nets: Map<string, Net<T>>, change: Change<T>): void {
  const { id, key } = change;
  const known = nets.get(id);
  const net = known ?? new Net(key, seenBefore(change));
  foldChange(net, change);
  // Otherwise objects that come and go would pile up.
  if (isEven(net)) nets.delete(id);
  else if (known === undefined) nets.set(id, net);
}

/** Whether the consumer has what exists, so that the net has no change. */
export function isEven<T>({ seen, now, resync }: Net<T>): boolean {
  if (seen === undefined || now === undefined) return seen === now;
  return seen.id === now.id && seen.object === now.object && !resync;
}

/** The changes of the nets: deletions first, then the others, both in the order in which the keys first changed. */
export function unfold<T>(nets: Iterable<Net<T>>): Change<T>[] {
  const deletions: Change<T>[] = [];
  const others: Change<T>[] = [];
  for (const net of nets) {
    const { key, seen, now } = net;
    const replaced = seen !== undefined && now !== undefined && seen.id !== now.id;
    if (seen !== undefined && (now === undefined || replaced)) {
      deletions.push({
        id: seen.id,
        key,
        previous: seen.object,
        last: net.last ?? seen.object,
        ...(net.left ? { left: true as const } : {}),
        ...(net.finalStateUnknown ? { finalStateUnknown: true as const } : {}),
      });
    }
    if (now === undefined) continue;
    const { id, object, of } = now;
    if (seen === undefined || replaced) others.push(withIdentity({ id, key, object }, of));
    else if (object !== seen.object || net.resync) {
      others.push(withIdentity({ id, key, previous: seen.object, object }, of));
    }
  }
  return deletions.length === 0 ? others : deletions.concat(others);
}
