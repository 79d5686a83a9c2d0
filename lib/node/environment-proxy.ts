/// <reference types="node" />
/** Determines the proxy from the environment variables, as kubectl does. golang.org/x/net/http/httpproxy. */
import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** An address. IPv4 is also IPv4 when it is written as IPv6, such as `::ffff:10.0.0.1`. */
interface Address {
  readonly ip: string;
  readonly family: 'ipv4' | 'ipv6';
}

function addressOf(text: string): Address | undefined {
  if (isIP(text) === 4) return { ip: text, family: 'ipv4' };
  if (isIP(text) !== 6 || text.includes('%')) return undefined;
  const { hostname } = new URL(`http://[${text}]`);
  const [, high, low] = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(hostname) ?? [];
  if (high === undefined || low === undefined) return { ip: text, family: 'ipv6' };
  const parts = [high, low].map((part) => Number.parseInt(part, 16));
  return { ip: parts.flatMap((part) => [part >> 8, part & 255]).join('.'), family: 'ipv4' };
}

/** Whether a network contains a host. Returns `undefined` if the text is not a network, such as `10.0.0.0/8`. */
function netContains(text: string, host: Address | undefined): boolean | undefined {
  const [, net = '', digits] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = addressOf(net);
  const bits = Number(digits);
  const isV6 = isIP(net) === 6;
  if (address === undefined || bits > (isV6 ? 128 : 32)) return undefined;
  // The first 96 bits of an IPv4 network that is written as IPv6 are not part of an IPv4 address.
  const isMapped = isV6 && address.family === 'ipv4' && bits >= 96;
  const family = isV6 && !isMapped ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(family === 'ipv6' ? net : address.ip, isMapped ? bits - 96 : bits, family);
  return host?.family === family && list.check(host.ip, family);
}

function isSame(a: Address, b: Address | undefined): boolean {
  const list = new BlockList();
  list.addAddress(a.ip, a.family);
  return a.family === b?.family && list.check(b.ip, b.family);
}

/** The form of a label that is looked up. Go leaves what has a control character, and the WHATWG removes some. */
function asciiOf(label: string): string {
  return /\p{Cc}/u.test(label) ? label : domainToASCII(label) || label;
}

/** Whether an entry of NO_PROXY covers a host: `*`, `10.0.0.0/8`, `10.0.0.1:6443`, `acme.com`, `.acme.com`. */
function covers(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const ip = addressOf(host);
  const inNet = netContains(entry, ip);
  if (inNet !== undefined) return inNet;
  const parts = isIP(entry) === 6 ? undefined : /^(?:\[(.*)\]|([^:]*)):([^:\]]*)$/.exec(entry);
  const name = parts === null ? entry : (parts?.[1] ?? parts?.[2] ?? entry);
  const onlyPort = parts?.[3] ?? '';
  if (name === '' || (onlyPort !== '' && onlyPort !== port)) return false;
  const address = addressOf(name);
  if (address !== undefined) return isSame(address, ip);
  if (ip !== undefined) return false;
  const domain = name.replace(/^\*(?=\.)/, '').replace(/(?<![^.])[^.]*\P{ASCII}[^.]*/gu, asciiOf);
  return domain.startsWith('.') ? host.endsWith(domain) : `.${host}`.endsWith(`.${domain}`);
}

/** Removes the white space of Unicode. `trim()` also removes U+FEFF, and leaves U+0085. */
function trimmed(entry: string): string {
  return entry.replace(/^\p{White_Space}+|(?<!\p{White_Space})\p{White_Space}+$/gu, '');
}

/**
 * Returns the proxy for a URL: `HTTPS_PROXY` or `HTTP_PROXY` by the URL's scheme, also in lower case. Hosts of this
 * machine and hosts that `NO_PROXY` covers have no proxy. Throws a `TypeError` if `HTTP_PROXY` would be used in CGI.
 */
export function environmentProxy(
  baseUrl: string,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined {
  if (!URL.canParse(baseUrl)) return undefined;
  const { protocol, hostname, port } = new URL(baseUrl);
  const secure = protocol === 'https:';
  const proxy = secure ? env.HTTPS_PROXY || env.https_proxy : env.HTTP_PROXY || env.http_proxy;
  if (!proxy) return undefined;
  if (!secure && env.REQUEST_METHOD) {
    // There the header 'Proxy' of a request becomes this variable. golang.org/s/cgihttpproxy.
    throw new TypeError(
      'clientFromKubeConfig: HTTP_PROXY is refused because REQUEST_METHOD is set (CGI), where a request could set it; unset one of the two, or give a proxy-url',
    );
  }
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (host === 'localhost') return undefined;
  const address = addressOf(host);
  if (netContains('127.0.0.0/8', address) || netContains('::1/128', address)) return undefined;
  const exceptions = (env.NO_PROXY || env.no_proxy || '').toLowerCase().split(',');
  const at = port || (secure ? '443' : '80');
  if (exceptions.some((entry) => covers(trimmed(entry), host, at))) return undefined;
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`;
}
