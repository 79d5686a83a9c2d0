/// <reference types="node" />
/**
 * The pool of connections: undici, set up for streams that stay open for hours. Loaded with the first
 * request, so that importing `rx-informer/node` is cheap and does not need undici.
 */
import type { ConnectionOptions } from 'node:tls';
import type { Agent, buildConnector, Dispatcher } from 'undici';
import { checkedTimeout, checkedWholeLimit } from '../rx/checked-option.ts';
import { needed } from './optional-package.ts';

/** What TLS needs to know of the server and of us: PEM, and how to check. */
export type TlsOptions = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'rejectUnauthorized'
> & {
  /** The name that the server's certificate must carry, when it is not the one in the URL. */
  readonly servername?: string;
};

/** How to reach the server. */
export interface DispatcherOptions {
  readonly tls?: TlsOptions;
  /** `http://`, `https://`, `socks5://` (names are resolved by the proxy); may carry `user:password@`. */
  readonly proxy?: string;
  /**
   * The most connections at once. Over HTTP/1.1 each watch holds one of them; further requests wait, and say that
   * they are `queued`. Infinity: no limit. @defaultValue no limit
   */
  readonly maxConnections?: number;
  /**
   * How long to wait for the head of an answer, also of a proxy's, in milliseconds; Infinity: for ever.
   * @defaultValue 30 000
   */
  readonly headersTimeoutMs?: number;
  /**
   * Headers that are sent with every request, each value as a line of its own, names in lower case: several
   * `impersonate-group`. With them HTTP/1.1 is spoken, because over HTTP/2 undici makes one line of them.
   * @defaultValue none
   */
  readonly repeatedHeaders?: Readonly<Record<string, readonly string[]>>;
}

const MiB = 1_048_576;
const CONNECT_TIMEOUT_MS = 10_000;
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

function settings(options: DispatcherOptions): Agent.Options {
  const { maxConnections = Number.POSITIVE_INFINITY } = options;
  return {
    // ALPN offers both, the server chooses: over HTTP/2 all watches share one connection.
    allowH2: options.repeatedHeaders === undefined,
    connections: Number.isFinite(maxConnections) ? maxConnections : null,
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepAliveTimeout: 30_000,
    // undici's windows allow 5 MB/s at 50 ms of latency. It reads the stream's window from here only.
    initialWindowSize: 4 * MiB,
    h2Options: { connectionWindowSize: 16 * MiB, pingInterval: 20_000 },
  };
}

/** Rejects with a `TypeError` that says what to do if undici is not installed, or too new for this Node. */
export function loadUndici(what: string): Promise<typeof import('undici')> {
  return needed(what, 'undici', () => import('undici'));
}

/** Opens the pool; connections come with requests. Rejects when undici is not installed. */
export async function openDispatcher(options: DispatcherOptions): Promise<Dispatcher> {
  const undici = await loadUndici('createUndiciTransport');
  const { tls = {}, proxy } = options;
  const headersTimeout = headersTimeoutOf(options);
  const connect: buildConnector.BuildOptions = {
    ...tls,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
  };
  const common = settings(options);
  if (proxy === undefined) return new undici.Agent({ ...common, connect });
  const socks = /^socks/i.test(proxy);
  return new undici.ProxyAgent({
    ...common,
    // undici lets a SOCKS proxy resolve names, which is what the h stands for.
    uri: proxy.replace(/^socks5h:/i, 'socks5:'),
    // The proxy's answer to CONNECT is a head like any: without a limit, who waits for it is queued for five minutes.
    clientFactory: (origin, own) => new undici.Pool(origin, { ...own, headersTimeout }),
    requestTls: {
      timeout: CONNECT_TIMEOUT_MS,
      // Behind SOCKS, undici offers nothing by itself.
      ...(socks ? { ALPNProtocols: common.allowH2 ? ['http/1.1', 'h2'] : ['http/1.1'] } : {}),
      ...connect,
    },
  });
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
