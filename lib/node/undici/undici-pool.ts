/// <reference types="node" />
/**
 * Opens a connection pool of undici, configured for streams that stay open for hours. undici is loaded with the first
 * request, so that importing `rx-informer/node` is cheap and does not need undici.
 */
import type { Agent, buildConnector, Dispatcher } from 'undici';
import { notLoaded } from '../optional-package.ts';
import { type DispatcherOptions, headersTimeoutOf } from './pool-options.ts';
import { throughSocks } from './socks-tunnels.ts';

const MiB = 1_048_576;
const CONNECT_TIMEOUT_MS = 10_000;

function settings(options: DispatcherOptions): Agent.Options {
  const { maxConnections = Number.POSITIVE_INFINITY } = options;
  return {
    // ALPN offers both protocols, and the server chooses. Over HTTP/2 all watches share one connection. In Bun 1.4 a
    // body over HTTP/2 stops after the windows below, and a reset within it is not noticed.
    allowH2: options.repeatedHeaders === undefined && process.versions['bun'] === undefined,
    connections: Number.isFinite(maxConnections) ? maxConnections : null,
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepAliveTimeout: 30_000,
    // undici's default windows allow 5 MB/s at 50 ms of latency. undici reads the window of a stream only from this
    // option.
    initialWindowSize: 4 * MiB,
    h2Options: { connectionWindowSize: 16 * MiB, pingInterval: 20_000 },
  };
}

/**
 * Loads undici. Rejects with a `TypeError` that says what to do if undici is not installed, or needs a newer Node.
 */
export async function loadUndici(what: string): Promise<typeof import('undici')> {
  try {
    // Bun has a stub of its own for the plain name.
    return await import('undici/index.js');
  } catch (error) {
    throw notLoaded(what, 'undici', error);
  }
}

/** The path of a proxy means nothing, and undici refuses it. */
function withoutPath(proxy: string): string {
  const { href, pathname, search, hash } = new URL(proxy);
  return href.slice(0, href.length - pathname.length - search.length - hash.length);
}

/** Creates the pool. Connections are opened by requests. Rejects if undici is not installed. */
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
  // The `h` means that the proxy resolves names. undici always lets a SOCKS proxy do that.
  const uri = withoutPath(proxy).replace(/^socks5h:/i, 'socks5:');
  const requestTls = { timeout: CONNECT_TIMEOUT_MS, ...connect };
  if (/^socks/i.test(proxy)) {
    const secure = undici.buildConnector({ ...requestTls, allowH2: common.allowH2 === true });
    const agent = new undici.Socks5ProxyAgent(uri, { connectTimeout: CONNECT_TIMEOUT_MS });
    const tunnels = throughSocks(agent, secure);
    if (tunnels !== undefined) return new undici.Agent({ ...common, connect: tunnels });
  }
  return new undici.ProxyAgent({
    ...common,
    uri,
    // The proxy's response to CONNECT needs a limit, too. Otherwise a request that waits for it stays queued for five
    // minutes.
    clientFactory: (origin, own) => new undici.Pool(origin, { ...own, headersTimeout }),
    requestTls,
  });
}
