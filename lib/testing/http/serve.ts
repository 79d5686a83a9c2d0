/// <reference types="node" />
/** Serves the fake server on a socket, for clients that need one. This part requires Node. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Body } from './body.ts';
import { type DispatchContext, dispatch } from './dispatcher.ts';
import { nodeModule } from './node-module.ts';
import type { Exchange } from './request.ts';
import type { SentResponse } from './response.ts';
import type { Served, ServeOptions } from './served.ts';

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET,POST,PUT,PATCH,DELETE,OPTIONS',
  // Otherwise a page does not see headers such as Retry-After and Warning.
  'access-control-expose-headers': '*',
};

/** The headers of the answer to a preflight. A `*` would not allow Authorization, so the requested names are repeated. */
function preflight({ headers }: IncomingMessage): Record<string, string> {
  return { ...CORS, 'access-control-allow-headers': headers[REQUESTED]?.toString() ?? '*' };
}
const REQUESTED = 'access-control-request-headers';

async function exchangeOf(request: IncomingMessage): Promise<Exchange> {
  let body = '';
  request.setEncoding('utf8');
  for await (const chunk of request) body += chunk;
  const url = new URL(request.url ?? '/', 'http://fake');
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    header: (name) => request.headers[name]?.toString() ?? null,
    body,
  };
}

/** Writes the body as fast as the socket accepts it. */
function send(answer: SentResponse, response: ServerResponse, cors: boolean): void {
  const { status, headers, gzip = false } = answer;
  const body = gzip ? gzipMembers(answer.body) : answer.body;
  response.writeHead(status, {
    ...headers,
    ...(gzip ? { 'content-encoding': 'gzip' } : {}),
    ...(cors ? CORS : {}),
  });
  response.flushHeaders();
  let full = false;
  const pump = () => {
    try {
      while (!full) {
        const chunk = body.read();
        if (chunk === undefined) return;
        if (chunk === null) {
          response.end();
          return;
        }
        full = !response.write(chunk);
      }
    } catch {
      response.destroy();
    }
  };
  body.onReadable = pump;
  response.on('drain', () => {
    full = false;
    pump();
  });
  response.on('close', () => {
    body.onReadable = undefined;
    body.cancel();
  });
  pump();
}

function handle(context: DispatchContext, cors: boolean) {
  return async (request: IncomingMessage, response: ServerResponse) => {
    if (cors && request.method === 'OPTIONS') {
      response.writeHead(204, preflight(request)).end();
      return;
    }
    let exchange: Exchange;
    try {
      exchange = await exchangeOf(request);
    } catch {
      response.destroy();
      return;
    }
    const cancel = dispatch(exchange, context, (outcome) => {
      if (response.destroyed) {
        if (outcome.kind === 'answer') outcome.answer.body.cancel();
      } else if (outcome.kind === 'refused') response.destroy();
      else send(outcome.answer, response, cors);
    });
    response.on('close', cancel);
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

/** Listens on 127.0.0.1. Rejects if the port is in use, and outside Node. */
export async function serve(context: DispatchContext, options: ServeOptions): Promise<Served> {
  const { createServer } = nodeModule('node:http', 'serve');
  const server = createServer({ noDelay: true }, handle(context, options.cors ?? false));
  // Watches stay open for an hour, and a client may take any time to send its requests.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 60_000;
  await listen(server, options.port ?? 0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function gzipped(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([Uint8Array.from(bytes)]).stream();
  const packed = new Response(stream.pipeThrough(new CompressionStream('gzip')));
  return new Uint8Array(await packed.arrayBuffer());
}

/**
 * Turns each piece of `body` into a gzip member, like a streaming list of Kubernetes 1.37.
 * kubernetes: apiserver/pkg/endpoints/handlers/watch.go, perFlushGzipWriter.
 */
function gzipMembers(body: Body): Body {
  let packing = false;
  let packed: Uint8Array | undefined;
  const pack = async (bytes: Uint8Array) => {
    packing = true;
    packed = await gzipped(bytes);
    packing = false;
    members.onReadable?.();
  };
  const members: Body = {
    onReadable: undefined,
    read() {
      if (packing) return undefined;
      const member = packed;
      packed = undefined;
      if (member !== undefined) return member;
      const bytes = body.read();
      if (!bytes) return bytes;
      void pack(bytes);
      return undefined;
    },
    cancel() {
      body.onReadable = undefined;
      body.cancel();
    },
  };
  body.onReadable = () => members.onReadable?.();
  return members;
}
