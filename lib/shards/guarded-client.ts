/**
 * A client for the writes of one reconcile: nothing is sent once the reconcile's signal has aborted, and no write overwrites what it
 * has not seen.
 */

import { defer } from 'rxjs';
import { type EitherSignal, eitherSignal } from '../client/either-signal.ts';
import { type Fields, isFields } from '../meta/json-fields.ts';
import type { KubeRequest } from '../transport/call.ts';
import type { KubeClient } from '../transport/kube-client.ts';

function parsed(body: unknown): unknown {
  if (body instanceof Uint8Array) return parsed(new TextDecoder().decode(body));
  if (typeof body !== 'string') return body;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Whether the body names the version or the UID of the object that it was made from. */
function hasBase(body: unknown): boolean {
  const given = parsed(body);
  if (Array.isArray(given)) {
    return given.some(
      ({ op, path, value }: Fields) =>
        op === 'test' &&
        /^\/metadata\/(resourceVersion|uid)$/.test(String(path)) &&
        isVersion(value),
    );
  }
  const metadata = isFields(given) ? given['metadata'] : undefined;
  return isFields(metadata) && (isVersion(metadata['resourceVersion']) || Boolean(metadata['uid']));
}

/** Whether the version protects: a server takes '0' for none. */
function isVersion(version: unknown): boolean {
  return Boolean(version) && version !== '0';
}

function checkBase({
  method = 'GET',
  path,
  body,
}: Pick<KubeRequest, 'method' | 'path' | 'body'>): void {
  if (!['PUT', 'PATCH'].includes(method.toUpperCase()) || hasBase(body)) return;
  const message = `${method} ${path}: the write names neither metadata.resourceVersion nor metadata.uid of the object that it was made from, so it could overwrite what a new owner of the object has written; use edit(), or add one of them`;
  throw new TypeError(message);
}

/**
 * Returns a client for the writes of one reconcile in a controller with shards. Each of its requests carries the reconcile's
 * `signal`, which is asked when the bytes leave: behind the rate limit and behind the wait for a connection. A PUT or PATCH must name
 * the `resourceVersion` or the UID of the object that it was made from; `edit` and `update` of a read object do. Otherwise it rejects
 * with a `TypeError`, and nothing is sent.
 *
 * A version protects from overwriting a newer state, a UID only from changing another object of the same name.
 *
 * @example
 * ```ts
 * import { createClient, createResourceClient, guardedClient } from 'rx-informer';
 * import { configMaps } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * const prices = server.objects.create(configMaps, { metadata: { namespace: 'shop', name: 'prices' } });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const { signal } = new AbortController(); // the signal that `reconcile` receives
 * const calls = createResourceClient(guardedClient(client, signal), configMaps);
 * const blind = await calls.patch('shop/prices', { merge: { data: { tea: '3' } } }).catch((error) => error.name);
 * blind; // => 'TypeError'
 * const written = await calls.edit(prices, (draft) => {
 *   draft.data = { tea: '3' };
 * });
 * written.data?.['tea']; // => '3'
 * ```
 */
export function guardedClient(client: KubeClient, signal: AbortSignal): KubeClient {
  const both = (own: AbortSignal | undefined): EitherSignal => {
    if (own === undefined || own === signal) return { signal, release: () => {} };
    const either = eitherSignal(own, signal);
    // Asked when the bytes leave, so it must know the time, as `signal` does.
    Object.defineProperty(either.signal, 'aborted', { get: () => own.aborted || signal.aborted });
    return either;
  };
  const guarded: Pick<KubeClient, 'request' | 'send'> = {
    request: async (request) => {
      checkBase(request);
      const either = both(request.signal);
      try {
        return await client.request({ ...request, signal: either.signal });
      } finally {
        either.release();
      }
    },
    send: (request) =>
      defer(() => {
        checkBase(request);
        const maySend = () => !signal.aborted && request.maySend?.() !== false;
        return client.send({ ...request, maySend });
      }),
  };
  return Object.assign(Object.create(client) as KubeClient, guarded);
}
