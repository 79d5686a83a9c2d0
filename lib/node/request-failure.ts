/// <reference types="node" />
/** A request over undici that failed, in words: as over fetch, and with the proxy, which may be the one that failed. */
import { ApiError } from '../meta/api-error.ts';
import { type CauseTexts, networkError } from '../transport/network-error.ts';
import type { TransportRequest } from '../transport/transport.ts';

/** As those of `fetch`, with what can be set here. */
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

/** What stands between this process and the server. */
export interface Route {
  /** `https://host:port` */
  readonly origin: string;
  /** '' or '/path', before each request's path. */
  readonly prefix: string;
  /** The proxy's URL; may carry a password. */
  readonly proxy?: string;
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** These come from a proxy if there is one, because only the proxy connects to the server. */
const NO_CONNECTION = /REFUSED|NOTFOUND|EAI_|TIMEDOUT|CONNECT_T|UNREACH|UND_ERR_PRX/;

/** What happened, if it happened at the proxy. */
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

/** A request with its address, without the query, and the proxy without its password. */
export function placeOf({ origin, prefix, proxy }: Route, { path }: TransportRequest): string {
  const place = `${origin}${prefix}${path}`;
  if (proxy === undefined) return place;
  const { protocol, host } = new URL(proxy);
  return `${place} through the proxy ${protocol}//${host}`;
}

/** The error of a request that failed on its way. */
export function requestFailure(route: Route, request: TransportRequest, error: unknown): ApiError {
  const place = placeOf(route, request);
  const isProxied = route.proxy !== undefined && error instanceof Error;
  const what = isProxied ? proxyFailure(error) : undefined;
  if (what === undefined) return networkError(request, error, place, CAUSES);
  return ApiError.local('Network', `${request.method} ${place}: ${what}`);
}
