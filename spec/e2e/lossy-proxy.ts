/** A proxy in front of an API server that drops watch events without an error and counts the bytes of lists. */
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { Agent, request } from 'node:https';
import { opened } from '../node/servers.ts';
import type { ApiServerProcess } from './apiserver.ts';

/** A dropped event. */
export interface LostEvent {
  readonly type: string;
  readonly key: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** By the given clock. */
  readonly atMs: number;
}

/** One forwarded list. */
export interface PassedList {
  readonly accept: string;
  readonly encoding: string;
  bytes: number;
}

/** A running proxy. */
export interface LossyProxy {
  readonly url: string;
  /** One of this many events is dropped; `Infinity` drops no event. */
  oneIn: number;
  readonly lost: readonly LostEvent[];
  readonly passed: number;
  readonly lists: readonly PassedList[];
  close(): Promise<void>;
}

/** Opens a proxy on a port of its own, with the credentials of the cluster's administrator. */
export async function openLossyProxy(
  to: Pick<ApiServerProcess, 'url' | 'ca' | 'token'>,
  now: () => number = () => 0,
): Promise<LossyProxy> {
  const agent = new Agent({ keepAlive: true, ca: to.ca });
  const lost: LostEvent[] = [];
  const lists: PassedList[] = [];
  const open = new Set<ClientRequest>();
  const proxy = { oneIn: Number.POSITIVE_INFINITY, passed: 0 };

  /** Whether a line of a watch is forwarded. */
  const leaves = (line: string): boolean => {
    if (!/^\{"type":"(ADDED|MODIFIED|DELETED)"/.test(line)) return true;
    proxy.passed++;
    if (proxy.passed % proxy.oneIn !== 0) return true;
    const { type, object } = JSON.parse(line) as {
      type: string;
      object: { metadata: Record<'namespace' | 'name' | 'uid' | 'resourceVersion', string> };
    };
    const { namespace, name, uid, resourceVersion } = object.metadata;
    lost.push({ type, key: `${namespace}/${name}`, uid, resourceVersion, atMs: now() });
    return false;
  };
  const watch = (answer: IncomingMessage, response: ServerResponse) => {
    let rest = '';
    answer.setEncoding('utf8');
    answer.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (leaves(line)) response.write(`${line}\n`);
    });
    answer.on('end', () => response.end(rest));
  };
  const server = createServer((asked, response) => {
    const { host: _host, connection: _connection, ...headers } = asked.headers;
    const sent = request(
      `${to.url}${asked.url}`,
      {
        agent,
        method: asked.method,
        headers: { ...headers, authorization: `Bearer ${to.token}` },
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        response.flushHeaders();
        if (asked.url?.includes('watch=true')) return watch(answer, response);
        const list: PassedList = {
          accept: asked.headers.accept ?? '',
          encoding: String(answer.headers['content-encoding'] ?? 'identity'),
          bytes: 0,
        };
        lists.push(list);
        answer.on('data', (bytes: Buffer) => {
          list.bytes += bytes.length;
        });
        answer.pipe(response);
      },
    );
    open.add(sent);
    sent.on('close', () => open.delete(sent));
    sent.on('error', () => response.destroy());
    response.on('close', () => sent.destroy());
    asked.pipe(sent);
  });
  const { url, close } = await opened(server, 'http');
  return Object.assign(proxy, {
    url,
    lost,
    lists,
    async close() {
      for (const sent of open) sent.destroy();
      agent.destroy();
      await close();
    },
  });
}
