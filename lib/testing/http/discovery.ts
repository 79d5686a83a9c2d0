/** The responses to discovery and health requests. */
import type { ServerLog } from '../served-resource.ts';
import { isPods } from '../served-resource.ts';

interface Group {
  readonly name: string;
  readonly versions: Set<string>;
}

function groupsOf(log: ServerLog): Group[] {
  const groups = new Map<string, Group>();
  for (const { served } of log.collections.values()) {
    const { group, version } = served.resource;
    const known = groups.get(group) ?? { name: group, versions: new Set() };
    known.versions.add(version);
    groups.set(group, known);
  }
  return [...groups.values()];
}

function groupResponse({ name, versions }: Group) {
  const all = [...versions].map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: all, preferredVersion: all[0] };
}

const VERBS = /* @__PURE__ */ 'create delete deletecollection get list patch update watch'.split(
  ' ',
);

function resourcesResponse(log: ServerLog, groupVersion: string) {
  const resources: object[] = [];
  for (const { served } of log.collections.values()) {
    const { resource, status, scale } = served;
    if (resource.apiVersion !== groupVersion) continue;
    const { plural: name, namespaced, kind } = resource;
    resources.push({ name, singularName: kind.toLowerCase(), namespaced, kind, verbs: VERBS });
    const add = (subresource: string, fields: object) =>
      resources.push({ name: `${name}/${subresource}`, singularName: '', namespaced, ...fields });
    const verbs = ['get', 'patch', 'update'];
    if (status) add('status', { kind, verbs });
    if (scale) add('scale', { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs });
    if (!isPods(served)) continue;
    add('eviction', { group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] });
    add('log', { kind, verbs: ['get'] });
  }
  if (resources.length === 0) return undefined;
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources };
}

/** Whether a resource of this group and version is served. */
export function servesGroupVersion(log: ServerLog, path: string): boolean {
  const [, root, ...rest] = path.split('/');
  const groupVersion = root === 'api' ? rest[0] : `${rest[0]}/${rest[1]}`;
  if (root !== 'api' && root !== 'apis') return false;
  for (const { served } of log.collections.values()) {
    // A real server handles all custom resources in one handler, which has no groups.
    if (!served.custom && served.resource.apiVersion === groupVersion) return true;
  }
  return false;
}

/** The response to a discovery or health path: an object for JSON, a string for text. */
export function discovery(log: ServerLog, path: string): object | string | undefined {
  switch (path.length > 1 ? path.replace(/\/$/, '') : path) {
    case '/readyz':
    case '/livez':
    case '/healthz':
      return 'ok';
    case '/version':
      return { major: '1', minor: '37', gitVersion: 'v1.37.0+rx-informer-fake' };
    case '/api':
      return { kind: 'APIVersions', versions: ['v1'] };
    case '/apis': {
      const groups = groupsOf(log).filter(({ name }) => name !== '');
      return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupResponse) };
    }
  }
  const [, root, first, second, ...more] = path.replace(/\/$/, '').split('/');
  if (first === undefined || more.length > 0) return undefined;
  if (root === 'api') return second === undefined ? resourcesResponse(log, first) : undefined;
  if (root !== 'apis') return undefined;
  if (second !== undefined) return resourcesResponse(log, `${first}/${second}`);
  const group = groupsOf(log).find(({ name }) => name === first);
  return group && { kind: 'APIGroup', apiVersion: 'v1', ...groupResponse(group) };
}
