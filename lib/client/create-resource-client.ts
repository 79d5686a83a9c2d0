/**
 * `createResourceClient`: implements the calls of a resource as requests. client-go: gentype/type.go,
 * dynamic/simple.go.
 */

import type { Observable } from 'rxjs';
import { mergeMap } from 'rxjs/operators';
import { checkedSentCount } from '../checks/checked-option.ts';
import type { WatchEvent } from '../decode/watch-event.ts';
import { createListWatch } from '../list-watch/create-list-watch.ts';
import type { Status } from '../meta/api-error.ts';
import { checkGivenSelectors, checkSelectorTexts } from '../meta/given-selectors.ts';
import type { KubernetesList, KubernetesObject, Stored } from '../meta/kubernetes-object.ts';
import { checkSegment, type Resource, resourceName, resourcePath } from '../meta/resource.ts';
import type { Timing } from '../rx/timing.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { deleteBody, selectionQuery, writeQuery } from './call-query.ts';
import { drafted, editBy } from './edit.ts';
import { listAll, listOf, listPage } from './list-objects.ts';
import { addressOf, isObject, namespaceFor, type ObjectAddress } from './object-target.ts';
import type { Patch } from './patch.ts';
import { isPods, podCalls } from './pod-calls.ts';
import { Calls, typed } from './resource-calls.ts';
import type { ClientOf, ResourceClient, Scale, WatchCallOptions } from './resource-client.ts';
import { untilAborted } from './until-aborted.ts';

/** The options of {@link createResourceClient}: the scheduler and random source of its waits, for tests. */
export interface ResourceClientOptions extends Timing {}

/** The events of one WATCH request, one by one. */
function watchEvents<T extends KubernetesObject>(
  { client, resource, scope }: Calls<T>,
  options: WatchCallOptions,
  { scheduler }: Timing,
): Observable<WatchEvent<Stored<T>>> {
  const { resourceVersion = '', timeoutSeconds = 300, sendInitialEvents = false } = options;
  const { labelSelector, fieldSelector, demand, onRefused, signal } = options;
  checkedSentCount(timeoutSeconds, 'watch: timeoutSeconds', 0);
  checkGivenSelectors('watch', options);
  const namespace = namespaceFor(resource, options.namespace, scope);
  const listWatch = createListWatch(client, resource, {
    keepManagedFields: true,
    ...(scheduler === undefined ? {} : { scheduler }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(onRefused === undefined ? {} : { onRefused }),
  });
  const streaming = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } as const;
  const request = {
    resourceVersion,
    timeoutSeconds,
    ...(sendInitialEvents ? streaming : {}),
    ...(demand === undefined ? {} : { demand }),
  };
  return listWatch.watch(request).pipe(
    mergeMap(
      (message) => (message.kind === 'events' ? message.events : []) as WatchEvent<Stored<T>>[],
    ),
    untilAborted(signal, `WATCH ${resourceName(resource)}`),
  );
}

/** A scale as a request body, with the type and the address that a caller may leave out. */
function scaleBody(scale: Scale, { namespace, name }: ObjectAddress): Scale {
  return {
    ...typed(scale, { kind: 'Scale', apiVersion: 'autoscaling/v1' }),
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...scale.metadata },
  };
}

function build<T extends KubernetesObject>(
  client: KubeClient,
  resource: Resource<T>,
  timing: Timing,
  scope?: string,
): ResourceClient<T> {
  const calls = new Calls(client, resource, scope);
  const own: ResourceClient<T> = {
    resource,
    namespace(namespace) {
      checkSegment(resource, 'namespace', namespace);
      resourcePath(resource, { namespace });
      return build(client, resource, timing, namespace) as typeof own;
    },
    async get(target, options = {}) {
      const { resourceVersion } = options;
      return await calls.on<Stored<T>>(
        target,
        resourceVersion ? { query: { resourceVersion } } : {},
        options,
      );
    },
    async list(options = {}) {
      checkSelectorTexts('list', options);
      const path = calls.collection(options.namespace);
      const single = options.limit !== undefined || options.continue !== undefined;
      return await (single ? listPage(calls, path, options) : listAll(calls, path, options));
    },
    async create(object, options = {}) {
      const body = calls.body(object);
      const path = calls.collection(object.metadata?.namespace, 'create');
      return await calls.send<Stored<T>>(
        path,
        { method: 'POST', body, query: writeQuery(options) },
        options.signal,
      );
    },
    update: async (object, options = {}) => await calls.put(object, options),
    updateStatus: async (object, options = {}) => await calls.put(object, options, 'status'),
    async patch(target, patch, options = {}) {
      return await calls.patch<Stored<T>>(
        target,
        patch as Patch<never>,
        options,
        options.subresource,
      );
    },
    async patchStatus(target, patch, options = {}) {
      return await calls.patch<Stored<T>>(target, patch as Patch<never>, options, 'status');
    },
    apply: async (object, options) => await calls.apply(object, options),
    applyStatus: async (object, options) => await calls.apply(object, options, 'status'),
    async delete(target, options = {}) {
      const body = deleteBody(options);
      return await calls.on<Stored<T> | Status>(
        target,
        { method: 'DELETE', ...(body === undefined ? {} : { body }) },
        options,
      );
    },
    async deleteCollection(options = {}) {
      checkSelectorTexts('deleteCollection', options);
      const path = calls.collection(options.namespace, 'deleteCollection');
      const body = deleteBody(options);
      const answer = await calls.send<KubernetesList<Stored<T>> | Status>(
        path,
        {
          method: 'DELETE',
          isList: true,
          query: selectionQuery(options),
          ...(body === undefined ? {} : { body }),
        },
        options.signal,
      );
      return 'items' in answer ? listOf(calls, answer, `DELETE ${path}`) : answer;
    },
    watch: (options = {}) => watchEvents(calls, options, timing),
    async getScale(target, options = {}) {
      return await calls.on<Scale>(target, { subresource: 'scale' }, options);
    },
    async updateScale(target, scale, options = {}) {
      const body = scaleBody(scale, addressOf(resource, target, scope));
      const call = { method: 'PUT', subresource: 'scale', body, query: writeQuery(options) };
      return await calls.on<Scale>(target, call, options);
    },
    async patchScale(target, patch, options = {}) {
      return await calls.patch<Scale>(target, patch as Patch<never>, options, 'scale');
    },
    async edit(target, recipe, options = {}) {
      const address = addressOf(resource, target, scope);
      // Throws before the recipe is called.
      resourcePath(resource, address);
      const where = `edit of ${resourceName(resource)} ${Object.values(address).join('/')}`;
      const at = isObject(target) ? target : address;
      return await editBy<T>(own, where, at, (base) => drafted<T>(base, recipe) as T, {
        ...options,
        scheduler: options.scheduler ?? timing.scheduler,
        random: options.random ?? timing.random,
      });
    },
  };
  return isPods(resource)
    ? { ...own, ...podCalls(client, resource, scope, timing.scheduler) }
    : own;
}

/**
 * Creates a client with the calls of one resource. Nothing is sent until a call is made.
 *
 * A client is a plain value without state, so creating one is cheap. The client of pods also has `log` and `evict`.
 *
 * @example
 * ```ts
 * import { createClient, createResourceClient } from 'rx-informer';
 * import { deployments } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
 * const shop = createResourceClient(client, deployments).namespace('shop');
 * const selector = { matchLabels: { app: 'web' } };
 * const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [] } };
 * await shop.create({ metadata: { name: 'web' }, spec: { replicas: 1, selector, template } });
 * const { items } = await shop.list();
 * items.length; // => 1
 * ```
 */
export function createResourceClient<T extends KubernetesObject>(
  client: KubeClient,
  resource: Resource<T>,
  options: ResourceClientOptions = {},
): ClientOf<T> {
  return build(client, resource, options) as ClientOf<T>;
}
