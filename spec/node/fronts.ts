/** What a server does that stands in front of another one. */
import {
  type IncomingMessage,
  type RequestListener,
  request,
  type ServerResponse,
} from 'node:http';

export type Answer = (head: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** Passes a response on as it arrives. */
export function passOn(head: IncomingMessage, response: ServerResponse): void {
  response.writeHead(head.statusCode ?? 502, head.headers);
  response.flushHeaders();
  head.once('error', () => response.destroy());
  head.pipe(response);
}

/** Forwards a request. Whatever ends one side cuts the other one. */
export function forward(
  target: string,
  incoming: IncomingMessage,
  response: ServerResponse,
  answer: Answer = passOn,
): void {
  const { method, url, headers } = incoming;
  const cut = () => response.destroy();
  const upstream = request(`${target}${url}`, { method, headers }, (head) => {
    Promise.resolve(answer(head, response)).catch(cut);
  });
  upstream.on('error', cut);
  response.on('close', () => upstream.destroy());
  incoming.pipe(upstream);
}

/** Forwards a request that has the present token, and answers any other one as an API server does. */
export function guarding(
  target: string,
  token: () => string,
  refused = (_authorization: string): void => undefined,
): RequestListener {
  return (incoming, response) => {
    const { authorization = '' } = incoming.headers;
    if (authorization === `Bearer ${token()}`) return forward(target, incoming, response);
    refused(authorization);
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 401 };
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...status, reason: 'Unauthorized', message: 'Unauthorized' }));
    return undefined;
  };
}
