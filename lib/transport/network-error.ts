/**
 * Turns network failures into messages: the request, the failure, and what to check. Systems report only a code,
 * often several causes deep, and browsers report no cause.
 */
import { ApiError } from '../meta/api-error.ts';
import { shownText } from '../meta/shown-text.ts';
import { queryString } from './query.ts';
import type { TransportRequest } from './transport.ts';

/** A message per pattern of the system's code; the first match is used. `%` is replaced by the code. */
export type CauseTexts = readonly (readonly [part: RegExp, text: string])[];

const CAUSES: CauseTexts = [
  [/REFUSED/, 'connection refused (%). Is the API server running at this address?'],
  [/NOTFOUND|EAI_/, 'unknown host (%). Does DNS know this name?'],
  [/TIMEDOUT|CONNECT_T|UNREACH/, 'no connection (%). Check the address, firewall and VPN.'],
  [/TIMEOUT/, 'no response in time (%). Is the API server overloaded?'],
  [/RESET|PIPE|SOCKET|HTTP2/, 'connection closed (%). Did a proxy end it? Is this an https port?'],
  [/SELF_SIGNED|LEAF_S|ISSUER/, 'untrusted certificate (%). Give its CA in NODE_EXTRA_CA_CERTS.'],
  [/CERT|SSL/, 'TLS failed (%). Check the certificate, its dates and its names.'],
  [/_URL/, 'baseUrl has no host (%). Outside of a page, give http(s)://host:port.'],
];

/** The message for a page, whose `fetch` fails without a code and, for security, without a cause. */
export const PAGE_CAUSES: CauseTexts = [
  [
    /^$/,
    "no response (%). Only the browser's console has the cause: CORS, mixed content, certificate, connection.",
  ],
];

const lost = 'the connection was lost (%). Did the server or a proxy end it?';
/** The message for a connection that ended after the head of a response, so that the address and CORS are right. */
export const LOST: CauseTexts = [[/./, lost]];
/** The same for a page, whose `fetch` fails without a code. */
export const PAGE_LOST: CauseTexts = [[/^/, lost]];

/** How many causes are read. The limit also ends a cycle. */
const MOST_CAUSES = 8;

/**
 * Returns the first code among an error and its causes, or the innermost message. Of several errors, as from the
 * addresses of one host, the first counts. A custom `fetch` may reject with any value.
 */
function causeOf(error: unknown): { readonly code?: string; readonly text: string } {
  let at = error;
  let text = '';
  for (let depth = 0; depth < MOST_CAUSES; depth++) {
    if (typeof at === 'string') text = at;
    const { code, message, cause, errors } = (at ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof message === 'string') text = message || text;
    if (typeof code === 'string') return { code, text };
    at = cause ?? (errors as unknown[] | undefined)?.[0];
  }
  return { text };
}

/**
 * Creates the error of a request that failed on the way, for every adapter. `place` is the address without the query.
 * The cause is not attached, because an adapter's error may contain the request with its headers.
 */
export function networkError(
  { method, query, headers = {} }: TransportRequest,
  error: unknown,
  place: string,
  causes: CauseTexts = CAUSES,
): ApiError {
  if (error instanceof ApiError) return error;
  const { code, text } = causeOf(error);
  const unknown = code === undefined ? '%' : 'request failed (%)';
  const [, known = unknown] = causes.find(([part]) => part.test(code ?? '')) ?? [];
  // A message about a header quotes its value, which may be a token. A message about a URL quotes the complete URL.
  const quoted = [queryString(query)];
  for (const value of Object.values(headers)) quoted.push(value, value.replace(/^\S+\s+/, ''));
  let shown = text.replace(/"[\s\S]*"/, '"…"');
  for (const part of quoted) shown = shown.replaceAll(part || '\n', '');
  shown = shownText(shown).replace(/\/\/[^\s/?#]*@/g, '//…@');
  const what = known.replace('%', () => code ?? (shown || 'no connection'));
  return ApiError.local('Network', `${method} ${place}: ${what}`);
}
