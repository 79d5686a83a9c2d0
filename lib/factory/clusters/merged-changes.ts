/** The change sets of the same informer of several clusters, in one stream, for one subscriber. */
import { type Observable, type Subscriber, Subscription } from 'rxjs';
import type { Change, RowIdentity } from '../../delta/net-change.ts';
import type { InformerStatus } from '../../informer/status/status.ts';
import type { KubernetesObject, Stored } from '../../meta/kubernetes-object.ts';
import { isResting } from '../../query/engine/informers.ts';
import { type Cause, type ChangeSet, createChangeSet } from '../../store/change-set.ts';
import type { Origin } from '../../store/origin.ts';
import { hasFailed } from './merged-status.ts';

/** The informer of one cluster. */
export interface ClusterSource<T extends KubernetesObject> {
  readonly cluster: string;
  readonly informer: {
    readonly changes$: Observable<ChangeSet<T>>;
    readonly status: InformerStatus;
  };
}

/** What the merged informer knows of its clusters at this moment. */
export interface ClustersKnown {
  /** Whether all clusters are known. */
  readonly isSettled: boolean;
  /** Whether there are clusters without a source, because they cannot be shown. */
  readonly hasRefused: boolean;
}

interface Row<T> {
  readonly key: string;
  readonly object: Stored<T>;
  readonly of: RowIdentity | undefined;
}

interface Joined<T extends KubernetesObject> {
  readonly source: ClusterSource<T>;
  /** Closed if the run of the informer has ended. */
  run: Subscription;
  /** The rows that the subscriber has of this cluster, by the ids of the merged stream. */
  readonly rows: Map<string, Row<T>>;
  isSynced: boolean;
}

/** One subscriber of the merged stream. All methods are called in the drain of the clusters. */
export class MergedSubscriber<T extends KubernetesObject> {
  readonly #subscriber: Subscriber<ChangeSet<T>>;
  readonly #run: (task: () => void) => void;
  readonly #joined = new Map<string, Joined<T>>();
  #rev = 0;
  #isSynced = false;
  #isOpening = true;
  readonly #clusters: ClustersKnown;
  readonly #origin: Origin;

  constructor(
    subscriber: Subscriber<ChangeSet<T>>,
    run: (task: () => void) => void,
    sources: readonly ClusterSource<T>[],
    clusters: ClustersKnown,
    origin: Origin,
  ) {
    this.#origin = origin;
    this.#subscriber = subscriber;
    this.#run = run;
    this.#clusters = clusters;
    for (const source of sources) this.join(source);
    this.#isOpening = false;
    this.#settle();
    const rows = [...this.#joined.values()].flatMap((joined) => [...joined.rows]);
    const changes = rows.map(([id, row]): Change<T> => ({ id, ...row }));
    this.#emit('snapshot', changes, true);
  }

  join(source: ClusterSource<T>): void {
    const run = Subscription.EMPTY;
    const joined: Joined<T> = { source, run, rows: new Map(), isSynced: false };
    this.#joined.set(source.cluster, joined);
    this.#read(joined);
  }

  /** Reads one run of the informer. */
  #read(joined: Joined<T>): void {
    const { source } = joined;
    let isSubscribing = true;
    const next = (set: ChangeSet<T>) => {
      if (isSubscribing) return this.#apply(joined, set);
      this.#run(() => {
        const isJoined = this.#joined.get(source.cluster) === joined;
        if (isJoined && !this.#subscriber.closed) this.#apply(joined, set);
      });
    };
    joined.run = source.informer.changes$.subscribe({ next });
    isSubscribing = false;
  }

  /** The rows of a cluster that is gone leave. */
  leave(cluster: string): void {
    const joined = this.#joined.get(cluster);
    if (joined === undefined) return;
    joined.run.unsubscribe();
    this.#joined.delete(cluster);
    const changes = [...joined.rows].map(
      ([id, { key, object }]): Change<T> => ({
        id,
        key,
        previous: object,
        last: object,
        left: true,
      }),
    );
    // The objects were not deleted.
    if (changes.length > 0) this.#emit('rebalance', changes);
  }

  /** The informer of a cluster may have failed or run again, and clusters may have come or left. */
  check(): void {
    for (const joined of [...this.#joined.values()]) {
      // A stop completes the stream. Its next run is not begun here.
      if (joined.run.closed && !isResting(joined.source.informer.status)) this.#read(joined);
    }
    if (this.#settle()) this.#emit('initial', []);
  }

  close(): void {
    for (const { run } of this.#joined.values()) run.unsubscribe();
    this.#joined.clear();
  }

  complete(): void {
    this.close();
    this.#subscriber.complete();
  }

  /** Returns whether the stream is synced for the first time. */
  #settle(): boolean {
    const { isSettled, hasRefused } = this.#clusters;
    if (this.#isSynced || !isSettled) return false;
    const all = [...this.#joined.values()];
    if (!all.every(({ isSynced, source }) => isSynced || hasFailed(source.informer.status)))
      return false;
    // If all have failed, the rows of none are known.
    const isEmpty = all.length === 0 && !hasRefused;
    this.#isSynced = isEmpty || all.some(({ isSynced }) => isSynced);
    return this.#isSynced;
  }

  #apply(joined: Joined<T>, set: ChangeSet<T>): void {
    const { rows } = joined;
    const changes = set.reset ? this.#difference(joined, set) : this.#named(joined, set);
    for (const { id, key, object, of } of changes) {
      if (object === undefined) rows.delete(id);
      else rows.set(id, { key, object, of });
    }
    joined.isSynced = set.synced;
    if (this.#isOpening) return;
    const isNowSynced = this.#settle();
    if (changes.length === 0 && !isNowSynced) return;
    this.#emit(set.cause === 'snapshot' ? 'initial' : set.cause, changes, false, set.initial);
  }

  /** The changes with the name of the cluster, before ids and keys and in the identity of each row. */
  #named({ rows, source }: Joined<T>, { changes }: ChangeSet<T>): readonly Change<T>[] {
    const { cluster } = source;
    return changes.map((change) => {
      const id = `${cluster}/${change.id}`;
      const { uid, namespace, name } = change.object?.metadata ?? {};
      const of = rows.get(id)?.of ?? { uid, namespace, name, cluster };
      return { ...change, id, key: `${cluster}/${change.key}`, of };
    });
  }

  /** The difference that a reset set makes to the rows of one cluster. */
  #difference(joined: Joined<T>, set: ChangeSet<T>): readonly Change<T>[] {
    const { rows } = joined;
    const present = this.#named(joined, set);
    if (rows.size === 0) return present;
    const ids = new Set(present.map(({ id }) => id));
    const gone = [...rows].filter(([id]) => !ids.has(id));
    const changed = present.filter(({ id, object }) => rows.get(id)?.object !== object);
    return [
      ...gone.map(([id, { key, object }]): Change<T> => {
        return { id, key, previous: object, last: object, finalStateUnknown: true };
      }),
      ...changed.map((change): Change<T> => {
        const previous = rows.get(change.id)?.object;
        return previous === undefined ? change : { ...change, previous };
      }),
    ];
  }

  #emit(cause: Cause, changes: readonly Change<T>[], reset = false, initial = false): void {
    const head = {
      rev: this.#rev++,
      cause,
      reset,
      synced: this.#isSynced,
      initial: initial || (reset && !this.#isSynced),
      // Versions of different clusters cannot be compared.
      resourceVersion: '',
      origin: this.#origin,
    } as const;
    this.#subscriber.next(createChangeSet<T>(head, changes) as ChangeSet<T>);
  }
}
