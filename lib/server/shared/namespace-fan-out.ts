/**
 * Delivers the commits of an informer by namespace: a part of the fan-out is the objects of some namespaces, by their names as JSON. No
 * row is held, because no object changes its namespace.
 */
import type { Observable } from 'rxjs';
import type { Change } from '../../delta/net-change.ts';
import type { KubernetesObject, Stored } from '../../meta/kubernetes-object.ts';
import {
  type ChangesOf,
  FanOut,
  type IndexedInformer,
  type Part,
} from '../../query/operators/fan-out.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import { NAMESPACE_INDEX } from '../../store/index-funcs.ts';
import { originating } from '../../store/origin.ts';

type Objects = Part<KubernetesObject>;

function namespaceOf({ object, previous, last }: Change<KubernetesObject>): string {
  return (object ?? previous ?? last)?.metadata?.namespace ?? '';
}

const namesOf = (names: string) => JSON.parse(names) as readonly string[];

class NamespaceFanOut extends FanOut<KubernetesObject, Objects> {
  readonly #byNamespace = new Map<string, Set<Objects>>();
  /** Held while somebody reads them. */
  readonly #additions = new WeakMap<object, WeakRef<readonly Change<KubernetesObject>[]>>();

  protected override open(names: string, part: Objects): Objects {
    for (const each of namesOf(names)) {
      const parts = this.#byNamespace.get(each) ?? new Set();
      this.#byNamespace.set(each, parts.add(part));
    }
    return part;
  }

  protected override close(part: Objects, names: string): void {
    for (const each of namesOf(names)) {
      const parts = this.#byNamespace.get(each);
      parts?.delete(part);
      if (parts?.size === 0) this.#byNamespace.delete(each);
    }
  }

  protected override additions(names: string): () => readonly Change<KubernetesObject>[] {
    const { indexer } = this.informer;
    const lists = namesOf(names).map((each) => indexer.byIndex(NAMESPACE_INDEX, each));
    return () => lists.flatMap((list) => this.#added(list));
  }

  /** What adds the objects of a namespace. Queries that begin together share it, because the store returns the same list until it changes. */
  #added(list: readonly Stored<KubernetesObject>[]): readonly Change<KubernetesObject>[] {
    const known = this.#additions.get(list)?.deref();
    if (known !== undefined) return known;
    const added = list.map((object) => this.addition(object));
    this.#additions.set(list, new WeakRef(added));
    return added;
  }

  protected override sort(
    change: Change<KubernetesObject>,
    changesOf: ChangesOf<KubernetesObject, Objects>,
  ): void {
    for (const part of this.#byNamespace.get(namespaceOf(change)) ?? []) {
      const { deletions, others } = changesOf(part);
      (change.object === undefined ? deletions : others).push(change);
    }
  }
}

const fanOuts = /* @__PURE__ */ new WeakMap<object, NamespaceFanOut>();

/** The objects of an informer in these namespaces. Equal lists share what is made of a commit. */
export function namespacedRows(
  informer: IndexedInformer<KubernetesObject>,
  namespaces: readonly string[],
): Observable<ChangeSet<KubernetesObject>> {
  const { changes$ } = informer;
  const fanOut = fanOuts.get(changes$) ?? new NamespaceFanOut(informer);
  fanOuts.set(changes$, fanOut);
  const names = JSON.stringify(namespaces);
  return originating<ChangeSet<KubernetesObject>>((subscriber, tell) =>
    fanOut.join(names, subscriber, tell),
  );
}
