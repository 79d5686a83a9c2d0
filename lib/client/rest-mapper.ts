/**
 * From the names that people and manifests use to a resource: a kind, a plural, a short name. What a server serves
 * is asked once and again when something is not there, because a CRD may have come meanwhile.
 * client-go: restmapper/discovery.go, DeferredDiscoveryRESTMapper.
 */
import { firstValueFrom, from } from 'rxjs';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { defineResource, type Resource } from '../meta/resource.ts';
import { checkedDuration } from '../rx/checked-option.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { type Timing, timingOf } from '../rx/timing.ts';
import type { CallOptions } from './call-options.ts';
import type { DiscoveredResource, Discovery, ServedApi } from './discovery.ts';
import { similarNames } from './similar-names.ts';
import { untilAborted } from './until-aborted.ts';

/** A kind as manifests have it. */
export interface KindName {
  readonly kind: string;
  /** @defaultValue the preferred version of the first group that has the kind */
  readonly apiVersion?: string | undefined;
}

/** A collection by group, plural and, where it matters, version. */
export interface PluralName {
  /** '' for the core group. */
  readonly group: string;
  readonly plural: string;
  /** @defaultValue the preferred one */
  readonly version?: string | undefined;
}

/** What {@link createRestMapper} takes beside the discovery. */
export interface RestMapperOptions extends Pick<Timing, 'scheduler'> {
  /**
   * The server is not asked again sooner, whatever is looked for, in milliseconds; Infinity: not before a `reset()`.
   * @defaultValue 1000
   */
  readonly minRefreshMs?: number | undefined;
}

/** Finds resources by the names of a server. */
export interface RestMapper {
  /** The resource of a kind. Rejects with an `ApiError` whose reason is `NoMatch`; it names what is near. */
  forKind(name: KindName, options?: CallOptions): Promise<Resource>;
  /**
   * The resource of a plural: `pods`, `deployments.apps`, `deployments.v1.apps`, the singular or a short name of it,
   * or its parts. Rejects with an `ApiError` whose reason is `NoMatch`; it names what is near.
   */
  forPlural(name: string | PluralName, options?: CallOptions): Promise<Resource>;
  /** Forgets what was asked, so that the next look asks anew. */
  reset(): void;
}

interface Sought {
  /** For the error. */
  readonly shown: string;
  readonly name: string;
  /** 0: this one; more: this one unless there is one with less; `undefined`: not this one. */
  rank(resource: DiscoveredResource): number | undefined;
  /** The name that the error compares with. */
  nameOf(resource: DiscoveredResource): string;
}

function kindSought({ kind, apiVersion }: KindName): Sought {
  if (typeof kind !== 'string' || kind === '') {
    throw new TypeError(
      `forKind: kind is ${JSON.stringify(kind)}; it must be a name such as 'Pod'`,
    );
  }
  const rightVersion = (each: DiscoveredResource) =>
    each.apiVersion === (apiVersion ?? each.apiVersion);
  return {
    shown: `kind ${JSON.stringify(kind)}${apiVersion === undefined ? '' : ` in ${apiVersion}`}`,
    name: kind,
    rank: (each) => (each.kind === kind && rightVersion(each) ? 0 : undefined),
    nameOf: (each) => each.kind,
  };
}

function pluralSought(name: string | PluralName): Sought {
  const nameOf = ({ plural }: DiscoveredResource) => plural;
  if (typeof name !== 'string') {
    const { group, plural, version } = name;
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
    // 'deployments.v1.apps' as well as 'deployments.apps': a group may begin like a version.
    if (where !== '' && where !== group && where !== `${version}.${group}`) return undefined;
    // A plural goes before another resource's short name.
    const at = [plural === first, singular === first, shortNames.includes(first)].indexOf(true);
    return at === -1 ? undefined : at;
  };
  return { shown: `resource ${JSON.stringify(name)}`, name: first, rank, nameOf };
}

/** The best; of equals the first, which the server prefers. */
function bestOf({ rank }: Sought, { resources }: ServedApi): DiscoveredResource | undefined {
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

/** One that is down now was there before: its resources are not gone. */
function withFailed(now: ServedApi, before: ServedApi | undefined): ServedApi {
  const missing = new Set(now.failed.map(({ groupVersion }) => groupVersion));
  for (const { apiVersion } of now.resources) missing.delete(apiVersion);
  const kept = (before?.resources ?? []).filter(({ apiVersion }) => missing.has(apiVersion));
  return { resources: [...now.resources, ...kept], failed: now.failed };
}

function noMatch({ shown, name, nameOf }: Sought, { resources, failed }: ServedApi): ApiError {
  const near = similarNames(name, resources.map(nameOf)).flatMap((found) =>
    [...new Set(resources.filter((each) => nameOf(each) === found).map((each) => each.apiVersion))]
      .slice(0, 3)
      .map((apiVersion) => `${found} (${apiVersion})`),
  );
  const meant = near.length === 0 ? '' : `; did you mean ${near.join(', ')}?`;
  const down = failed.map(({ groupVersion }) => groupVersion).join(', ');
  const unknown = down === '' ? '' : `; these could not be asked: ${down}`;
  const message = `the server serves no ${shown}${meant}${unknown}`;
  return ApiError.local('NoMatch', message);
}

/**
 * Finds resources by the names of a server.
 *
 * What is served is kept. A name that is not in it asks the server anew, once, however many look at the same time,
 * and not sooner than `minRefreshMs` after the last time.
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
  const asked = options.minRefreshMs ?? 1_000;
  const minRefreshMs = checkedDuration(asked, 'createRestMapper: minRefreshMs');
  const passedMs = stopwatch(timingOf(options).scheduler);
  const made = new Map<string, Resource>();
  let kept: { readonly api: ServedApi; readonly atMs: number } | undefined;
  let asking: Promise<ServedApi> | undefined;
  let epoch = 0;

  const ask = (): Promise<ServedApi> => {
    if (asking !== undefined) return asking;
    const asked = epoch;
    const atMs = passedMs();
    const current = discovery.served().then((served) => {
      const api = withFailed(served, kept?.api);
      if (asked === epoch) kept = { api, atMs };
      return api;
    });
    asking = current.finally(() => {
      if (asked === epoch) asking = undefined;
    });
    return asking;
  };
  const resourceOf = (found: DiscoveredResource): Resource => {
    const { group, version, plural, kind, namespaced } = found;
    const id = `${plural}/${found.apiVersion}/${kind}/${namespaced}`;
    const known = made.get(id) ?? defineResource({ group, version, plural, kind, namespaced });
    made.set(id, known);
    return known;
  };
  const find = async (sought: Sought, { signal }: CallOptions): Promise<Resource> => {
    const hit = kept && bestOf(sought, kept.api);
    if (hit !== undefined) return resourceOf(hit);
    if (kept !== undefined && passedMs() - kept.atMs < minRefreshMs && asking === undefined) {
      throw noMatch(sought, kept.api);
    }
    // Asked for all who look: one who gives up must not end it for the others.
    const api = await firstValueFrom(from(ask()).pipe(untilAborted(signal, 'discovery')));
    const found = bestOf(sought, api);
    if (found === undefined) throw noMatch(sought, api);
    return resourceOf(found);
  };

  return {
    forKind: async (name, options = {}) => await find(kindSought(name), options),
    forPlural: async (name, options = {}) => await find(pluralSought(name), options),
    reset() {
      epoch++;
      kept = undefined;
      asking = undefined;
    },
  };
}

/** Whether a value is a resource, not only the name of one. */
export function isResource(value: object): value is Resource<KubernetesObject> {
  return 'namespaced' in value && 'apiVersion' in value && 'plural' in value && 'kind' in value;
}
