/** One informer over several clusters: the same informer of each cluster's factory, merged. */
import { Observable, type SchedulerLike, type Subscriber, Subscription } from 'rxjs';
import { mergePipeStatus } from '../../informer/status/merge-status.ts';
import type { InformerStatus } from '../../informer/status/status.ts';
import type { SyncWaitOptions } from '../../informer/waits.ts';
import type { KubernetesObject, Stored } from '../../meta/kubernetes-object.ts';
import type { Resource } from '../../meta/resource.ts';
import { ender, Hub } from '../../rx/sharing/hub.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import type { ChangeStream } from '../../store/change-stream.ts';
import type { Indexers } from '../../store/index-funcs.ts';
import { type Origin, originating, originFrom } from '../../store/origin.ts';
import { informersOfFactory } from '../factory-informers.ts';
import type { InformerHandle } from '../informer-factory.ts';
import type { InformerScope } from '../scope.ts';
import type { ClustersInformer, MergedHost } from './clusters-informer.ts';
import type { Member, MembersListener } from './members.ts';
import { type ClusterSource, MergedChanges, type MergedStreamHost } from './merged-changes.ts';
import {
  hasFailed,
  mergedStatus,
  statusOfNone,
  statusOfRefused,
  withErrors,
} from './merged-status.ts';
import { untilSynced } from './sync-wait.ts';

interface Part<T extends KubernetesObject> extends ClusterSource<T> {
  readonly handle: InformerHandle<T>;
  readonly run: Subscription;
}

export class MergedInformer<T extends KubernetesObject>
  implements ClustersInformer<T>, MembersListener, MergedStreamHost<T>
{
  readonly name: string;
  readonly #host: MergedHost;
  readonly #resource: Resource<T>;
  readonly #scope: InformerScope;
  readonly #parts = new Map<string, Part<T>>();
  /** The clusters whose informer could not be created, with the reason. */
  readonly #refused = new Map<string, InformerStatus>();
  /** Of the present run of the clusters. */
  #stream = new MergedChanges<T>(this);
  readonly #observers = new Hub<Subscriber<InformerStatus>>();
  readonly #unlisten: () => void;
  #hasSynced = false;
  #isTelling = false;
  /** Whether it is no longer one of the clusters. */
  isRemoved = false;
  #status: InformerStatus;

  constructor(host: MergedHost, name: string, resource: Resource<T>, scope: InformerScope) {
    this.#host = host;
    this.name = name;
    this.#resource = resource;
    this.#scope = scope;
    this.#status = this.#compute();
    this.#unlisten = host.members.listen(this);
    for (const member of host.members.current.values()) this.#add(member);
    this.#update();
  }

  readonly status$: Observable<InformerStatus> = new Observable((subscriber) => {
    this.#host.enter(() => {
      if (this.isRemoved) return subscriber.complete();
      subscriber.add(this.#observers.add(subscriber));
      subscriber.next(this.#status);
    });
  });

  readonly origin: Origin = originFrom({
    emitter: this,
    informers: new Set([this.status$]),
    merge: mergePipeStatus,
    isOverClusters: true,
  });

  readonly changes$: ChangeStream<T> = originating<ChangeSet<T>>((subscriber, tell) => {
    const origin = tell(this.origin);
    this.#host.enter(() => {
      if (this.isRemoved) return subscriber.complete();
      subscriber.add(this.#host.hold());
      this.#stream.subscribe(subscriber, origin);
    });
  }) as ChangeStream<T>;

  readonly indexer = {
    getByKey: (key: string): Stored<T> | undefined => {
      const prefix = this.prefixOf(key);
      const informer = this.#parts.get(prefix.slice(0, -1))?.handle.informer;
      return informer?.indexer.getByKey(key.slice(prefix.length));
    },
    list: (): readonly Stored<T>[] =>
      [...this.#parts.values()].flatMap(({ handle }) => handle.informer.indexer.list()),
    /** The functions of the indices, which are the same in all clusters. */
    getIndexers: (): Indexers<KubernetesObject> =>
      this.#host.indexersOf(this.#resource, this.#scope.as ?? 'object'),
  };

  get status(): InformerStatus {
    return this.#status;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get isStopped(): boolean {
    return this.isRemoved || this.#host.phase === 'stopped';
  }

  get scheduler(): SchedulerLike {
    return this.#host.scheduler;
  }

  whenSynced(options: SyncWaitOptions = {}): Promise<void> {
    return untilSynced(this, options);
  }

  prefixOf(key: string): string {
    return key.slice(0, key.indexOf('/') + 1);
  }

  isCompleteAt(key: string): boolean | undefined {
    const cluster = this.prefixOf(key).slice(0, -1);
    if (!this.#host.members.current.has(cluster)) return undefined;
    return this.#parts.get(cluster)?.handle.informer.hasSynced === true;
  }

  /** The status of the informer of each cluster. */
  *statuses(): Generator<readonly [cluster: string, status: InformerStatus]> {
    for (const [cluster, { handle }] of this.#parts) yield [cluster, handle.informer.status];
    yield* this.#refused;
  }

  joined(member: Member): void {
    this.#add(member);
    const part = this.#parts.get(member.name);
    if (part !== undefined) this.#stream.join(part);
  }

  left(name: string): void {
    this.#refused.delete(name);
    const part = this.#parts.get(name);
    if (part === undefined) return;
    // Before the callbacks, in which another subscriber may arrive.
    this.#parts.delete(name);
    this.#stream.leave(name);
    this.#release(part);
  }

  changed(): void {
    this.#stream.check();
    this.#update();
  }

  /** The clusters begin to be followed. */
  began(): void {
    this.#update();
  }

  /**
   * The run of the clusters has ended. Returns the function that tells it: in its callbacks, the next run may begin, so
   * it is called when nothing of this run is left.
   */
  ended(): () => void {
    this.#refused.clear();
    const complete = this.#end();
    const status = this.#status;
    if (!this.isStopped) return () => this.#tell();
    return () => {
      this.#observers.tell((observer) => observer.next(status));
      complete();
      // The next run may have begun before this end is told.
      if (this.#status !== status) this.#tell();
    };
  }

  /** Ends the informer: it is no longer one of the clusters. */
  close(): void {
    this.#unlisten();
    this.isRemoved = true;
    this.#end()();
    this.#observers.tell((observer) => observer.next(this.#status));
    ender(this.#observers)();
  }

  /** Follows no cluster any more. Returns the function that completes the present subscribers. */
  #end(): () => void {
    const complete = this.#stream.end();
    this.#stream = new MergedChanges<T>(this);
    for (const part of this.#parts.values()) this.#release(part);
    this.#parts.clear();
    this.#hasSynced = false;
    this.#status = this.#compute();
    return complete;
  }

  #add(member: Member): void {
    const { name, factory } = member;
    try {
      const handle = factory.acquire(this.#resource, this.#scope as object);
      const { informer } = handle;
      const part: Part<T> = {
        cluster: name,
        informer,
        handle,
        run: new Subscription(),
      };
      this.#parts.set(name, part);
      let isSubscribing = true;
      const next = () => {
        if (!isSubscribing) this.#host.run(() => this.changed());
      };
      const complete = () => this.#host.run(() => this.#followAgain(member, part));
      part.run.add(informer.status$.subscribe({ next, complete }));
      isSubscribing = false;
    } catch (error) {
      // Other clusters have the resource, and the status of this one says why it has not.
      this.#refused.set(name, statusOfRefused(error, this.#host.scheduler.now()));
    }
  }

  /** The factory of a cluster has removed the informer. Nothing creates it here: it is followed when the factory has it again. */
  #followAgain(member: Member, part: Part<T>): void {
    const { name, factory } = member;
    const isMember = () => this.#parts.get(name) === part;
    if (!isMember()) return;
    const pool = informersOfFactory('createClusters', factory);
    const again = () => {
      const isOurs = ({ informer }: { readonly informer: { readonly name: string } }) =>
        informer.name === part.handle.informer.name;
      if (!isMember() || !pool.entriesOf(this.#resource as Resource<KubernetesObject>).some(isOurs))
        return;
      this.left(name);
      this.joined(member);
      this.#update();
    };
    part.run.add(pool.created$?.subscribe(() => this.#host.run(again)));
  }

  #release(part: Part<T>): void {
    part.run.unsubscribe();
    part.handle.release();
  }

  get sources(): readonly ClusterSource<T>[] {
    return [...this.#parts.values()];
  }

  run(task: () => void): void {
    this.#host.run(task);
  }

  isComplete(isSynced: (source: ClusterSource<T>) => boolean): boolean {
    if (!this.#host.members.isSettled) return false;
    const { sources } = this;
    const isAnswered = (each: ClusterSource<T>) =>
      isSynced(each) || hasFailed(each.informer.status);
    const isEmpty = sources.length + this.#unshown === 0;
    // If all have failed, the rows of none are known.
    return sources.every(isAnswered) && (isEmpty || sources.some(isSynced));
  }

  /** How many clusters cannot be shown. */
  get #unshown(): number {
    return this.#refused.size + this.#host.members.problems.size;
  }

  get isRefused(): boolean {
    const { members } = this.#host;
    if (this.#hasSynced) return false;
    // Without a first value, which an error has ended, no cluster will come.
    if (!members.isSettled) return !members.isKnown && members.error !== undefined;
    const statuses = [...this.#parts.values()].map(({ handle }) => handle.informer.status);
    const areBlocked = statuses.every(({ blocked }) => blocked !== undefined);
    return areBlocked && statuses.length + this.#unshown > 0;
  }

  #update(): void {
    this.#status = this.#compute();
    this.#tell();
    this.#host.changed();
  }

  /** Emits the status. A status of a callback follows when all observers have the one before. */
  #tell(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    let told: InformerStatus | undefined;
    while (told !== this.#status) {
      const status = this.#status;
      this.#observers.tell((observer) => observer.next(status));
      told = status;
    }
    this.#isTelling = false;
  }

  #compute(): InformerStatus {
    const { generation, members } = this.#host;
    const phase = this.isRemoved ? 'stopped' : this.#host.phase;
    const statuses = [...this.#parts.values()].map(({ handle }) => handle.informer.status);
    const refused = [...this.#refused.values()].map(({ error }) => error as Error);
    const unknown = members.isKnown || members.error === undefined ? [] : [members.error];
    const errors = [...refused, ...members.problems.values(), ...unknown];
    if (phase === undefined && !this.#hasSynced) {
      this.#hasSynced = this.isComplete(({ informer }) => informer.status.synced);
    }
    const synced = this.#hasSynced;
    const own = { nowMs: this.#host.scheduler.now(), synced, generation };
    if (phase !== undefined) return statusOfNone(phase, own);
    if (statuses.length > 0) return { ...mergedStatus(statuses, synced, errors), generation };
    return withErrors(statusOfNone(synced ? 'watching' : 'connecting', own), errors);
  }
}
