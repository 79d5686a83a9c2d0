/**
 * Decides which requests the dashboard accepts. It listens on loopback, but any page can make a browser send requests
 * to it. A name that an attacker resolves to 127.0.0.1 (DNS rebinding) appears in `Host`; a foreign page appears in
 * `Origin` or in the fetch metadata. Both are refused before the request is read.
 */
import type { IncomingMessage } from 'node:http';
import { foreignRequest } from 'rx-informer/node';

/** The reason to refuse a request, in one sentence; `undefined` if it is accepted. `page`: whether it asks for the page itself. */
export function refusal(request: IncomingMessage, port: number, page = false): string | undefined {
  // Browsers leave out the default port of http.
  const end = port === 80 ? '' : `:${port}`;
  const hosts = [`127.0.0.1${end}`, `localhost${end}`, `[::1]${end}`];
  return foreignRequest(request, { hosts, page, name: 'This dashboard' });
}

/**
 * The headers of every response. `nonce` names the styles that the page may use, and `origin` a server beside this one
 * to which it may connect.
 */
export function securityHeaders(nonce?: string, origin?: string): Record<string, string> {
  const styles = nonce === undefined ? "'self'" : `'self' 'nonce-${nonce}'`;
  const policy = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': styles,
    'img-src': "'self' data:",
    'connect-src': origin === undefined ? "'self'" : `'self' ${origin}`,
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
