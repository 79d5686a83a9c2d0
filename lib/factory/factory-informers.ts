/**
 * The informers of a factory, which are also kept without a holder, started once, and stopped one by one; and which
 * informers a factory has, for the stages that need more of it than its public interface. client-go: informers/factory.go,
 * which can neither stop nor remove a single informer.
 */
import { checkedName, ifGiven, refusal } from '../checks/checked-option.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { InformerFactoryOptions } from './options.ts';
import { type InformerScope, identityOf, readScope } from './scope.ts';
import {
  type Entry,
  type InformerPool,
  type OwnEntry,
  removed,
  SharedInformers,
} from './shared-informers.ts';

/** The names in use. Two factories of one name could not be distinguished in logs and metrics. */
const namesInUse = /* @__PURE__ */ new Set<string>();

/** The informers of one factory, of any type. */
export class FactoryInformers extends SharedInformers {
  #hasName = false;

  constructor(client: KubeClient, options: InformerFactoryOptions) {
    super(client, options);
    ifGiven(checkedName, options.name, 'informer factory: name', 'a name, or left out');
    this.#takeName();
  }

  get entries(): readonly Entry[] {
    return [...this.byIdentity.values()];
  }

  get names(): readonly string[] {
    return this.entries.map(({ name }) => name);
  }

  keep(resource: Resource<KubernetesObject>, scope: InformerScope = {}): OwnEntry {
    const entry = this.entry(resource, scope);
    // Never released, so it is not removed with the last handle.
    this.use(entry);
    return entry;
  }

  start(): void {
    this.#takeName();
    this.started = true;
    // Includes informers that were stopped separately; a running informer is not affected.
    for (const { informer } of this.entries) informer.start();
  }

  override async stop(): Promise<void> {
    this.started = false;
    if (this.#hasName) namesInUse.delete(this.name);
    this.#hasName = false;
    const stopped = super.stop();
    // A callback of the first that was stopped may have started the factory again.
    if (this.started) this.start();
    await stopped;
  }

  async stopOne(resource: Resource<KubernetesObject>, scope: InformerScope = {}): Promise<void> {
    const identity = identityOf(resource, readScope(resource, scope, this.options));
    const entry = this.byIdentity.get(identity);
    if (entry === undefined) return;
    entry.holders.cancel();
    this.byIdentity.delete(identity);
    await removed(entry.informer);
  }

  #takeName(): void {
    if (this.name === '' || this.#hasName) return;
    if (namesInUse.has(this.name)) {
      throw new TypeError(
        `informer factory: the name ${JSON.stringify(this.name)} is in use by another factory; pass another name, or await the stop() of that factory first`,
      );
    }
    namesInUse.add(this.name);
    this.#hasName = true;
  }
}

const informersOf = /* @__PURE__ */ new WeakMap<object, InformerPool>();

/** Notes the informers of a factory. Returns the factory. */
export function noteInformers<F extends object>(factory: F, informers: InformerPool): F {
  informersOf.set(factory, informers);
  return factory;
}

/** The informers of a factory. Throws a `TypeError`, which begins with `where`, if the value is not a factory. */
export function informersOfFactory(where: string, factory: object): InformerPool {
  const informers = informersOf.get(factory);
  if (informers !== undefined) return informers;
  const must =
    'one that createInformerFactory, createDynamicInformerFactory or createClusters returned';
  throw refusal(`${where}: the factory`, factory, must);
}
