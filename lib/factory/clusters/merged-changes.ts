/** The change sets of the same informer of several clusters in one stream, with its rows once for all subscribers. */
import { type Observable, type Subscriber, Subscription } from 'rxjs';
import type { Change } from '../../delta/net-change.ts';
import type { InformerStatus } from '../../informer/status/status.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { named } from '../../meta/source-name.ts';
import { isResting } from '../../query/engine/informers.ts';
import { ender, Hub } from '../../rx/sharing/hub.ts';
import { type Cause, type ChangeSet, createChangeSet } from '../../store/change-set.ts';
import { additions, applied, difference, type Rows } from '../../store/held-rows.ts';
import type { Origin } from '../../store/origin.ts';

/** The informer of one cluster. */
export interface ClusterSource<T extends KubernetesObject> {
  readonly cluster: string;
  readonly informer: {
    readonly changes$: Observable<ChangeSet<T>>;
    readonly status: InformerStatus;
  };
}

/** The part of a merged informer that its stream uses. */
export interface MergedStreamHost<T extends KubernetesObject> {
  /** Where the rows come from. */
  readonly origin: Origin;
  readonly sources: Iterable<ClusterSource<T>>;
  /** Runs a task in the drain of the clusters. */
  run(task: () => void): void;
  /** Whether the rows are complete, if these clusters have a complete list. */
  isComplete(isSynced: (source: ClusterSource<T>) => boolean): boolean;
}

interface Joined<T extends KubernetesObject> {
  readonly source: ClusterSource<T>;
  /** Closed if the run of the informer has ended. */
  run: Subscription;
  /** By the ids of the merged stream. */
  readonly rows: Rows<T>;
  isSynced: boolean;
}

interface Receiver<T> {
  readonly subscriber: Subscriber<ChangeSet<T>>;
  /** Whether it has had all rows once; `undefined` before its first set. */
  isSynced: boolean | undefined;
  complete(): void;
}

/** One run of the merged stream. All methods are called in the drain of the clusters. */
export class MergedChanges<T extends KubernetesObject> {
  readonly #host: MergedStreamHost<T>;
  readonly #receivers = new Hub<Receiver<T>>();
  /** The clusters that are followed: all while there is a subscriber. */
  readonly #joined = new Map<string, Joined<T>>();
  #rev = 0;

  constructor(host: MergedStreamHost<T>) {
    this.#host = host;
  }

  /** `origin` is that of the first set. */
  subscribe(subscriber: Subscriber<ChangeSet<T>>, origin: Origin): void {
    const complete = () => subscriber.complete();
    const receiver: Receiver<T> = { subscriber, isSynced: undefined, complete };
    const leave = this.#receivers.add(receiver);
    subscriber.add(() => {
      if (leave() && this.#receivers.size === 0) this.#leaveAll();
    });
    for (const source of this.#host.sources) this.join(source);
    const synced = this.#isComplete;
    receiver.isSynced = synced;
    const rows = [...this.#joined.values()].flatMap((joined) => additions(joined.rows));
    const head = { cause: 'snapshot', reset: true, synced, initial: !synced } as const;
    subscriber.next(this.#set(head, rows, origin));
  }

  /** Follows a cluster. A subscriber that arrives in a callback may have it already. */
  join(source: ClusterSource<T>): void {
    if (this.#receivers.size === 0 || this.#joined.has(source.cluster)) return;
    const run = Subscription.EMPTY;
    const joined: Joined<T> = { source, run, rows: new Map(), isSynced: false };
    this.#joined.set(source.cluster, joined);
    this.#read(joined);
  }

  /** The rows of a cluster that is gone leave. */
  leave(cluster: string): void {
    const joined = this.#joined.get(cluster);
    if (joined === undefined) return;
    joined.run.unsubscribe();
    this.#joined.delete(cluster);
    // The objects were not deleted.
    const changes = difference(joined.rows, [], { left: true });
    if (changes.length > 0) this.#emit('rebalance', changes, false);
  }

  /** The informer of a cluster may have failed or run again, and clusters may have come or left. */
  check(): void {
    for (const joined of [...this.#joined.values()]) {
      // A stop completes the stream. Its next run is not begun here.
      if (!joined.run.closed || isResting(joined.source.informer.status)) continue;
      if (this.#isJoined(joined)) this.#read(joined);
    }
    this.#emit('initial', [], this.#isComplete);
  }

  /** Follows no cluster any more. Returns the function that completes the present subscribers. */
  end(): () => void {
    this.#leaveAll();
    return ender(this.#receivers);
  }

  get #isComplete(): boolean {
    return this.#host.isComplete(({ cluster }) => this.#joined.get(cluster)?.isSynced === true);
  }

  /** Nothing is told of one that has left, nor after the last subscriber. */
  #isJoined(joined: Joined<T>): boolean {
    return this.#joined.get(joined.source.cluster) === joined;
  }

  #leaveAll(): void {
    for (const { run } of this.#joined.values()) run.unsubscribe();
    this.#joined.clear();
  }

  /** Reads one run of the informer. */
  #read(joined: Joined<T>): void {
    const { informer } = joined.source;
    const run = new Subscription();
    joined.run = run;
    let isSubscribing = true;
    const apply = (set: ChangeSet<T>) => {
      if (this.#isJoined(joined)) this.#apply(joined, set);
    };
    const next = (set: ChangeSet<T>) =>
      isSubscribing ? apply(set) : this.#host.run(() => apply(set));
    run.add(informer.changes$.subscribe({ next, complete: () => run.unsubscribe() }));
    isSubscribing = false;
  }

  #apply(joined: Joined<T>, set: ChangeSet<T>): void {
    const { rows, source } = joined;
    const { cluster } = source;
    // The name of the cluster stands before ids and keys, and in the identity of each row.
    const changed = set.changes.map((change) => {
      const id = named(cluster, change.id);
      const { uid, namespace, name } = change.object?.metadata ?? {};
      const of = rows.get(id)?.of ?? { uid, namespace, name, cluster };
      return { ...change, id, key: named(cluster, change.key), of };
    });
    const changes = set.reset ? difference(rows, changed, { finalStateUnknown: true }) : changed;
    applied(rows, changes);
    joined.isSynced = set.synced;
    const cause = set.cause === 'snapshot' ? 'initial' : set.cause;
    this.#emit(cause, changes, this.#isComplete, set.initial);
  }

  /** Tells the subscribers that have their first set. Each stays synced once all rows were complete. */
  #emit(cause: Cause, changes: readonly Change<T>[], isComplete: boolean, initial = false): void {
    const rev = this.#rev + 1;
    const sets: Record<string, ChangeSet<T>> = {};
    const setOf = (isSynced: boolean) => {
      this.#rev = rev;
      return this.#set({ cause, synced: isSynced, initial, reset: false }, changes);
    };
    this.#receivers.tell((receiver) => {
      const { isSynced: before, subscriber } = receiver;
      if (before === undefined) return;
      const isSynced = before || isComplete;
      receiver.isSynced = isSynced;
      if (changes.length === 0 && isSynced === before) return;
      const set = sets[`${isSynced}`] ?? setOf(isSynced);
      sets[`${isSynced}`] = set;
      subscriber.next(set);
    });
  }

  #set(
    head: Pick<ChangeSet<T>, 'cause' | 'reset' | 'synced' | 'initial'>,
    changes: readonly Change<T>[],
    origin = this.#host.origin,
  ): ChangeSet<T> {
    // Versions of different clusters cannot be compared.
    const all = { ...head, rev: this.#rev, resourceVersion: '', origin } as const;
    return createChangeSet<T>(all, changes) as ChangeSet<T>;
  }
}
