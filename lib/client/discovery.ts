/**
 * What a server serves, asked in two requests where it knows aggregated discovery, else in one for each version of
 * each group. client-go: discovery/discovery_client.go.
 */
import { ApiError, type Status } from '../meta/api-error.ts';
import type { GroupVersionResource } from '../meta/resource.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { CallOptions } from './call-options.ts';

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

/** Each of them is a request: more than this no cluster has. */
const MOST_VERSIONS = 5_000;

/** A list of objects, whatever was sent in its place. */
function objectsIn<E>(sent: readonly E[] | undefined): readonly E[] {
  const all: readonly E[] = Array.isArray(sent) ? sent : [];
  return all.filter((each) => typeof each === 'object' && each !== null);
}

function textsIn(sent: unknown): readonly string[] {
  return Array.isArray(sent) ? sent.filter((each) => typeof each === 'string') : [];
}

/** Whether it can stand in a path. */
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
        // What has no object of its own (a review, some subresources) cannot be asked for.
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

/** The versions of the groups that a server lists, the preferred first. */
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
      const shown = JSON.stringify(client.baseUrl);
      const message = `GET ${path}: expected a list of API groups, got ${got}; is ${shown} an API server?`;
      throw ApiError.local('Unexpected', message);
    }
    const failed: { groupVersion: string; error: ApiError }[] = [];
    const versions = versionsOf(root);
    if (versions.length > MOST_VERSIONS) {
      const message = `GET ${path}: the server lists ${versions.length} versions of groups; more than ${MOST_VERSIONS} are not asked for`;
      throw ApiError.local('TooLarge', message);
    }
    const parts = await Promise.all(
      versions.map(async ({ group, version }) => {
        const groupVersion = apiVersionOf(group, version);
        try {
          const list = await ask<LegacyList | undefined>(`${path}/${groupVersion}`, options);
          return legacy(group, version, list ?? {});
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
