/// <reference types="node" />
/**
 * The pool of connections: undici, set up for streams that stay open for hours. Loaded with the first
 * request, so that importing `rx-informer/node` is cheap and does not need undici.
 */
import type { Agent, buildConnector, Dispatcher } from 'undici';
import { needed } from '../optional-package.ts';
import { type DispatcherOptions, headersTimeoutOf } from './pool-options.ts';

const MiB = 1_048_576;
const CONNECT_TIMEOUT_MS = 10_000;

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
