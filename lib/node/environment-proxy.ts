/// <reference types="node" />
/** Determines the proxy from the environment variables, as kubectl does. golang.org/x/net/http/httpproxy. */
import { BlockList, isIP } from 'node:net';

const familyOf = (ip: string) => (isIP(ip) === 6 ? 'ipv6' : 'ipv4');

function within(ip: string, address: string, prefix?: number): boolean {
  const list = new BlockList();
  if (prefix === undefined) list.addAddress(address, familyOf(address));
  else list.addSubnet(address, prefix, familyOf(address));
  return isIP(ip) === isIP(address) && list.check(ip, familyOf(ip));
}

/** Whether an entry of NO_PROXY covers a host: `*`, `10.0.0.0/8`, `10.0.0.1:6443`, `acme.com`, `.acme.com`. */
function covers(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const [net = '', bits, ...rest] = entry.split('/');
  if (bits !== undefined && rest.length === 0 && isIP(net) > 0) {
    const most = isIP(net) === 6 ? 128 : 32;
    return isIP(host) > 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= most
      ? within(host, net, Number(bits))
      : false;
  }
  const parts = isIP(entry) === 6 ? undefined : /^\[?(.*?)\]?:([^:\]]*)$/.exec(entry);
  const name = parts?.[1] ?? entry;
  const onlyPort = parts?.[2] ?? '';
  if (name === '' || (onlyPort !== '' && onlyPort !== port)) return false;
  if (isIP(name) > 0) return isIP(host) > 0 && within(host, name);
  const domain = name.replace(/^\*/, '');
  return domain.startsWith('.') ? host.endsWith(domain) : `.${host}`.endsWith(`.${domain}`);
}

/**
 * Returns the proxy for a URL: `HTTPS_PROXY` or `HTTP_PROXY` by the URL's scheme, also in lower case. Hosts of this
 * machine and hosts that `NO_PROXY` covers have no proxy.
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
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (host === 'localhost') return undefined;
  if (isIP(host) > 0 && (within(host, '127.0.0.0', 8) || within(host, '::1'))) return undefined;
  const exceptions = (env.NO_PROXY || env.no_proxy || '').toLowerCase().split(',');
  const at = port || (secure ? '443' : '80');
  if (exceptions.some((entry) => covers(entry.trim(), host, at))) return undefined;
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`;
}
