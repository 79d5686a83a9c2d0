/**
 * The way from the page to the cluster. Only reads pass, only to the API, and only with what is needed: the
 * browser's cookies and tokens stay here, and the cluster's credentials never reach the page.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError, type KubeClient } from 'rx-informer';
import { fromEvent } from 'rxjs';
import { answerStatus, answerText } from './server/answer.ts';
import { securityHeaders } from './server/guard.ts';

/** What passes through a proxy, for the summary line. */
export interface ProxyTraffic {
  /** Watches that are open now. */
  readonly watches: number;
  /** Watch events passed on so far. */
  readonly events: number;
}

/** A proxy to one cluster. */
export interface ClusterProxy {
  readonly traffic: ProxyTraffic;
  /** Whether a path is the cluster's. */
  owns(path: string): boolean;
  forward(request: IncomingMessage, response: ServerResponse, url: URL): void;
}

const ROOTS = /^\/(api|apis|version|readyz)(\/|$)/;
// They take GET, but run commands, open tunnels or serve pages of the cluster's own in this origin.
const REFUSED = /\/(exec|attach|portforward|proxy)(\/|$)/;
const PASSED_ON = ['content-type', 'retry-after', 'warning'];
const NEWLINE = 10;

function newlinesIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
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
    if (REFUSED.test(decodeURIComponent(url.pathname))) {
      answerText(response, 403, 'This dashboard does not forward this subresource.');
      return;
    }
    const query = Object.fromEntries(url.searchParams);
    const isWatch = ['1', 'true'].includes(query.watch ?? '');
    if (isWatch) traffic.watches++;
    const subscription = client
      .send({
        method: 'GET',
        path: url.pathname,
        query,
        headers: { accept: 'application/json' },
        use: isWatch ? 'watch' : 'list',
        // Reads on when the browser has taken what it was sent.
        demand: () => (response.writableNeedDrain ? fromEvent(response, 'drain') : null),
      })
      .subscribe({
        next(event) {
          if (event.kind === 'head') {
            const headers = securityHeaders();
            for (const name of PASSED_ON) {
              const value = event.header(name);
              if (value !== null) headers[name] = value;
            }
            response.writeHead(event.status, headers);
            response.flushHeaders();
          } else if (event.kind === 'chunk') {
            if (isWatch) traffic.events += newlinesIn(event.bytes);
            // The bytes are lent, and a write may wait.
            response.write(Buffer.from(event.bytes));
          }
        },
        error(error: unknown) {
          const { message } = ApiError.from(error, 'The way to the cluster');
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
