/** Reads what the generator needs from a server: aggregated discovery and the OpenAPI v3 documents. */

import { Agent, request } from 'undici';
import type { ApiServerProcess } from '../e2e/apiserver.ts';

/** The fields of an OpenAPI v3 schema that Kubernetes uses. */
export interface Schema {
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly string[];
  readonly $ref?: string;
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[];
}

/** Group, version and kind. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A resource as the server describes it, without subresources. */
export interface DiscoveredResource extends GroupVersionKind {
  readonly plural: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  /** The position of the version within its group in the server's order of preference; 0 is the first. */
  readonly preference: number;
}

/** The input of the generator. */
export interface ServerDescription {
  readonly gitVersion: string;
  readonly resources: readonly DiscoveredResource[];
  /** The schemas by full name: `io.k8s.api.core.v1.Pod`. */
  readonly schemas: ReadonlyMap<string, Schema>;
}

interface DiscoveryDocument {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly scope: string;
        readonly responseKind?: { readonly kind?: string };
        readonly verbs: readonly string[];
      }[];
    }[];
  }[];
}

/** Reads a path from the server as JSON, as its administrator. */
export type GetJson = <T>(path: string, accept?: string) => Promise<T>;

/** Creates a reader for `server`. Call `close` afterwards. */
export function reader(server: Pick<ApiServerProcess, 'url' | 'ca' | 'token'>): {
  get: GetJson;
  close(): Promise<void>;
} {
  const dispatcher = new Agent({ connect: { ca: server.ca } });
  return {
    async get<T>(path: string, accept = 'application/json') {
      const { statusCode, body } = await request(server.url + path, {
        dispatcher,
        headers: { accept, authorization: `Bearer ${server.token}` },
      });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`GET ${path}: ${statusCode} ${text.slice(0, 200)}`);
      return JSON.parse(text) as T;
    },
    close: () => dispatcher.close(),
  };
}

/** Returns the server's resources, in the server's order of groups and versions. */
export async function discover(get: GetJson): Promise<DiscoveredResource[]> {
  const aggregated =
    'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
  const found: DiscoveredResource[] = [];
  for (const root of ['/api', '/apis']) {
    const document = await get<DiscoveryDocument>(root, aggregated);
    for (const { metadata, versions } of document.items) {
      for (const [preference, { version, resources = [] }] of versions.entries()) {
        for (const { resource, scope, responseKind, verbs } of resources) {
          found.push({
            group: metadata.name ?? '',
            version,
            kind: responseKind?.kind ?? '',
            plural: resource,
            namespaced: scope === 'Namespaced',
            verbs,
            preference,
          });
        }
      }
    }
  }
  return found;
}

/** Returns the resources of discovery and all schemas of their group-versions. */
export async function describeServer(get: GetJson): Promise<ServerDescription> {
  const { gitVersion } = await get<{ gitVersion: string }>('/version');
  const resources = await discover(get);
  const schemas = new Map<string, Schema>();
  const groupVersions = new Set(
    resources.map((r) => (r.group === '' ? `api/${r.version}` : `apis/${r.group}/${r.version}`)),
  );
  for (const groupVersion of groupVersions) {
    const document = await get<{ components: { schemas: Record<string, Schema> } }>(
      `/openapi/v3/${groupVersion}`,
    );
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      schemas.set(name, schema);
    }
  }
  return { gitVersion, resources, schemas };
}
