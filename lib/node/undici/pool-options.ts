/// <reference types="node" />
/** The options of the connection pool, and their validation. The types do not need undici, which is optional. */
import type { ConnectionOptions } from 'node:tls';
import { checkedTimeout, checkedWholeLimit, ifGiven } from '../../checks/checked-option.ts';

/** The TLS options: certificates and keys as PEM, and how to verify the server. */
export type TlsOptions = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'rejectUnauthorized'
> & {
  /** The name that the server's certificate must contain, if it differs from the host of the URL. */
  readonly servername?: string | undefined;
};

/** The options of the connections to the server. */
export interface DispatcherOptions {
  readonly tls?: TlsOptions | undefined;
  /**
   * The URL of a proxy: `http://`, `https://` or `socks5://` (the proxy resolves host names). It may contain
   * `user:password@`.
   */
  readonly proxy?: string | undefined;
  /**
   * The largest number of connections. Over HTTP/1.1 each watch holds a connection; further requests wait and emit
   * `queued`. Infinity means no limit. @defaultValue no limit
   */
  readonly maxConnections?: number | undefined;
  /**
   * How long to wait for the head of a response, also for that of a proxy, in milliseconds. Infinity means no limit.
   * @defaultValue 30000
   */
  readonly headersTimeoutMs?: number | undefined;
  /**
   * Headers that are sent with every request, with names in lower case. Each value is sent in a header line of its
   * own, for example several `impersonate-group`. With these headers HTTP/1.1 is used, because over HTTP/2 undici
   * joins the values into one line.
   * @defaultValue none
   */
  readonly repeatedHeaders?: Readonly<Record<string, readonly string[]>> | undefined;
}

const HEADERS_TIMEOUT_MS = 30_000;
/** The longest delay of a timer, in milliseconds. Node shortens longer delays and prints a warning. */
export const LONGEST_MS = 2_147_483_647;

/** Returns how long undici waits for a head, in milliseconds; 0 means no limit. */
export function headersTimeoutOf({ headersTimeoutMs }: DispatcherOptions): number {
  const asked = headersTimeoutMs ?? HEADERS_TIMEOUT_MS;
  return Number.isFinite(asked) ? Math.min(asked, LONGEST_MS) : 0;
}

/** Throws a `TypeError` if a number is invalid. */
export function checkPool(who: string, options: DispatcherOptions): void {
  const { maxConnections, headersTimeoutMs } = options;
  ifGiven(checkedWholeLimit, maxConnections, `${who}: maxConnections`);
  ifGiven(checkedTimeout, headersTimeoutMs, `${who}: headersTimeoutMs`);
}

const PROXY_SCHEMES = ['http:', 'https:', 'socks:', 'socks5:', 'socks5h:'];

/** Throws a `TypeError`, without the proxy's password, if undici cannot use the proxy. */
export function checkProxy(proxy: string, name = 'the proxy'): void {
  const scheme = URL.canParse(proxy) ? new URL(proxy).protocol : 'none';
  if (PROXY_SCHEMES.includes(scheme)) return;
  throw new TypeError(
    `${name} must be http://, https:// or socks5://, with a host; its scheme is ${scheme}`,
  );
}
