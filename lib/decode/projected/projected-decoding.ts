/** `projectedDecoding`, the decoding that keeps only some paths of each object. */
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { Resource } from '../../meta/resource.ts';
import type { IsDescribed, QueryPath, Split } from '../../meta/typed-path.ts';
import type { DecodeContext, Decoder, Decoding } from '../decoding.ts';
import { ListDecoder } from '../list-decoder.ts';
import { WatchDecoder } from '../watch-decoder.ts';
import type { ListPart, WatchEvent } from '../watch-event.ts';
import { createPathTree } from './path-tree.ts';
import { ProjectedReader } from './projected-reader.ts';

type Steps = readonly unknown[];

type Head<S extends Steps> = S extends readonly [infer First, ...unknown[]] ? First : never;
type Tail<S extends Steps, K> = S extends readonly [K, ...infer Rest] ? Rest : never;

/** Keeps the members along the paths, through arrays. A map keeps its type. */
type Kept<V, S extends Steps> = [] extends S
  ? V
  : V extends readonly (infer E)[]
    ? Kept<E, S>[]
    : V extends object
      ? string extends keyof V
        ? V
        : { [K in keyof V as K extends Head<S> ? K : never]: Kept<V[K], Tail<S, K>> }
      : V;

/**
 * An object of which only `kind`, `apiVersion`, `metadata` and these paths are kept.
 *
 * @example
 * ```ts
 * import type { Projected } from 'rx-informer';
 * import type { Pod } from 'rx-informer/resources';
 *
 * const row: Projected<Pod, 'status.phase' | 'spec.containers.name'> = {
 *   metadata: { name: 'web' },
 *   spec: { containers: [{ name: 'main' }] },
 *   status: { phase: 'Running' },
 * };
 * row.spec?.containers[0]?.name; // => 'main'
 * ```
 */
export type Projected<T extends KubernetesObject, P extends string> = KubernetesObject &
  (IsDescribed<T> extends true
    ? Pick<T, keyof T & keyof KubernetesObject> & Omit<Kept<T, Split<P>>, keyof KubernetesObject>
    : T);

/** The options of {@link projectedDecoding} without a resource. */
export interface ProjectedDecodingOptions {
  /** The paths to keep besides `kind`, `apiVersion` and `metadata`. */
  readonly project: readonly string[];
}

/** The options of {@link projectedDecoding} whose paths are checked. */
export interface ProjectionOptions<T extends KubernetesObject, P extends string> {
  /** The resource whose type the paths belong to. */
  readonly resource: Resource<T>;
  /** The paths to keep besides `kind`, `apiVersion` and `metadata`. */
  readonly project: readonly P[];
}

/** A decoding of which the objects have only some paths. */
export interface ProjectedDecoding<T extends KubernetesObject> extends Decoding {
  /** The resource that was given, with the type of the objects that are kept. */
  readonly resource: Resource<T>;
}

/**
 * Creates a decoding that keeps only `kind`, `apiVersion`, `metadata` and the given paths, in small plain objects. The other
 * bytes are skipped: they are never parsed, and only their brackets are checked. A path passes through arrays, and a
 * path to an object or array keeps it completely. With `resource`, the paths are checked against its type, and the
 * decoding has the resource with the type of the small objects. Throws a `TypeError` if a text is not a path.
 *
 * @example
 * ```ts
 * import { createClient, createListWatch, createSharedInformer, projectedDecoding } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, {
 *   metadata: { name: 'web', namespace: 'shop' },
 *   spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'web:1' }] },
 * });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const decoding = projectedDecoding({ resource: pods, project: ['spec.containers.image', 'status.phase'] });
 * const informer = createSharedInformer(
 *   createListWatch(client, decoding.resource, { decoding: () => decoding }),
 * );
 * informer.start();
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * informer.indexer.getByKey('shop/web')?.spec; // => { containers: [{ image: 'web:1' }] }
 * await informer.stop();
 * ```
 */
export function projectedDecoding<T extends KubernetesObject, const P extends QueryPath<T>>(
  options: ProjectionOptions<T, P>,
): ProjectedDecoding<Projected<T, P>>;
export function projectedDecoding(
  options: ProjectedDecodingOptions & { readonly resource?: never },
): Decoding;
export function projectedDecoding(
  options: ProjectedDecodingOptions & { readonly resource?: Resource },
): Decoding & { readonly resource?: Resource | undefined } {
  // Whoever gives the function as `decoding` calls it without options.
  const { resource, project } = Object(options) as typeof options;
  const paths = createPathTree(project);
  return {
    resource,
    keeps: project,
    watch: <T extends KubernetesObject>(
      context: DecodeContext<T>,
    ): Decoder<readonly WatchEvent<T>[]> =>
      new WatchDecoder(context, new ProjectedReader(context, paths)),
    list: <T extends KubernetesObject>(context: DecodeContext<T>): Decoder<ListPart<T>> =>
      new ListDecoder(context, new ProjectedReader(context, paths)),
  };
}
