/** Access to a server under test over any WHATWG `fetch`. */
import { type Answer, type ApiServer, type RequestOptions, watchLines } from './api-server.ts';

function urlOf(baseUrl: string, path: string, query: Record<string, string> = {}): string {
  const text = new URLSearchParams(query).toString();
  return `${baseUrl}${path}${text === '' ? '' : `?${text}`}`;
}

/** Implements `request` and `stream` of a server under test. */
export function overFetch(
  fetch: typeof globalThis.fetch,
  baseUrl: string,
): Pick<ApiServer, 'request' | 'stream'> {
  return {
    async request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
      const { query, body, headers = {} } = options;
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const answer = await fetch(urlOf(baseUrl, path, query), {
        method,
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: text }),
      });
      return readAnswer(answer.status, answer.headers, await answer.text());
    },
    stream(path, query, headers = {}) {
      const abort = new AbortController();
      async function* chunks() {
        const answer = await fetch(urlOf(baseUrl, path, query), { headers, signal: abort.signal });
        if (answer.status !== 200 || answer.body === null) {
          throw new Error(`the watch failed with ${answer.status}: ${await answer.text()}`);
        }
        yield* answer.body as unknown as AsyncIterable<Uint8Array>;
      }
      return watchLines(chunks(), () => abort.abort());
    },
  };
}

export function readAnswer(status: number, headers: Headers, text: string): Answer {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status, headers, text, json };
}
