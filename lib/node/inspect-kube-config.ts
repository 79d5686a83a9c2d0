/// <reference types="node" />
/**
 * `inspectKubeConfig`, which finds out what a diagnosis cannot see from the requests of a client: the age of the
 * credentials, and the TLS of the server.
 */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { firstValueFrom, isObservable } from 'rxjs';
import type { ConnectionFacts, SeenCredentials } from '../diagnose/observations.ts';
import { checkBaseUrl } from '../transport/address.ts';
import { type Credentials, kubeConfigCredentials } from './credentials.ts';
import { environmentProxy } from './environment-proxy.ts';
import { type FullUser, isPlain } from './kube-config-fields.ts';
import type { KubeConfigSource } from './kube-config-source.ts';
import { type LoadedConfig, loadKubeConfig } from './load-kube-config.ts';

const PLUGIN_LIMIT_MS = 300_000;
const CONNECT_LIMIT_MS = 5_000;

/** The times in a JSON Web Token, in milliseconds. Other tokens have none. */
function tokenTimes(token: string): Pick<SeenCredentials, 'issuedAtMs' | 'expiresAtMs'> {
  const [, payload = ''] = token.split('.');
  let claims: unknown;
  try {
    claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  } catch {
    return {};
  }
  const { iat, exp } = (claims ?? {}) as { readonly iat?: unknown; readonly exp?: unknown };
  const ms = (seconds: unknown) => (typeof seconds === 'number' ? seconds * 1_000 : undefined);
  return { issuedAtMs: ms(iat), expiresAtMs: ms(exp) };
}

function certificateTimes(text: unknown): Pick<SeenCredentials, 'issuedAtMs' | 'expiresAtMs'> {
  try {
    const { validFrom, validTo } = new X509Certificate(text as string | Buffer);
    return { issuedAtMs: Date.parse(validFrom), expiresAtMs: Date.parse(validTo) };
  } catch {
    return {};
  }
}

function seenCredentials({ headers, tls }: Credentials, user: FullUser): SeenCredentials {
  const { plugin, tokenFile, authProvider, certFile } = user;
  const renews = Boolean(plugin ?? tokenFile ?? authProvider);
  const { authorization } = headers;
  if (authorization?.startsWith('Bearer ')) {
    return { kind: 'token', renews, ...tokenTimes(authorization.slice('Bearer '.length)) };
  }
  if (authorization !== undefined) return { kind: 'basic', renews };
  if (tls.cert === undefined) return { kind: 'none', renews };
  return {
    kind: 'certificate',
    renews: renews || Boolean(certFile),
    ...certificateTimes(tls.cert),
  };
}

async function credentialsOf(config: LoadedConfig): Promise<Credentials | undefined> {
  try {
    const current = kubeConfigCredentials(config, PLUGIN_LIMIT_MS).current();
    return isObservable(current) ? await firstValueFrom(current) : current;
  } catch {
    // The first request fails for the same reason, and its error says it.
    return undefined;
  }
}

/** Opens a connection, sends nothing, and looks at the certificate, whoever has signed it. */
function tlsOf(server: string, servername: string | undefined): Promise<ConnectionFacts> {
  const { hostname, port } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, '');
  const name = servername ?? (isIP(host) === 0 ? host : undefined);
  return new Promise((resolve) => {
    const socket = connect({
      ...{ host, port: Number(port || 443), timeout: CONNECT_LIMIT_MS, rejectUnauthorized: false },
      ...(name === undefined ? {} : { servername: name }),
    });
    const end = (facts: ConnectionFacts) => {
      socket.destroy();
      resolve(facts);
    };
    socket.once('secureConnect', () => {
      const endsAtMs = Date.parse(socket.getPeerCertificate().valid_to);
      end({ tls: socket.getProtocol() ?? undefined, certificateEndsAtMs: endsAtMs || undefined });
    });
    for (const event of ['error', 'timeout', 'close'] as const) socket.once(event, () => end({}));
  });
}

/**
 * Returns the option `inspect` of `diagnose` for a kubeconfig: when the credentials were issued and when they end, the
 * version of TLS, and when the server's certificate ends.
 *
 * The returned function reads the credentials as a client does, so a credential plugin may run, and connects to the
 * server once, without sending anything; not through a proxy. Its result contains no credentials. It rejects with a
 * `TypeError` if the kubeconfig cannot be used.
 *
 * @example
 * ```ts
 * import { inspectKubeConfig } from 'rx-informer/node';
 *
 * const text = JSON.stringify({
 *   clusters: [{ name: 'dev', cluster: { server: 'http://127.0.0.1:8001' } }],
 *   contexts: [{ name: 'dev', context: { cluster: 'dev' } }],
 *   'current-context': 'dev',
 * });
 * await inspectKubeConfig({ text })(); // => { credentials: { kind: 'none', renews: false } }
 * ```
 */
export function inspectKubeConfig(source: KubeConfigSource = {}): () => Promise<ConnectionFacts> {
  return async () => {
    // With the credentials, because a warning would come for a second time. They are not sent.
    const config = await loadKubeConfig(source, true);
    const cluster = config.getCurrentCluster();
    const user: FullUser = config.getCurrentUser() ?? { name: '' };
    const none = { credentials: { kind: 'none', renews: false } } as const;
    if (cluster === null) return none;
    // An error of Node quotes the address, with a password.
    checkBaseUrl('inspectKubeConfig: server', cluster.server);
    if (isPlain(cluster)) return none;
    const found = await credentialsOf(config);
    const credentials = found && seenCredentials(found, user);
    const isDirect = !(cluster.proxyUrl || environmentProxy(cluster.server));
    const tls = isDirect ? await tlsOf(cluster.server, found?.tls.servername) : {};
    return { credentials, ...tls };
  };
}
