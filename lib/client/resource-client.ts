/**
 * Types of the calls of one resource, as in client-go's typed and dynamic clients. A call is one request (a list is
 * one request per page), takes an AbortSignal, and does not change its arguments.
 * client-go: gentype/type.go, dynamic/interface.go.
 */

import type { Observable } from 'rxjs';
import type { Refusal } from '../decode/decoding.ts';
import type { WatchEvent } from '../decode/watch-event.ts';
import type { Status } from '../meta/api-error.ts';
import type { KubernetesList, KubernetesObject, Stored } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import type { Demand } from '../rx/demand.ts';
import type { CallOptions, WriteOptions } from './call-options.ts';
import type { Draft, EditOptions } from './edit.ts';
import type { ObjectTarget } from './object-target.ts';
import type { DeepPartial, Patch } from './patch.ts';

/** The options of {@link ResourceClient.get}. */
export interface GetOptions extends CallOptions {
  /**
   * Reads an object that is at least as new as this version. '0' accepts any version that the server has cached.
   * @defaultValue '' which reads the newest
   */
  readonly resourceVersion?: string | undefined;
}

/** Selects the objects of a call. An omitted selector selects everything; a selector that is `undefined` is refused. */
export interface SelectionOptions {
  /** @defaultValue the namespace of the client, otherwise all namespaces */
  readonly namespace?: string | undefined;
  /** A selector as for `kubectl -l`: `app=web,tier in (a,b)`. */
  readonly labelSelector?: string;
  /** A selector as for `kubectl --field-selector`: `spec.nodeName=n1`. */
  readonly fieldSelector?: string;
}

/** The options of {@link ResourceClient.list}. */
export interface ListCallOptions extends CallOptions, SelectionOptions {
  /**
   * Reads one page of at most this many objects; its `metadata.continue` requests the next page. 0 reads everything in
   * one response. @defaultValue all objects, requested in pages of 500
   */
  readonly limit?: number | undefined;
  /** The `metadata.continue` of the previous page. */
  readonly continue?: string | undefined;
  /**
   * Lists objects that are at least as new as this version. '0' accepts any version that the server has cached.
   * @defaultValue '' which lists the newest
   */
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: 'NotOlderThan' | 'Exact' | undefined;
}

/** The options of {@link ResourceClient.watch}. */
export interface WatchCallOptions extends CallOptions, SelectionOptions {
  /** Watches the changes after this version. @defaultValue '' which first sends the current objects as added */
  readonly resourceVersion?: string | undefined;
  /** The server ends the watch after this many seconds. 0 leaves the duration to the server. @defaultValue 300 */
  readonly timeoutSeconds?: number | undefined;
  /**
   * Requests a streaming list: the current objects, then a bookmark that marks their end, then changes. A compressed
   * response through `fetch`, which a browser may not read completely, is a 406 `NotAcceptable`. @defaultValue false
   */
  readonly sendInitialEvents?: boolean | undefined;
  /** Asked for capacity before each read. @defaultValue no limit */
  readonly demand?: Demand | undefined;
  /** Called for every object that was refused, with the reason. */
  readonly onRefused?: ((refusal: Refusal) => void) | undefined;
}

/** The options of {@link ResourceClient.apply}. */
export interface ApplyOptions extends WriteOptions {
  /** The owner of the applied fields. Servers require it. */
  readonly fieldManager: string;
  /** Takes over fields that other managers own, instead of failing with a conflict. @defaultValue false */
  readonly force?: boolean | undefined;
}

/** The argument of an apply: any part of an object, with its name. */
export type Applied<T> = DeepPartial<Omit<T, 'metadata' | 'apiVersion' | 'kind'>> & {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly object[];
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
};

/** The options of {@link ResourceClient.delete}. */
export interface DeleteOptions extends CallOptions {
  /** How dependents are handled. @defaultValue the resource's default, mostly 'Background' */
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan' | undefined;
  /** The grace period, in seconds. 0 deletes immediately. @defaultValue the object's own */
  readonly gracePeriodSeconds?: number | undefined;
  /** The call fails with a conflict (409) if the object's UID or version differs. */
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined;
  /** The server validates and processes the request, but deletes nothing. @defaultValue false */
  readonly dryRun?: boolean | undefined;
}

/** The options of {@link ResourceClient.deleteCollection}. */
export interface DeleteCollectionOptions
  extends Omit<DeleteOptions, 'preconditions'>,
    SelectionOptions {}

/** `autoscaling/v1 Scale`: the desired and the current number of replicas of any scalable object. */
export interface Scale extends KubernetesObject {
  spec?: { replicas?: number };
  status?: { replicas: number; selector?: string };
}

/** The calls of one resource. Each rejects with an `ApiError` if it fails, and with a `TypeError` on misuse. */
export interface ResourceClient<T extends KubernetesObject> {
  readonly resource: Resource<T>;
  /** Returns a client of one namespace. It completes targets without a namespace, and refuses targets of another. */
  namespace(namespace: string): this;
  /** Reads one object. */
  get(target: ObjectTarget, options?: GetOptions): Promise<Stored<T>>;
  /** Reads all objects, page by page. If a continue token expires, the list starts once more, without pages. */
  list(options?: ListCallOptions): Promise<KubernetesList<Stored<T>>>;
  /** Creates an object, named by `metadata.name` or `metadata.generateName`. */
  create(object: T, options?: WriteOptions): Promise<Stored<T>>;
  /** Replaces an object. Fails with a conflict (409) if the object has a resourceVersion that is not the newest. */
  update(object: T, options?: WriteOptions): Promise<Stored<T>>;
  /** Replaces only the status of an object. */
  updateStatus(object: T, options?: WriteOptions): Promise<Stored<T>>;
  /** Applies a patch to an object. */
  patch(
    target: ObjectTarget,
    patch: Patch<T>,
    options?: WriteOptions & { readonly subresource?: string | undefined },
  ): Promise<Stored<T>>;
  /** Applies a patch to the status of an object. */
  patchStatus(target: ObjectTarget, patch: Patch<T>, options?: WriteOptions): Promise<Stored<T>>;
  /**
   * Server-side apply: sets these fields and makes the manager their owner. Creates the object if it does not exist.
   * A field that another manager owns is a conflict (409) whose message names it, unless `force` is set.
   */
  apply(object: Applied<T>, options: ApplyOptions): Promise<Stored<T>>;
  /** Server-side apply to the status. */
  applyStatus(object: Applied<T>, options: ApplyOptions): Promise<Stored<T>>;
  /** Deletes an object. Returns the object if it waits for finalizers or its grace period, otherwise a Status. */
  delete(target: ObjectTarget, options?: DeleteOptions): Promise<Stored<T> | Status>;
  /** Deletes all objects that the selectors match, in one namespace or of a cluster-scoped resource. */
  deleteCollection(options?: DeleteCollectionOptions): Promise<KubernetesList<Stored<T>> | Status>;
  /**
   * Sends one WATCH request. The stream completes when the server ends the watch and errors with an `ApiError` when the
   * watch fails. Unsubscribing aborts the request. Nothing is retried: use an informer to follow a collection.
   */
  watch(options?: WatchCallOptions): Observable<WatchEvent<Stored<T>>>;
  /** Reads the scale. */
  getScale(target: ObjectTarget, options?: CallOptions): Promise<Scale>;
  /** Replaces the scale of the object. */
  updateScale(target: ObjectTarget, scale: Scale, options?: WriteOptions): Promise<Scale>;
  /** Applies a patch to the scale. */
  patchScale(target: ObjectTarget, patch: Patch<Scale>, options?: WriteOptions): Promise<Scale>;
  /**
   * Edits an object by changing a draft of it. The changes of the recipe are sent as a JSON Patch that applies only to
   * the version that the recipe received. If another writer was faster, the recipe runs again on the newest object.
   *
   * If the target is an object with a version, the recipe first runs on it without a read; a name is read first.
   * Returns the object as written, whose resourceVersion can be passed to an informer's `whenObserved`. If the recipe
   * changes nothing, nothing is sent and the base is returned. The return value of the recipe is ignored, but a Promise
   * rejects the edit with a `TypeError`. Rejects with a conflict (409) after `attempts` attempts, with NotFound (404)
   * if the object is gone, also if another object now has its name, and with any error that the recipe throws.
   *
   * ```
   * edit      --[PATCH test 7]------[GET]--[PATCH test 9]--|
   * server    ----------------422------9---------------10
   * recipe    on 7                  on 9
   * ```
   *
   * @example
   * ```ts
   * import { createClient, createResourceClient } from 'rx-informer';
   * import { configMaps } from 'rx-informer/resources';
   * import { createFakeApiServer } from 'rx-informer/testing';
   *
   * const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
   * const shop = createResourceClient(client, configMaps).namespace('shop');
   * await shop.create({ metadata: { name: 'prices' }, data: { tea: '3' } });
   * const written = await shop.edit('prices', (draft) => {
   *   draft.data = { ...draft.data, milk: '1' };
   * });
   * written.data; // => { tea: '3', milk: '1' }
   * ```
   */
  edit(
    target: ObjectTarget,
    recipe: (draft: Draft<T>) => void,
    options?: EditOptions,
  ): Promise<Stored<T>>;
}

/** The options of {@link PodClient.log}. */
export interface PodLogOptions extends CallOptions {
  /** The name of the container. @defaultValue the only container of the pod */
  readonly container?: string | undefined;
  /** Emits lines as they are written, until the container ends. @defaultValue false */
  readonly follow?: boolean | undefined;
  /** Reads the log of the previous container, before its restart. @defaultValue false */
  readonly previous?: boolean | undefined;
  /** Puts a timestamp (RFC 3339) before each line. @defaultValue false */
  readonly timestamps?: boolean | undefined;
  /** Reads only this many lines from the end of the log. */
  readonly tailLines?: number | undefined;
  /** Reads only lines that were written in this many last seconds. */
  readonly sinceSeconds?: number | undefined;
  /** Reads only lines that were written since this time (RFC 3339). */
  readonly sinceTime?: string | undefined;
  /** Reads about this many bytes at most. */
  readonly limitBytes?: number | undefined;
  /** A longer line is emitted in pieces of this many characters. Infinity means no limit. @defaultValue 1048576 */
  readonly maxLineLength?: number | undefined;
  /** Asked for capacity before each read. @defaultValue no limit */
  readonly demand?: Demand | undefined;
}

/** The options of {@link PodClient.evict}. */
export interface EvictOptions
  extends Pick<DeleteOptions, 'signal' | 'dryRun' | 'gracePeriodSeconds' | 'preconditions'> {}

/** The calls of pods. */
export interface PodClient<T extends KubernetesObject> extends ResourceClient<T> {
  /**
   * Emits the lines of a container's log, without their line ends. The stream completes at the end of the log and
   * errors with an `ApiError`, also if the log was cut off. The undici transport detects this; `fetch` may treat an
   * HTTP/2 stream that was reset with NO_ERROR or CANCEL as complete. Unsubscribing aborts the request. Bytes that are
   * not UTF-8 become U+FFFD.
   *
   * ```
   * bytes   --"a\nb"--"c\nd"--|
   * lines   --a-------bc------d|
   * ```
   *
   * @example
   * ```ts
   * import { createClient, createResourceClient } from 'rx-informer';
   * import { pods } from 'rx-informer/resources';
   * import { createFakeApiServer } from 'rx-informer/testing';
   * import { firstValueFrom, take, toArray } from 'rxjs';
   *
   * const server = createFakeApiServer();
   * const web = { namespace: 'shop', name: 'web-0' };
   * server.objects.create(pods, { metadata: web });
   * server.logs.append(web, 'started');
   * server.logs.append(web, 'ready');
   * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
   * const lines = createResourceClient(client, pods).log(web, { follow: true });
   * await firstValueFrom(lines.pipe(take(2), toArray())); // => ['started', 'ready']
   * ```
   */
  log(target: ObjectTarget, options?: PodLogOptions): Observable<string>;
  /** Evicts a pod. Rejects with a 429 if a disruption budget forbids the eviction at the moment. */
  evict(target: ObjectTarget, options?: EvictOptions): Promise<Status>;
}

/** The client of `T`, with `log` and `evict` if `T` is a Pod. */
export type ClientOf<T extends KubernetesObject> = 'kind' extends keyof T
  ? T extends { readonly apiVersion?: 'v1'; readonly kind?: 'Pod' }
    ? PodClient<T>
    : ResourceClient<T>
  : ResourceClient<T>;
