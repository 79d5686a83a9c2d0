/** Servers and proxies on loopback, and clients of them over undici. */
import { createClient, type KubeClient } from 'rx-informer';
import type { DiagnoseOptions, Diagnosis } from 'rx-informer/diagnose';
import { createUndiciTransport, type UndiciTransportOptions } from 'rx-informer/node';
import { createFakeApiServer } from 'rx-informer/testing';
import { createServer as createVite, type ProxyOptions } from 'vite';
import type { TestServer } from '../node/servers.ts';

/** The codes of the findings, with the first words of what was seen. */
export const named = ({ findings }: Diagnosis) =>
  findings.map(({ code, name }) => `${code} ${name}`);

export type Ending = (end: () => Promise<void>) => void;

export async function served(
  ends: Ending,
  options: Parameters<typeof createFakeApiServer>[0] = {},
) {
  const server = createFakeApiServer(options);
  const { url, close } = await server.serve();
  ends(close);
  return { server, url };
}

export async function behind(ends: Ending, proxy: Promise<TestServer>): Promise<string> {
  const { url, close } = await proxy;
  ends(close);
  return url;
}

export function overUndici(
  ends: Ending,
  baseUrl: string,
  options: Partial<UndiciTransportOptions> = {},
): KubeClient {
  const transport = createUndiciTransport({ baseUrl, ...options });
  const client = createClient({ baseUrl, transport });
  ends(() => client.close());
  return client;
}

/** Starts the development server of Vite in front of a server. */
export async function vite(ends: Ending, proxy: Record<string, ProxyOptions>): Promise<string> {
  const server = await createVite({
    ...{ configFile: false, logLevel: 'silent', appType: 'custom' },
    server: { port: 0, host: '127.0.0.1', ws: false, watch: null, proxy },
    optimizeDeps: { noDiscovery: true },
  });
  // An idle connection is not closed while the client uses it again.
  Object.assign(server.httpServer ?? {}, { keepAliveTimeout: 0 });
  await server.listen();
  ends(() => server.close());
  return (server.resolvedUrls?.local[0] ?? '').replace(/\/$/, '');
}

export const quick: DiagnoseOptions = { watchSeconds: 1, timeoutMs: 60_000 };
