/** `createLister`, which reads the store of an informer, or a store alone. */
import type { WaitOptions } from '../informer/waits.ts';
import { ApiError } from '../meta/api-error.ts';
import { isFields } from '../meta/json-fields.ts';
import { joinMetaNamespaceKey, metaNamespaceKeyFunc, splitMetaNamespaceKey } from '../meta/key.ts';
import { type KubernetesObject, type Stored, versionOf } from '../meta/kubernetes-object.ts';
import {
  checkNamespaces,
  type GroupVersionResource,
  type Resource,
  resourceName,
  type UntypedResource,
} from '../meta/resource.ts';
import { isResourceVersion, type ResourceVersion } from '../meta/resource-version.ts';
import { bindMethods } from '../rx/bind-methods.ts';
import { reportUnhandled } from '../rx/report-unhandled.ts';
import { NAMESPACE_INDEX } from '../store/index-funcs.ts';
import type { IndexerReader } from '../store/indexer.ts';
import {
  type AtLeast,
  type Given,
  type ListedAs,
  type Lister,
  type ListerInformer,
  type ListerOptions,
  type NamedTarget,
  type NamespaceLister,
  select,
} from './lister.ts';

/** A resource by group, version and plural; `namespaced` is known for a `Resource`. */
type Named = GroupVersionResource & { readonly namespaced?: boolean | undefined };

/** Whether a target names an object by its key. A Kubernetes object may have a field `key`, but always has metadata. */
function isNamed(target: Exclude<AtLeast, ResourceVersion>): target is NamedTarget {
  return isFields(target) && !('metadata' in target) && typeof target['key'] === 'string';
}

function notFound(resource: GroupVersionResource, name: string): ApiError {
  const message = `${resourceName(resource)} ${JSON.stringify(name)} not found`;
  const { group, plural: kind } = resource;
  return ApiError.fromStatus(
    {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      message,
      reason: 'NotFound',
      details: { name, group, kind },
      code: 404,
    },
    404,
  );
}

class StoreLister<T extends KubernetesObject> implements Lister<T> {
  readonly #indexer: IndexerReader<T>;
  readonly #informer: ListerInformer<T> | undefined;
  readonly #resource: Named;
  readonly #options: ListerOptions;
  readonly #warned = new Set<string>();

  constructor(
    source: IndexerReader<T> | ListerInformer<T>,
    resource: Named,
    options: ListerOptions,
  ) {
    this.#informer = 'indexer' in source ? source : undefined;
    this.#indexer = 'indexer' in source ? source.indexer : source;
    this.#resource = resource;
    this.#options = options;
    bindMethods(this);
  }

  list(...given: Given): readonly Stored<T>[] {
    this.#read();
    return select(() => this.#indexer.list(), given);
  }

  get(name: string): Stored<T> {
    return this.find(name) ?? this.#missing(splitMetaNamespaceKey(name).name);
  }

  find(name: string): Stored<T> | undefined {
    this.#read();
    const target = splitMetaNamespaceKey(name);
    if (target.namespace !== '' || this.#resource.namespaced === false) return this.#one(target);
    const { namespace } = this.#options;
    if (namespace === undefined && this.#resource.namespaced) {
      this.#warn(
        'name',
        `a ${this.#resource.plural} lister got the name ${JSON.stringify(name)} without a namespace: use 'namespace/name', or namespace('…').get(name)`,
      );
    }
    return this.#one({ namespace: namespace ?? '', name });
  }

  namespace(namespace: string): NamespaceLister<T> {
    checkNamespaces(this.#resource, [namespace]);
    return {
      namespace,
      list: (...given: Given) => {
        this.#read();
        return select(
          () => (namespace === '' ? this.#indexer.list() : this.#ofNamespace(namespace)),
          given,
        );
      },
      get: (name) => {
        if (namespace === '') return this.get(name);
        this.#read();
        return this.#one({ namespace, name }) ?? this.#missing(name);
      },
      find: (name) => {
        if (namespace === '') return this.find(name);
        this.#read();
        return this.#one({ namespace, name });
      },
    };
  }

  byIndex(indexName: string, value: string): readonly Stored<T>[] {
    this.#read();
    return this.#indexer.byIndex(indexName, value);
  }

  async atLeast(target: AtLeast, options: WaitOptions = {}): Promise<Lister<T>> {
    const informer = this.#informer;
    if (informer === undefined) {
      throw new TypeError(
        `atLeast: this ${this.#resource.plural} lister reads a store, which cannot wait for changes; create it with createLister(informer, resource) or a factory`,
      );
    }
    if (typeof target === 'string') await informer.whenAtLeast(target, options);
    else if (isNamed(target)) {
      const { key } = target;
      await informer.whenObserved(key, 'uid' in target ? target : target.resourceVersion, options);
    } else {
      const version = isFields(target) ? versionOf(target) : '';
      if (!isResourceVersion(version)) {
        throw new TypeError(
          'atLeast: the object has no resourceVersion; give the object that the server returned, not the one that was sent',
        );
      }
      await informer.whenObserved(metaNamespaceKeyFunc(target), version, options);
    }
    return this;
  }

  #one(target: { readonly namespace: string; readonly name: string }): Stored<T> | undefined {
    return this.#indexer.getByKey(joinMetaNamespaceKey(target));
  }

  #missing(name: string): never {
    throw notFound(this.#resource, name);
  }

  #ofNamespace(namespace: string): readonly Stored<T>[] {
    if (NAMESPACE_INDEX in this.#indexer.getIndexers()) {
      return this.#indexer.byIndex(NAMESPACE_INDEX, namespace);
    }
    this.#warn(
      'index',
      `the store of ${this.#resource.plural} has no index ${JSON.stringify(NAMESPACE_INDEX)}: each namespace('…').list() walks the complete store; add { ${NAMESPACE_INDEX}: byNamespace } to its indexers`,
    );
    return this.#indexer.list().filter(({ metadata }) => metadata?.namespace === namespace);
  }

  /** Called before each read, because in an incomplete store objects seem not to exist. */
  #read(): void {
    if (this.#indexer.synced) return;
    const name = this.#informer === undefined ? '' : ` (informer ${this.#informer.name})`;
    this.#warn(
      'sync',
      `a ${this.#resource.plural} lister${name} was read before its store was synced, so objects may be missing in its results: await whenSynced() first`,
    );
  }

  #warn(slip: string, message: string): void {
    if (this.#warned.has(slip)) return;
    this.#warned.add(slip);
    const { onWarning = console.warn } = this.#options;
    try {
      onWarning(message);
    } catch (error) {
      reportUnhandled(error);
    }
  }
}

/**
 * Creates a lister over an informer or a store.
 *
 * Reading sends no request and starts nothing. The first read before the store is synced causes a warning. A lister of a store alone
 * cannot wait (`atLeast`). It does not compile for a resource whose objects are not those of the informer or store.
 *
 * @example
 * ```ts
 * import { createClient, createLister, createListWatch, createSharedInformer } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0', labels: { app: 'web' } } });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const informer = createSharedInformer(createListWatch(client, pods));
 * const lister = createLister(informer, pods);
 * informer.start();
 * await informer.whenSynced({ timeoutMs: 5_000 });
 *
 * lister.list('app=web').length; // => 1
 * lister.namespace('shop').get('web-0').metadata.name; // => 'web-0'
 * lister.find('shop/web-7'); // => undefined
 * const made = server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-1' } });
 * const fresh = await lister.atLeast(made.metadata.resourceVersion, { timeoutMs: 5_000 });
 * fresh.get('shop/web-1').metadata.name; // => 'web-1'
 * await informer.stop();
 * ```
 */
export function createLister<
  T extends KubernetesObject,
  Listed extends KubernetesObject = T,
  Names extends string = string,
>(
  source: IndexerReader<T, Names> | ListerInformer<T, Names>,
  resource: (Resource<Listed> & ListedAs<Listed, T>) | UntypedResource,
  options: ListerOptions = {},
): Lister<T, Names> {
  return new StoreLister<T>(source as IndexerReader<T> | ListerInformer<T>, resource, options);
}
