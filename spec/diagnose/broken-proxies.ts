/** Proxies on loopback that each do one thing wrong, in front of a server of `createFakeApiServer().serve()`. */
import { createServer, type IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { type Answer, forward, guarding as guardingListener, passOn } from '../node/fronts.ts';
import { opened, type TestServer } from '../node/servers.ts';

function forwarded(target: string, answer: Answer): Promise<TestServer> {
  const proxy = createServer((incoming, response) => forward(target, incoming, response, answer));
  return opened(proxy, 'http');
}

async function bodyOf(upstream: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of upstream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** Sends a response when it is complete, head and body. */
export const buffering = (target: string): Promise<TestServer> =>
  forwarded(target, async (upstream, response) => {
    const body = await bodyOf(upstream);
    response.writeHead(upstream.statusCode ?? 502, upstream.headers);
    response.end(body);
  });

/** Compresses every list, whatever the client accepts. */
export const compressing = (target: string): Promise<TestServer> =>
  forwarded(target, async (upstream, response) => {
    const { req } = upstream as IncomingMessage & { readonly req: { readonly path: string } };
    const isList = req.path.includes('/pods?') && !req.path.includes('watch=');
    if (!isList) {
      passOn(upstream, response);
      return;
    }
    const { 'content-length': _, 'transfer-encoding': __, ...headers } = upstream.headers;
    const body = gzipSync(await bodyOf(upstream));
    response.writeHead(200, { ...headers, 'content-encoding': 'gzip' });
    response.end(body);
  });

/** Says that it is this much earlier. */
export const early = (target: string, ms: number): Promise<TestServer> =>
  forwarded(target, (upstream, response) => {
    const date = new Date(Date.parse(upstream.headers.date ?? '') - ms).toUTCString();
    response.writeHead(upstream.statusCode ?? 502, { ...upstream.headers, date });
    response.flushHeaders();
    upstream.pipe(response);
  });

/** Cuts each watch when its head is sent. */
export const cutting = (target: string): Promise<TestServer> =>
  forwarded(target, (upstream, response) => {
    const { req } = upstream as IncomingMessage & { readonly req: { readonly path: string } };
    response.writeHead(upstream.statusCode ?? 502, upstream.headers);
    response.flushHeaders();
    if (req.path.includes('watch=')) setImmediate(() => response.destroy());
    else upstream.pipe(response);
  });

/** Refuses every request that does not have this token. */
export const guarding = (target: string, token: string): Promise<TestServer> =>
  opened(createServer(guardingListener(target, () => token)), 'http');
