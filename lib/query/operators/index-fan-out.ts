/**
 * Delivers the commits of an informer by index value: one subscription to the informer for all values of an index. A
 * commit is looked at once for each of its changes, and reaches only the subscribers of the values that it touches.
 */
import { type Observable, type Subscriber, Subscription } from 'rxjs';
import type { Change } from '../../delta/net-change.ts';
import type { SharedInformer } from '../../informer/shared-informer.ts';
import { type KubernetesObject, type Stored, uidOf } from '../../meta/kubernetes-object.ts';
import { Drain } from '../../rx/drain.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import { ender, Hub } from '../../rx/sharing/hub.ts';
import { type ChangeSet, createChangeSet } from '../../store/change-set.ts';
import type { ReadIndexers } from '../../store/index-funcs.ts';
import { indexValues } from '../../store/index-table.ts';
import { type Origin, originating, originFrom, readOrigins } from '../../store/origin.ts';
import type { HeldRow } from '../engine/machine.ts';

/** The parts of an informer that are used. */
export type IndexedInformer<T extends KubernetesObject, Names extends string = string> = Pick<
  SharedInformer<T, Names>,
  'changes$' | 'indexer' | 'status$'
>;

type Receiver<T> = Subscriber<ChangeSet<T>>;

/** An index value that somebody is subscribed to. */
interface Watched<T> {
  /**
   * The objects under the value, by id. They are first read from the store, which may be ahead of the commits that are
   * still to be delivered; those lead to the same objects, and reach no receiver that has read them.
   */
  readonly rows: Map<string, HeldRow<T>>;
  /** The position of a receiver is the revision of the store that it has. */
  readonly receivers: Hub<Receiver<T>>;
  /** That of the informer, with the value as the emitter. */
  readonly origin: Origin;
}

/** The changes of one value in one commit. */
interface ValueChanges<T> {
  readonly deletions: Change<T>[];
  readonly others: Change<T>[];
}

class IndexFanOut<T extends KubernetesObject> {
  readonly #informer: IndexedInformer<T>;
  readonly #name: string;
  /** Where the rows come from, as the informer says when it is subscribed. */
  #origin: Origin = originFrom({ emitter: this });
  readonly #drain = new Drain();
  #watched = new Map<string, Watched<T>>();
  /** The watched values of an object, by id. They are kept, because the function might return others later. */
  #places = new Map<string, readonly Watched<T>[]>();
  #run: Subscription | undefined;
  #wasSynced = false;
  #func: ReadIndexers<T>[string] | undefined;

  constructor(informer: IndexedInformer<T>, name: string) {
    this.#informer = informer;
    this.#name = name;
  }

  /** Passes the objects under the value as a `reset` set, and then what changes under it, until it is unsubscribed. */
  join(value: string, receiver: Receiver<T>, tell: (origin: Origin) => Origin): void {
    // In the drain, so that a commit caused by the first set is delivered after it.
    this.#drain.enter(() => {
      this.#connect();
      if (this.#run === undefined) {
        tell(this.#origin);
        return receiver.complete();
      }
      const { indexer } = this.#informer;
      const { rev, resourceVersion, synced } = indexer;
      const objects = indexer.byIndex(this.#name, value);
      const watched = this.#watched.get(value) ?? this.#watch(value, objects);
      const origin = tell(watched.origin);
      const leave = watched.receivers.add(receiver, rev);
      receiver.add(() => {
        if (leave() && watched.receivers.size === 0) this.#leave(value, watched);
      });
      const head = {
        rev,
        resourceVersion,
        synced,
        origin,
        cause: 'snapshot',
        initial: true,
      } as const;
      const added = () => objects.map((object) => ({ ...this.#named(object), object }));
      receiver.next(createChangeSet<T>({ ...head, reset: true }, added));
    });
  }

  #connect(): void {
    if (this.#run !== undefined) return;
    const run = new Subscription();
    this.#run = run;
    this.#wasSynced = this.#informer.indexer.synced;
    this.#func = this.#informer.indexer.getIndexers()[this.#name];
    const found = (origin: Origin) => {
      this.#origin = { ...origin, emitter: this, subscription: undefined };
    };
    readOrigins(found, () =>
      run.add(
        this.#informer.changes$.subscribe({
          next: (set) => this.#drain.run(() => this.#deliver(set)),
          complete: () => this.#drain.enter(() => this.#complete(run)),
        }),
      ),
    );
  }

  #named(object: Stored<T>): { readonly id: string; readonly key: string } {
    const key = this.#informer.indexer.keyOf(object);
    return { id: uidOf(object) || key, key };
  }

  #watch(value: string, objects: readonly Stored<T>[]): Watched<T> {
    const receivers = new Hub<Receiver<T>>();
    const origin = { ...this.#origin, emitter: receivers };
    const watched: Watched<T> = { rows: new Map(), receivers, origin };
    this.#watched.set(value, watched);
    for (const object of objects) {
      const { id, key } = this.#named(object);
      this.#enter(watched, id, { key, object });
    }
    return watched;
  }

  #leave(value: string, watched: Watched<T>): void {
    if (this.#watched.get(value) !== watched) return;
    this.#watched.delete(value);
    for (const id of watched.rows.keys()) this.#exit(watched, id);
    if (this.#watched.size > 0) return;
    this.#run?.unsubscribe();
    this.#run = undefined;
  }

  #complete(run: Subscription): void {
    if (this.#run !== run) return;
    const ends = Array.from(this.#watched.values(), ({ receivers }) => ender(receivers));
    // Before the subscribers are notified, because one that subscribes again belongs to the next run.
    this.#run = undefined;
    this.#watched = new Map();
    this.#places = new Map();
    for (const end of ends) end();
  }

  #deliver(set: ChangeSet<T>): void {
    const touched = new Map<Watched<T>, ValueChanges<T>>();
    // A set that is a `reset` for this subscription shows a state that the values have from the store already.
    if (!set.reset) for (const change of set.changes) this.#sort(change, touched);
    if (set.synced !== this.#wasSynced) {
      this.#wasSynced = set.synced;
      for (const watched of this.#watched.values()) changesOf(touched, watched);
    }
    const { rev, resourceVersion, cause, synced, initial } = set;
    const head = { rev, resourceVersion, cause, synced, initial, reset: false };
    for (const [{ receivers, origin }, { deletions, others }] of touched) {
      const part = createChangeSet<T>({ ...head, origin }, deletions.concat(others));
      receivers.tell((receiver) => receiver.next(part), rev);
    }
  }

  /** Adds the change to the parts of the values that it touches. */
  #sort(change: Change<T>, touched: Map<Watched<T>, ValueChanges<T>>): void {
    const { id, key, object } = change;
    const before = this.#places.get(id) ?? [];
    const now = object === undefined ? [] : this.#valuesOf(object);
    for (const watched of before) {
      if (now.includes(watched)) continue;
      const { object: previous } = watched.rows.get(id) as HeldRow<T>;
      const { last = object ?? previous, finalStateUnknown } = change;
      const end = finalStateUnknown && { finalStateUnknown };
      changesOf(touched, watched).deletions.push({ id, key, previous, last, ...end });
      watched.rows.delete(id);
      this.#exit(watched, id);
    }
    if (object === undefined) return;
    for (const watched of now) {
      const previous = watched.rows.get(id)?.object;
      const { others } = changesOf(touched, watched);
      others.push(previous === undefined ? { id, key, object } : { id, key, previous, object });
      this.#enter(watched, id, { key, object });
    }
  }

  #valuesOf(object: Stored<T>): readonly Watched<T>[] {
    const func = this.#func;
    const found: Watched<T>[] = [];
    try {
      for (const value of func === undefined ? [] : indexValues(func, object, this.#name)) {
        const watched = this.#watched.get(value);
        if (watched !== undefined) found.push(watched);
      }
    } catch (error) {
      // The store has accepted the object, so the function returns something else each time.
      reportUnhandled(error);
    }
    return found;
  }

  #enter(watched: Watched<T>, id: string, row: HeldRow<T>): void {
    watched.rows.set(id, row);
    const places = this.#places.get(id) ?? [];
    if (!places.includes(watched)) this.#places.set(id, [...places, watched]);
  }

  #exit(watched: Watched<T>, id: string): void {
    const left = (this.#places.get(id) ?? []).filter((each) => each !== watched);
    if (left.length === 0) this.#places.delete(id);
    else this.#places.set(id, left);
  }
}

function changesOf<T>(
  touched: Map<Watched<T>, ValueChanges<T>>,
  watched: Watched<T>,
): ValueChanges<T> {
  const parts = touched.get(watched) ?? { deletions: [], others: [] };
  touched.set(watched, parts);
  return parts;
}

const fanOuts = /* @__PURE__ */ new WeakMap<object, Map<string, unknown>>();

function fanOutOf<T extends KubernetesObject>(
  informer: IndexedInformer<T>,
  name: string,
): IndexFanOut<T> {
  const { changes$ } = informer;
  const byName = fanOuts.get(changes$) ?? new Map<string, unknown>();
  fanOuts.set(changes$, byName);
  const fanOut = byName.get(name) ?? new IndexFanOut<T>(informer, name);
  byName.set(name, fanOut);
  return fanOut as IndexFanOut<T>;
}

/** The objects of an informer that an index, which the informer must have, has under this value. */
export function indexedRows<T extends KubernetesObject>(
  informer: IndexedInformer<T>,
  name: string,
  value: string,
): Observable<ChangeSet<T>> {
  const fanOut = fanOutOf(informer, name);
  return originating<ChangeSet<T>>((subscriber, tell) => fanOut.join(value, subscriber, tell));
}
