/**
 * Puts HTTP/2 over TLS in front of a server that has neither, because client-go pings silent connections over HTTP/2
 * only.
 */
import { request as ask } from 'node:http';
import { constants } from 'node:http2';
import { listen, type Request, type Response, type TestServer } from '../node/servers.ts';

/** Headers of a single connection, which HTTP/2 forbids. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade'];

/** Forwards a request. If the request to the target fails, the response is cut. */
export function forward(request: Request, response: Response, target: string): void {
  const fail = () => {
    if ('stream' in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    else response.destroy();
  };
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => !name.startsWith(':')),
  );
  // Each request has its own connection, so that a reset affects one request, as it affects one stream.
  const options = { method: request.method, headers, agent: false };
  const behind = ask(new URL(request.url ?? '/', target), options, (answer) => {
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined && !HOP_BY_HOP.includes(name)) response.setHeader(name, value);
    }
    response.statusCode = answer.statusCode ?? 502;
    response.flushHeaders();
    answer.on('error', fail).on('aborted', fail);
    answer.pipe(response as NodeJS.WritableStream);
  });
  behind.on('error', fail);
  response.on('error', () => {}).on('close', () => behind.destroy());
  request.on('error', () => {});
  request.pipe(behind);
}

/** Creates the front. */
export function createHttp2Front(target: string): Promise<TestServer> {
  return listen('http2', (request, response) => forward(request, response, target));
}
