/**
 * Delivers the commits of an informer by namespace: one subscription to the informer for all users. A commit is looked at once for each
 * of its changes, and reaches only the queries of the namespaces that it touches. No row is held, because no object changes its namespace.
 */
import { type Observable, type Subscriber, Subscription } from 'rxjs';
import type { Change } from '../../delta/net-change.ts';
import { type KubernetesObject, type Stored, uidOf } from '../../meta/kubernetes-object.ts';
import type { IndexedInformer } from '../../query/operators/index-fan-out.ts';
import { Drain } from '../../rx/drain.ts';
import { ender, Hub } from '../../rx/sharing/hub.ts';
import { type ChangeSet, createChangeSet } from '../../store/change-set.ts';
import { NAMESPACE_INDEX } from '../../store/index-funcs.ts';
import { type Origin, originating, originFrom, readOrigins } from '../../store/origin.ts';

type Objects = ChangeSet<KubernetesObject>;

/** The objects of some namespaces, which somebody reads. */
interface Part {
  /** The position of a receiver is the revision of the store that it has. */
  readonly receivers: Hub<Subscriber<Objects>>;
  /** That of the informer, with the part as the emitter. */
  readonly origin: Origin;
}

function namespaceOf({ object, previous, last }: Change<KubernetesObject>): string {
  return (object ?? previous ?? last)?.metadata?.namespace ?? '';
}

class NamespaceFanOut {
  readonly #informer: IndexedInformer<KubernetesObject>;
  /** Where the rows come from, as the informer says when it is subscribed. */
  #origin: Origin = originFrom({ emitter: this });
  readonly #drain = new Drain();
  /** By the names, as JSON. */
  #parts = new Map<string, Part>();
  #byNamespace = new Map<string, Set<Part>>();
  /** Held while somebody reads them. */
  readonly #additions = new WeakMap<object, WeakRef<readonly Change<KubernetesObject>[]>>();
  #run: Subscription | undefined;
  #wasSynced = false;

  constructor(informer: IndexedInformer<KubernetesObject>) {
    this.#informer = informer;
  }

  /** Passes the objects of the namespaces as a `reset` set, and then what changes in them, until it is unsubscribed. */
  join(
    namespaces: readonly string[],
    receiver: Subscriber<Objects>,
    tell: (origin: Origin) => Origin,
  ): void {
    // In the drain, so that a commit caused by the first set is delivered after it.
    this.#drain.enter(() => {
      this.#connect();
      if (this.#run === undefined) {
        tell(this.#origin);
        return receiver.complete();
      }
      const { indexer } = this.#informer;
      const { rev, resourceVersion, synced } = indexer;
      const key = JSON.stringify(namespaces);
      const part = this.#parts.get(key) ?? this.#begin(key, namespaces);
      const origin = tell(part.origin);
      // The store may be ahead of the commits that are still to be delivered, which the receiver then has.
      const leave = part.receivers.add(receiver, rev);
      receiver.add(() => {
        if (leave() && part.receivers.size === 0) this.#end(key, namespaces, part);
      });
      const lists = namespaces.map((each) => indexer.byIndex(NAMESPACE_INDEX, each));
      const added = () => lists.flatMap((list) => this.#added(list));
      const head = { rev, resourceVersion, synced, origin, cause: 'snapshot' } as const;
      receiver.next(
        createChangeSet<KubernetesObject>({ ...head, initial: true, reset: true }, added),
      );
    });
  }

  /** What adds the objects of a namespace. Queries that begin together share it, because the store returns the same list until it changes. */
  #added(list: readonly Stored<KubernetesObject>[]): readonly Change<KubernetesObject>[] {
    const known = this.#additions.get(list)?.deref();
    if (known !== undefined) return known;
    const { indexer } = this.#informer;
    const added = list.map((object) => {
      const key = indexer.keyOf(object);
      return { id: uidOf(object) || key, key, object };
    });
    this.#additions.set(list, new WeakRef(added));
    return added;
  }

  #connect(): void {
    if (this.#run !== undefined) return;
    const run = new Subscription();
    this.#run = run;
    this.#wasSynced = this.#informer.indexer.synced;
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

  #begin(key: string, namespaces: readonly string[]): Part {
    const receivers = new Hub<Subscriber<Objects>>();
    const part: Part = { receivers, origin: { ...this.#origin, emitter: receivers } };
    this.#parts.set(key, part);
    for (const each of namespaces) {
      const parts = this.#byNamespace.get(each) ?? new Set();
      this.#byNamespace.set(each, parts.add(part));
    }
    return part;
  }

  #end(key: string, namespaces: readonly string[], part: Part): void {
    if (this.#parts.get(key) !== part) return;
    this.#parts.delete(key);
    for (const each of namespaces) {
      const parts = this.#byNamespace.get(each);
      parts?.delete(part);
      if (parts?.size === 0) this.#byNamespace.delete(each);
    }
    if (this.#parts.size > 0) return;
    this.#run?.unsubscribe();
    this.#run = undefined;
  }

  #complete(run: Subscription): void {
    if (this.#run !== run) return;
    const ends = Array.from(this.#parts.values(), ({ receivers }) => ender(receivers));
    // Before the subscribers are notified, because one that subscribes again belongs to the next run.
    this.#run = undefined;
    this.#parts = new Map();
    this.#byNamespace = new Map();
    for (const end of ends) end();
  }

  #deliver(set: Objects): void {
    const touched = new Map<Part, Change<KubernetesObject>[]>();
    // A set that is a `reset` for this subscription shows what the readers have from the store already.
    for (const change of set.reset ? [] : set.changes) {
      for (const part of this.#byNamespace.get(namespaceOf(change)) ?? []) {
        const changes = touched.get(part);
        if (changes === undefined) touched.set(part, [change]);
        else changes.push(change);
      }
    }
    const { rev, resourceVersion, cause, synced, initial } = set;
    if (synced !== this.#wasSynced) {
      this.#wasSynced = synced;
      for (const part of this.#parts.values()) touched.set(part, touched.get(part) ?? []);
    }
    const head = { rev, resourceVersion, cause, synced, initial, reset: false };
    for (const [{ receivers, origin }, changes] of touched) {
      const own = createChangeSet<KubernetesObject>({ ...head, origin }, changes);
      receivers.tell((receiver) => receiver.next(own), rev);
    }
  }
}

const fanOuts = /* @__PURE__ */ new WeakMap<object, NamespaceFanOut>();

/** The objects of an informer in these namespaces. Equal lists share what is made of a commit. */
export function namespacedRows(
  informer: IndexedInformer<KubernetesObject>,
  namespaces: readonly string[],
): Observable<Objects> {
  const { changes$ } = informer;
  const fanOut = fanOuts.get(changes$) ?? new NamespaceFanOut(informer);
  fanOuts.set(changes$, fanOut);
  return originating<Objects>((subscriber, tell) => fanOut.join(namespaces, subscriber, tell));
}
