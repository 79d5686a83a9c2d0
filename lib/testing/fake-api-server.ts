/**
 * A Kubernetes API server that lives in the process: for tests, demos and simulations. It does what one
 * conformance suite can see a real kube-apiserver do, and fails on command.
 */
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../meta/resource.ts';
import { isResourceVersion } from '../meta/resource-version.ts';
import { ObjectLog } from '../object-log/object-log.ts';
import { Faults } from './faults/faults.ts';
import type { DispatchContext } from './http/dispatcher.ts';
import { inProcessFetch } from './http/in-process-fetch.ts';
import type { RequestRecord } from './http/request.ts';
import { type Served, type ServeOptions, serve } from './http/serve.ts';
import type { WatchStream } from './http/watch-stream.ts';
import { PodLogs } from './pod-log.ts';
import {
  defaultResources,
  type ResourceTraits,
  type ServerLog,
  servedResource,
} from './served-resource.ts';
import { ServerObjects } from './server-objects.ts';
import { ObjectWriter } from './writes/object-writer.ts';

/** How a fake server is to be. */
export interface FakeApiServerOptions {
  /** What it serves. Default: pods, config maps, secrets, services, events, namespaces, nodes, deployments, replica sets, stateful sets, jobs and leases. */
  readonly resources?: readonly Resource<KubernetesObject>[] | undefined;
  /** All of the server's time. @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
  /** Names and UIDs. A number in [0, 1). @defaultValue `Math.random` */
  readonly random?: (() => number) | undefined;
  /** The version of the empty server; the first object gets the next one. @defaultValue '1' */
  readonly initialResourceVersion?: string | undefined;
  /** Streams lists (`sendInitialEvents`), as servers from 1.34 on do. @defaultValue true */
  readonly watchList?: boolean | undefined;
  /** How often a watch receives a bookmark, in milliseconds. @defaultValue 60_000 */
  readonly bookmarkIntervalMs?: number | undefined;
  /** No page is longer, whatever `limit` says. Default: no bound. */
  readonly pageSizeMax?: number | undefined;
  /** How many changes of a resource are kept at least, for watches to start from. @defaultValue 10_000 */
  readonly historyLimit?: number | undefined;
  /** How much later every answer comes, in milliseconds. @defaultValue 0 */
  readonly latencyMs?: number | undefined;
  /** Refuses to create objects in namespaces that do not exist as objects. @defaultValue false */
  readonly checkNamespaces?: boolean | undefined;
  /** How many requests `requests` remembers. @defaultValue 10_000 */
  readonly requestsKept?: number | undefined;
}

/** A watch that is open. */
export interface OpenWatch {
  readonly request: RequestRecord;
  /** Events sent so far, bookmarks included. */
  readonly sent: number;
}

/** A fake API server. It holds nothing open but the watches of its clients: there is nothing to close. */
export interface FakeApiServer {
  /** A WHATWG fetch that ends here, whatever the host of its URLs. */
  readonly fetch: typeof globalThis.fetch;
  /** Also listens on 127.0.0.1. Needs Node. Rejects if the port is taken, or outside of Node. */
  serve(options?: ServeOptions): Promise<Served>;
  /** The objects, to read and to change without a request. */
  readonly objects: ServerObjects;
  /** What pods print. */
  readonly logs: PodLogs;
  /** What is to go wrong. */
  readonly faults: Faults;
  /** All requests, oldest first. */
  readonly requests: readonly RequestRecord[];
  /** Forgets the requests so far. */
  clearRequests(): void;
  readonly openWatches: readonly OpenWatch[];
  /** Serves one more resource, as a new CRD does. */
  addResource(resource: Resource<KubernetesObject>, traits?: ResourceTraits): void;
  /** Deletes all objects of a resource, ends its watches and serves it no more. */
  removeResource(resource: Resource<KubernetesObject>): void;
}

/**
 * Starts a fake API server: get, list, watch, create, update, patches of all kinds, apply, delete, dry runs, metadata
 * only, tables, status, scale, evictions and logs, as a real kube-apiserver answers them.
 *
 * It knows no schema (no defaults, no validation of specs) and no admission, collects no garbage, asks no disruption
 * budget, and reads JSON only. **Server-side apply tracks no field ownership:** nothing conflicts, and a field that was
 * applied before and is left out now stays.
 *
 * Throws a `TypeError` when `initialResourceVersion` is no version.
 *
 * @example
 * ```ts
 * import { createFakeApiServer } from 'rx-informer/testing';
 * import { defineResource } from 'rx-informer';
 *
 * const pods = defineResource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });
 * const server = createFakeApiServer();
 * server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
 * const answer = await server.fetch('http://fake/api/v1/pods');
 * (await answer.json()).items.length; // => 1
 * ```
 */
export function createFakeApiServer(options: FakeApiServerOptions = {}): FakeApiServer {
  const { resources = defaultResources, scheduler = asyncScheduler } = options;
  const { initialResourceVersion = '1', random = Math.random, requestsKept = 10_000 } = options;
  if (!isResourceVersion(initialResourceVersion)) {
    throw new TypeError(
      `createFakeApiServer: initialResourceVersion is ${JSON.stringify(initialResourceVersion)}; it must be a decimal string such as '1000'`,
    );
  }
  const log: ServerLog = new ObjectLog({
    initialVersion: BigInt(initialResourceVersion),
    historyLimit: options.historyLimit ?? 10_000,
  });
  for (const resource of resources) log.add(servedResource(resource));
  const writer = new ObjectWriter(log, () => scheduler.now(), random);
  const watches = new Set<WatchStream>();
  const faults = new Faults(watches);
  const objects = new ServerObjects(log, writer, () => faults.dropWatches());
  const logs = new PodLogs(log, () => scheduler.now());
  let requests: RequestRecord[] = [];

  const context: DispatchContext = {
    log,
    writer,
    logs,
    faults,
    scheduler,
    random,
    checkNamespaces: options.checkNamespaces ?? false,
    watchList: options.watchList ?? true,
    pageSizeMax: options.pageSizeMax ?? Number.POSITIVE_INFINITY,
    bookmarkIntervalMs: options.bookmarkIntervalMs ?? 60_000,
    latencyMs: options.latencyMs ?? 0,
    onRequest(request) {
      requests.push(request);
      if (requests.length > requestsKept * 2) requests = requests.slice(-requestsKept);
    },
    onOpen: (watch) => watches.add(watch),
    onClose: (watch) => watches.delete(watch),
  };

  return {
    fetch: inProcessFetch(context),
    serve: (serveOptions = {}) => serve(context, serveOptions),
    objects,
    logs,
    faults,
    get requests() {
      return requests;
    },
    clearRequests() {
      requests = [];
    },
    get openWatches() {
      return [...watches].map(({ request, sent }) => ({ request, sent }));
    },
    addResource(resource, traits) {
      log.add(servedResource(resource, traits));
    },
    removeResource(resource) {
      const name = resourceName(resource);
      const collection = log.collections.get(name);
      if (collection === undefined) return;
      for (const object of collection.sorted()) {
        writer.delete(collection, { ...object, metadata: { ...object.metadata, finalizers: [] } });
      }
      faults.closeWatches({ resource });
      log.collections.delete(name);
    },
  };
}
