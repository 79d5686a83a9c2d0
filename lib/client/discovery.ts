/**
 * What a server serves, asked in two requests where it knows aggregated discovery, else in one for each version of
 * each group. client-go: discovery/discovery_client.go.
 */
import { ApiError, type Status } from '../meta/api-error.ts';
import type { GroupVersionResource } from '../meta/resource.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { CallOptions } from './resource-client.ts';

/** A resource as a server describes it. */
export interface DiscoveredResource extends GroupVersionResource {
  readonly kind: string;
  readonly namespaced: boolean;
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string;
  /** '' where the server does not say. */
  readonly singular: string;
  /** `po` of pods. */
  readonly shortNames: readonly string[];
  /** `all`, what `kubectl get all` shows. */
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** `status`, `scale`, `log`. */
  readonly subresources: readonly string[];
}

/** What a server serves. */
export interface ServedApi {
  /** The core group first, then as the server orders groups; the version that it prefers first in each. */
  readonly resources: readonly DiscoveredResource[];
  /** Versions of groups that could not be asked: their own server is down, mostly. The rest is as good. */
  readonly failed: readonly { readonly groupVersion: string; readonly error: ApiError }[];
}

/** Asks a server what it serves. */
export interface Discovery {
  /** All of it, asked anew. Rejects with an `ApiError` when the server cannot be asked at all. */
  served(options?: CallOptions): Promise<ServedApi>;
}

const AGGREGATED = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat('application/json')
  .join(',');

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

function aggregated(groups: readonly AggregatedGroup[], into: DiscoveredResource[]): string[] {
  const stale: string[] = [];
  for (const { metadata, versions = [] } of groups) {
    const group = metadata?.name ?? '';
    for (const { version, freshness, resources = [] } of versions) {
      const apiVersion = apiVersionOf(group, version);
      if (freshness === 'Stale') stale.push(apiVersion);
      for (const each of resources) {
        const { resource: plural, scope, subresources = [] } = each;
        const kind = each.responseKind?.kind;
        // What has no object of its own (a review, some subresources) cannot be asked for.
        if (!plural || !kind) continue;
        into.push({
          ...{ group, version, plural, kind, apiVersion },
          namespaced: scope === 'Namespaced',
          singular: each.singularResource ?? '',
          shortNames: each.shortNames ?? [],
          categories: each.categories ?? [],
          verbs: each.verbs ?? [],
          subresources: subresources.flatMap(({ subresource }) => subresource ?? []),
        });
      }
    }
  }
  return stale;
}

function legacy(group: string, version: string, { resources = [] }: LegacyList) {
  return resources.flatMap((each): DiscoveredResource[] => {
    const { name: plural, kind, namespaced } = each;
    if (plural.includes('/')) return [];
    const under = resources.filter(({ name }) => name.startsWith(`${plural}/`));
    return [
      {
        ...{ group, version, plural, kind, namespaced },
        apiVersion: apiVersionOf(group, version),
        singular: each.singularName ?? '',
        shortNames: each.shortNames ?? [],
        categories: each.categories ?? [],
        verbs: each.verbs ?? [],
        subresources: under.map(({ name }) => name.slice(plural.length + 1)),
      },
    ];
  });
}

/** The versions of the groups that a server lists, the preferred first. */
function versionsOf({ versions = [], groups = [] }: Root): { group: string; version: string }[] {
  const core = versions.map((version) => ({ group: '', version }));
  const named = groups.flatMap(({ name: group, versions, preferredVersion }) => {
    const all = versions.map(({ version }) => version);
    const first = preferredVersion?.version;
    const ordered = first ? [first, ...all.filter((version) => version !== first)] : all;
    return ordered.map((version) => ({ group, version }));
  });
  return [...core, ...named];
}

/**
 * Asks what a server serves. Nothing is kept: {@link createRestMapper} does.
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
      const failed = aggregated(root.items ?? [], resources).map((groupVersion) => ({
        groupVersion,
        error: ApiError.local('Unexpected', `${groupVersion}: its server did not answer`),
      }));
      return { resources, failed };
    }
    if (root?.kind !== 'APIVersions' && root?.kind !== 'APIGroupList') {
      const got = JSON.stringify(String(root?.kind));
      const shown = JSON.stringify(client.baseUrl);
      const message = `GET ${path}: expected a list of API groups, got ${got}; is ${shown} an API server?`;
      throw ApiError.local('Unexpected', message);
    }
    const failed: { groupVersion: string; error: ApiError }[] = [];
    const parts = await Promise.all(
      versionsOf(root).map(async ({ group, version }) => {
        const groupVersion = apiVersionOf(group, version);
        try {
          return legacy(group, version, await ask(`${path}/${groupVersion}`, options));
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
