/** An HTTP/1.1 server in front of another one, which counts the lists and watches that are open at the same time. */
import {
  createServer,
  type IncomingMessage,
  request as requestOf,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CountingFront {
  readonly url: string;
  /** How many lists and watches are open now. */
  readonly open: number;
  /** The most that were open at the same time, since `count()`. */
  readonly most: number;
  count(): void;
  /** Ends all connections, as a network that fails. */
  drop(): void;
  close(): Promise<void>;
}

const isStream = ({ url = '' }: IncomingMessage) =>
  /\?(.*&)?(watch|limit|resourceVersion)=/.test(url);

export async function countingFront(target: string): Promise<CountingFront> {
  let open = 0;
  let most = 0;
  const forward = (request: IncomingMessage, response: ServerResponse) => {
    if (isStream(request)) {
      open++;
      most = Math.max(most, open);
      response.on('close', () => open--);
    }
    const { method, url = '/', headers } = request;
    const sent = requestOf(`${target}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    });
    sent.on('error', () => response.destroy());
    response.on('close', () => sent.destroy());
    request.pipe(sent);
  };
  const server = createServer({ noDelay: true }, forward);
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get open() {
      return open;
    },
    get most() {
      return most;
    },
    count: () => {
      most = open;
    },
    drop: () => server.closeAllConnections(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
