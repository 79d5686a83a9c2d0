/**
 * `createFakeApiServer`: an in-process Kubernetes API server for tests, demos and simulations. One conformance suite
 * compares it with a real kube-apiserver. Faults can be injected.
 */
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import {
  check,
  checkedBoolean,
  checkedDuration,
  checkedFunction,
  checkedList,
  checkedTimeout,
  checkedWholeLimit,
} from '../checks/checked-option.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../meta/resource.ts';
import { isResourceVersion } from '../meta/resource-version.ts';
import { ObjectLog } from '../object-log/object-log.ts';
import { Faults } from './faults/faults.ts';
import type { AccessRule } from './http/access.ts';
import type { DispatchContext } from './http/dispatcher.ts';
import { inProcessFetch } from './http/in-process-fetch.ts';
import type { RequestRecord } from './http/request.ts';
import { serve } from './http/serve.ts';
import type { Served, ServeOptions } from './http/served.ts';
import { type FakeUser, FakeUsers } from './http/users.ts';
import type { WatchStream } from './http/watch-stream.ts';
import { PodLogs } from './pod-log.ts';
import { rbacOf, rbacResources } from './rbac.ts';
import {
  checkResource,
  defaultResources,
  type ResourceTraits,
  type ServerLog,
  servedResource,
} from './served-resource.ts';
import { ServerObjects } from './server-objects.ts';
import { ObjectWriter } from './writes/object-writer.ts';

/** The options of {@link createFakeApiServer}. */
export interface FakeApiServerOptions {
  /**
   * The resources that the server serves. Default: pods, config maps, secrets, services, events (of both groups), namespaces, nodes,
   * deployments, replica sets, stateful sets, jobs and leases.
   */
  readonly resources?: readonly Resource<KubernetesObject>[] | undefined;
  /** The clock and the timers of the server. @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
  /** The source of generated names and UIDs: returns a number in [0, 1). @defaultValue `Math.random` */
  readonly random?: (() => number) | undefined;
  /** The version of the empty server. The first object gets the next version. @defaultValue '1' */
  readonly initialResourceVersion?: string | undefined;
  /** Supports streaming lists (`sendInitialEvents`), like servers since 1.34. @defaultValue true */
  readonly watchList?: boolean | undefined;
  /**
   * Selects objects by `shardSelector`, like a server with the feature gate ShardedListAndWatch. Otherwise the
   * selector is ignored, as by most servers. @defaultValue false
   */
  readonly shardedListAndWatch?: boolean | undefined;
  /** How often a watch receives a bookmark, in milliseconds. @defaultValue 60_000 */
  readonly bookmarkIntervalMs?: number | undefined;
  /** The maximum page size, regardless of `limit`. Default: no limit. */
  readonly pageSizeMax?: number | undefined;
  /**
   * The minimum number of changes that are kept per resource, so that watches can start from them. @defaultValue 10_000
   */
  readonly historyLimit?: number | undefined;
  /**
   * The maximum size of the changes that are kept per resource: the length of the JSON of their objects. In memory they take
   * about three times as much. Older changes are dropped even if there are fewer than `historyLimit`. Default: no limit.
   */
  readonly historyMaxBytes?: number | undefined;
  /** The delay of every response, in milliseconds. @defaultValue 0 */
  readonly latencyMs?: number | undefined;
  /**
   * Whether a request is permitted. Others are answered with a 403, and SelfSubjectAccessReviews are answered by the same
   * rule. Called for each request, so its answers may change. `'rbac'`: the Roles, ClusterRoles and bindings decide that the server
   * has, and it serves them; members of the group `system:masters` may do everything. @defaultValue everything is permitted
   */
  readonly allows?: AccessRule | 'rbac' | undefined;
  /**
   * The users by their bearer tokens. Then a request without a valid token is answered with a 401, TokenReviews know these tokens, and
   * who impersonates another user needs the verb `impersonate`. @defaultValue every request is one of the user `tester`
   */
  readonly users?: Readonly<Record<string, FakeUser>> | undefined;
  /** Refuses to create objects in a namespace for which there is no Namespace object. @defaultValue false */
  readonly checkNamespaces?: boolean | undefined;
  /** The minimum number of latest requests that `requests` keeps. @defaultValue 10_000 */
  readonly requestsKept?: number | undefined;
}

/** The numbers of the options, with their defaults. Throws a `TypeError` that names an invalid one. */
function checkedNumbers(options: FakeApiServerOptions) {
  const limit = (
    name: 'historyLimit' | 'historyMaxBytes' | 'pageSizeMax' | 'requestsKept',
    byDefault: number,
  ) => checkedWholeLimit(options[name] ?? byDefault, `createFakeApiServer: ${name}`);
  const { bookmarkIntervalMs = 60_000, latencyMs = 0 } = options;
  return {
    history: {
      changes: limit('historyLimit', 10_000),
      bytes: limit('historyMaxBytes', Number.POSITIVE_INFINITY),
    },
    pageSizeMax: limit('pageSizeMax', Number.POSITIVE_INFINITY),
    requestsKept: limit('requestsKept', 10_000),
    bookmarkIntervalMs: checkedTimeout(
      bookmarkIntervalMs,
      'createFakeApiServer: bookmarkIntervalMs',
    ),
    latencyMs: checkedDuration(latencyMs, 'createFakeApiServer: latencyMs'),
  };
}

/** An open watch. */
export interface OpenWatch {
  readonly request: RequestRecord;
  /** The number of events sent so far, including bookmarks. */
  readonly sent: number;
}

/** A fake API server. It needs no closing, because it keeps nothing open except the watches of its clients. */
export interface FakeApiServer {
  /** A WHATWG fetch that sends every request to this server. The host of the URL is ignored. */
  readonly fetch: typeof globalThis.fetch;
  /** Also listens on 127.0.0.1. Requires Node. Rejects if the port is in use, and outside Node. */
  serve(options?: ServeOptions): Promise<Served>;
  /** The objects of the server, for reads and writes without requests. */
  readonly objects: ServerObjects;
  /** The logs of the pods. */
  readonly logs: PodLogs;
  /** Injects faults. */
  readonly faults: Faults;
  /** The requests received, oldest first. */
  readonly requests: readonly RequestRecord[];
  /** Discards the recorded requests. */
  clearRequests(): void;
  readonly openWatches: readonly OpenWatch[];
  /**
   * Serves another resource, like a cluster to which a CRD is added. Throws a `TypeError` if the server serves it already, in
   * this version or another.
   */
  addResource(resource: Resource<KubernetesObject>, traits?: ResourceTraits): void;
  /** Deletes all objects of a resource, ends its watches and stops serving it. */
  removeResource(resource: Resource<KubernetesObject>): void;
}

/** The version in which a resource is served. Each resource has one, because its objects are not converted. */
function servedVersion(log: ServerLog, resource: Resource<KubernetesObject>): string | undefined {
  checkResource('fake API server', resource);
  return log.collections.get(resourceName(resource))?.served.resource.version;
}

/** The rule of the options. A Promise would count as true, so what it returns is checked at each request. */
function decided(allows: AccessRule): AccessRule {
  checkedFunction(allows, 'createFakeApiServer: allows', "a function or 'rbac'");
  return (asked) => checkedBoolean(allows(asked), 'createFakeApiServer: what allows returned');
}

function serveAll(log: ServerLog, resources: readonly Resource<KubernetesObject>[]): void {
  for (const resource of resources) {
    const version = servedVersion(log, resource);
    if (version !== undefined && version !== resource.version) {
      const name = resourceName(resource);
      throw new TypeError(
        `createFakeApiServer: resources has ${name} in the versions ${version} and ${resource.version}; the server serves one version of a resource`,
      );
    }
    if (version === undefined) log.add(servedResource(resource));
  }
}

/**
 * Creates a fake API server: get, list, watch, create, update, all types of patches, apply, delete, dry runs,
 * metadata only, tables, status, scale, evictions and logs. Responses are like those of a real kube-apiserver.
 *
 * The server has no schemas (so no defaults, and no validation of specs), no admission, no garbage collector and no
 * disruption budgets, and reads JSON only. **Server-side apply does not track field ownership:** there are no
 * conflicts, and a field that was applied before and is now left out stays.
 *
 * Throws a `TypeError` if `initialResourceVersion` is not a version, if `resources` has two versions of one resource, or if
 * another option is not valid.
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
  const { initialResourceVersion = '1', random = Math.random } = options;
  const { history, pageSizeMax, requestsKept, bookmarkIntervalMs, latencyMs } =
    checkedNumbers(options);
  const name = 'createFakeApiServer: initialResourceVersion';
  const decimal = "a decimal string such as '1000'";
  check(isResourceVersion(initialResourceVersion), name, initialResourceVersion, decimal);
  const log: ServerLog = new ObjectLog({
    initialVersion: BigInt(initialResourceVersion),
    history,
  });
  const { allows: given = () => true, users } = options;
  const allows = given === 'rbac' ? rbacOf(log) : decided(given);
  checkedList(resources, 'createFakeApiServer: resources', 'a list of resources');
  serveAll(log, given === 'rbac' ? [...resources, ...rbacResources()] : resources);
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
    allows,
    users: new FakeUsers(users, allows),
    faults,
    scheduler,
    random,
    checkNamespaces: options.checkNamespaces ?? false,
    watchList: options.watchList ?? true,
    shardedListAndWatch: options.shardedListAndWatch ?? false,
    pageSizeMax,
    bookmarkIntervalMs,
    latencyMs,
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
      const version = servedVersion(log, resource);
      if (version !== undefined) {
        throw new TypeError(
          `addResource: ${resourceName(resource)} is already served, in version ${version}; removeResource it first`,
        );
      }
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
