/** One informer over several clusters: the same informer of each cluster's factory, merged. */
import {
  firstValueFrom,
  merge,
  NEVER,
  Observable,
  type SchedulerLike,
  Subject,
  Subscription,
} from 'rxjs';
import { endWith, filter, map } from 'rxjs/operators';
import { carryStatus } from '../../informer/status/carried-status.ts';
import type { InformerStatus } from '../../informer/status/status.ts';
import type { SyncWaitOptions } from '../../informer/waits.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { Resource } from '../../meta/resource.ts';
import type { Stored } from '../../meta/stored.ts';
import { checkedDuration } from '../../rx/checked-option.ts';
import { longTimer } from '../../rx/long-timer.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import type { ChangeStream } from '../../store/change-stream.ts';
import type { Indexers } from '../../store/index-funcs.ts';
import type { InformerHandle } from '../informer-factory.ts';
import { NotSyncedError } from '../readiness.ts';
import type { InformerScope } from '../scope.ts';
import type { Member, MembersListener } from './members.ts';
import { type ClusterSource, MergedSubscriber } from './merged-changes.ts';
import { hasFailed, mergedStatus, statusOfNone } from './merged-status.ts';

/**
 * A live copy of a collection in several clusters. The name of the cluster stands before each id and key:
 * `east/shop/web-0`.
 */
export interface ClustersInformer<T extends KubernetesObject> {
  /** The name of the resource and the scope: `pods/shop`. */
  readonly name: string;
  /**
   * The objects of all clusters. Like `changes$` of an informer, it emits the present objects as one `reset` set on
   * subscription, then each commit of each cluster, and never errors. It is synced when each cluster has a complete
   * list or its first list has failed, but not if all have failed. It stays synced when a cluster comes later.
   */
  readonly changes$: ChangeStream<T>;
  /** The stores of all clusters, read-only. */
  readonly indexer: {
    /** Returns the object under `cluster/namespace/name`, or `cluster/name`. */
    getByKey(key: string): Stored<T> | undefined;
    /** Returns the objects of all clusters. */
    list(): readonly Stored<T>[];
  };
  /** The status, merged: a cluster that has failed shows its error, and does not determine the phase. */
  readonly status: InformerStatus;
  /** Emits the status on subscription, then each transition. Does not start the informer. */
  readonly status$: Observable<InformerStatus>;
  /** Whether `changes$` is synced. */
  readonly hasSynced: boolean;
  /**
   * Resolves when the informer is synced. Rejects with the causes when `timeoutMs` has passed, and when the clusters
   * are stopped.
   */
  whenSynced(options?: SyncWaitOptions): Promise<void>;
  /** Returns the part of a key that names the cluster: `east/` of `east/shop/web-0`. */
  prefixOf(key: string): string;
}

/** The parts of the clusters that a merged informer uses. */
export interface MergedHost {
  readonly members: {
    readonly current: ReadonlyMap<string, Member>;
    readonly isKnown: boolean;
    listen(listener: MembersListener): void;
    unlisten(listener: MembersListener): void;
  };
  readonly generation: number;
  readonly phase: 'idle' | 'stopped' | undefined;
  readonly scheduler: SchedulerLike;
  /** Runs a task in the drain of the clusters, synchronously if it is part of a running task. */
  enter(task: () => void): void;
  run(task: () => void): void;
  /** Follows the clusters until the returned function is called. */
  hold(): () => void;
  indexersOf(resource: Resource<KubernetesObject>): Indexers<KubernetesObject>;
  /** Called when the status of an informer has changed. */
  changed(): void;
}

interface Part<T extends KubernetesObject> extends ClusterSource<T> {
  readonly handle: InformerHandle<T>;
  readonly run: Subscription;
}

export class MergedInformer<T extends KubernetesObject>
  implements ClustersInformer<T>, MembersListener
{
  readonly name: string;
  readonly #host: MergedHost;
  readonly #resource: Resource<T>;
  readonly #scope: InformerScope;
  readonly #parts = new Map<string, Part<T>>();
  /** Why an informer of a cluster could not be created, by cluster. */
  readonly refused: Map<string, Error> = new Map();
  readonly #subscribers = new Set<MergedSubscriber<T>>();
  #statuses = new Subject<InformerStatus>();
  #hasSynced = false;
  #status: InformerStatus;

  constructor(host: MergedHost, name: string, resource: Resource<T>, scope: InformerScope) {
    this.#host = host;
    this.name = name;
    this.#resource = resource;
    this.#scope = scope;
    this.#status = this.#compute();
    host.members.listen(this);
    for (const member of host.members.current.values()) this.#add(member);
    this.#update();
  }

  readonly status$: Observable<InformerStatus> = new Observable((subscriber) => {
    this.#host.enter(() => {
      subscriber.add(this.#statuses.subscribe(subscriber));
      subscriber.next(this.#status);
    });
  });

  readonly changes$: ChangeStream<T> = carryStatus(
    new Observable<ChangeSet<T>>((subscriber) => {
      this.#host.enter(() => {
        subscriber.add(this.#host.hold());
        const own = new MergedSubscriber<T>(
          subscriber,
          (task) => this.#host.run(task),
          this.#parts.values(),
          this.#host.members.isKnown,
        );
        if (subscriber.closed) return own.close();
        this.#subscribers.add(own);
        subscriber.add(() => {
          this.#subscribers.delete(own);
          own.close();
        });
      });
    }),
    this.status$,
  ) as ChangeStream<T>;

  readonly indexer = {
    getByKey: (key: string): Stored<T> | undefined => {
      const prefix = this.prefixOf(key);
      const informer = this.#parts.get(prefix.slice(0, -1))?.handle.informer;
      return informer?.indexer.getByKey(key.slice(prefix.length));
    },
    list: (): readonly Stored<T>[] =>
      [...this.#parts.values()].flatMap(({ handle }) => handle.informer.indexer.list()),
    /** The functions of the indices, which are the same in all clusters. */
    getIndexers: (): Indexers<KubernetesObject> => this.#host.indexersOf(this.#resource),
  };

  get status(): InformerStatus {
    return this.#status;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get isStopped(): boolean {
    return this.#host.phase === 'stopped';
  }

  async whenSynced({ timeoutMs }: SyncWaitOptions = {}): Promise<void> {
    checkedDuration(timeoutMs ?? 0, 'timeoutMs');
    const decided$ = this.status$.pipe(
      filter(({ synced, phase }) => synced || phase === 'stopped'),
      map(({ synced }) => synced),
    );
    const late$ =
      timeoutMs === undefined
        ? NEVER
        : longTimer(timeoutMs, this.#host.scheduler).pipe(map(() => false));
    if (await firstValueFrom(merge(decided$, late$).pipe(endWith(false)))) return;
    const after = this.isStopped ? ': the clusters are stopped' : ` within ${timeoutMs} ms`;
    const statuses = [...this.statuses()].filter(([, { synced }]) => !synced);
    const missing = statuses.map(([cluster, status]) => ({
      name: `${cluster}/${this.name}`,
      status,
    }));
    const own = [{ name: this.name, status: this.status }];
    throw new NotSyncedError(missing.length > 0 ? missing : own, 1, after);
  }

  prefixOf(key: string): string {
    return key.slice(0, key.indexOf('/') + 1);
  }

  /** The status of the informer of each cluster. */
  *statuses(): Generator<readonly [cluster: string, status: InformerStatus]> {
    for (const [cluster, { handle }] of this.#parts) yield [cluster, handle.informer.status];
  }

  joined(member: Member): void {
    this.#add(member);
    const part = this.#parts.get(member.name);
    if (part !== undefined) for (const subscriber of this.#subscribers) subscriber.join(part);
  }

  left(name: string): void {
    this.refused.delete(name);
    const part = this.#parts.get(name);
    if (part === undefined) return;
    for (const subscriber of [...this.#subscribers]) subscriber.leave(name);
    this.#remove(part);
  }

  changed(): void {
    const { isKnown } = this.#host.members;
    for (const subscriber of [...this.#subscribers]) subscriber.check(isKnown);
    this.#update();
  }

  /** The clusters begin to be followed, or their run has ended. */
  turned(): void {
    if (this.#host.phase === undefined) return this.#update();
    for (const part of [...this.#parts.values()]) this.#remove(part);
    this.refused.clear();
    this.#hasSynced = false;
    this.#update();
    if (this.#host.phase !== 'stopped') return;
    const statuses = this.#statuses;
    this.#statuses = new Subject();
    for (const subscriber of [...this.#subscribers]) subscriber.complete();
    this.#subscribers.clear();
    statuses.complete();
  }

  /** Ends the informer: it is no longer one of the clusters. */
  close(): void {
    this.#host.members.unlisten(this);
    for (const subscriber of [...this.#subscribers]) subscriber.complete();
    for (const part of [...this.#parts.values()]) this.#remove(part);
    this.#statuses.complete();
  }

  #add({ name, factory }: Member): void {
    try {
      const handle = factory.acquire(this.#resource, this.#scope as object);
      const { informer } = handle;
      const part: Part<T> = {
        cluster: name,
        changes$: informer.changes$,
        handle,
        run: new Subscription(),
        get hasFailed() {
          return hasFailed(informer.status);
        },
      };
      this.#parts.set(name, part);
      let isSubscribing = true;
      const next = () => {
        if (!isSubscribing) this.#host.run(() => this.changed());
      };
      part.run.add(informer.status$.subscribe({ next }));
      isSubscribing = false;
    } catch (error) {
      // Other clusters have the resource, and the status of this one says why it has not.
      this.refused.set(name, error instanceof Error ? error : new Error(String(error)));
    }
  }

  #remove(part: Part<T>): void {
    part.run.unsubscribe();
    this.#parts.delete(part.cluster);
    part.handle.release();
  }

  #update(): void {
    this.#status = this.#compute();
    this.#statuses.next(this.#status);
    this.#host.changed();
  }

  #compute(): InformerStatus {
    const { phase, generation, members } = this.#host;
    const statuses = [...this.#parts.values()].map(({ handle }) => handle.informer.status);
    if (phase === undefined && members.isKnown && !this.#hasSynced) {
      const isSettled = statuses.every((status) => status.synced || hasFailed(status));
      const isEmpty = statuses.length === 0;
      this.#hasSynced = isSettled && (isEmpty || statuses.some((status) => status.synced));
    }
    const synced = this.#hasSynced;
    const own = { nowMs: this.#host.scheduler.now(), synced, generation };
    if (phase !== undefined) return statusOfNone(phase, own);
    if (statuses.length === 0) return statusOfNone(synced ? 'watching' : 'connecting', own);
    return { ...mergedStatus(statuses, synced), generation };
  }
}
