/**
 * Calls the API server over plain HTTPS, without the library. Its responses are the truth for comparisons, and its
 * writes are those of other clients.
 */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent, type AgentOptions, type RequestOptions, request } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import {
  type KubernetesList,
  type KubernetesObject,
  type Resource,
  resourcePath,
} from 'rx-informer';

/** The options of a call. */
export interface RawOptions {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** @defaultValue JSON; a PATCH is a merge patch */
  readonly contentType?: string;
  /** Such as those of impersonation. A list is repeated. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** A response of any status. `body` is parsed if it is JSON. */
export interface RawAnswer<R> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: R;
}

/** The API for one user. */
export interface RawApi {
  /** Sends a request. Rejects only without a response. */
  call<R = unknown>(method: string, path: string, options?: RawOptions): Promise<RawAnswer<R>>;
  /** Sends a request. Rejects also on a status of 300 or more. */
  ok<R = unknown>(method: string, path: string, options?: RawOptions): Promise<R>;
  /** Lists the complete collection at the newest version, in pages. Only `managedFields` are removed. */
  listAll<T extends KubernetesObject>(
    resource: Resource<T>,
    query?: Readonly<Record<string, string>>,
  ): Promise<{ readonly items: T[]; readonly resourceVersion: string }>;
  /** The number of watches of a resource that the server has open, including its own. */
  openWatches(resource: Resource<KubernetesObject>): Promise<number>;
  close(): void;
}

/** The body: parsed if it is one value of JSON, and not the lines of a watch. */
async function bodyOf(message: IncomingMessage, isWatch: boolean): Promise<unknown> {
  let text = '';
  message.setEncoding('utf8');
  for await (const chunk of message) text += chunk;
  const isJson = (message.headers['content-type'] ?? '').includes('json') && !isWatch;
  return isJson ? JSON.parse(text) : text;
}

/** Adds the fields that items of a list lack, and removes the fields that informers remove. */
function normalised<T extends KubernetesObject>(item: T, resource: Resource<T>): T {
  const { managedFields: _managedFields, ...metadata } = item.metadata ?? {};
  return { ...item, apiVersion: resource.apiVersion, kind: resource.kind, metadata };
}

/** Opens the API for one user: the `context` of the kubeconfig, by default its current context. */
export async function openRawApi(kubeconfig: string, context?: string): Promise<RawApi> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  if (context !== undefined) config.setCurrentContext(context);
  const access: RequestOptions = {};
  await config.applyToHTTPSOptions(access);
  const server = config.getCurrentCluster()?.server ?? '';
  const secure = server.startsWith('https:');
  const { ca, cert, key, rejectUnauthorized } = access;
  const agent = secure
    ? new Agent({ keepAlive: true, ca, cert, key, rejectUnauthorized } as AgentOptions)
    : new HttpAgent({ keepAlive: true });

  const call = async <R>(method: string, path: string, options: RawOptions = {}) => {
    const { query = {}, body } = options;
    const url = new URL(`${server.replace(/\/+$/, '')}${path}`);
    url.search = new URLSearchParams(query).toString();
    const text = body === undefined ? undefined : JSON.stringify(body);
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = {
      ...access.headers,
      ...(options.headers as OutgoingHttpHeaders | undefined),
      ...(text === undefined
        ? {}
        : {
            'content-type': options.contentType ?? type,
            'content-length': String(Buffer.byteLength(text)),
          }),
    };
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = (secure ? request : httpRequest)(url, { agent, method, headers }, resolve);
      sent.once('error', reject);
      sent.end(text);
    });
    const answer = (await bodyOf(message, 'watch' in query)) as R;
    return { status: message.statusCode ?? 0, headers: message.headers, body: answer };
  };
  const ok = async <R>(method: string, path: string, options?: RawOptions) => {
    const { status, body } = await call<R>(method, path, options);
    if (status < 300) return body;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    throw new Error(`${method} ${path}: ${status} ${text}`);
  };

  return {
    call,
    ok,
    async listAll(resource, query = {}) {
      const items: (typeof resource extends Resource<infer T> ? T : never)[] = [];
      let token: string | undefined;
      let resourceVersion = '';
      do {
        const page: Record<string, string> = { ...query, limit: '1000' };
        if (token) page.continue = token;
        const list = await ok<KubernetesList<(typeof items)[number]>>(
          'GET',
          resourcePath(resource),
          { query: page },
        );
        for (const item of list.items) items.push(normalised(item, resource));
        resourceVersion ||= list.metadata.resourceVersion ?? '';
        token = list.metadata.continue;
      } while (token);
      return { items, resourceVersion };
    },
    async openWatches({ group, plural }) {
      const metrics = await ok<string>('GET', '/metrics');
      let open = 0;
      for (const line of metrics.split('\n')) {
        if (!line.startsWith('apiserver_longrunning_requests{')) continue;
        const is = (label: string, value: string) => line.includes(`${label}="${value}"`);
        if (is('verb', 'WATCH') && is('group', group) && is('resource', plural)) {
          open += Number(line.slice(line.lastIndexOf(' ') + 1));
        }
      }
      return open;
    },
    close: () => agent.destroy(),
  };
}
