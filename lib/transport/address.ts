/**
 * Checks that requests go only to the base URL's server, below its path. Text that is appended to a URL can change
 * its host: `https://10.0.0.1` followed by `@evil.example/x` addresses evil.example, which would receive the headers
 * with the credentials.
 */
import { refusal } from '../checks/checked-option.ts';
import type { TransportRequest } from './transport.ts';

/** Characters that URL parsers drop, convert to '/', or treat as the end of a path. */
const NEVER_IN_A_PATH = /[\s\p{Cc}\\?#]/u;

function isPath(text: string): boolean {
  return /^\/(?!\/)/.test(text) && !NEVER_IN_A_PATH.test(text);
}

/** How a question about the server names it. */
export function shownServer(baseUrl: string): string {
  return baseUrl === '' ? 'the server of this page' : JSON.stringify(baseUrl);
}

/** Parses an absolute URL. Returns `undefined` if the text is not one. `URL.canParse` needs Chrome 120 or Safari 17. */
export function parsedUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function isAbsolute(text: string): boolean {
  return /^https?:\/\/[^/]/i.test(text) && !NEVER_IN_A_PATH.test(text) && !!parsedUrl(text);
}

/** The text without a user, password, query and control characters. */
function shown(text: string): string {
  const [path = ''] = text.split(/[?#]/, 1);
  return path.replace(/^(\w+:\/\/)?.*@/s, '$1…@').replace(/[\s\p{Cc}]/gu, '\ufffd');
}

/**
 * Throws a `TypeError` on an invalid base URL, which `name` names. The error does not quote a password or query. Within a page the host
 * may be left out.
 */
export function checkBaseUrl(name: string, baseUrl: unknown, mayBePath = true): void {
  const refuse = (why: string) => new TypeError(`${name} ${why}`);
  if (typeof baseUrl === 'string') {
    if (/[?#]/.test(baseUrl)) {
      throw refuse('has a query or a fragment; remove it');
    }
    // Messages contain the base URL.
    if (/^https?:\/\/[^/]*@/i.test(baseUrl)) {
      throw refuse('contains a user or password; send them in headers');
    }
    if (isAbsolute(baseUrl) || (mayBePath && (baseUrl === '' || isPath(baseUrl)))) return;
  }
  const what = typeof baseUrl === 'string' ? shown(baseUrl) : baseUrl;
  throw refusal(name, what, `'http(s)://host[:port][/path]'${mayBePath ? ", a path, or ''" : ''}`);
}

/** Throws a `TypeError` on a path that would change the host, or lead to another path. */
export function checkPath({ method, path }: Pick<TransportRequest, 'method' | 'path'>): void {
  // Parsers also treat '%2e' as '.', and some servers '%2f' as '/'.
  if (typeof path === 'string' && isPath(path) && !/(\/|%2f)(\.|%2e){1,2}(\/|%2f|$)/i.test(path)) {
    return;
  }
  throw new TypeError(
    `${method} ${shown(String(path))}: the path must begin with one '/', without '.', '..', white space, '\\', '?' and '#'; pass parameters in query`,
  );
}

/** Throws a `TypeError` on a header that is not text, for example a token of an unset variable. Its value is not shown. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') continue;
    throw new TypeError(`headers: ${name} is ${typeof value}; it must be text`);
  }
}
