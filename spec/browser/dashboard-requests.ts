/** The requests that a dashboard receives, also those of workers, which Playwright does not see. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Dashboard } from '../../examples/dashboard/dashboard.ts';

/** A received request. */
export interface Received {
  readonly pathname: string;
  readonly query: URLSearchParams;
  readonly accept: string;
}

/** The requests from now on, oldest first, and a function that stops the recording. */
export interface Recording {
  readonly requests: readonly Received[];
  stop(): void;
}

/** Records the requests that a dashboard of this process receives. */
export function recordRequests({ port }: Pick<Dashboard, 'port'>): Recording {
  const requests: Received[] = [];
  const note = (message: unknown) => {
    const { request } = message as { readonly request: IncomingMessage };
    if (request.socket.localPort !== port) return;
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://dashboard');
    requests.push({ pathname, query: searchParams, accept: request.headers.accept ?? '' });
  };
  subscribe('http.server.request.start', note);
  return { requests, stop: () => unsubscribe('http.server.request.start', note) };
}

/** Whether a request reads a complete collection: a list, or a watch that begins with one. */
export function isList({ query }: Received): boolean {
  if (query.has('sendInitialEvents')) return true;
  return !query.has('watch') && query.get('limit') !== '1';
}
