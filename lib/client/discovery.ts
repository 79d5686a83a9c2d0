/**
 * Discovery: requests the resources that a server serves. This takes two requests if the server supports aggregated
 * discovery, otherwise one per API version. client-go: discovery/discovery_client.go.
 */
import { ApiError, type Status } from '../meta/api-error.ts';
import type { GroupVersionResource } from '../meta/resource.ts';
import { shownServer } from '../transport/address.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { CallOptions } from './call-options.ts';

/** A resource as a server describes it. */
export interface DiscoveredResource extends GroupVersionResource {
  readonly kind: string;
  readonly namespaced: boolean;
  /** For example `v1` or `apps/v1`. */
  readonly apiVersion: string;
  /** '' if the server does not send it. */
  readonly singular: string;
  /** For example `po` for pods. */
  readonly shortNames: readonly string[];
  /** For example `all`, the resources of `kubectl get all`. */
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** For example `status`, `scale`, `log`. */
  readonly subresources: readonly string[];
}

/** The result of a discovery. */
export interface ServedApi {
  /**
   * The resources of the core group first, then those of the other groups in the server's order. In each group the
   * preferred version is first.
   */
  readonly resources: readonly DiscoveredResource[];
  /** API versions that could not be listed, mostly because their aggregated API server is down. */
  readonly failed: readonly { readonly groupVersion: string; readonly error: ApiError }[];
}

/** Discovers the resources of a server. */
export interface Discovery {
  /**
   * Runs a discovery. An API version that cannot be listed is reported in `failed`. Rejects with an `ApiError` if the
   * list of groups cannot be read.
   */
  served(options?: CallOptions): Promise<ServedApi>;
}

const AGGREGATED =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json';

interface AggregatedResource {
  readonly resource?: string;
  readonly responseKind?: { readonly kind?: string };
  readonly scope?: string;
  readonly singularResource?: string;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly { readonly subresource?: string }[];
}

interface AggregatedGroup {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly {
    readonly version: string;
    readonly freshness?: string;
    readonly resources?: readonly AggregatedResource[];
  }[];
}

interface Root extends Status {
  readonly items?: readonly AggregatedGroup[];
  readonly versions?: readonly string[];
  readonly groups?: readonly {
    readonly name: string;
    readonly versions: readonly { readonly version: string }[];
    readonly preferredVersion?: { readonly version: string };
  }[];
}

interface LegacyList {
  readonly kind?: unknown;
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly singularName?: string;
    readonly verbs?: readonly string[];
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  }[];
}

function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

/** The maximum number of API versions, because each takes a request. No cluster has this many. */
const MOST_VERSIONS = 5_000;

/** The objects in a list. Anything else that was sent is left out. */
function objectsIn<E>(sent: readonly E[] | undefined): readonly E[] {
  const all: readonly E[] = Array.isArray(sent) ? sent : [];
  return all.filter((each) => typeof each === 'object' && each !== null);
}

function textsIn(sent: unknown): readonly string[] {
  return Array.isArray(sent) ? sent.filter((each) => typeof each === 'string') : [];
}

/** Whether a value is valid in a path. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(value);
}

function aggregated(groups: readonly AggregatedGroup[], into: DiscoveredResource[]): string[] {
  const stale: string[] = [];
  for (const { metadata, versions } of groups) {
    const group = metadata?.name ?? '';
    if (group !== '' && !isName(group)) continue;
    for (const { version, freshness, resources } of objectsIn(versions)) {
      if (!isName(version)) continue;
      const apiVersion = apiVersionOf(group, version);
      if (freshness === 'Stale') stale.push(apiVersion);
      for (const each of objectsIn(resources)) {
        const { resource: plural, scope, subresources } = each;
        const kind = each.responseKind?.kind;
        // Entries without an object type of their own, such as some subresources, cannot be requested.
        if (!isName(plural) || !isName(kind)) continue;
        into.push({
          ...{ group, version, plural, kind, apiVersion },
          namespaced: scope === 'Namespaced',
          singular: String(each.singularResource ?? ''),
          shortNames: textsIn(each.shortNames),
          categories: textsIn(each.categories),
          verbs: textsIn(each.verbs),
          subresources: textsIn(objectsIn(subresources).map(({ subresource }) => subresource)),
        });
      }
    }
  }
  return stale;
}

function legacy(group: string, version: string, { resources }: LegacyList) {
  const found = objectsIn(resources).filter(({ name }) => typeof name === 'string');
  const under = new Map<string, string[]>();
  for (const { name } of found) {
    const slash = name.indexOf('/');
    if (slash === -1) continue;
    const plural = name.slice(0, slash);
    const subresources = under.get(plural) ?? [];
    under.set(plural, subresources);
    subresources.push(name.slice(slash + 1));
  }
  return found.flatMap((each): DiscoveredResource[] => {
    const { name: plural, kind, namespaced } = each;
    if (!isName(plural) || !isName(kind)) return [];
    return [
      {
        ...{ group, version, plural, kind },
        namespaced: namespaced === true,
        apiVersion: apiVersionOf(group, version),
        singular: String(each.singularName ?? ''),
        shortNames: textsIn(each.shortNames),
        categories: textsIn(each.categories),
        verbs: textsIn(each.verbs),
        subresources: under.get(plural) ?? [],
      },
    ];
  });
}

/** The API versions that a server lists, in each group the preferred version first. */
function versionsOf({ versions, groups }: Root): { group: string; version: string }[] {
  const found = textsIn(versions).map((version) => ({ group: '', version }));
  for (const { name: group, versions, preferredVersion } of objectsIn(groups)) {
    const all = objectsIn(versions).map(({ version }) => version);
    const first = preferredVersion?.version;
    for (const version of first ? new Set([first, ...all]) : all) {
      if (isName(group)) found.push({ group, version });
    }
  }
  return found.filter(({ version }) => isName(version));
}

/**
 * Creates a discovery for a server. Results are not kept; {@link createRestMapper} keeps them.
 *
 * @example
 * ```ts
 * import { createClient, createDiscovery } from 'rx-informer';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
 * const { resources } = await createDiscovery(client).served();
 * resources.find(({ kind }) => kind === 'Deployment')?.apiVersion; // => 'apps/v1'
 * ```
 */
export function createDiscovery(client: KubeClient): Discovery {
  const ask = <R>(path: string, { signal }: CallOptions, accept?: string) =>
    client.request<R>({
      path,
      ...(accept === undefined ? {} : { headers: { accept } }),
      ...(signal === undefined ? {} : { signal }),
    });

  const askRoot = async (path: string, options: CallOptions): Promise<ServedApi> => {
    const root = await ask<Root>(path, options, AGGREGATED);
    const resources: DiscoveredResource[] = [];
    if (root?.kind === 'APIGroupDiscoveryList') {
      const failed = aggregated(objectsIn(root.items), resources).map((groupVersion) => ({
        groupVersion,
        error: ApiError.local('Unexpected', `${groupVersion}: its server did not answer`),
      }));
      return { resources, failed };
    }
    if (root?.kind !== 'APIVersions' && root?.kind !== 'APIGroupList') {
      const got = JSON.stringify(
        typeof root?.kind === 'string' ? root.kind.slice(0, 60) : typeof root?.kind,
      );
      const message = `GET ${path}: expected a list of API groups, got ${got}; is ${shownServer(client.baseUrl)} an API server?`;
      throw ApiError.local('Unexpected', message);
    }
    const failed: { groupVersion: string; error: ApiError }[] = [];
    const versions = versionsOf(root);
    if (versions.length > MOST_VERSIONS) {
      const message = `GET ${path}: the server lists ${versions.length} API versions; at most ${MOST_VERSIONS} are requested`;
      throw ApiError.local('TooLarge', message);
    }
    const parts = await Promise.all(
      versions.map(async ({ group, version }) => {
        const groupVersion = apiVersionOf(group, version);
        try {
          const list = await ask<LegacyList | undefined>(`${path}/${groupVersion}`, options);
          if (list?.kind !== 'APIResourceList') {
            throw ApiError.local(
              'Unexpected',
              `${groupVersion}: its server answered no list of resources`,
            );
          }
          return legacy(group, version, list);
        } catch (error) {
          const failure = ApiError.from(error, `discovery of ${groupVersion}`);
          if (failure.reason === 'Aborted') throw failure;
          failed.push({ groupVersion, error: failure });
          return [];
        }
      }),
    );
    return { resources: parts.flat(), failed };
  };

  return {
    async served(options = {}) {
      const [core, named] = await Promise.all([
        askRoot('/api', options),
        askRoot('/apis', options),
      ]);
      return {
        resources: [...core.resources, ...named.resources],
        failed: [...core.failed, ...named.failed],
      };
    },
  };
}
