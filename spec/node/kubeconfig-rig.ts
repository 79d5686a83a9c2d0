/**
 * Shared setup of the kubeconfig tests: a folder and servers that are removed after each test, and an environment
 * that is restored.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import type { KubeConfig } from '@kubernetes/client-node';
import type { KubeClient } from 'rx-informer';
import { clientFromKubeConfig, type KubeConfigClientOptions } from 'rx-informer/node';
import { afterEach, beforeEach } from 'vitest';
import { type Handler, listen, type Protocol, type Request } from './servers.ts';

/** Called after the test, in reverse order. */
export const endings: (() => Promise<unknown>)[] = [];
const environment = { ...process.env };
const CHANGED = [
  ...['KUBECONFIG', 'HOME', 'KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
];
let made = '';

/** The temporary folder of this test. */
export const folder = (): string => made;

/** Registers the folder, the endings and the environment for the tests of the calling file. */
export function prepareKubeconfigs(): void {
  beforeEach(() => {
    made = mkdtempSync(join(tmpdir(), 'rx-informer-spec-'));
  });
  afterEach(async () => {
    for (const end of endings.splice(0).reverse()) await end();
    rmSync(made, { recursive: true });
    for (const name of CHANGED) {
      if (environment[name] === undefined) delete process.env[name];
      else process.env[name] = environment[name];
    }
  });
}

/** A server that responds with what it received about the caller. */
export async function server(
  protocol: Protocol,
  accepts: (request: Request) => boolean = () => true,
  options: { clientCertificates?: boolean; allowHttp1?: boolean } = {},
) {
  const seen: Request[] = [];
  const handler: Handler = (request, response) => {
    seen.push(request);
    if (!accepts(request)) {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ kind: 'Status', code: 401, message: 'Unauthorized' }));
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    const peer = (request.socket as TLSSocket).getPeerCertificate?.()?.subject?.CN;
    response.end(JSON.stringify({ authorization: request.headers.authorization, peer }));
  };
  const running = await listen(protocol, handler, options);
  endings.push(() => running.close());
  return { ...running, seen };
}

/** A client that is closed after the test. Most servers of these tests speak http. */
export async function open(source: KubeConfig | KubeConfigClientOptions): Promise<KubeClient> {
  const options = 'applyToHTTPSOptions' in source ? { config: source } : source;
  const client = await clientFromKubeConfig({ credentialsOverHttp: true, ...options });
  endings.push(() => client.close());
  return client;
}
