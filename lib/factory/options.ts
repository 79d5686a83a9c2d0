/** Options of a factory, for all of its informers and for those of one resource. */

import {
  checkedDuration,
  checkedFunction,
  checkedLimit,
  ifGiven,
} from '../checks/checked-option.ts';
import type { Transform } from '../decode/decoding.ts';
import {
  checkedResyncPeriod,
  partMakers,
  type SharedInformerOptions,
} from '../informer/options.ts';
import type { ListOptions, ListWatchOptions } from '../list-watch/collection-requests.ts';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import type {
  createMetadataListWatch,
  createTableListWatch,
} from '../list-watch/projected-list-watch.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../meta/resource.ts';
import { limitsOf } from '../reflector/reflect-options.ts';
import type { Indexers } from '../store/index-funcs.ts';
import type { NamespaceFallback } from './namespace-fallback.ts';
import type { DefaultScope } from './scope.ts';

/** Settings for the informers of one resource. */
export interface InformerSettings<T extends KubernetesObject> {
  /** Transforms a received object before it is stored. For complete objects only, not for projections. */
  readonly transform?: Transform<T> | undefined;
  /** Indices in addition to the index by namespace. For complete objects only. */
  readonly indexers?: Indexers<T> | undefined;
  /** The period in which every known object is delivered again, in milliseconds; 0 means never. */
  readonly resyncPeriodMs?: number | undefined;
}

/** Settings with their resource, created by {@link forResource}. */
export interface ResourceSettings {
  readonly resource: Resource<KubernetesObject>;
  readonly settings: InformerSettings<KubernetesObject>;
}

/**
 * Creates settings for the informers of one resource, typed by its objects.
 *
 * @example
 * ```ts
 * import { forResource } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 *
 * const settings = forResource(pods, {
 *   resyncPeriodMs: 600_000,
 *   indexers: { node: ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []) },
 * });
 * settings.resource.plural; // => 'pods'
 * ```
 */
export function forResource<T extends KubernetesObject>(
  resource: Resource<T>,
  settings: InformerSettings<T>,
): ResourceSettings {
  // The cast is safe, because the settings are only used with objects of this resource.
  return { resource, settings: settings as unknown as InformerSettings<KubernetesObject> };
}

/** The part of a collection that a ListerWatcher of a factory covers. */
export interface CollectionPart {
  /** '' for all namespaces, and for a cluster-scoped resource. */
  readonly namespace: string;
  /** '' selects everything. */
  readonly labelSelector: string;
  /** '' selects everything. */
  readonly fieldSelector: string;
  /** Complete objects, or their metadata. */
  readonly as: 'object' | 'metadata';
}

/** The functions that create the ListerWatchers of reduced objects: {@link createMetadataListWatch} and {@link createTableListWatch}. */
export interface ProjectionMakers {
  readonly metadata?: typeof createMetadataListWatch | undefined;
  readonly table?: typeof createTableListWatch | undefined;
}

/** Returns the function for a projection. If it was not passed in, throws a `TypeError` that says what to pass. */
export function makerOf<As extends keyof ProjectionMakers>(
  makers: ProjectionMakers | undefined,
  as: As,
): NonNullable<ProjectionMakers[As]> {
  const maker = makers?.[as];
  if (typeof maker === 'function') return maker as NonNullable<ProjectionMakers[As]>;
  const name = as === 'table' ? 'createTableListWatch' : 'createMetadataListWatch';
  throw new TypeError(
    `informer factory: as is '${as}', but the factory has no projections.${as}; pass projections: { ${as}: ${name} }`,
  );
}

/**
 * Options of a factory: the default scope of its informers, and the options of each informer and of each of its LISTs and
 * WATCHes.
 */
export interface InformerFactoryOptions
  extends DefaultScope,
    Omit<SharedInformerOptions<KubernetesObject>, 'name' | 'onWarning'>,
    Pick<
      ListWatchOptions<KubernetesObject>,
      'keepManagedFields' | 'maxFrameBytes' | 'maxPageBytes' | 'decoding' | 'watchList'
    > {
  /**
   * The prefix of the names of its informers in logs and metrics: `shop-ui/pods/shop`. The name is reserved until the factory is
   * stopped. @defaultValue none
   */
  readonly name?: string | undefined;
  /** Changes the query of each LIST and WATCH, after all other options. It modifies the object that it receives. */
  readonly tweak?:
    | ((options: ListOptions, resource: Resource<KubernetesObject>) => void)
    | undefined;
  /** Transforms a received object before it is stored. For complete objects and metadata. */
  readonly transform?:
    | ((object: KubernetesObject, resource: Resource<KubernetesObject>) => KubernetesObject)
    | undefined;
  /** Settings by resource, created by {@link forResource}. They take precedence over those of the factory. */
  readonly resources?: readonly ResourceSettings[] | undefined;
  /**
   * Where listing and watching all namespaces of a resource is not permitted, `namespaceFallback()` lets an informer show
   * the namespaces in which both are. Not for tables. @defaultValue such an informer shows nothing, and says why
   */
  readonly namespaceFallback?: NamespaceFallback | undefined;
  /**
   * Makes the informers with `as: 'metadata'` and `as: 'table'`, for example `{ metadata: createMetadataListWatch }`.
   * @defaultValue a factory has complete objects only
   */
  readonly projections?: ProjectionMakers | undefined;
  /**
   * Creates the ListerWatcher of a part of a collection that is read from elsewhere than the API server, for example from
   * a NATS bucket. It must return exactly the objects of that part. For `undefined` the API server is read. Called when an
   * informer is created, but not for tables. Options of requests, such as `transform` and `tweak`, do not apply to it.
   * @defaultValue the API server is read
   */
  readonly listWatch?:
    | ((
        resource: Resource<KubernetesObject>,
        part: CollectionPart,
      ) => ListerWatcher<KubernetesObject> | undefined)
    | undefined;
  /** Called with warnings, such as a read before the store is synced. @defaultValue `console.warn` */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** Validates the options when the factory is created, because its informers are created later. */
export function checkOptions(options: InformerFactoryOptions): void {
  const { lingerMs, maxFrameBytes, maxPageBytes, namespaceFallback: fallback } = options;
  const must = 'what namespaceFallback() returns, or left out';
  ifGiven(checkedFunction, fallback, 'informer factory: namespaceFallback', must);
  limitsOf(options, 'informer factory');
  partMakers(options, 'informer factory');
  ifGiven(checkedDuration, lingerMs, 'informer factory: lingerMs');
  checkedResyncPeriod(options.resyncPeriodMs, 'informer factory');
  ifGiven(checkedLimit, maxFrameBytes, 'informer factory: maxFrameBytes');
  ifGiven(checkedLimit, maxPageBytes, 'informer factory: maxPageBytes');
  for (const { resource, settings } of options.resources ?? []) {
    checkedResyncPeriod(settings.resyncPeriodMs, `informer factory, ${resourceName(resource)}`);
  }
}
