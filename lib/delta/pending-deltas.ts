/**
 * What waits in the queue, in order of arrival, and where each key stands in it. Folding never crosses a relist,
 * and never makes an update of a delete and a recreate.
 */
import { type KubernetesObject, uidOf } from '../meta/kubernetes-object.ts';
import { isOlder } from '../meta/resource-version.ts';
import type { Delta } from '../reflector/delta.ts';
import { isOutdatedDeletion, stateOf } from './outdated-deletions.ts';

/** How deltas of one key are folded while they wait: not at all, or to one net delta. */
export type Compression = 'none' | 'latest';

type Keyed<T> = Extract<Delta<T>, { key: string }>;
type Deleted<T> = Extract<Delta<T>, { type: 'deleted' }>;
type Refusal<T> = Extract<Delta<T>, { type: 'refused' }>;
type Present<T> = Exclude<Keyed<T>, Deleted<T> | Refusal<T>>;

/** A place in the queue: a delta, a whole list, or what one key amounts to. */
export type Entry<T> =
  | { readonly kind: 'delta'; delta: Delta<T> }
  | {
      readonly kind: 'net';
      /** Deleted first, where it was; then there again, where it is. */
      deleted: Deleted<T> | undefined;
      /** The last end of another object under this name: of two, one is that of the object the consumer has. */
      ended: Deleted<T> | undefined;
      present: Present<T> | undefined;
      /** Its newest state, behind the one that was let in. */
      refused: Refusal<T> | undefined;
      /** It came and went while it waited. */
      fleeting: boolean;
    };

type Net<T> = Extract<Entry<T>, { kind: 'net' }>;

function uid(object: unknown): string {
  return uidOf(object as KubernetesObject);
}

/** Whether two deletions of one key end one object. */
function isSameEnd<T>(a: Deleted<T>, b: Deleted<T>): boolean {
  return uid(a.object ?? b.object) === uid(b.object ?? a.object);
}

/** Of two ends of one object; the later where both know as much. client-go: delta_fifo.go, dedupDeltas. */
function betterInformed<T>(a: Deleted<T>, b: Deleted<T>): Deleted<T> {
  const known = (delta: Deleted<T>) =>
    (delta.finalStateUnknown ? 0 : 2) + (delta.object === undefined ? 0 : 1);
  return known(a) > known(b) ? a : b;
}

/** The deltas between two pops. */
export class Pending<T> {
  readonly #compression: Compression;
  entries: Entry<T>[] = [];
  /** Each key's last entry since the last wall. */
  #last = new Map<string, Entry<T>>();

  constructor(compression: Compression) {
    this.#compression = compression;
  }

  get size(): number {
    return this.entries.length;
  }

  /** A delta that concerns no single key. A relist is a wall. */
  pushWhole(delta: Delta<T>): void {
    this.entries.push({ kind: 'delta', delta });
    if (delta.type === 'replaced') this.#last = new Map();
  }

  push(delta: Keyed<T>): void {
    const last = this.#last.get(delta.key);
    if (this.#compression === 'latest') this.#fold(delta, last);
    else this.#append(delta, last);
  }

  /** Empties the queue. */
  take(): Entry<T>[] {
    const { entries } = this;
    this.entries = [];
    this.#last = new Map();
    return entries;
  }

  #append(delta: Keyed<T>, last: Entry<T> | undefined): void {
    if (
      delta.type === 'deleted' &&
      last?.kind === 'delta' &&
      last.delta.type === 'deleted' &&
      isSameEnd(last.delta, delta)
    ) {
      last.delta = betterInformed(last.delta, delta);
      return;
    }
    const entry: Entry<T> = { kind: 'delta', delta };
    this.entries.push(entry);
    this.#last.set(delta.key, entry);
  }

  #fold(delta: Keyed<T>, last: Entry<T> | undefined): void {
    if (last?.kind !== 'net') {
      const entry: Entry<T> = {
        kind: 'net',
        deleted: delta.type === 'deleted' ? delta : undefined,
        ended: undefined,
        present: delta.type === 'deleted' || delta.type === 'refused' ? undefined : delta,
        refused: delta.type === 'refused' ? delta : undefined,
        fleeting: false,
      };
      this.entries.push(entry);
      this.#last.set(delta.key, entry);
      return;
    }
    if (delta.type === 'refused') this.#foldRefusal(delta, last);
    // Something is pending for the key: that is delivered, and a resync says nothing beside it.
    else if (delta.type === 'deleted') this.#foldEnd(delta, last);
    else if (delta.type !== 'sync') this.#foldState(delta, last);
  }

  #foldRefusal(delta: Refusal<T>, last: Net<T>): void {
    const newest = last.refused?.refused.resourceVersion ?? '';
    if (!isOlder(delta.refused.resourceVersion, newest)) last.refused = delta;
  }

  #foldEnd(delta: Deleted<T>, last: Net<T>): void {
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
    // Without a state of its own it ends the newest one that waits.
    const state = delta.object ?? present?.object;
    const ended = state === undefined ? delta : { ...delta, object: state };
    this.#end(last, ended, present === undefined);
    last.present = undefined;
  }

  #foldState(delta: Present<T>, last: Net<T>): void {
    const { present, refused } = last;
    const { resourceVersion } = stateOf(delta.object as KubernetesObject);
    if (refused !== undefined && !isOlder(resourceVersion, refused.refused.resourceVersion)) {
      last.refused = undefined;
    }
    if (present !== undefined && uid(present.object) !== uid(delta.object)) {
      // Another object under the same name: the end of the one before was missed.
      const { key } = delta;
      const { object } = present;
      this.#end(last, { type: 'deleted', key, object, finalStateUnknown: true }, false);
      last.present = { ...delta, type: 'added' };
      return;
    }
    const type = present?.type === 'added' || last.deleted !== undefined ? 'added' : delta.type;
    last.present = { ...delta, type };
  }

  #end(net: Net<T>, delta: Deleted<T>, adjacent: boolean): void {
    const last = net.ended ?? net.deleted;
    if (last === undefined) net.deleted = delta;
    else if (!adjacent || !isSameEnd(last, delta)) net.ended = delta;
    else if (net.ended === undefined) net.deleted = betterInformed(last, delta);
    else net.ended = betterInformed(last, delta);
  }
}
