/**
 * The one algebra of changes: what a queue holds per key, what a commit amounts to, and what a slow consumer has
 * missed are the same fold. It is associative: folding sets one by one, or folds of them, gives the same.
 */
import type { Stored } from '../meta/stored.ts';

/** One object's change, as one consumer sees it. */
export interface Change<T> {
  /** The UID; the key where an object has none. An object is its UID: a new one under an old name is another. */
  readonly id: string;
  readonly key: string;
  /** As this consumer had it; absent: new to this consumer. */
  readonly previous?: Stored<T>;
  /** As it is now; absent: gone. */
  readonly object?: Stored<T>;
  /** Of a deletion: the newest state of the same UID. */
  readonly last?: Stored<T>;
  /** Of a deletion: it was missed, and `last` may be older than the object's end. */
  readonly finalStateUnknown?: true;
}

/** An object that is gone. client-go: DeletedFinalStateUnknown, DeletedObject[T]. */
export interface DeletedObject<T> {
  readonly key: string;
  readonly uid: string;
  /** As this consumer had it: what a counter must subtract. */
  readonly previous: Stored<T>;
  /** The newest state known of the same UID. */
  readonly object: Stored<T>;
  /** The deletion was missed: `object` may be older than the object's end. */
  readonly finalStateUnknown: boolean;
}

interface Identified<T> {
  readonly id: string;
  readonly object: Stored<T>;
}

/** What one key amounts to between two moments of one consumer. */
export interface Net<T> {
  readonly key: string;
  /** What the consumer had. */
  readonly seen: Identified<T> | undefined;
  /** What there is now. */
  now: Identified<T> | undefined;
  /** The newest state of the UID that the consumer had: a tombstone never carries another object's state. */
  last: Stored<T> | undefined;
  finalStateUnknown: boolean;
  /** The object that was seen went away at some time. */
  gone: boolean;
  /** Deliver it even if nothing changed. */
  resync: boolean;
}

/** A key about which nothing has happened yet. */
export function untouched<T>(key: string, seen: Identified<T> | undefined): Net<T> {
  return {
    key,
    seen,
    now: seen,
    last: seen?.object,
    finalStateUnknown: false,
    gone: false,
    resync: false,
  };
}

/** The object is there, in this state. */
export function come<T>(net: Net<T>, id: string, object: Stored<T>): void {
  net.now = { id, object };
  if (net.seen === undefined) return;
  if (net.seen.id === id) {
    net.last = object;
    net.gone = false;
    net.finalStateUnknown = false;
  }
  // Replaced without a deletion in between: its end was missed.
  else if (!net.gone) {
    net.gone = true;
    net.finalStateUnknown = true;
  }
}

/** The object is not there any more; `id` and `object` tell its last state where that is known. */
export function go<T>(
  net: Net<T>,
  ended: { readonly id: string; readonly object: Stored<T> } | undefined,
  finalStateUnknown: boolean,
): void {
  net.now = undefined;
  if (net.seen === undefined) return;
  const same = ended !== undefined && ended.id === net.seen.id;
  if (net.gone && !same) return;
  net.gone = true;
  // What ended is another object: the end of the one that was seen was missed.
  net.finalStateUnknown = finalStateUnknown || !same;
  if (same) net.last = ended.object;
}

/** Folds one change into the nets of a consumer. */
export function foldChange<T>(nets: Map<string, Net<T>>, change: Change<T>): void {
  const { id, key, previous, object, last } = change;
  let net = nets.get(key);
  if (net === undefined) {
    net = untouched(key, previous === undefined ? undefined : { id, object: previous });
    nets.set(key, net);
  }
  if (object === undefined) {
    const ended = last ?? previous;
    go(
      net,
      ended === undefined ? undefined : { id, object: ended },
      change.finalStateUnknown === true,
    );
    return;
  }
  come(net, id, object);
  if (previous === object) net.resync = true;
}

/** What the nets amount to: deletions first, then the rest, each in the order in which keys were touched. */
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
        ...(net.finalStateUnknown ? { finalStateUnknown: true as const } : {}),
      });
    }
    if (now === undefined) continue;
    if (seen === undefined || replaced) others.push({ id: now.id, key, object: now.object });
    else if (now.object !== seen.object || net.resync) {
      others.push({ id: now.id, key, previous: seen.object, object: now.object });
    }
  }
  return deletions.length === 0 ? others : deletions.concat(others);
}
