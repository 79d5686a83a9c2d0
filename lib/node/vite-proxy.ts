/// <reference types="node" />
/** `viteProxy`, the settings with which the development server of Vite forwards watches as they are. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkedText } from '../checks/checked-option.ts';
import { foreignRequest } from '../server/foreign-request.ts';
import { checkBaseUrl } from '../transport/address.ts';

/** The part of Vite's proxy server that is used. */
export interface ViteProxyServer {
  on(
    event: 'proxyRes',
    listener: (
      upstream: IncomingMessage,
      request: IncomingMessage,
      response: ServerResponse,
    ) => void,
  ): unknown;
}

/** The options of {@link viteProxy}. */
export interface ViteProxyOptions {
  /**
   * The values of `Host` under which the page may be opened, such as `dev.example:5173`.
   * @defaultValue `localhost`, names that end in `.localhost`, and IP addresses
   */
  readonly hosts?: readonly string[] | undefined;
}

/** The settings of one path in `server.proxy` of Vite. */
export interface ViteProxy {
  readonly target: string;
  readonly changeOrigin: boolean;
  rewrite(path: string): string;
  /** Refuses the requests and upgrades that another site makes a browser send. Returns false for them. */
  bypass(request: IncomingMessage, response: ServerResponse | undefined): false | undefined;
  configure(proxy: ViteProxyServer): void;
}

/**
 * Returns the settings with which Vite forwards a path to an API server, for `server.proxy` of its configuration.
 *
 * Without these settings Vite keeps the head of a watch until the first event, keeps a response open whose server is
 * gone, and forwards the requests of every page that the browser visits, also its writes: {@link foreignRequest} says which
 * requests are refused with a 403.
 *
 * @param target - The address of the API server or of `kubectl proxy`, such as `http://127.0.0.1:8001`.
 * @param prefix - What is removed from the beginning of each path, such as `/k8s`. @defaultValue nothing
 * @param options - The hosts under which the page may be opened.
 *
 * Throws a `TypeError` if `target` has no host, a query, or a user, and if `prefix` is no path.
 *
 * @example
 * ```ts
 * import { viteProxy } from 'rx-informer/node';
 *
 * const cluster = viteProxy('http://127.0.0.1:8001', '/k8s');
 * const config = { server: { proxy: { '/k8s': cluster } } };
 * config.server.proxy['/k8s'].rewrite('/k8s/api/v1/pods'); // => '/api/v1/pods'
 * ```
 */
export function viteProxy(target: string, prefix = '', options: ViteProxyOptions = {}): ViteProxy {
  checkBaseUrl('viteProxy: target', target, false);
  checkedText(prefix, 'viteProxy: prefix', /^(\/|$)/, "a path such as '/k8s', or ''");
  const start = prefix.replace(/(?<!\/)\/+$/, '');
  return {
    target,
    changeOrigin: true,
    rewrite(path) {
      const rest = path.startsWith(start) ? path.slice(start.length) : path;
      if (rest === '' || rest.startsWith('?')) return `/${rest}`;
      // Vite also forwards '/k8sfoo' for '/k8s', which is another path.
      return rest.startsWith('/') ? rest : path;
    },
    bypass(request, response) {
      const why = foreignRequest(request, {
        hosts: options.hosts,
        name: 'The proxy to the cluster',
      });
      if (why === undefined) return undefined;
      // Vite ends the socket of an upgrade.
      response?.writeHead(403, { 'content-type': 'text/plain' }).end(`${why}\n`);
      return false;
    },
    configure(proxy) {
      proxy.on('proxyRes', (upstream, _, response) => {
        // The proxy copies the status and the headers after this event.
        queueMicrotask(() => {
          if (!response.headersSent && !response.writableEnded) response.flushHeaders();
        });
        upstream.once('close', () => {
          if (!upstream.complete) response.destroy();
        });
      });
    },
  };
}
