/** A server that answers from a script and records the requests. */
import { createClient, type KubeClient } from 'rx-informer';
import type { VirtualTime } from '../rx/virtual-time.ts';

/** A recorded request. `body` is parsed if it is JSON. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly contentType: string | undefined;
  readonly accept: string | undefined;
  readonly body: unknown;
}

/** A status and a body. `null` means that the request is never answered. */
export type Scripted = { readonly status?: number; readonly body: unknown } | null;
export type Script = readonly Scripted[] | ((asked: Asked, index: number) => Scripted);

/** Answers with text and bytes as they are, and with everything else as JSON. */
export function scriptedServer(
  script: Script,
  time?: VirtualTime,
): { readonly client: KubeClient; readonly asked: Asked[]; readonly aborted: string[] } {
  const asked: Asked[] = [];
  const aborted: string[] = [];
  const fetch = async (input: string | URL | Request, init: RequestInit = {}) => {
    const url = new URL(String(input));
    const headers = new Headers(init.headers);
    const text = typeof init.body === 'string' ? init.body : undefined;
    const request: Asked = {
      method: init.method ?? 'GET',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      contentType: headers.get('content-type') ?? undefined,
      accept: headers.get('accept') ?? undefined,
      body: text === undefined ? undefined : JSON.parse(text),
    };
    asked.push(request);
    const found =
      typeof script === 'function'
        ? script(request, asked.length - 1)
        : script[Math.min(asked.length, script.length) - 1];
    const gone = new Promise<never>((_, reject) => {
      init.signal?.addEventListener('abort', () => {
        aborted.push(`${request.method} ${request.path}`);
        reject(init.signal?.reason);
      });
    });
    if (found === null || found === undefined) return await gone;
    gone.catch(() => {});
    const { status = 200, body } = found;
    const raw = body instanceof Uint8Array || body instanceof ReadableStream;
    const type = raw || typeof body === 'string' ? 'text/plain' : 'application/json';
    const payload = raw || typeof body === 'string' ? body : JSON.stringify(body);
    return new Response(payload as BodyInit, { status, headers: { 'content-type': type } });
  };
  const client = createClient({
    baseUrl: 'http://server',
    fetch: fetch as typeof globalThis.fetch,
    qps: 0,
    ...(time === undefined ? {} : { scheduler: time }),
  });
  return { client, asked, aborted };
}

/** A Status error, as servers send it. */
export function refusal(code: number, reason: string, message = reason): Scripted {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message };
  return { status: code, body: status };
}
