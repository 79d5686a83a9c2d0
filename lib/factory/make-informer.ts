/** Creates the informers of a factory from its options. */
import { merge, type Observable, type SchedulerLike } from 'rxjs';
import { distinctUntilChanged } from 'rxjs/operators';
import type { TableColumn } from '../decode/projection.ts';
import { createSharedInformer } from '../informer/create-shared-informer.ts';
import type { SharedInformer } from '../informer/shared-informer.ts';
import type { ListWatchOptions } from '../list-watch/collection-requests.ts';
import { createListWatch } from '../list-watch/create-list-watch.ts';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import { sameColumns } from '../list-watch/projected-list-watch.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import { byNamespace, type Indexers, NAMESPACE_INDEX } from '../store/index-funcs.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { type InformerFactoryOptions, type InformerSettings, makerOf } from './options.ts';
import type { ReadScope } from './scope.ts';

type Anything = KubernetesObject;

/** An informer of any type; that of a table has its columns, too. */
export type AnyInformer = SharedInformer<Anything> & {
  readonly columns$?: Observable<readonly TableColumn[]>;
};

/** The surroundings of an informer. */
export interface MadeInformer {
  readonly name: string;
  readonly inUse$: Observable<boolean>;
  readonly client: KubeClient;
  readonly scheduler: SchedulerLike;
  readonly options: InformerFactoryOptions;
  /** The settings of the resource. */
  readonly own: InformerSettings<Anything>;
}

/** Removes the type of the items, because the informer of a projection stores what the projection lists. */
function untyped<T>(source: ListerWatcher<T>): ListerWatcher<Anything> {
  return source as unknown as ListerWatcher<Anything>;
}

/** Converts the warnings of an informer to text. */
function warnAsText(
  onWarning: (message: string) => void,
): (warning: { readonly informer: string; readonly message: string }) => void {
  return ({ informer, message }) => onWarning(`${informer}: ${message}`);
}

/** Creates the informer of a scope: of objects, of metadata or of a table, over its namespaces. */
export function makeInformer(
  resource: Resource<Anything>,
  scope: ReadScope,
  { name, inUse$, client, scheduler, options: all, own }: MadeInformer,
): AnyInformer {
  const {
    transform,
    tweak,
    onWarning,
    resources: _resources,
    namespaceFallback,
    projections,
    listWatch,
    ...options
  } = all;
  const isComplete = scope.as === 'object';
  const indexers: Indexers<Anything> = {
    [NAMESPACE_INDEX]: byNamespace,
    ...options.indexers,
    ...(isComplete && own.indexers),
  };
  const resyncPeriodMs = own.resyncPeriodMs ?? options.resyncPeriodMs;
  const transformed =
    (isComplete ? own.transform : undefined) ??
    (transform === undefined || scope.as === 'table'
      ? undefined
      : (object: Anything) => transform(object, resource));
  const { labelSelector, fieldSelector } = scope;
  const listOptions = (namespace: string | undefined): ListWatchOptions<Anything> => {
    const { keepManagedFields, maxFrameBytes, maxPageBytes, decoding, watchList } = options;
    return {
      labelSelector,
      fieldSelector,
      scheduler,
      inUse$,
      namespace,
      tweak: tweak === undefined ? undefined : (query) => tweak(query, resource),
      transform: transformed,
      keepManagedFields,
      maxFrameBytes,
      maxPageBytes,
      decoding,
      watchList,
    };
  };
  const isWhole = scope.namespaces.length === 0;
  const each = <L>(make: (of: ListWatchOptions<Anything>) => L): readonly L[] =>
    (isWhole ? [undefined] : scope.namespaces).map((namespace) => make(listOptions(namespace)));
  const { group, version, plural } = resource;
  const informerOptions = {
    ...options,
    metricAttributes: { group, version, resource: plural },
    onWarning: onWarning === undefined ? undefined : warnAsText(onWarning),
    name,
    indexers,
    resyncPeriodMs,
  };
  if (scope.as === 'table') {
    const make = makerOf(projections, 'table');
    const tables = each((of: object) => make(client, resource, of));
    const columns$ = merge(...tables.map((table) => table.columns$)).pipe(
      distinctUntilChanged(sameColumns),
    );
    return Object.assign(createSharedInformer(tables.map(untyped), informerOptions), {
      columns$,
    });
  }
  const { as } = scope;
  const make = (of: ListWatchOptions<Anything>): ListerWatcher<Anything> => {
    const part = { namespace: of.namespace ?? '', labelSelector, fieldSelector, as };
    const elsewhere = listWatch?.(resource, part);
    if (elsewhere !== undefined) return elsewhere;
    return as === 'object'
      ? createListWatch(client, resource, of)
      : untyped(makerOf(projections, 'metadata')(client, resource, of as object));
  };
  if (namespaceFallback === undefined || !isWhole || !resource.namespaced) {
    return createSharedInformer(each(make), informerOptions);
  }
  return namespaceFallback({
    ...{ client, resource, options: informerOptions },
    make: (namespace) => make(listOptions(namespace)),
  });
}
