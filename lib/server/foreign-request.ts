/**
 * `foreignRequest`, which tells the requests of a server's own page from those that another site makes a browser send. A
 * server that adds credentials, as a proxy to an API server does, must refuse the latter: the browser hides their responses
 * from the other site, but it sends them, and a write needs no response.
 */
/** The parts of a request that are judged. An `IncomingMessage` of Node has them, also that of an upgrade. */
export interface JudgedRequest {
  readonly method?: string | undefined;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The options of {@link foreignRequest}. */
export interface ForeignRequestOptions {
  /**
   * The values of `Host` to which the server answers. One without a port stands for all ports.
   * @defaultValue `localhost`, names that end in `.localhost`, and every IP address: no name that somebody else can make resolve to the server
   */
  readonly hosts?: readonly string[] | undefined;
  /** Whether the response is the page itself, to which links of other sites may lead. @defaultValue false */
  readonly page?: boolean | undefined;
  /** The subject of the sentence that is returned. @defaultValue 'This server' */
  readonly name?: string | undefined;
}

const PORT = /:\d+$/;
const IP_OR_LOCAL = /^(?:\[[\da-f:.]+\]|\d+\.\d+\.\d+\.\d+|(?:[\w-]+\.)*localhost)$/;
/** The types of a body that a page may send to another site without asking its server. */
const SIMPLE =
  /^(?:text\/plain|application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i;

function isOwnHost(host: string, hosts: readonly string[] | undefined): boolean {
  const name = host.replace(PORT, '');
  if (hosts === undefined) return IP_OR_LOCAL.test(name);
  // A browser sends it in lower case.
  return hosts.some((each) => [host, name].includes(each.toLowerCase()));
}

/**
 * Returns why a request is not one of the server's own page, in one sentence; `undefined` if it may be. Answer it with a
 * 403 before anything of it is read or forwarded, and end the socket of such an upgrade.
 *
 * It is foreign if its `Host` (over HTTP/2 its `:authority`) is another one (DNS rebinding), if its `Origin` is not that of its `Host`, if `Sec-Fetch-Site`
 * names another site, also of a frame or a link unless `page` is set, or if it is a POST whose body a form could send. A
 * request of a program without these headers is not foreign, so this replaces no login.
 *
 * @example
 * ```ts
 * import { foreignRequest } from 'rx-informer/node';
 *
 * const post = { host: 'localhost:5173', origin: 'https://evil.example', 'content-type': 'text/plain' };
 * foreignRequest({ method: 'POST', headers: post }); // => 'This server answers only to its own page, not to another Origin.'
 * foreignRequest({ method: 'GET', headers: { host: 'localhost:5173' } }); // => undefined
 * ```
 */
export function foreignRequest(
  { method = 'GET', headers }: JudgedRequest,
  { hosts, page = false, name = 'This server' }: ForeignRequestOptions = {},
): string | undefined {
  const origin = headers['origin'];
  // A request over HTTP/2 has no Host.
  const authority = headers['host'] ?? headers[':authority'];
  const host = typeof authority === 'string' ? authority.toLowerCase() : undefined;
  if (host === undefined || !isOwnHost(host, hosts)) {
    const own = hosts?.slice(0, 2).join(' and ') ?? 'localhost and addresses';
    return `${name} answers only to ${own}, not to another Host.`;
  }
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
    return `${name} answers only to its own page, not to another Origin.`;
  }
  const site = headers['sec-fetch-site'];
  const dest = headers['sec-fetch-dest'];
  const isVisit =
    page &&
    method === 'GET' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    (dest === undefined || dest === 'document');
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isVisit) {
    return `${name} answers only to its own page, not to another site.`;
  }
  const type = String(headers['content-type'] ?? '');
  if (method === 'POST' ? type === '' || SIMPLE.test(type) : SIMPLE.test(type)) {
    return `${name} answers only to its own page, not to a form.`;
  }
  return undefined;
}
