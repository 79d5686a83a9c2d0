/** The merged informers of many clusters, and the run in which the clusters are followed. */
import { Observable, type SchedulerLike } from 'rxjs';
import type { SyncWaitOptions } from '../../informer/waits.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../../meta/resource.ts';
import { Drain } from '../../rx/drain.ts';
import { afterLinger, Holders } from '../../rx/sharing/holders.ts';
import { type Lease, lease } from '../../rx/sharing/lease.ts';
import { timingOf } from '../../rx/timing.ts';
import { byNamespace, type Indexers, NAMESPACE_INDEX } from '../../store/index-funcs.ts';
import type { KubeClient } from '../../transport/kube-client.ts';
import type { InformerFactory } from '../informer-factory.ts';
import { checkOptions, type InformerFactoryOptions } from '../options.ts';
import { type InformerScope, identityOf, type ReadScope, readScope, scopeName } from '../scope.ts';
import type { Entry, Hold, InformerPool } from '../shared-informers.ts';
import type { MergedHost } from './clusters-informer.ts';
import { type ClientsByName, Members } from './members.ts';
import { MergedInformer } from './merged-informer.ts';
import {
  type ClusterStatus,
  type ClustersStatus,
  clusterStatus,
  clustersStatus,
  refusedCluster,
} from './merged-status.ts';

type Anything = KubernetesObject;

interface MergedEntry {
  readonly identity: string;
  readonly name: string;
  readonly scope: ReadScope;
  readonly merged: MergedInformer<Anything>;
  readonly holders: Holders;
}

/** Queries read of a merged informer only what it has. */
function asHeld(merged: MergedInformer<Anything>): Entry['informer'] {
  return merged as unknown as Entry['informer'];
}

export class ClusterInformers implements InformerPool, MergedHost {
  readonly scheduler: SchedulerLike;
  readonly isOverClusters = true;
  readonly members: Members;
  readonly #options: InformerFactoryOptions;
  readonly #drain = new Drain();
  readonly #entries = new Map<string, MergedEntry>();
  readonly #lease: Lease;
  readonly #onStatus: () => void;
  #release: (() => void) | undefined;
  #stopping: Promise<void> = Promise.resolve();
  #isChanged = false;
  generation = 0;
  phase: 'idle' | 'stopped' | undefined = 'idle';

  constructor(
    clients$: Observable<ClientsByName>,
    create: (client: KubeClient, name: string) => InformerFactory,
    options: InformerFactoryOptions,
    onStatus: () => void,
  ) {
    checkOptions(options);
    this.#options = options;
    this.#onStatus = onStatus;
    this.scheduler = timingOf(options).scheduler;
    this.members = new Members(clients$, this.#drain, create);
    const run = new Observable<never>(() => this.members.follow());
    this.#lease = lease(run, {
      lingerMs: this.lingerMs,
      scheduler: this.scheduler,
      drain: this.#drain,
      onStart: () => {
        this.generation++;
        this.#begin();
      },
      onEnd: (why) => this.#end(why === 'linger' ? 'idle' : 'stopped'),
    });
  }

  get lingerMs(): number {
    return this.#options.lingerMs ?? 30_000;
  }

  get status(): ClustersStatus {
    const byCluster = new Map<string, Record<string, ClusterStatus['informers'][string]>>();
    for (const name of this.members.current.keys()) byCluster.set(name, {});
    for (const { name, merged } of this.#entries.values()) {
      for (const [cluster, status] of merged.statuses()) {
        const informers = byCluster.get(cluster);
        if (informers !== undefined) informers[name] = status;
      }
    }
    // Not by assignment, which would set the prototype for a cluster named `__proto__`.
    const clusters: Record<string, ClusterStatus> = Object.fromEntries([
      ...[...byCluster].map(([name, own]) => [name, clusterStatus(name, own)] as const),
      ...[...this.members.problems].map(
        ([name, error]) => [name, refusedCluster(name, error)] as const,
      ),
    ]);
    return clustersStatus(clusters, this.members);
  }

  get hasFallback(): boolean {
    return this.#options.namespaceFallback !== undefined;
  }

  entriesOf(resource: Resource<Anything>): readonly Entry[] {
    const { group, version, plural } = resource;
    const start = JSON.stringify([group, version, plural]).slice(0, -1);
    const own = [...this.#entries.values()].filter(({ identity }) => identity.startsWith(start));
    return own.map((entry) => ({ ...entry, informer: asHeld(entry.merged) }));
  }

  scopeOf(resource: Resource<Anything>, scope: InformerScope): ReadScope {
    return readScope(resource, scope, this.#options);
  }

  nameOf(resource: Resource<Anything>, scope: ReadScope): string {
    const identity = identityOf(resource, scope);
    const known = this.#entries.get(identity);
    if (known !== undefined) return known.name;
    const of = (own: string) => [own, scopeName(scope)].filter((part) => part !== '').join('/');
    const name = of(resourceName(resource));
    // With the version, if the resource is read in another version, too.
    const isTaken = [...this.#entries.values()].some((entry) => entry.name === name);
    return isTaken ? of(`${resourceName(resource)}@${resource.version}`) : name;
  }

  indicesOf(resource: Resource<Anything>, as: ReadScope['as']): readonly string[] {
    return Object.keys(this.indexersOf(resource, as));
  }

  indexersOf(resource: Resource<Anything>, as: ReadScope['as']): Indexers<Anything> {
    const { group, version, plural } = resource;
    const own = this.#options.resources?.findLast(
      ({ resource: each }) =>
        each.group === group && each.version === version && each.plural === plural,
    );
    // Those of one resource read complete objects.
    const more = as === 'object' ? own?.settings.indexers : {};
    const given = { ...this.#options.indexers, ...more };
    return { [NAMESPACE_INDEX]: byNamespace, ...given };
  }

  keep(resource: Resource<Anything>, scope: InformerScope = {}): MergedInformer<Anything> {
    // Never released, so it is not removed with the last handle.
    return this.#held(resource, scope).entry.merged;
  }

  acquire(resource: Resource<Anything>, scope: InformerScope = {}): Hold {
    const { entry, release } = this.#held(resource, scope);
    return { informer: asHeld(entry.merged), scope: entry.scope, release };
  }

  start(): void {
    this.#drain.run(() => {
      this.members.start();
      this.#release ??= this.#lease.acquire();
    });
  }

  stop(): Promise<void> {
    // A call within a callback takes effect after that callback.
    return new Promise((resolve, reject) => {
      this.#drain.run(() => {
        if (this.#lease.active) this.#lease.end();
        else this.#end('stopped');
        for (const entry of [...this.#entries.values()]) {
          if (entry.holders.count === 0) this.#forget(entry);
        }
        this.#stopping.then(resolve, reject);
      });
    });
  }

  async whenSynced(options?: SyncWaitOptions): Promise<void> {
    const waits = [...this.#entries.values()].map(({ merged }) => merged.whenSynced(options));
    await Promise.all(waits);
  }

  enter(task: () => void): void {
    this.#drain.enter(task);
  }

  run(task: () => void): void {
    this.#drain.run(task);
  }

  hold(): () => void {
    const release = this.#lease.acquire();
    return () => this.#drain.run(release);
  }

  changed(): void {
    if (this.#isChanged) return;
    this.#isChanged = true;
    this.#drain.run(() => {
      this.#isChanged = false;
      this.#onStatus();
    });
  }

  #begin(): void {
    this.phase = undefined;
    for (const { merged } of [...this.#entries.values()]) merged.began();
    this.changed();
  }

  #end(phase: 'idle' | 'stopped'): void {
    this.#release = undefined;
    this.phase = phase;
    const ends = [...this.#entries.values()].map(({ merged }) => merged.ended());
    this.#stopping = this.members.stop();
    for (const tell of ends) tell();
    this.changed();
  }

  #held(
    resource: Resource<Anything>,
    asked: InformerScope,
  ): { readonly entry: MergedEntry; release(): void } {
    const scope = this.scopeOf(resource, asked);
    if (scope.as === 'table') {
      throw new TypeError(
        "createClusters: as is 'table', but informers of several clusters have objects or metadata only; use the factory of one cluster, as in clusters.get('east')?.factory",
      );
    }
    const identity = identityOf(resource, scope);
    let entry = this.#entries.get(identity);
    let release = (): void => undefined;
    // In the drain: a callback that hears of the new informer may stop the clusters, of which it must be one by then.
    this.#drain.enter(() => {
      entry ??= this.#create(identity, resource, { asked, scope });
      release = entry.holders.hold();
    });
    return { entry: entry as MergedEntry, release };
  }

  #create(
    identity: string,
    resource: Resource<Anything>,
    { asked, scope }: { readonly asked: InformerScope; readonly scope: ReadScope },
  ): MergedEntry {
    const name = this.nameOf(resource, scope);
    const merged = new MergedInformer<Anything>(this, name, resource, asked);
    const holders = new Holders(
      () => this.#forget(entry),
      (end) => {
        const lingerMs = this.phase === undefined ? this.lingerMs : 0;
        // It may be requested again while the task waits in the drain.
        return afterLinger(() => this.#drain.run(end), lingerMs, this.scheduler);
      },
    );
    const entry: MergedEntry = { identity, name, scope, merged, holders };
    this.#entries.set(identity, entry);
    return entry;
  }

  #forget({ identity, holders, merged }: MergedEntry): void {
    holders.cancel();
    this.#entries.delete(identity);
    merged.close();
    this.changed();
  }
}
