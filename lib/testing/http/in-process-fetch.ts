/** A WHATWG `fetch` that sends requests to the fake server in the same process. */

import { failMarbles, isVirtualTime } from '../streams/virtual-time.ts';
import { toReadableStream } from './body.ts';
import { type DispatchContext, dispatch } from './dispatcher.ts';
import type { Exchange } from './request.ts';

async function exchangeOf(
  input: RequestInfo | URL,
  init: RequestInit | undefined,
): Promise<Exchange> {
  const request = input instanceof Request ? new Request(input, init) : undefined;
  const url = new URL(request?.url ?? String(input), 'http://fake');
  const headers = request?.headers ?? new Headers(init?.headers);
  const given = init?.body;
  let body = '';
  if (request !== undefined) body = await request.text();
  else if (typeof given === 'string') body = given;
  else if (given !== undefined && given !== null) body = await new Response(given).text();
  return {
    method: (request?.method ?? init?.method ?? 'GET').toUpperCase(),
    path: url.pathname,
    query: url.searchParams,
    header: (name) => headers.get(name),
    body,
  };
}

function abortError(signal: AbortSignal): unknown {
  return signal.reason ?? new DOMException('This operation was aborted', 'AbortError');
}

/** Creates the `fetch` of a server. */
export function inProcessFetch(context: DispatchContext): typeof globalThis.fetch {
  const answer: typeof globalThis.fetch = async (input, init) => {
    const signal =
      init?.signal ?? (input instanceof Request ? input.signal : undefined) ?? undefined;
    if (signal?.aborted) throw abortError(signal);
    const exchange = await exchangeOf(input, init);
    return new Promise<Response>((resolve, reject) => {
      if (signal?.aborted) return reject(abortError(signal));
      let cancel = () => {};
      const abort = () => {
        cancel();
        reject(signal === undefined ? undefined : abortError(signal));
      };
      signal?.addEventListener('abort', abort, { once: true });
      cancel = dispatch(exchange, context, (outcome) => {
        signal?.removeEventListener('abort', abort);
        if (outcome.kind === 'refused') {
          const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
          return reject(new TypeError('fetch failed', { cause }));
        }
        const { status, headers, body } = outcome.answer;
        resolve(new Response(toReadableStream(body, signal), { status, headers: { ...headers } }));
      });
    });
  };
  return (input, init) => {
    if (!isVirtualTime()) return answer(input, init);
    const error = new Error(
      'The fake API server received a request within marbles() or TestScheduler.run(). It answers with promises, and promises ' +
        'do not run in virtual time, so it can never answer there. Use marbleListWatch(…) as the ListerWatcher, or ' +
        'test against the server outside of marbles().',
    );
    failMarbles(error);
    throw error;
  };
}
