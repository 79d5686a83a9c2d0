/**
 * Delivers the commits of an informer by parts: one subscription to the informer for the readers of all parts. A commit is looked
 * at once for each of its changes, and reaches only the readers of the parts that it touches.
 */
import { type Subscriber, Subscription } from 'rxjs';
import type { Change } from '../../delta/net-change.ts';
import { additionOf } from '../../informer/listener.ts';
import type { SharedInformer } from '../../informer/shared-informer.ts';
import type { KubernetesObject, Stored } from '../../meta/kubernetes-object.ts';
import { Drain } from '../../rx/drain.ts';
import { ender, Hub } from '../../rx/sharing/hub.ts';
import { type ChangeSet, createChangeSet } from '../../store/change-set.ts';
import { type Origin, originFrom, readOrigins } from '../../store/origin.ts';

/** The parts of an informer that are used. */
export type IndexedInformer<T extends KubernetesObject, Names extends string = string> = Pick<
  SharedInformer<T, Names>,
  'changes$' | 'indexer' | 'status$'
>;

type Receiver<T> = Subscriber<ChangeSet<T>>;

/** Objects of the informer that somebody reads. */
export interface Part<T> {
  /** The position of a receiver is the revision of the store that it has. */
  readonly receivers: Hub<Receiver<T>>;
  /** That of the informer, with the part as the emitter. */
  readonly origin: Origin;
}

/** The changes of one part in one commit. */
interface PartChanges<T> {
  readonly deletions: Change<T>[];
  readonly others: Change<T>[];
}

/** Returns the changes of the part in the present commit, which its readers are told of even if there are none. */
export type ChangesOf<T, P> = (part: P) => PartChanges<T>;

/** Parts, each with the name by which it is read. A subclass says which objects a part has. */
export abstract class FanOut<T extends KubernetesObject, P extends Part<T>> {
  protected readonly informer: IndexedInformer<T>;
  /** Those that somebody reads, by name. */
  protected readonly parts: Map<string, P> = new Map();
  /** Where the rows come from, as the informer says when it is subscribed. */
  #origin: Origin = originFrom({ emitter: this });
  readonly #drain = new Drain();
  #run: Subscription | undefined;
  #wasSynced = false;

  constructor(informer: IndexedInformer<T>) {
    this.informer = informer;
  }

  /** Returns the part of this name, which somebody begins to read. */
  protected abstract open(name: string, part: Part<T>): P;

  /** Called when the last reader of the part has left. */
  protected abstract close(part: P, name: string): void;

  /** The objects of the part in the store, as changes; made when the reader asks for them. */
  protected abstract additions(name: string): () => readonly Change<T>[];

  /** Adds the change to those of the parts that it touches. */
  protected abstract sort(change: Change<T>, changesOf: ChangesOf<T, P>): void;

  /** Passes the objects of the part as a `reset` set, and then what changes in it, until it is unsubscribed. */
  join(name: string, receiver: Receiver<T>, tell: (origin: Origin) => Origin): void {
    // In the drain, so that a commit caused by the first set is delivered after it.
    this.#drain.enter(() => {
      this.#connect();
      if (this.#run === undefined) {
        tell(this.#origin);
        return receiver.complete();
      }
      const { rev, resourceVersion, synced } = this.informer.indexer;
      const part = this.parts.get(name) ?? this.#open(name);
      const origin = tell(part.origin);
      // The store may be ahead of the commits that are still to be delivered, which the receiver then has.
      const leave = part.receivers.add(receiver, rev);
      receiver.add(() => {
        if (leave() && part.receivers.size === 0) this.#close(name, part);
      });
      const head = { rev, resourceVersion, synced, origin, cause: 'snapshot' } as const;
      receiver.next(
        createChangeSet<T>({ ...head, initial: true, reset: true }, this.additions(name)),
      );
    });
  }

  protected addition(object: Stored<T>): Change<T> {
    return additionOf(this.informer.indexer, object);
  }

  #connect(): void {
    if (this.#run !== undefined) return;
    const run = new Subscription();
    this.#run = run;
    this.#wasSynced = this.informer.indexer.synced;
    const found = (origin: Origin) => {
      this.#origin = { ...origin, emitter: this, subscription: undefined };
    };
    readOrigins(found, () =>
      run.add(
        this.informer.changes$.subscribe({
          next: (set) => this.#drain.run(() => this.#deliver(set)),
          complete: () => this.#drain.enter(() => this.#complete(run)),
        }),
      ),
    );
  }

  #open(name: string): P {
    const receivers = new Hub<Receiver<T>>();
    const part = this.open(name, { receivers, origin: { ...this.#origin, emitter: receivers } });
    this.parts.set(name, part);
    return part;
  }

  #close(name: string, part: P): void {
    if (this.parts.get(name) !== part) return;
    this.parts.delete(name);
    this.close(part, name);
    if (this.parts.size > 0) return;
    this.#run?.unsubscribe();
    this.#run = undefined;
  }

  #complete(run: Subscription): void {
    if (this.#run !== run) return;
    // Before the subscribers are notified, because one that subscribes again belongs to the next run.
    this.#run = undefined;
    const ends = Array.from(this.parts, ([name, part]) => {
      this.parts.delete(name);
      this.close(part, name);
      return ender(part.receivers);
    });
    for (const end of ends) end();
  }

  #deliver(set: ChangeSet<T>): void {
    const touched = new Map<P, PartChanges<T>>();
    const changesOf = (part: P) => {
      const changes = touched.get(part) ?? { deletions: [], others: [] };
      touched.set(part, changes);
      return changes;
    };
    // A set that is a `reset` for this subscription shows a state that the parts have from the store already.
    if (!set.reset) for (const change of set.changes) this.sort(change, changesOf);
    const { rev, resourceVersion, cause, synced, initial } = set;
    if (synced !== this.#wasSynced) {
      this.#wasSynced = synced;
      for (const part of this.parts.values()) changesOf(part);
    }
    const head = { rev, resourceVersion, cause, synced, initial, reset: false };
    for (const [{ receivers, origin }, { deletions, others }] of touched) {
      const own = createChangeSet<T>({ ...head, origin }, deletions.concat(others));
      receivers.tell((receiver) => receiver.next(own), rev);
    }
  }
}
