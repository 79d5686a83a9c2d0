/// <reference types="node" />
/**
 * Connections through a SOCKS proxy. undici makes the tunnel, but its own agent names the server of an `https` URL in TLS even
 * if it is an IP address, which Node refuses from version 26 on. Therefore TLS is begun as without a proxy.
 */
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/** The part of undici's agent that makes a tunnel. It is not declared. */
interface TunnelMaker {
  createSocks5Connection(host: string, port: number): Promise<Socket>;
}

/**
 * Returns what connects through the proxy, and begins TLS by `secure`; `undefined` if the agent of this version of undici makes no
 * tunnels.
 */
export function throughSocks(
  agent: object,
  secure: buildConnector.connector,
): buildConnector.connector | undefined {
  const { createSocks5Connection } = agent as Partial<TunnelMaker>;
  if (createSocks5Connection === undefined) return undefined;
  return (options, callback) => {
    const { hostname, protocol } = options;
    const isSecure = protocol === 'https:';
    const port = Number(options.port) || (isSecure ? 443 : 80);
    createSocks5Connection.call(agent, hostname, port).then(
      (socket) => {
        if (!isSecure) return callback(null, socket);
        try {
          secure({ ...options, httpSocket: socket }, callback);
        } catch (error) {
          // Node reads certificates and keys only now, and throws if one is broken.
          socket.destroy();
          callback(error as Error, null);
        }
      },
      (error: Error) => callback(error, null),
    );
  };
}
