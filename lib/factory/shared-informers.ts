/** The informers of a factory or of a provider: created when first requested, counted, and stopped together. */
import {
  BehaviorSubject,
  type Observable,
  type SchedulerLike,
  Subject,
  type TeardownLogic,
} from 'rxjs';
import { portOf } from '../informer/part.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../meta/resource.ts';
import { afterLinger, Holders } from '../rx/sharing/holders.ts';
import { timingOf } from '../rx/timing.ts';
import { NAMESPACE_INDEX } from '../store/index-funcs.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { type AnyInformer, makeInformer } from './make-informer.ts';
import {
  checkOptions,
  type InformerFactoryOptions,
  type InformerSettings,
  makerOf,
} from './options.ts';
import { type InformerScope, identityOf, type ReadScope, readScope, scopeName } from './scope.ts';

type Anything = KubernetesObject;

/** An informer of a factory. */
export interface Entry {
  readonly identity: string;
  readonly name: string;
  readonly scope: ReadScope;
  readonly informer: AnyInformer;
  readonly holders: Holders;
}

/** An informer with requests of its own. */
export interface OwnEntry extends Entry {
  /** Whether it does not linger. */
  readonly inUse$: BehaviorSubject<boolean>;
}

/** A hold on an informer. */
export interface Hold {
  readonly informer: AnyInformer;
  readonly scope: ReadScope;
  release(): void;
}

/** Ends an informer for good, also the streams of its status and its metrics. */
export function removed(informer: AnyInformer): Promise<void> {
  return portOf(informer, 'informer factory').remove();
}

/** The informers of one factory or provider, of any type. */
export class SharedInformers {
  readonly name: string;
  readonly client: KubeClient;
  protected readonly options: InformerFactoryOptions;
  readonly scheduler: SchedulerLike;
  protected readonly byIdentity: Map<string, OwnEntry> = new Map();
  /** Emits when an informer has been created. */
  readonly created$: Subject<void> = new Subject();
  /** Whether the factory is started, so that an informer starts when it is created. */
  protected started = false;

  constructor(client: KubeClient, options: InformerFactoryOptions) {
    this.client = client;
    this.options = options;
    this.scheduler = timingOf(options).scheduler;
    this.name = options.name ?? '';
    checkOptions(options);
  }

  get lingerMs(): number {
    return this.options.lingerMs ?? 30_000;
  }

  get hasFallback(): boolean {
    return this.options.namespaceFallback !== undefined;
  }

  /** The informers of a resource, of any scope and projection. */
  entriesOf({ group, version, plural }: Resource<Anything>): readonly Entry[] {
    const start = JSON.stringify([group, version, plural]).slice(0, -1);
    return [...this.byIdentity.values()].filter(({ identity }) => identity.startsWith(`${start},`));
  }

  /** The scope that a request means. Throws a `TypeError` if the factory cannot have such an informer. */
  scopeOf(resource: Resource<Anything>, scope: InformerScope): ReadScope {
    const { projections, listWatch } = this.options;
    const { as } = scope;
    const read = readScope(resource, scope, this.options);
    // The metadata may come from elsewhere.
    if (as === 'table' || (as === 'metadata' && listWatch === undefined)) makerOf(projections, as);
    return read;
  }

  /** The name of the informer of a scope, also if it does not exist yet. */
  nameOf(resource: Resource<Anything>, scope: ReadScope): string {
    return this.byIdentity.get(identityOf(resource, scope))?.name ?? this.#nameOf(resource, scope);
  }

  /** The names of the indices. Those of one resource read complete objects. */
  indicesOf(resource: Resource<Anything>, as: ReadScope['as']): readonly string[] {
    const own = as === 'object' ? this.#settings(resource).indexers : {};
    const all = { ...this.options.indexers, ...own };
    return [...new Set([NAMESPACE_INDEX, ...Object.keys(all)])];
  }

  acquire(resource: Resource<Anything>, scope: InformerScope = {}): Hold {
    const entry = this.entry(resource, scope);
    const release = this.use(entry);
    const { informer, scope: read } = entry;
    return { informer, scope: read, release };
  }

  async stop(): Promise<void> {
    const entries = [...this.byIdentity];
    for (const [identity, entry] of entries) {
      entry.holders.cancel();
      // An informer that lingers has no holder, so it is not kept for another start.
      if (entry.holders.count === 0) this.byIdentity.delete(identity);
    }
    const end = (entry: OwnEntry) =>
      this.#isPresent(entry) ? entry.informer.stop() : removed(entry.informer);
    await Promise.all(entries.map(([, entry]) => end(entry)));
  }

  #isPresent(entry: OwnEntry): boolean {
    return this.byIdentity.get(entry.identity) === entry;
  }

  protected entry(resource: Resource<Anything>, asked: InformerScope): OwnEntry {
    const scope = this.scopeOf(resource, asked);
    const identity = identityOf(resource, scope);
    const known = this.byIdentity.get(identity);
    if (known !== undefined) {
      if (this.started && known.informer.isStopped) known.informer.start();
      return known;
    }
    const name = this.#nameOf(resource, scope);
    const inUse$ = new BehaviorSubject(true);
    const informer = makeInformer(resource, scope, {
      ...{ name, inUse$, client: this.client, scheduler: this.scheduler },
      ...{ options: this.options, own: this.#settings(resource) },
    });
    const holders = new Holders(
      () => {
        this.byIdentity.delete(identity);
        void removed(informer);
      },
      (end) => this.#rest(entry, end),
    );
    const entry: OwnEntry = { identity, name, scope, informer, inUse$, holders };
    this.byIdentity.set(identity, entry);
    if (this.started) informer.start();
    this.created$.next();
    return entry;
  }

  /** `<factory>/<resource>/<scope>`, with the version if the factory has the resource in another version, too. */
  #nameOf(resource: Resource<Anything>, scope: ReadScope): string {
    const of = (own: string) =>
      [this.name, own, scopeName(scope)].filter((part) => part !== '').join('/');
    const name = of(resourceName(resource));
    const isTaken = [...this.byIdentity.values()].some((entry) => entry.name === name);
    return isTaken ? of(`${resourceName(resource)}@${resource.version}`) : name;
  }

  /** The last holder has left. */
  #rest(entry: OwnEntry, end: () => void): TeardownLogic {
    // A handle may outlive its informer, and another informer may have taken its place.
    if (!this.#isPresent(entry)) return;
    const { lingerMs } = this;
    // An informer that is not running is removed immediately. It may run for its subscribers, even if the factory was not started.
    const { phase } = entry.informer.status;
    if (phase === 'idle' || phase === 'stopped' || lingerMs <= 0) return end();
    const linger = afterLinger(end, lingerMs, this.scheduler);
    entry.inUse$.next(false);
    return linger;
  }

  /** Holds an informer until the returned function is called. */
  protected use({ holders, inUse$ }: OwnEntry): () => void {
    const release = holders.hold();
    if (!inUse$.value) inUse$.next(true);
    return release;
  }

  #settings(resource: Resource<Anything>): InformerSettings<Anything> {
    const { group, version, plural } = resource;
    const own = this.options.resources?.findLast(
      ({ resource: each }) =>
        each.group === group && each.version === version && each.plural === plural,
    );
    return own?.settings ?? {};
  }
}

/** The part of a factory's informers that queries use. */
export interface InformerPool
  extends Pick<
    SharedInformers,
    'lingerMs' | 'scheduler' | 'entriesOf' | 'scopeOf' | 'nameOf' | 'indicesOf' | 'acquire'
  > {
  /** Absent for the informers of several clusters. */
  readonly client?: KubeClient;
  /** Emits when an informer has been created. @defaultValue informers that are in use are never removed */
  readonly created$?: Observable<void>;
  /** Whether they are those of several clusters, whose names stand before ids and keys. @defaultValue false */
  readonly isOverClusters?: boolean;
  /** Whether an informer of all namespaces may have only some of them. @defaultValue false */
  readonly hasFallback?: boolean;
}
