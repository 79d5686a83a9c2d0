/**
 * The waiting deltas in the order of their arrival, and the folding per key. Deltas are never folded across a relist,
 * and a delete and a recreate are never folded into an update.
 */
import { type KubernetesObject, uidOf } from '../meta/kubernetes-object.ts';
import { isOlder } from '../meta/resource-version.ts';
import type { Deletion as Deleted, Delta } from '../reflector/delta.ts';
import { isOutdatedDeletion, stateOf } from './outdated-deletions.ts';

/** How deltas of one key are folded while they wait: not at all (`none`), or to one net delta (`latest`). */
export type Compression = 'none' | 'latest';

type Keyed<T> = Extract<Delta<T>, { key: string }>;
type RefusedDelta<T> = Extract<Delta<T>, { type: 'refused' }>;
type Present<T> = Exclude<Keyed<T>, Deleted<T> | RefusedDelta<T>>;

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

function uid(object: unknown): string {
  return uidOf(object as KubernetesObject);
}

/** Whether two deletions of one key delete the same object. */
function isSameDeletion<T>(a: Deleted<T>, b: Deleted<T>): boolean {
  return uid(a.object ?? b.object) === uid(b.object ?? a.object);
}

/**
 * The one of two deletions of an object that has more information; if they have the same, the later one.
 * client-go: delta_fifo.go, dedupDeltas.
 */
function betterInformed<T>(a: Deleted<T>, b: Deleted<T>): Deleted<T> {
  const known = (delta: Deleted<T>) =>
    (delta.finalStateUnknown ? 0 : 2) + (delta.object === undefined ? 0 : 1);
  return known(a) > known(b) ? a : b;
}

/** The deltas that wait between two pops. */
export class Pending<T> {
  readonly #compression: Compression;
  entries: Entry<T>[] = [];
  /** The last entry that must be resolved against the known objects: a deletion, a list or a net; -1 if none must. */
  lastToResolve = -1;
  /** The net of each key since the last relist, across which deltas are not folded. */
  #nets = new Map<string, NetDelta<T>>();
  /** Without folding: the place of each key's last entry since the last relist, if that entry is a deletion. */
  #deletions = new Map<string, number>();

  constructor(compression: Compression) {
    this.#compression = compression;
  }

  get size(): number {
    return this.entries.length;
  }

  /** Queues a delta without a key. */
  pushUnkeyed(delta: Delta<T>): void {
    this.entries.push(delta);
    if (delta.type !== 'replaced' && delta.type !== 'rebalanced') return;
    this.#toResolve();
    this.#forgetKeys();
  }

  push(delta: Keyed<T>): void {
    if (this.#compression === 'latest') this.#fold(delta, this.#nets.get(delta.key));
    else if (delta.type === 'deleted') this.#appendDeletion(delta);
    else {
      if (this.#deletions.size > 0) this.#deletions.delete(delta.key);
      this.entries.push(delta);
    }
  }

  /** Removes and returns all entries. */
  take(): Entry<T>[] {
    const { entries } = this;
    this.entries = [];
    this.lastToResolve = -1;
    this.#forgetKeys();
    return entries;
  }

  #forgetKeys(): void {
    if (this.#nets.size > 0) this.#nets = new Map();
    if (this.#deletions.size > 0) this.#deletions = new Map();
  }

  /** Marks the entry that was just queued. */
  #toResolve(): void {
    this.lastToResolve = this.entries.length - 1;
  }

  #appendDeletion(delta: Deleted<T>): void {
    const at = this.#deletions.get(delta.key);
    const last = at === undefined ? undefined : (this.entries[at] as Deleted<T>);
    if (at !== undefined && last !== undefined && isSameDeletion(last, delta)) {
      this.entries[at] = betterInformed(last, delta);
      return;
    }
    this.#deletions.set(delta.key, this.entries.length);
    this.entries.push(delta);
    this.#toResolve();
  }

  #fold(delta: Keyed<T>, last: NetDelta<T> | undefined): void {
    if (last === undefined) {
      const entry: NetDelta<T> = {
        type: 'net',
        deleted: delta.type === 'deleted' ? delta : undefined,
        deletedLater: undefined,
        present: delta.type === 'deleted' || delta.type === 'refused' ? undefined : delta,
        refused: delta.type === 'refused' ? delta : undefined,
        fleeting: false,
      };
      this.entries.push(entry);
      this.#nets.set(delta.key, entry);
      this.#toResolve();
      return;
    }
    if (delta.type === 'refused') this.#foldRefusal(delta, last);
    // A `sync` of a key with a pending delta is dropped, because the pending delta is newer.
    else if (delta.type === 'deleted') this.#foldDeletion(delta, last);
    else if (delta.type !== 'sync') this.#foldState(delta, last);
  }

  #foldRefusal(delta: RefusedDelta<T>, last: NetDelta<T>): void {
    const newest = last.refused?.refused.resourceVersion ?? '';
    if (!isOlder(delta.refused.resourceVersion, newest)) last.refused = delta;
  }

  #foldDeletion(delta: Deleted<T>, last: NetDelta<T>): void {
    const { present, refused } = last;
    if (
      present !== undefined &&
      isOutdatedDeletion(delta, stateOf(present.object as KubernetesObject))
    ) {
      return;
    }
    if (refused !== undefined && !isOutdatedDeletion(delta, refused.refused))
      last.refused = undefined;
    if (last.deleted === undefined) last.fleeting = true;
    // A deletion without a state carries the newest waiting state.
    const state = delta.object ?? present?.object;
    const ended = state === undefined ? delta : { ...delta, object: state };
    this.#addDeletion(last, ended, present === undefined);
    last.present = undefined;
  }

  #foldState(delta: Present<T>, last: NetDelta<T>): void {
    const { present, refused } = last;
    const { resourceVersion } = stateOf(delta.object as KubernetesObject);
    if (refused !== undefined && !isOlder(resourceVersion, refused.refused.resourceVersion)) {
      last.refused = undefined;
    }
    if (present !== undefined && uid(present.object) !== uid(delta.object)) {
      // Another object has the same name now, so the deletion of the one before was missed.
      const { key } = delta;
      const { object } = present;
      this.#addDeletion(last, { type: 'deleted', key, object, finalStateUnknown: true }, false);
      last.present = { ...delta, type: 'added' };
      return;
    }
    const type = present?.type === 'added' || last.deleted !== undefined ? 'added' : delta.type;
    last.present = { ...delta, type };
  }

  /** `adjacent` says that no other delta of the key arrived between the last deletion and this one. */
  #addDeletion(net: NetDelta<T>, delta: Deleted<T>, adjacent: boolean): void {
    const last = net.deletedLater ?? net.deleted;
    if (last === undefined) net.deleted = delta;
    else if (!adjacent || !isSameDeletion(last, delta)) net.deletedLater = delta;
    else if (net.deletedLater === undefined) net.deleted = betterInformed(last, delta);
    else net.deletedLater = betterInformed(last, delta);
  }
}
