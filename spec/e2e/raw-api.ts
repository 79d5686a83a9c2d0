/**
 * The API server over plain HTTPS, without the library: what it answers is the truth that tests compare with,
 * and its writes are the other clients of the cluster.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent, type AgentOptions, type RequestOptions, request } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import {
  type KubernetesList,
  type KubernetesObject,
  type Resource,
  resourcePath,
} from 'rx-informer';

/** What comes beside method and path. */
export interface RawOptions {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** @defaultValue JSON; a PATCH is a merge patch */
  readonly contentType?: string;
}

/** An answer, whatever its status. `body` is parsed where it is JSON. */
export interface RawAnswer<R> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: R;
}

/** One user's way to the server. */
export interface RawApi {
  /** Rejects only when there is no answer. */
  call<R = unknown>(method: string, path: string, options?: RawOptions): Promise<RawAnswer<R>>;
  /** Rejects also on a status of 300 and more. */
  ok<R = unknown>(method: string, path: string, options?: RawOptions): Promise<R>;
  /** Everything there is, newest, in pages; as the server has it but for `managedFields`. */
  listAll<T extends KubernetesObject>(
    resource: Resource<T>,
    query?: Readonly<Record<string, string>>,
  ): Promise<{ readonly items: T[]; readonly resourceVersion: string }>;
  /** Watches of a resource that the server has open, its own included. */
  openWatches(resource: Resource<KubernetesObject>): Promise<number>;
  close(): void;
}

async function bodyOf(message: IncomingMessage): Promise<unknown> {
  let text = '';
  message.setEncoding('utf8');
  for await (const chunk of message) text += chunk;
  return (message.headers['content-type'] ?? '').includes('json') ? JSON.parse(text) : text;
}

/** Fills in what items of a list lack, drops what informers drop. */
function normalised<T extends KubernetesObject>(item: T, resource: Resource<T>): T {
  const { managedFields: _managedFields, ...metadata } = item.metadata ?? {};
  return { ...item, apiVersion: resource.apiVersion, kind: resource.kind, metadata };
}

/** Opens one user's way: `context` of the kubeconfig, default its current one. */
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
    const answer = (await bodyOf(message)) as R;
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
