/// <reference types="node" />
/**
 * `clientFromKubeConfig`, which creates a client from a kubeconfig: it adds credentials to each request and sends it
 * through a pool of connections.
 */
import { defer, isObservable, type Observable } from 'rxjs';
import { catchError, tap } from 'rxjs/operators';
import { checkedTimeout } from '../checks/checked-option.ts';
import { comparingStored } from '../decode/differential/stored-difference.ts';
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

/** The options of {@link clientFromKubeConfig}. */
export interface KubeConfigClientOptions
  extends KubeConfigSource,
    Omit<KubeClientOptions, 'baseUrl' | 'fetch' | 'transport'> {
  /**
   * The largest number of connections; Infinity means no limit. Over HTTP/1.1 each watch holds a connection.
   * @defaultValue no limit
   */
  readonly maxConnections?: number | undefined;
  /**
   * How long to wait for the head of a response, in milliseconds. A list or watch of an informer whose last try was not answered has two
   * and then four times as long. Over HTTP/2 a connection on which no head arrived
   * is pinged, and replaced if the ping is not answered within the same time again. Keep this value below the
   * reflector's `requestTimeoutMs`. Infinity means no limit. @defaultValue 30000
   */
  readonly headersTimeoutMs?: number | undefined;
  /**
   * Whether credentials are also sent to a cluster whose address begins with `http://`, where everybody on the way can
   * read them, and plugins are run for it. @defaultValue false
   */
  readonly credentialsOverHttp?: boolean | undefined;
  /**
   * How long a credential plugin may run, in milliseconds. It is ended earlier if no request waits for it, as after `close()`. The default
   * leaves time for a login in a browser. Infinity means no limit. @defaultValue 300000
   */
  readonly execTimeoutMs?: number | undefined;
}

class Refused {
  readonly credentials: Credentials;
  constructor(credentials: Credentials) {
    this.credentials = credentials;
  }
}

function sameTls(a: TlsOptions, b: TlsOptions): boolean {
  // JSON shows the bytes of certificates that are Buffers.
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/**
 * A transport that sends each request with the current credentials, and once more with new credentials if the server
 * responds with 401.
 */
function authorized(
  credentials: CredentialSource,
  connect: (tls: TlsOptions) => UndiciTransport,
): Transport {
  let pool: { tls: TlsOptions; transport: UndiciTransport } | undefined;
  const transports = new Set<UndiciTransport>();
  let closed = false;

  /** Each pool belongs to its certificates. A pool that has been replaced ends with its last request. */
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
      // The request is queued while a plugin waits for a login, because that time is not a silence of the server.
      return isObservable(known)
        ? queuedUntil(known, (used) => sentAs(used, request, last))
        : sentAs(known, request, last);
    });
  return {
    mayCompress: false,
    decoding: comparingStored(),
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
 * Creates a client for the cluster of a kubeconfig, with its certificates, tokens, exec plugins and proxy.
 *
 * Without a source, the kubeconfig is read from the files of `KUBECONFIG`, else from `~/.kube/config`, else from the
 * service account of the pod. Over `http://` no credentials of the kubeconfig are sent, and no plugin is run,
 * unless `credentialsOverHttp` is set; a warning on the console says so. Without a `proxy-url`, the proxy of the environment is used as by kubectl
 * (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`). Needs the package `undici`, and for a kubeconfig `@kubernetes/client-node`,
 * of which only the YAML parser is loaded, unless the user has an `auth-provider`.
 *
 * Tokens and certificates that rotate are used without a restart. After a 401 the credentials are read again, and the
 * request is sent once more. A request whose credentials are not available errors with an `ApiError` of reason
 * `Credentials`, which contains no output of a plugin. While a plugin runs, requests emit `queued`. Rejects with a
 * `TypeError` if no kubeconfig is found, if the context does not exist, or if a field cannot be obeyed as by kubectl
 * (docs/guide/clients.md lists these fields).
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
  const { file, text, config, context, untrusted, ...rest } = options;
  const { maxConnections, headersTimeoutMs, credentialsOverHttp, execTimeoutMs, ...clientOptions } =
    rest;
  const limitMs = checkedTimeout(execTimeoutMs ?? 300_000, 'clientFromKubeConfig: execTimeoutMs');
  checkPool('clientFromKubeConfig', rest);
  // Loaded before client-node, which would fail without undici and would be blamed.
  await loadUndici('clientFromKubeConfig');
  const kubeConfig = await loadKubeConfig(options, credentialsOverHttp === true);
  const cluster = kubeConfig.getCurrentCluster();
  const baseUrl = cluster?.server.replace(/(?<!\/)\/+$/, '') ?? '';
  const user: FullUser | null = kubeConfig.getCurrentUser();
  const named = cluster?.proxyUrl;
  const proxy = named || environmentProxy(baseUrl);
  const setting = named ? 'proxy-url' : 'the HTTPS_PROXY or HTTP_PROXY of the environment';
  if (proxy) checkProxy(proxy, setting);
  const headers = Object.entries(user?.impersonation ?? {});
  const repeated = headers.filter(([, values]) => values.length > 1);
  const transport = authorized(kubeConfigCredentials(kubeConfig, limitMs), (tls) =>
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
