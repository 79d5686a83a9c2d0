/** `lazyDecoding`, the decoding for large collections of which little is read. */
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { Resource } from '../../meta/resource.ts';
import type { IsDescribed, QueryPath, Split } from '../../meta/typed-path.ts';
import type { DecodeContext, Decoder, Decoding } from '../decoding.ts';
import { ListDecoder } from '../list-decoder.ts';
import { WatchDecoder } from '../watch-decoder.ts';
import type { ListPart, WatchEvent } from '../watch-event.ts';
import { LazyReader } from './lazy-reader.ts';
import { createPathTree } from './path-tree.ts';
import { ProjectionReader } from './projection-reader.ts';

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

/** The options of {@link lazyDecoding}. */
export interface LazyDecodingOptions {
  /** The paths to keep besides `kind`, `apiVersion` and `metadata`. @defaultValue everything is kept, and is lazy */
  readonly project?: readonly string[] | undefined;
}

/** The options of {@link lazyDecoding} whose paths are checked. */
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
 * Creates a decoding that parses `metadata` on receipt, and every other member when it is first read.
 *
 * The objects are plain objects with the members in the order of the response. `kind`, `apiVersion`, `metadata` and
 * short values are data. Every other member, such as `spec`, `status` or `data`, is an own accessor that parses its
 * text when it is first read, and keeps the value. Spread, `Object.keys`, `JSON.stringify`, `structuredClone`, immer
 * and deep equality work as on other objects; those that look at a member parse it. The value is frozen if its object is
 * frozen. `console.log` shows the accessors and not their values; log a copy `{ ...object }` instead.
 *
 * Indices, selectors, queries and handlers that read only `metadata` parse nothing more. On a relist, an object whose
 * UID and version are those of the stored object is not parsed at all.
 *
 * A member that is not JSON throws an {@link ApiError} when it is read, with the key of the object and without its
 * text. An object that is written in an unusual way, such as with escaped or repeated names, is parsed completely.
 *
 * @example
 * ```ts
 * import { createClient, createListWatch, createSharedInformer, lazyDecoding } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, {
 *   metadata: { name: 'web', namespace: 'shop' },
 *   spec: { containers: [{ name: 'main', image: 'web:1' }] },
 * });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const listWatch = createListWatch(client, pods, { decoding: lazyDecoding });
 * const informer = createSharedInformer(listWatch);
 * informer.start();
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * const pod = informer.indexer.getByKey('shop/web');
 * pod?.metadata.name; // => 'web'
 * pod?.spec?.containers[0]?.image; // => 'web:1'
 * await informer.stop();
 * ```
 *
 * With `project`, only `kind`, `apiVersion`, `metadata` and the given paths are kept, in small plain objects. The other
 * bytes are skipped: they are never parsed, and only their brackets are checked. A path passes through arrays, and a
 * path to an object or array keeps it completely. With `resource`, the paths are checked against its type, and the
 * decoding has the resource with the type of the small objects. Throws a `TypeError` if a text is not a path.
 *
 * @example
 * ```ts
 * import { createClient, createListWatch, createSharedInformer, lazyDecoding } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, {
 *   metadata: { name: 'web', namespace: 'shop' },
 *   spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'web:1' }] },
 * });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const decoding = lazyDecoding({ resource: pods, project: ['spec.containers.image', 'status.phase'] });
 * const informer = createSharedInformer(
 *   createListWatch(client, decoding.resource, { decoding: () => decoding }),
 * );
 * informer.start();
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * informer.indexer.getByKey('shop/web')?.spec; // => { containers: [{ image: 'web:1' }] }
 * await informer.stop();
 * ```
 */
export function lazyDecoding<T extends KubernetesObject, const P extends QueryPath<T>>(
  options: ProjectionOptions<T, P>,
): ProjectedDecoding<Projected<T, P>>;
export function lazyDecoding(
  options?: LazyDecodingOptions & { readonly resource?: never },
): Decoding;
export function lazyDecoding({
  resource,
  project,
}: LazyDecodingOptions & { readonly resource?: Resource } = {}): Decoding & {
  readonly resource?: Resource | undefined;
} {
  const paths = project === undefined ? undefined : createPathTree(project);
  const readerOf = <T extends KubernetesObject>(context: DecodeContext<T>) =>
    paths === undefined ? new LazyReader(context) : new ProjectionReader(context, paths);
  let stored: LazyReader<KubernetesObject> | undefined;
  return {
    resource,
    keeps: project,
    ...(paths === undefined && {
      stored(objects: readonly Uint8Array[]) {
        stored ??= new LazyReader({ keepManagedFields: true });
        const reader = stored;
        return objects.map((json) => reader.stored(json));
      },
    }),
    watch: <T extends KubernetesObject>(
      context: DecodeContext<T>,
    ): Decoder<readonly WatchEvent<T>[]> => new WatchDecoder(context, readerOf(context)),
    list: <T extends KubernetesObject>(context: DecodeContext<T>): Decoder<ListPart<T>> =>
      new ListDecoder(context, readerOf(context)),
  };
}
