/** What a factory can be told, for all its informers and for those of one resource. */
import type { Transform } from '../decode/decoding.ts';
import type { SharedInformerOptions } from '../informer/options.ts';
import type { ListOptions, ListWatchOptions } from '../list-watch/create-list-watch.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import type { Indexers } from '../store/index-funcs.ts';
import type { DefaultScope } from './scope.ts';

/** What informers of one resource have of their own. */
export interface InformerSettings<T extends KubernetesObject> {
  /** Makes what is stored of what was received. Whole objects only: a projection has no more than it shows. */
  readonly transform?: Transform<T> | undefined;
  /** Beside the index by namespace. Whole objects only. */
  readonly indexers?: Indexers<T> | undefined;
  /** Every known object again, this often, in milliseconds; 0 never. */
  readonly resyncPeriodMs?: number | undefined;
}

/** Settings bound to their resource: see {@link forResource}. */
export interface ResourceSettings {
  readonly resource: Resource<KubernetesObject>;
  readonly settings: InformerSettings<KubernetesObject>;
}

/**
 * Settings for the informers of one resource, typed by its objects.
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
  // Only objects of this resource reach them.
  return { resource, settings: settings as unknown as InformerSettings<KubernetesObject> };
}

/**
 * Options of a factory: the scope that all its informers have where they ask for no other, and what each
 * informer, and each of its LISTs and WATCHes, is to be told.
 */
export interface InformerFactoryOptions
  extends DefaultScope,
    Omit<SharedInformerOptions<KubernetesObject>, 'name' | 'onWarning'>,
    Pick<
      ListWatchOptions<KubernetesObject>,
      'keepManagedFields' | 'maxFrameBytes' | 'maxPageBytes' | 'decoding' | 'watchList'
    > {
  /**
   * Stands before the names of its informers, in logs and metrics: `shop-ui/pods/shop`. One factory at a time may
   * have it, until it is stopped. @defaultValue none
   */
  readonly name?: string | undefined;
  /** Last word on the query of each LIST and WATCH; changes the object it is given. */
  readonly tweak?:
    | ((options: ListOptions, resource: Resource<KubernetesObject>) => void)
    | undefined;
  /** Makes what is stored of what was received: whole objects and metadata. */
  readonly transform?:
    | ((object: KubernetesObject, resource: Resource<KubernetesObject>) => KubernetesObject)
    | undefined;
  /** Made by {@link forResource}; they stand before the factory's own. */
  readonly resources?: readonly ResourceSettings[] | undefined;
  /** Told what somebody should know, by name: a read before the store is synced, say. @defaultValue `console.warn` */
  readonly onWarning?: ((message: string) => void) | undefined;
}
