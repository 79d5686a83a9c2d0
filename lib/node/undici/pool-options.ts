/// <reference types="node" />
/** The options of the pool of connections, and their checks. Their types do not need undici, which is optional. */
import type { ConnectionOptions } from 'node:tls';
import { checkedTimeout, checkedWholeLimit } from '../../rx/checked-option.ts';

/** What TLS needs to know of the server and of us: PEM, and how to check. */
export type TlsOptions = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'rejectUnauthorized'
> & {
  /** The name that the server's certificate must carry, when it is not the one in the URL. */
  readonly servername?: string | undefined;
};

/** How to reach the server. */
export interface DispatcherOptions {
  readonly tls?: TlsOptions | undefined;
  /** `http://`, `https://`, `socks5://` (names are resolved by the proxy); may carry `user:password@`. */
  readonly proxy?: string | undefined;
  /**
   * The most connections at once. Over HTTP/1.1 each watch holds one of them; further requests wait, and say that
   * they are `queued`. Infinity: no limit. @defaultValue no limit
   */
  readonly maxConnections?: number | undefined;
  /**
   * How long to wait for the head of an answer, also of a proxy's, in milliseconds; Infinity: for ever.
   * @defaultValue 30 000
   */
  readonly headersTimeoutMs?: number | undefined;
  /**
   * Headers that are sent with every request, each value as a line of its own, names in lower case: several
   * `impersonate-group`. With them HTTP/1.1 is spoken, because over HTTP/2 undici makes one line of them.
   * @defaultValue none
   */
  readonly repeatedHeaders?: Readonly<Record<string, readonly string[]>> | undefined;
}

const HEADERS_TIMEOUT_MS = 30_000;
/** Timers of more are cut, with a warning. */
const LONGEST_MS = 2_147_483_647;

/** How long undici is to wait for a head; 0 is for ever. */
export function headersTimeoutOf({ headersTimeoutMs }: DispatcherOptions): number {
  const asked = headersTimeoutMs ?? HEADERS_TIMEOUT_MS;
  return Number.isFinite(asked) ? Math.min(asked, LONGEST_MS) : 0;
}

/** Throws a `TypeError` on a number that is none. */
export function checkPool(who: string, options: DispatcherOptions): void {
  const { maxConnections, headersTimeoutMs } = options;
  if (maxConnections !== undefined) checkedWholeLimit(maxConnections, `${who}: maxConnections`);
  if (headersTimeoutMs !== undefined) checkedTimeout(headersTimeoutMs, `${who}: headersTimeoutMs`);
}

const PROXY_SCHEMES = ['http:', 'https:', 'socks:', 'socks5:', 'socks5h:'];

/** Throws a `TypeError`, without the proxy's password, when undici could not use it. */
export function checkProxy(proxy: string, name = 'the proxy'): void {
  const scheme = URL.canParse(proxy) ? new URL(proxy).protocol : 'none';
  if (PROXY_SCHEMES.includes(scheme)) return;
  throw new TypeError(
    `${name} must be http://, https:// or socks5://, with a host; its scheme is ${scheme}`,
  );
}
