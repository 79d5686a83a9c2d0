/**
 * The proxy from the page to the cluster. It forwards what `allowed-requests.ts` allows, and drops every other
 * parameter and header: the browser's cookies and tokens do not reach the cluster, and the cluster's credentials do
 * not reach the page. If users sign in, their token is the only credential of their requests.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError, type KubeClient, type TransportRequest, whenDrained } from 'rx-informer';
import { type AllowedRequest, judge, type ProxyRules } from './server/allowed-requests.ts';
import { answerText } from './server/answer.ts';
import { BodyRefused, type ForwardedBody, readForwardedBody } from './server/forwarded-body.ts';
import { securityHeaders } from './server/guard.ts';

export interface ProxyTraffic {
  readonly watches: number;
  readonly events: number;
}

export interface ClusterProxy {
  readonly traffic: ProxyTraffic;
  /** Whether a path belongs to the Kubernetes API. */
  owns(path: string): boolean;
  /** Whether a request is one that is forwarded. */
  allows(method: string, path: string): boolean;
  forward(request: IncomingMessage, response: ServerResponse, url: URL): void;
}

const ROOTS = /^\/(api|apis)(\/|$)/;
const JSON_ONLY = 'application/json';
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const TABLE = METADATA.replace('PartialObjectMetadata', 'Table');
const METADATA_LIST = METADATA.replace('Metadata;', 'MetadataList;');
/** Asks the server to leave a part out of the objects that no page shows. */
const DROP = ';drop=metadata.managedFields';
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
  const passed = PASSED_ON.map((name) => [name, head.header(name) ?? '\n'] as const);
  return {
    ...securityHeaders(),
    'content-type': isJson ? 'application/json' : 'text/plain; charset=utf-8',
    ...Object.fromEntries(passed.filter(([, value]) => HEADER_TEXT.test(value))),
  };
}

function queryOf({ searchParams }: URL, parameters: readonly string[]): Record<string, string> {
  const sent = parameters.map((name) => [name, searchParams.get(name)] as const);
  return Object.fromEntries(sent.filter((each): each is [string, string] => each[1] !== null));
}

const isTrue = (value: string | undefined) => value === '1' || value === 'true';

/** The representation that is requested: the one that the page asks for, if it is one of objects, of metadata or, for a collection, of a table. */
function acceptOf(
  { use, metadataOnly }: AllowedRequest,
  isWatch: boolean,
  asked: string | undefined,
): string {
  if (use === 'log') return '*/*';
  if (use !== 'collection' && use !== 'object') return JSON_ONLY;
  const metadata = use === 'collection' && !isWatch ? METADATA_LIST : METADATA;
  const types = [metadata, `${metadata}${DROP}`];
  if (use === 'collection') types.push(TABLE, `${TABLE}${DROP}`);
  if (!metadataOnly) types.unshift(JSON_ONLY, `${JSON_ONLY}${DROP}, ${JSON_ONLY}`);
  return types.find((type) => type === asked) ?? types[0] ?? JSON_ONLY;
}

function forwarded(
  request: IncomingMessage,
  url: URL,
  allowed: AllowedRequest,
  sent: ForwardedBody | undefined,
  { asUsers }: ProxyRules,
): TransportRequest {
  const query = queryOf(url, allowed.parameters);
  const { authorization } = request.headers;
  const isWatch = isTrue(query['watch']);
  const isList = allowed.use === 'collection' && !isWatch;
  const accept = acceptOf(allowed, isWatch, request.headers.accept);
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    // Otherwise a table might contain the complete objects.
    query: accept.startsWith(TABLE) ? { ...query, includeObject: 'Metadata' } : query,
    headers: {
      accept,
      ...(sent === undefined ? {} : { 'content-type': sent.contentType }),
      ...(asUsers && authorization !== undefined ? { authorization } : {}),
    },
    ...(sent === undefined ? {} : { body: sent.body }),
    ...(accept.startsWith(METADATA_LIST) ? { acceptGzip: true } : {}),
    // A followed log can be silent for days, like a watch.
    use: isWatch || isTrue(query['follow']) ? 'watch' : isList ? 'list' : 'call',
  };
}

/** A proxy over a client, which holds the credentials. */
export function createClusterProxy(client: KubeClient, rules: ProxyRules = {}): ClusterProxy {
  const traffic = { watches: 0, events: 0 };

  function send(response: ServerResponse, request: TransportRequest): void {
    const isWatch = isTrue(request.query?.['watch']);
    if (isWatch) traffic.watches++;
    const subscription = client
      // Reads further when the browser has received what was written.
      .send({ ...request, demand: whenDrained(response) })
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
          // Not a Status, because the cluster has not answered: informers of the page then know that it is gone.
          else answerText(response, 502, message);
        },
        complete: () => response.end(),
      });
    response.once('close', () => {
      if (isWatch) traffic.watches--;
      subscription.unsubscribe();
    });
  }

  async function sendWithBody(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    allowed: AllowedRequest,
  ): Promise<void> {
    try {
      const sent = await readForwardedBody(request, allowed.use, rules);
      send(response, forwarded(request, url, allowed, sent, rules));
    } catch (error) {
      // The page has closed the connection, unless the body was refused.
      if (!(error instanceof BodyRefused)) response.destroy();
      else answerText(response, error.code, error.message, { connection: 'close' });
    }
  }

  function forward(request: IncomingMessage, response: ServerResponse, url: URL): void {
    if (rules.asUsers && !/^Bearer \S/i.test(request.headers.authorization ?? '')) {
      request.resume();
      return answerText(response, 401, 'Sign in first.');
    }
    const allowed = judge(request.method ?? '', url.pathname, rules);
    if ('sentence' in allowed) {
      const { code, sentence, allow } = allowed;
      request.resume();
      answerText(response, code, sentence, allow === undefined ? {} : { allow });
    } else if (['write', 'delete', 'review'].includes(allowed.use)) {
      void sendWithBody(request, response, url, allowed);
    } else {
      send(response, forwarded(request, url, allowed, undefined, rules));
    }
  }

  const allows = (method: string, path: string) => !('sentence' in judge(method, path, rules));
  return { traffic, owns: (path) => ROOTS.test(path), allows, forward };
}
