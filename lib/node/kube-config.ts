/// <reference types="node" />
/** From a kubeconfig to a client: credentials in front of the transport, one pool of connections behind. */
import { defer, from, type Observable } from 'rxjs';
import { catchError, tap } from 'rxjs/operators';
import { ApiError } from '../meta/api-error.ts';
import { createClient, type KubeClient, type KubeClientOptions } from '../transport/kube-client.ts';
import { queuedUntil } from '../transport/queued-until.ts';
import type { Transport, TransportEvent, TransportRequest } from '../transport/transport.ts';
import { type CredentialSource, type Credentials, kubeConfigCredentials } from './credentials.ts';
import { environmentProxy } from './environment-proxy.ts';
import type { FullUser } from './kube-config-fields.ts';
import type { KubeConfigLike, KubeConfigSource } from './kube-config-source.ts';
import { loadKubeConfig } from './load-kube-config.ts';
import { checkPool, checkProxy, type TlsOptions } from './undici/pool-options.ts';
import { loadUndici } from './undici/undici-pool.ts';
import { createUndiciTransport, type UndiciTransport } from './undici/undici-transport.ts';

/** What {@link clientFromKubeConfig} takes. */
export interface KubeConfigClientOptions
  extends KubeConfigSource,
    Omit<KubeClientOptions, 'baseUrl' | 'fetch' | 'transport'> {
  /** The most connections at once, Infinity for no limit; over HTTP/1.1 each watch holds one. @defaultValue no limit */
  readonly maxConnections?: number | undefined;
  /**
   * How long the head of an answer may take, in milliseconds. Over HTTP/2, a connection on which one did not come is
   * asked for a sign of life, and replaced when that takes as long again: keep it below the reflector's
   * `requestTimeoutMs`. Infinity: for ever. @defaultValue 30 000
   */
  readonly headersTimeoutMs?: number | undefined;
}

class Refused {
  readonly credentials: Credentials;
  constructor(credentials: Credentials) {
    this.credentials = credentials;
  }
}

function sameTls(a: TlsOptions, b: TlsOptions): boolean {
  // Buffers of certificates become text of their bytes.
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** Sends with the credentials of the moment, once more with new ones when the server says 401. */
function authorized(
  credentials: CredentialSource,
  connect: (tls: TlsOptions) => UndiciTransport,
): Transport {
  let pool: { tls: TlsOptions; transport: UndiciTransport } | undefined;
  const transports = new Set<UndiciTransport>();
  let closed = false;

  /** A pool belongs to its certificates; one that has been replaced ends with its last request. */
  const transportFor = (tls: TlsOptions) => {
    if (closed) throw ApiError.local('Stopped', 'the client was closed');
    if (pool !== undefined && sameTls(pool.tls, tls)) {
      pool.tls = tls;
      return pool.transport;
    }
    const old = pool?.transport;
    pool = { tls, transport: connect(tls) };
    transports.add(pool.transport);
    old?.retire().then(() => transports.delete(old));
    return pool.transport;
  };
  const sentAs = (used: Credentials, request: TransportRequest, last: boolean) =>
    transportFor(used.tls)
      .send({ ...request, headers: { ...request.headers, ...used.headers } })
      .pipe(
        tap((event) => {
          if (last || event.kind !== 'head' || event.status !== 401) return;
          if (credentials.refused(used)) throw new Refused(used);
        }),
      );
  const attempt = (request: TransportRequest, last: boolean): Observable<TransportEvent> =>
    defer(() => {
      const known = credentials.current();
      // A plugin may wait for a person: that is no silence of the server.
      return known instanceof Promise
        ? queuedUntil(from(known), (used) => sentAs(used, request, last))
        : sentAs(known, request, last);
    });
  return {
    mayCompress: false,
    get protocol() {
      return pool?.transport.protocol;
    },
    get connectionsLeft() {
      return pool?.transport.connectionsLeft;
    },
    send: (request) =>
      attempt(request, false).pipe(
        catchError((error) => {
          if (error instanceof Refused) return attempt(request, true);
          throw error;
        }),
      ),
    async close() {
      closed = true;
      await Promise.all([...transports].map((transport) => transport.close()));
    },
  };
}

/**
 * A client for the cluster of a kubeconfig, with its certificates, tokens, exec plugins and proxy.
 *
 * Without a source: the files of `KUBECONFIG`, else `~/.kube/config`, else the service account of the pod it
 * runs in. Without a `proxy-url`, the proxy of the environment is used (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`), as by
 * kubectl. Needs the packages `@kubernetes/client-node` and `undici`. Tokens and certificates that rotate are
 * taken up; on a 401 they are asked for once more. Credentials that cannot be had are an `ApiError` of reason
 * `Credentials` for the request, with nothing of a plugin's output; while a plugin or a person is waited for, requests
 * say `queued`. Rejects with a `TypeError` when there is no kubeconfig, no such context, or a field in it that can
 * be obeyed by kubectl and not here (docs/clients.md lists them).
 *
 * @example
 * ```ts
 * import { clientFromKubeConfig } from 'rx-informer/node';
 *
 * const text = JSON.stringify({
 *   clusters: [{ name: 'proxy', cluster: { server: 'http://127.0.0.1:8001' } }],
 *   contexts: [{ name: 'proxy', context: { cluster: 'proxy' } }],
 *   'current-context': 'proxy',
 * });
 * const client = await clientFromKubeConfig({ text });
 * client.baseUrl; // => 'http://127.0.0.1:8001'
 * await client.close();
 * ```
 */
export async function clientFromKubeConfig(
  source: KubeConfigLike | KubeConfigClientOptions = {},
): Promise<KubeClient> {
  const options: KubeConfigClientOptions = isKubeConfig(source) ? { config: source } : source;
  const { file, text, config, context, ...rest } = options;
  const { maxConnections, headersTimeoutMs, ...clientOptions } = rest;
  checkPool('clientFromKubeConfig', rest);
  // Before client-node, which fails without it and would be blamed.
  await loadUndici('clientFromKubeConfig');
  const kubeConfig = await loadKubeConfig(options);
  const cluster = kubeConfig.getCurrentCluster();
  const baseUrl = cluster?.server.replace(/\/+$/, '') ?? '';
  const user: FullUser | null = kubeConfig.getCurrentUser();
  const named = cluster?.proxyUrl;
  const proxy = named || environmentProxy(baseUrl);
  const said = named ? 'proxy-url' : 'the HTTPS_PROXY or HTTP_PROXY of the environment';
  if (proxy) checkProxy(proxy, said);
  const headers = Object.entries(user?.impersonation ?? {});
  const repeated = headers.filter(([, values]) => values.length > 1);
  const transport = authorized(kubeConfigCredentials(kubeConfig), (tls) =>
    createUndiciTransport({
      baseUrl,
      tls,
      ...(repeated.length === 0 ? {} : { repeatedHeaders: Object.fromEntries(repeated) }),
      ...(proxy ? { proxy } : {}),
      ...(maxConnections === undefined ? {} : { maxConnections }),
      ...(headersTimeoutMs === undefined ? {} : { headersTimeoutMs }),
    }),
  );
  return createClient({ ...clientOptions, baseUrl, transport });
}

function isKubeConfig(source: KubeConfigLike | KubeConfigClientOptions): source is KubeConfigLike {
  return 'applyToHTTPSOptions' in source;
}
