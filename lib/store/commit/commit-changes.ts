/**
 * Collects the changes of one commit. In a commit of watch events or of a resync each key occurs once (S6), so its
 * change is created immediately. In a list a key may occur several times, so its states are folded.
 */
import { type Change, foldDeletion, foldState, Net, unfold } from '../../delta/net-change.ts';
import { type KubernetesObject, type Stored, uidOf } from '../../meta/kubernetes-object.ts';

function idOf(object: KubernetesObject, key: string): string {
  return uidOf(object) || key;
}

/** The changes of one commit. `had` is always the object that was stored before the write. */
export class CommitChanges<T extends KubernetesObject> {
  readonly #deletions: Change<T>[] = [];
  readonly #others: Change<T>[] = [];
  readonly #nets: Map<string, Net<T>> | undefined;

  constructor(isList: boolean) {
    this.#nets = isList ? new Map() : undefined;
  }

  /** Records that an object was stored. */
  stored(key: string, had: Stored<T> | undefined, object: Stored<T>): void {
    const id = idOf(object, key);
    if (this.#nets !== undefined) return foldState(this.#net(key, had), id, object);
    if (had === undefined) this.#others.push({ id, key, object });
    else if (idOf(had, key) === id) this.#others.push({ id, key, previous: had, object });
    else {
      // The object was replaced by another one, so its deletion was missed.
      const finalStateUnknown = true as const;
      this.#deletions.push({
        id: idOf(had, key),
        key,
        previous: had,
        last: had,
        finalStateUnknown,
      });
      this.#others.push({ id, key, object });
    }
  }

  /** Records that an object was deleted, or has left, in this last state. */
  deleted(
    key: string,
    had: Stored<T>,
    last: Stored<T>,
    finalStateUnknown: boolean,
    left = false,
  ): void {
    const net = this.#net(key, had);
    foldDeletion(net, { id: idOf(last, key), object: last }, finalStateUnknown, left);
    if (this.#nets === undefined) this.#deletions.push(...unfold([net]));
  }

  /** Records that an object is delivered again, although it has not changed. */
  repeated(key: string, had: Stored<T>): void {
    this.#others.push({ id: idOf(had, key), key, previous: had, object: had });
  }

  /** All changes, deletions first. */
  take(): readonly Change<T>[] {
    if (this.#nets !== undefined) return unfold(this.#nets.values());
    return this.#deletions.length === 0 ? this.#others : this.#deletions.concat(this.#others);
  }

  #net(key: string, had: Stored<T> | undefined): Net<T> {
    const known = this.#nets?.get(key);
    if (known !== undefined) return known;
    const net = new Net(key, had && { id: idOf(had, key), object: had });
    this.#nets?.set(key, net);
    return net;
  }
}
