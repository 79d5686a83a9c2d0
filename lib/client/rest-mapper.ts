/**
 * Finds resources by the names that people and manifests use: kinds, plurals and short names. The mapper keeps the
 * result of discovery and runs discovery again for an unknown name, because a CRD may have been added since.
 * client-go: restmapper/discovery.go, DeferredDiscoveryRESTMapper.
 */
import { firstValueFrom, of } from 'rxjs';
import { mergeMap } from 'rxjs/operators';
import { check, checkedDuration, checkedName } from '../checks/checked-option.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { defineResource, type Resource } from '../meta/resource.ts';
import { longTimer } from '../rx/long-timer.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { type Timing, timingOf } from '../rx/timing.ts';
import type { CallOptions } from './call-options.ts';
import type { DiscoveredResource, Discovery, ServedApi } from './discovery.ts';
import { similarNames } from './similar-names.ts';
import { untilAborted } from './until-aborted.ts';

/** A kind, as manifests name it. */
export interface KindName {
  readonly kind: string;
  /** @defaultValue the preferred version of the first group that has the kind */
  readonly apiVersion?: string | undefined;
}

/** A collection, by its group, plural and optionally version. */
export interface PluralName {
  /** '' for the core group. */
  readonly group: string;
  readonly plural: string;
  /** @defaultValue the version that the server prefers */
  readonly version?: string | undefined;
}

/** The options of {@link createRestMapper}. */
export interface RestMapperOptions extends Pick<Timing, 'scheduler'> {
  /**
   * The minimum time between two discoveries, for any names, in milliseconds. The lookup of an unknown name waits for the
   * next discovery. Infinity means that only `reset()` causes another discovery. @defaultValue 1000
   */
  readonly minRefreshMs?: number | undefined;
}

/** Finds resources by the names of a server. */
export interface RestMapper {
  /**
   * Returns the resource of a kind. Rejects with an `ApiError` with reason `NoMatch` that suggests similar names, or
   * with the error of the discovery.
   */
  forKind(name: KindName, options?: CallOptions): Promise<Resource>;
  /**
   * Returns the resource of a plural: `pods`, `deployments.apps`, `deployments.v1.apps`, a singular, a short name, or
   * an object with group and plural. Rejects with an `ApiError` with reason `NoMatch` that suggests similar names, or
   * with the error of the discovery.
   */
  forPlural(name: string | PluralName, options?: CallOptions): Promise<Resource>;
  /** Discards the results of discovery, so that the next lookup runs discovery again. */
  reset(): void;
}

interface NameQuery {
  /** The name as error messages show it. */
  readonly shown: string;
  readonly name: string;
  /** The rank of a match: the lowest wins, and 0 is the best. `undefined` means no match. */
  rank(resource: DiscoveredResource): number | undefined;
  /** The name that is compared for suggestions. */
  nameOf(resource: DiscoveredResource): string;
}

function kindQuery(named: KindName): NameQuery {
  const { kind, apiVersion }: KindName = Object(named);
  checkedName(kind, 'forKind: kind', "a name such as 'Pod'");
  const rightVersion = (each: DiscoveredResource) =>
    each.apiVersion === (apiVersion ?? each.apiVersion);
  return {
    shown: `kind ${JSON.stringify(kind)}${apiVersion === undefined ? '' : ` in ${apiVersion}`}`,
    name: kind,
    rank: (each) => (each.kind === kind && rightVersion(each) ? 0 : undefined),
    nameOf: (each) => each.kind,
  };
}

function pluralQuery(name: string | PluralName): NameQuery {
  const nameOf = ({ plural }: DiscoveredResource) => plural;
  if (typeof name !== 'string') {
    const { group, plural, version }: PluralName = Object(name);
    const must = "a name such as 'pods' or { group, plural }";
    check(typeof plural === 'string', 'forPlural: the name', name, must);
    const shown = JSON.stringify([plural, version, group].filter(Boolean).join('.'));
    const rank = (each: DiscoveredResource) => {
      if (each.plural !== plural || each.group !== group) return undefined;
      return each.version === (version ?? each.version) ? 0 : undefined;
    };
    return { shown: `resource ${shown}`, name: plural, rank, nameOf };
  }
  const [first = '', ...rest] = name.toLowerCase().split('.');
  const where = rest.join('.');
  const rank = ({ plural, singular, shortNames, group, version }: DiscoveredResource) => {
    // Both 'deployments.v1.apps' and 'deployments.apps' are valid, and a group may start like a version.
    if (where !== '' && where !== group && where !== `${version}.${group}`) return undefined;
    // A plural takes precedence over a short name of another resource.
    const at = [plural === first, singular === first, shortNames.includes(first)].indexOf(true);
    return at === -1 ? undefined : at;
  };
  return { shown: `resource ${JSON.stringify(name)}`, name: first, rank, nameOf };
}

/** The best match; among equals the first, because the server lists its preferred version first. */
function bestOf({ rank }: NameQuery, { resources }: ServedApi): DiscoveredResource | undefined {
  let best: DiscoveredResource | undefined;
  let lowest = Number.POSITIVE_INFINITY;
  for (const each of resources) {
    const at = rank(each);
    if (at === undefined || at >= lowest) continue;
    best = each;
    lowest = at;
  }
  return best;
}

/** Keeps the known resources of API versions that could not be listed this time, because they still exist. */
function withFailed(now: ServedApi, before: ServedApi | undefined): ServedApi {
  const missing = new Set(now.failed.map(({ groupVersion }) => groupVersion));
  for (const { apiVersion } of now.resources) missing.delete(apiVersion);
  const kept = (before?.resources ?? []).filter(({ apiVersion }) => missing.has(apiVersion));
  return { resources: [...now.resources, ...kept], failed: now.failed };
}

function noMatch({ shown, name, nameOf }: NameQuery, { resources, failed }: ServedApi): ApiError {
  const near = similarNames(name, resources.map(nameOf)).flatMap((found) =>
    [...new Set(resources.filter((each) => nameOf(each) === found).map((each) => each.apiVersion))]
      .slice(0, 3)
      .map((apiVersion) => `${found} (${apiVersion})`),
  );
  const meant = near.length === 0 ? '' : `; did you mean ${near.join(', ')}?`;
  const down = failed.map(({ groupVersion }) => groupVersion).join(', ');
  const unknown = down === '' ? '' : `; these could not be listed: ${down}`;
  const message = `the server serves no ${shown}${meant}${unknown}`;
  return ApiError.local('NoMatch', message);
}

/**
 * Creates a mapper from names to the resources of a server.
 *
 * The result of discovery is kept. A lookup of an unknown name runs discovery again: once for all concurrent lookups,
 * and not sooner than `minRefreshMs` after the last discovery, for which the lookup waits. Throws a `TypeError` if `minRefreshMs` is not a valid
 * duration.
 *
 * @example
 * ```ts
 * import { createClient, createDiscovery, createRestMapper } from 'rx-informer';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
 * const mapper = createRestMapper(createDiscovery(client));
 * const found = await mapper.forKind({ apiVersion: 'apps/v1', kind: 'Deployment' });
 * found.plural; // => 'deployments'
 * ```
 */
export function createRestMapper(
  discovery: Discovery,
  options: RestMapperOptions = {},
): RestMapper {
  const givenMs = options.minRefreshMs ?? 1_000;
  const minRefreshMs = checkedDuration(givenMs, 'createRestMapper: minRefreshMs');
  const { scheduler } = timingOf(options);
  const passedMs = stopwatch(scheduler);
  const resources = new Map<string, Resource>();
  let cached: { readonly api: ServedApi; readonly atMs: number } | undefined;
  let pending: Promise<ServedApi> | undefined;
  let epoch = 0;

  const discover = (): Promise<ServedApi> => {
    if (pending !== undefined) return pending;
    const startEpoch = epoch;
    const atMs = passedMs();
    const current = discovery.served().then((served) => {
      const api = withFailed(served, cached?.api);
      if (startEpoch === epoch) cached = { api, atMs };
      return api;
    });
    pending = current.finally(() => {
      if (startEpoch === epoch) pending = undefined;
    });
    return pending;
  };
  const resourceOf = (found: DiscoveredResource): Resource => {
    const { group, version, plural, kind, namespaced } = found;
    const id = `${plural}/${found.apiVersion}/${kind}/${namespaced}`;
    const known = resources.get(id) ?? defineResource({ group, version, plural, kind, namespaced });
    resources.set(id, known);
    return known;
  };
  const find = async (query: NameQuery, { signal }: CallOptions): Promise<Resource> => {
    const hit = cached && bestOf(query, cached.api);
    if (hit !== undefined) return resourceOf(hit);
    const nowMs = passedMs();
    let restMs = 0;
    if (cached !== undefined && pending === undefined) {
      const ageMs = nowMs - cached.atMs;
      restMs = minRefreshMs - ageMs;
      // Nothing was installed since a discovery of the same moment.
      const isCurrent = ageMs === 0 && restMs > 0;
      if (isCurrent || restMs === Number.POSITIVE_INFINITY) throw noMatch(query, cached.api);
    }
    // The caller may have just installed the definition.
    const due = restMs > 0 ? longTimer(restMs, scheduler) : of(0);
    // Concurrent lookups share one discovery, so aborting one lookup must not abort the discovery.
    const api = await firstValueFrom(
      due.pipe(
        mergeMap(() =>
          // Another lookup that waited may have run discovery.
          cached !== undefined && cached.atMs >= nowMs ? of(cached.api) : discover(),
        ),
        untilAborted(signal, 'discovery'),
      ),
    );
    const found = bestOf(query, api);
    if (found === undefined) throw noMatch(query, api);
    return resourceOf(found);
  };

  return {
    forKind: async (name, options = {}) => await find(kindQuery(name), options),
    forPlural: async (name, options = {}) => await find(pluralQuery(name), options),
    reset() {
      epoch++;
      cached = undefined;
      pending = undefined;
    },
  };
}

/** Whether a value is a resource, as opposed to the name of a resource. */
export function isResource(value: object): value is Resource<KubernetesObject> {
  return 'namespaced' in value && 'apiVersion' in value && 'plural' in value && 'kind' in value;
}
