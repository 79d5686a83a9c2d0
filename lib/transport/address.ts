/**
 * Where requests may go: to the base URL's server, below its path. What comes before a path in a URL decides the host
 * (`https://10.0.0.1` and `@evil.example/x` are of evil.example), and the headers with the credentials would follow.
 */
import type { TransportRequest } from './transport.ts';

/** What URL parsers drop, turn into '/', or take for the end of a path. */
const NEVER_IN_A_PATH = /[\s\p{Cc}\\?#]/u;

function isPath(text: string): boolean {
  return /^\/(?!\/)/.test(text) && !NEVER_IN_A_PATH.test(text);
}

function isAbsolute(text: string): boolean {
  return /^https?:\/\/[^/]/i.test(text) && !NEVER_IN_A_PATH.test(text) && URL.canParse(text);
}

/** Without what may be a password, a query or an order to a terminal. */
function shown(text: string): string {
  const [path = ''] = text.split(/[?#]/, 1);
  return path.replace(/[^/]*@/, '…@').replace(/[\s\p{Cc}]/gu, '\ufffd');
}

/** Throws a `TypeError`, in which no password and no query is quoted, on a base URL that is none. */
export function checkBaseUrl(who: string, baseUrl: unknown): void {
  const refuse = (why: string) => new TypeError(`${who}: baseUrl ${why}`);
  if (typeof baseUrl === 'string') {
    if (/[?#]/.test(baseUrl)) {
      throw refuse('has a query or a fragment; leave it out: a path is put behind the base URL');
    }
    // Messages name the base URL.
    if (/^https?:\/\/[^/]*@/i.test(baseUrl)) {
      throw refuse(
        "has a user or password in it; send them as headers: { authorization: 'Basic …' }",
      );
    }
    if (baseUrl === '' || isPath(baseUrl) || isAbsolute(baseUrl)) return;
  }
  const what = typeof baseUrl === 'string' ? JSON.stringify(shown(baseUrl)) : String(baseUrl);
  throw refuse(`is ${what}; it must be 'http(s)://host[:port][/path]', a path, or ''`);
}

/** Throws a `TypeError` on a path that would lead to another host, or elsewhere on this one. */
export function checkPath({ method, path }: Pick<TransportRequest, 'method' | 'path'>): void {
  // Parsers take '%2e' for '.', too.
  if (typeof path === 'string' && isPath(path) && !/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path)) {
    return;
  }
  throw new TypeError(
    `${method} ${shown(String(path))}: the path must begin with one '/', have no '.' or '..' between slashes, and hold no white space, '\\', '?' or '#'; parameters belong into query`,
  );
}
