/**
 * What waits in the queue, in order of arrival, and where each key stands in it. Folding never crosses a relist,
 * and never makes an update of a delete and a recreate.
 */
import { type KubernetesObject, uidOf } from '../meta/kubernetes-object.ts';
import type { Delta } from '../reflector/delta.ts';

/** How deltas of one key are folded while they wait: not at all, or to one net delta. */
export type Compression = 'none' | 'latest';

type Keyed<T> = Extract<Delta<T>, { key: string }>;
type Deleted<T> = Extract<Delta<T>, { type: 'deleted' }>;

/** A place in the queue: a delta, a whole list, or what one key amounts to. */
export type Entry<T> =
  | { readonly kind: 'delta'; delta: Delta<T> }
  | {
      readonly kind: 'net';
      /** Deleted first, where it was; then there again, where it is. */
      deleted: Deleted<T> | undefined;
      present: Exclude<Keyed<T>, Deleted<T>> | undefined;
      /** It came and went while it waited. */
      fleeting: boolean;
    };

function uid(object: unknown): string {
  return uidOf(object as KubernetesObject);
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
      uid(last.delta.object ?? delta.object) === uid(delta.object ?? last.delta.object)
    ) {
      // Two adjacent deletions are one: the better informed stands. client-go: delta_fifo.go, dedupDeltas.
      if (!delta.finalStateUnknown) last.delta = delta;
      return;
    }
    const entry: Entry<T> = { kind: 'delta', delta };
    this.entries.push(entry);
    this.#last.set(delta.key, entry);
  }

  #fold(delta: Keyed<T>, last: Entry<T> | undefined): void {
    if (last?.kind !== 'net') {
      const deleted = delta.type === 'deleted' ? delta : undefined;
      const present = delta.type === 'deleted' ? undefined : delta;
      const entry: Entry<T> = { kind: 'net', deleted, present, fleeting: false };
      this.entries.push(entry);
      this.#last.set(delta.key, entry);
      return;
    }
    const { present } = last;
    if (delta.type === 'deleted') {
      if (last.deleted === undefined) {
        last.deleted = delta;
        last.fleeting = present?.type === 'added';
      } else if (present === undefined && !delta.finalStateUnknown) {
        if (uid(delta.object) === uid(last.deleted.object)) last.deleted = delta;
      }
      last.present = undefined;
      return;
    }
    if (present !== undefined && uid(present.object) !== uid(delta.object)) {
      // Another object under the same name: the end of the one before was missed.
      last.deleted ??= {
        type: 'deleted',
        key: delta.key,
        object: present.object,
        finalStateUnknown: true,
      };
      last.present = { ...delta, type: 'added' };
      return;
    }
    const type = present?.type === 'added' || last.deleted !== undefined ? 'added' : delta.type;
    last.present = { ...delta, type };
  }
}
