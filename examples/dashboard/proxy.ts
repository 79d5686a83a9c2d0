/**
 * The proxy from the page to the cluster. It forwards only the list and the watch of pods, and no other path, verb or
 * parameter. It does not forward the browser's cookies and tokens, and the cluster's credentials never reach the
 * page.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError, type KubeClient, whenDrained } from 'rx-informer';
import { answerStatus, answerText } from './server/answer.ts';
import { securityHeaders } from './server/guard.ts';

/** The traffic of a proxy, for the summary line. */
export interface ProxyTraffic {
  /** The number of open watches. */
  readonly watches: number;
  /** The number of watch events forwarded so far. */
  readonly events: number;
}

/** A proxy to one cluster. */
export interface ClusterProxy {
  readonly traffic: ProxyTraffic;
  /** Whether a path belongs to the Kubernetes API. */
  owns(path: string): boolean;
  forward(request: IncomingMessage, response: ServerResponse, url: URL): void;
}

const ROOTS = /^\/(api|apis)(\/|$)/;
/**
 * The only path that is forwarded. Secrets, logs, exec and proxies have other paths, so they need no list of their
 * own.
 */
const SHOWN = '/api/v1/pods';
/** The query parameters that an informer sends. */
const PARAMETERS = [
  'allowWatchBookmarks',
  'continue',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
  'watch',
];
/** The only projection that is forwarded: the page audits itself with lists of metadata. */
const METADATA = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const PASSED_ON = ['retry-after', 'warning'];
const JSON_TYPE = /^application\/json\b/;
const HEADER_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/;
const NEWLINE = 10;

function newlinesIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

/**
 * The headers of a forwarded response. Whatever its content type, it never becomes a page or a script of this origin.
 */
function headersOf(head: { header(name: string): string | null }): Record<string, string> {
  const isJson = JSON_TYPE.test(head.header('content-type') ?? '');
  const headers: Record<string, string> = {
    ...securityHeaders(),
    'content-type': isJson ? 'application/json' : 'text/plain; charset=utf-8',
  };
  for (const name of PASSED_ON) {
    const value = head.header(name);
    if (value !== null && HEADER_TEXT.test(value)) headers[name] = value;
  }
  return headers;
}

/** A proxy over a client, which holds the credentials. */
export function createClusterProxy(client: KubeClient): ClusterProxy {
  const traffic = { watches: 0, events: 0 };

  function forward(request: IncomingMessage, response: ServerResponse, url: URL): void {
    if (request.method !== 'GET') {
      const sentence = `This dashboard only reads: ${request.method} is not forwarded.`;
      answerText(response, 405, sentence, { allow: 'GET' });
      return;
    }
    if (url.pathname !== SHOWN) {
      answerText(response, 403, `This dashboard forwards nothing but ${SHOWN}.`);
      return;
    }
    const query: Record<string, string> = {};
    for (const name of PARAMETERS) {
      const value = url.searchParams.get(name);
      if (value !== null) query[name] = value;
    }
    const isWatch = ['1', 'true'].includes(query.watch ?? '');
    const isMetadata = !isWatch && request.headers.accept === METADATA;
    if (isWatch) traffic.watches++;
    const subscription = client
      .send({
        method: 'GET',
        path: SHOWN,
        query,
        headers: { accept: isMetadata ? METADATA : 'application/json' },
        ...(isMetadata ? { acceptGzip: true } : {}),
        use: isWatch ? 'watch' : 'list',
        // Reads further when the browser has received what was written.
        demand: whenDrained(response),
      })
      .subscribe({
        next(event) {
          if (event.kind === 'head') {
            response.writeHead(event.status, headersOf(event));
            response.flushHeaders();
          } else if (event.kind === 'chunk') {
            if (isWatch) traffic.events += newlinesIn(event.bytes);
            // The bytes are copied, because they are valid only during this call and the write may wait.
            response.write(Buffer.from(event.bytes));
          }
        },
        error(error: unknown) {
          const { message } = ApiError.from(error, 'The request to the cluster');
          if (response.headersSent) response.destroy();
          else answerStatus(response, 502, 'BadGateway', message);
        },
        complete: () => response.end(),
      });
    response.once('close', () => {
      if (isWatch) traffic.watches--;
      subscription.unsubscribe();
    });
  }

  return { traffic, owns: (path) => ROOTS.test(path), forward };
}
