/** Delivers the commits of an informer by the values of an index: the parts of the fan-out are the objects of one value. */
import type { Observable } from 'rxjs';
import type { Change } from '../../delta/net-change.ts';
import type { KubernetesObject, Stored } from '../../meta/kubernetes-object.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import type { ReadIndexers } from '../../store/index-funcs.ts';
import { indexValues } from '../../store/index-table.ts';
import { originating } from '../../store/origin.ts';
import type { HeldRow } from '../engine/machine.ts';
import { type ChangesOf, FanOut, type IndexedInformer, type Part } from './fan-out.ts';

/** An index value that somebody is subscribed to. */
interface Watched<T> extends Part<T> {
  /**
   * The objects under the value, by id. They are first read from the store, which may be ahead of the commits that are
   * still to be delivered; those lead to the same objects, and reach no receiver that has read them.
   */
  readonly rows: Map<string, HeldRow<T>>;
}

class IndexFanOut<T extends KubernetesObject> extends FanOut<T, Watched<T>> {
  readonly #name: string;
  /** The watched values of an object, by id. They are kept, because the function might return others later. */
  readonly #places = new Map<string, readonly Watched<T>[]>();
  #func: ReadIndexers<T>[string] | undefined;

  constructor(informer: IndexedInformer<T>, name: string) {
    super(informer);
    this.#name = name;
  }

  protected override open(value: string, part: Part<T>): Watched<T> {
    this.#func = this.informer.indexer.getIndexers()[this.#name];
    const watched: Watched<T> = { ...part, rows: new Map() };
    for (const { id, key, object } of this.additions(value)()) {
      this.#enter(watched, id, { key, object: object as Stored<T> });
    }
    return watched;
  }

  protected override close(watched: Watched<T>): void {
    for (const id of watched.rows.keys()) this.#exit(watched, id);
  }

  protected override additions(value: string): () => readonly Change<T>[] {
    const objects = this.informer.indexer.byIndex(this.#name, value);
    return () => objects.map((object) => this.addition(object));
  }

  protected override sort(change: Change<T>, changesOf: ChangesOf<T, Watched<T>>): void {
    const { id, key, object } = change;
    const before = this.#places.get(id) ?? [];
    const now = object === undefined ? [] : this.#valuesOf(object);
    for (const watched of before) {
      if (now.includes(watched)) continue;
      const { object: previous } = watched.rows.get(id) as HeldRow<T>;
      const { last = object ?? previous, finalStateUnknown } = change;
      const end = finalStateUnknown && { finalStateUnknown };
      changesOf(watched).deletions.push({ id, key, previous, last, ...end });
      watched.rows.delete(id);
      this.#exit(watched, id);
    }
    if (object === undefined) return;
    for (const watched of now) {
      const previous = watched.rows.get(id)?.object;
      const { others } = changesOf(watched);
      others.push(previous === undefined ? { id, key, object } : { id, key, previous, object });
      this.#enter(watched, id, { key, object });
    }
  }

  #valuesOf(object: Stored<T>): readonly Watched<T>[] {
    const func = this.#func;
    const found: Watched<T>[] = [];
    try {
      for (const value of func === undefined ? [] : indexValues(func, object, this.#name)) {
        const watched = this.parts.get(value);
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
