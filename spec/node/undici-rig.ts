/** A transport over undici, and the server that it sends its requests to. */
import type { TransportRequest } from 'rx-informer';
import { createUndiciTransport, type UndiciTransportOptions } from 'rx-informer/node';
import { onTestFinished } from 'vitest';
import { type Handler, listen, type Protocol } from './servers.ts';
import { testOnlyCa } from './test-only-certificates.ts';

export const get: TransportRequest = { method: 'GET', path: '/api/v1/pods', use: 'watch' };

/** Both are closed when the test ends. */
export async function open(
  protocol: Protocol,
  handler: Handler,
  options: Partial<UndiciTransportOptions> = {},
) {
  const server = await listen(protocol, handler);
  const transport = createUndiciTransport({
    baseUrl: server.url,
    ...(protocol === 'http' ? {} : { tls: { ca: testOnlyCa } }),
    ...options,
  });
  onTestFinished(server.close);
  onTestFinished(() => transport.close());
  return { server, transport };
}
