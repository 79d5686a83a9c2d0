/**
 * The calls of one resource, typed by it: what client-go's typed and dynamic clients do. A call is one request
 * (a list as many as it has pages), takes a signal, and changes nothing that is passed in.
 * client-go: gentype/type.go, dynamic/interface.go.
 */

import type { Observable } from 'rxjs';
import type { Skipped } from '../decode/decoding.ts';
import type { WatchEvent } from '../decode/watch-event.ts';
import type { Status } from '../meta/api-error.ts';
import type { KubernetesList, KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import type { Stored } from '../meta/stored.ts';
import type { Demand } from '../rx/demand.ts';
import type { CallOptions, WriteOptions } from './call-options.ts';
import type { Draft, EditOptions } from './edit.ts';
import type { ObjectTarget } from './object-target.ts';
import type { DeepPartial, Patch } from './patch.ts';

/** What {@link ResourceClient.get} takes. */
export interface GetOptions extends CallOptions {
  /** Not older than this; '0': whatever the server has at hand. @defaultValue '' the newest */
  readonly resourceVersion?: string | undefined;
}

/** Which objects a call is about. A selector that is left out is everything; one that is `undefined` is refused. */
export interface SelectionOptions {
  /** @defaultValue the client's own, else all */
  readonly namespace?: string | undefined;
  /** As `kubectl -l`: `app=web,tier in (a,b)`. */
  readonly labelSelector?: string;
  /** As `kubectl --field-selector`: `spec.nodeName=n1`. */
  readonly fieldSelector?: string;
}

/** What {@link ResourceClient.list} takes. */
export interface ListCallOptions extends CallOptions, SelectionOptions {
  /**
   * One page of so many objects at most, whose `metadata.continue` leads to the next; 0: all in one answer.
   * @defaultValue all objects, fetched in pages of 500
   */
  readonly limit?: number | undefined;
  /** The token of the page before. */
  readonly continue?: string | undefined;
  /** '' the newest, '0' whatever the server has at hand, else not older than this. @defaultValue '' */
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: 'NotOlderThan' | 'Exact' | undefined;
}

/** What {@link ResourceClient.watch} takes. */
export interface WatchCallOptions extends CallOptions, SelectionOptions {
  /** Changes after this one. @defaultValue '' which tells first what there is */
  readonly resourceVersion?: string | undefined;
  /** After this many seconds the server ends the watch; 0: when it likes. @defaultValue 300 */
  readonly timeoutSeconds?: number | undefined;
  /**
   * A streaming LIST: what there is, then a bookmark that says so, then changes. One that comes compressed through
   * `fetch`, which a browser may not read to its end, is a 406 `NotAcceptable`. @defaultValue false
   */
  readonly sendInitialEvents?: boolean | undefined;
  /** Asked before each read. @defaultValue there is always room */
  readonly demand?: Demand | undefined;
  /** Told of every object that did not get through. */
  readonly onSkipped?: ((skipped: Skipped) => void) | undefined;
}

/** What {@link ResourceClient.apply} takes. */
export interface ApplyOptions extends WriteOptions {
  /** Who the fields applied belong to: a server wants to know. */
  readonly fieldManager: string;
  /** Takes fields over from other managers instead of failing with a conflict. @defaultValue false */
  readonly force?: boolean | undefined;
}

/** What is applied: any part of an object that names it. */
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

/** What {@link ResourceClient.delete} takes. */
export interface DeleteOptions extends CallOptions {
  /** What becomes of dependents. @defaultValue the resource's own: mostly 'Background' */
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan' | undefined;
  /** 0: at once. @defaultValue the object's own */
  readonly gracePeriodSeconds?: number | undefined;
  /** Fails with a conflict (409) unless the object has these. */
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined;
  /** The server does everything but store it. */
  readonly dryRun?: boolean | undefined;
}

/** What {@link ResourceClient.deleteCollection} takes. */
export interface DeleteCollectionOptions
  extends Omit<DeleteOptions, 'preconditions'>,
    SelectionOptions {}

/** `autoscaling/v1 Scale`: how many replicas there are and shall be, of anything that can be scaled. */
export interface Scale extends KubernetesObject {
  spec?: { replicas?: number };
  status?: { replicas: number; selector?: string };
}

/** The calls of one resource. All of them reject with an `ApiError`, and with a `TypeError` on misuse. */
export interface ResourceClient<T extends KubernetesObject> {
  readonly resource: Resource<T>;
  /** The same calls in one namespace: targets without a namespace are of this one, others are refused. */
  namespace(namespace: string): this;
  /** Reads one object. */
  get(target: ObjectTarget, options?: GetOptions): Promise<Stored<T>>;
  /** Reads all objects, page by page; a token that expires on the way begins anew, once, without pages. */
  list(options?: ListCallOptions): Promise<KubernetesList<Stored<T>>>;
  /** Stores a new object; `metadata.generateName` may stand for the name. */
  create(object: T, options?: WriteOptions): Promise<Stored<T>>;
  /** Replaces an object. With a resourceVersion in it, a conflict (409) when the server has another. */
  update(object: T, options?: WriteOptions): Promise<Stored<T>>;
  /** Replaces the status of an object, and nothing else. */
  updateStatus(object: T, options?: WriteOptions): Promise<Stored<T>>;
  /** Changes what the patch says. */
  patch(
    target: ObjectTarget,
    patch: Patch<T>,
    options?: WriteOptions & { readonly subresource?: string | undefined },
  ): Promise<Stored<T>>;
  /** Changes what the patch says in the status. */
  patchStatus(target: ObjectTarget, patch: Patch<T>, options?: WriteOptions): Promise<Stored<T>>;
  /**
   * Server-side apply: the object has these fields and they are the manager's; creates it where there is none.
   * A field of another manager is a conflict (409) that names it, unless `force`.
   */
  apply(object: Applied<T>, options: ApplyOptions): Promise<Stored<T>>;
  /** Server-side apply of the status. */
  applyStatus(object: Applied<T>, options: ApplyOptions): Promise<Stored<T>>;
  /** Deletes an object. The answer is the object where it waits for finalizers or its grace period, else a Status. */
  delete(target: ObjectTarget, options?: DeleteOptions): Promise<Stored<T> | Status>;
  /** Deletes all objects that the selectors match: those of a namespace, or of a cluster-scoped resource. */
  deleteCollection(options?: DeleteCollectionOptions): Promise<KubernetesList<Stored<T>> | Status>;
  /**
   * One WATCH. It completes when the server ends it, errors with an `ApiError` when it breaks, and unsubscribing
   * aborts it. Nothing is retried: an informer is what stays.
   */
  watch(options?: WatchCallOptions): Observable<WatchEvent<Stored<T>>>;
  /** Reads the scale. */
  getScale(target: ObjectTarget, options?: CallOptions): Promise<Scale>;
  /** Replaces the scale of the object. */
  updateScale(target: ObjectTarget, scale: Scale, options?: WriteOptions): Promise<Scale>;
  /** Changes what the patch says in the scale. */
  patchScale(target: ObjectTarget, patch: Patch<Scale>, options?: WriteOptions): Promise<Scale>;
  /**
   * Changes an object by changing a draft of it. What the recipe did is sent as a JSON Patch that holds only for
   * the version it was made from; when somebody else was faster, the recipe runs again on the newest.
   *
   * An object with a version is the first base, so that nothing is read; a name is read first. Gives what was
   * written, whose resourceVersion an informer's `whenObserved` can wait for, or the base where the recipe changed
   * nothing: then nothing is sent. What the recipe returns is not looked at, but for a Promise, which rejects with a
   * `TypeError`. Rejects with a conflict (409) after `attempts` tries, with NotFound (404) when the object is gone, also
   * when another one has its name now, and with what the recipe throws.
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

/** What {@link PodClient.log} takes. */
export interface PodLogOptions extends CallOptions {
  /** @defaultValue the pod's only one */
  readonly container?: string | undefined;
  /** Goes on with what is written later, until the container ends. @defaultValue false */
  readonly follow?: boolean | undefined;
  /** The log of the container before its restart. @defaultValue false */
  readonly previous?: boolean | undefined;
  /** Puts a timestamp (RFC 3339) before each line. @defaultValue false */
  readonly timestamps?: boolean | undefined;
  /** Only the last so many lines. */
  readonly tailLines?: number | undefined;
  /** Only what was written in the last so many seconds. */
  readonly sinceSeconds?: number | undefined;
  /** Only what was written since (RFC 3339). */
  readonly sinceTime?: string | undefined;
  /** Not much more than so many bytes. */
  readonly limitBytes?: number | undefined;
  /** A longer line comes in pieces of this many characters; Infinity: never. @defaultValue 1 Mi */
  readonly maxLineLength?: number | undefined;
  /** Asked before each read. @defaultValue there is always room */
  readonly demand?: Demand | undefined;
}

/** What {@link PodClient.evict} takes. */
export interface EvictOptions
  extends Pick<DeleteOptions, 'signal' | 'dryRun' | 'gracePeriodSeconds' | 'preconditions'> {}

/** The calls of pods. */
export interface PodClient<T extends KubernetesObject> extends ResourceClient<T> {
  /**
   * The lines of a container's log, without their ends. Completes at the end of the log, errors with an
   * `ApiError`, also where the log was cut (as far as the transport can tell: undici's can, `fetch` may take an HTTP/2
   * stream that was reset with NO_ERROR or CANCEL for its end); unsubscribing aborts the request. Bytes that are no
   * UTF-8 become U+FFFD.
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
  /** Deletes a pod unless its disruption budget forbids that now, which is a 429. */
  evict(target: ObjectTarget, options?: EvictOptions): Promise<Status>;
}

/** The client of `T`: with `log` and `evict` where it is a Pod. */
export type ClientOf<T extends KubernetesObject> = 'kind' extends keyof T
  ? T extends { readonly apiVersion?: 'v1'; readonly kind?: 'Pod' }
    ? PodClient<T>
    : ResourceClient<T>
  : ResourceClient<T>;
