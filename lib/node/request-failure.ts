/// <reference types="node" />
/**
 * Error messages for requests over undici that failed. They name the proxy, too, and say whether the proxy failed.
 */
import { ApiError } from '../meta/api-error.ts';
import { type CauseTexts, LOST, networkError } from '../transport/network-error.ts';
import type { TransportRequest } from '../transport/transport.ts';

/** The texts per error code. They name the settings that can be changed here. */
const CAUSES: CauseTexts = [
  [/REFUSED/, 'connection refused (%). Is the API server running at this address?'],
  [/NOTFOUND|EAI_/, 'unknown host (%). Is the name right, and does DNS know it?'],
  [
    /TIMEDOUT|CONNECT_T|UNREACH/,
    'no connection in time (%). Check the address, the firewall and the VPN.',
  ],
  [
    /TIMEOUT/,
    'no response in time (%). Is the API server overloaded, or does a proxy hold the request?',
  ],
  [
    /RESET|PIPE|SOCKET|HTTP2/,
    'connection closed (%). Did the server restart, does a proxy end connections, or does this port expect https?',
  ],
  [
    /SELF_SIGNED|LEAF_S|ISSUER|UNTRUSTED/,
    "the server's certificate is not signed by a trusted CA (%). Give the cluster's CA: certificate-authority in the kubeconfig, or tls.ca.",
  ],
  [
    /EXPIRED|NOT_YET/,
    "the server's certificate is not valid today (%). Renew it, or set this machine's clock.",
  ],
  [
    /ALTNAME/,
    "the server's certificate is for other hosts (%). Use a name that is in it, or give one: tls-server-name in the kubeconfig, or tls.servername.",
  ],
  [/SSL|EPROTO/, 'TLS failed (%). Does this port expect http instead of https?'],
];

/** The path from this process to the server. */
export interface Route {
  /** `https://host:port` */
  readonly origin: string;
  /** '' or '/path', which precedes the path of each request. */
  readonly prefix: string;
  /** The proxy's URL. It may contain a password. */
  readonly proxy?: string;
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Codes that the proxy causes if a proxy is used, because only the proxy connects to the server. */
const NO_CONNECTION = /REFUSED|NOTFOUND|EAI_|TIMEDOUT|CONNECT_T|UNREACH|UND_ERR_PRX/;

/** Describes the failure if the proxy caused it. */
function proxyFailure(error: unknown): string | undefined {
  const { message, cause } = error as Error;
  const status = /^Proxy response \((\d+)\)/.exec(message)?.[1];
  if (status !== undefined) {
    return `the proxy refused the connection (HTTP ${status}). Check its user, password and rules.`;
  }
  const code = codeOf(error);
  if (!NO_CONNECTION.test(code)) return undefined;
  return `no connection to the proxy (${codeOf(cause) || code}). Check proxy-url in the kubeconfig, HTTPS_PROXY and NO_PROXY.`;
}

/** Returns the address of a request, without the query, and the proxy without its password. */
export function placeOf({ origin, prefix, proxy }: Route, { path }: TransportRequest): string {
  const place = `${origin}${prefix}${path}`;
  if (proxy === undefined) return place;
  const { protocol, host } = new URL(proxy);
  return `${place} through the proxy ${protocol}//${host}`;
}

/** Returns the error for a request that failed before a complete response. `answered` says whether the head has arrived. */
export function requestFailure(
  route: Route,
  request: TransportRequest,
  error: unknown,
  answered: boolean,
): ApiError {
  const place = placeOf(route, request);
  if (answered) return networkError(request, error, place, LOST);
  const isProxied = route.proxy !== undefined && error instanceof Error;
  const what = isProxied ? proxyFailure(error) : undefined;
  if (what === undefined) return networkError(request, error, place, CAUSES);
  return ApiError.local('Network', `${request.method} ${place}: ${what}`);
}
