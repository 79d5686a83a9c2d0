/**
 * Who may talk to the dashboard. It listens on loopback, but a browser can be led there by any page: a name
 * that an attacker points at 127.0.0.1 (DNS rebinding) shows in `Host`, a foreign page in `Origin` or in the
 * fetch metadata. Both are refused before anything is read.
 */
import type { IncomingMessage } from 'node:http';

/** Why a request is refused, in one sentence; `undefined` when it is welcome. */
export function refusal(request: IncomingMessage, port: number): string | undefined {
  const { host, origin } = request.headers;
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
  if (host === undefined || !hosts.includes(host.toLowerCase())) {
    return `This dashboard answers only to ${hosts[0]} and ${hosts[1]}, not to another Host.`;
  }
  if (origin !== undefined && !hosts.some((name) => origin === `http://${name}`)) {
    return 'This dashboard answers only to its own page, not to another Origin.';
  }
  const site = request.headers['sec-fetch-site'];
  const isVisit = request.headers['sec-fetch-mode'] === 'navigate' && request.method === 'GET';
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isVisit) {
    return 'This dashboard answers only to its own page, not to another site.';
  }
  return undefined;
}

/** Headers of every answer. `nonce` names the styles that the page may use. */
export function securityHeaders(nonce?: string): Record<string, string> {
  const styles = nonce === undefined ? "'self'" : `'self' 'nonce-${nonce}'`;
  const policy = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': styles,
    'img-src': "'self' data:",
    'connect-src': "'self'",
    'object-src': "'none'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  };
  return {
    'content-security-policy': Object.entries(policy)
      .map(([name, value]) => `${name} ${value}`)
      .join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
  };
}
