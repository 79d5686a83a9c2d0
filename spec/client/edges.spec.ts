/** Edge cases of logs and watches: responses that are cut or endless, and signals that are already aborted. */
import {
  ApiError,
  createClient,
  createListWatch,
  createResourceClient,
  type Transport,
  type TransportEvent,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { NEVER, Observable, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { failureOf } from './scripted-server.ts';

const status = { kind: 'Status', code: 429, reason: 'TooManyRequests', message: 'slow down' };
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** A client whose transport emits `head` and then the events of `rest`, all synchronously while it is subscribed. */
function answering(
  code: number,
  rest: (chunk: (bytes: Uint8Array) => boolean, fail: () => void) => void,
  headers: Record<string, string> = {},
) {
  const transport: Transport = {
    close: () => Promise.resolve(),
    send: () =>
      new Observable<TransportEvent>((subscriber) => {
        const header = (name: string) => headers[name] ?? null;
        subscriber.next({ kind: 'head', status: code, header });
        const chunk = (bytes: Uint8Array) => {
          if (!subscriber.closed) subscriber.next({ kind: 'chunk', bytes });
          return !subscriber.closed;
        };
        rest(chunk, () => subscriber.error(ApiError.local('Network', 'the connection broke')));
      }),
  };
  return createClient({ baseUrl: 'http://server', transport, qps: 0 });
}

/** Sends `text` until the subscriber leaves, two thousand times at most, and counts the chunks. */
function endless(text: string) {
  const bytes = bytesOf(text);
  const sent = { chunks: 0 };
  const rest = (chunk: (bytes: Uint8Array) => boolean) => {
    while (sent.chunks < 2_000) {
      sent.chunks++;
      if (!chunk(bytes)) return;
    }
  };
  return { sent, rest };
}

describe('a log', () => {
  it('T7, C10: a refused log errors with the status and its Retry-After, also if the body of the refusal is cut', async () => {
    for (const sent of ['', '{"kind":"Status","code":4', JSON.stringify(status)]) {
      const cut = (chunk: (bytes: Uint8Array) => boolean, fail: () => void) => {
        chunk(bytesOf(sent));
        fail();
      };
      const client = answering(429, cut, { 'retry-after': '7' });
      const log = createResourceClient(client, pods).log('shop/web');
      expect(await failureOf(log.forEach(() => {}))).toMatchObject({
        code: 429,
        reason: 'TooManyRequests',
        retryAfterMs: 7_000,
      });
    }
  });

  it('T7, C10: the body of a refusal is read without waiting for the consumer', async () => {
    const demands: (boolean | undefined)[] = [];
    const transport: Transport = {
      close: () => Promise.resolve(),
      send: ({ demand }) =>
        new Observable<TransportEvent>((subscriber) => {
          demands.push(demand?.() === null);
          subscriber.next({ kind: 'head', status: 429, header: () => null });
          demands.push(demand?.() === null);
          subscriber.complete();
        }),
    };
    const client = createClient({ baseUrl: 'http://server', transport });
    const log = createResourceClient(client, pods).log('shop/web', { demand: () => NEVER });
    expect(await failureOf(log.forEach(() => {}))).toMatchObject({ code: 429 });
    expect(demands).toEqual([false, true]);
  });

  it('T7, C10: only the start of an endless body of a refusal is read', async () => {
    const { sent, rest } = endless('x'.repeat(1024));
    const log = createResourceClient(answering(503, rest), pods).log('shop/web');
    expect(await failureOf(log.forEach(() => {}))).toMatchObject({ code: 503 });
    expect(sent.chunks).toBeLessThan(70);
  });

  it('T1, C10: unsubscribing stops a transport that emits synchronously', () => {
    const { sent, rest } = endless('line\n');
    const lines: string[] = [];
    createResourceClient(answering(200, rest), pods)
      .log('shop/web')
      .pipe(take(3))
      .subscribe((line) => lines.push(line));
    expect(lines).toHaveLength(3);
    expect(sent.chunks).toBeLessThan(5);
  });
});

describe('a transport that emits synchronously', () => {
  it('T1, W6: is unsubscribed when a list or a watch fails', async () => {
    const refused = endless('x'.repeat(1024));
    const { list } = createListWatch(answering(503, refused.rest), pods);
    await expect(failureOf(list({ resourceVersion: '' }).forEach(() => {}))).resolves.toMatchObject(
      { code: 503 },
    );
    expect(refused.sent.chunks).toBeLessThan(70);
    const garbage = endless('garbage\n');
    const { watch } = createListWatch(answering(200, garbage.rest), pods);
    const request = { resourceVersion: '1', timeoutSeconds: 60, initialEvents: false } as const;
    await expect(failureOf(watch(request).forEach(() => {}))).resolves.toMatchObject({
      reason: 'Malformed',
    });
    expect(garbage.sent.chunks).toBeLessThan(5);
  });

  it('T7: is unsubscribed when the response of a call is too long', async () => {
    const { sent, rest } = endless('x'.repeat(2 ** 20));
    const client = answering(200, rest);
    expect(await failureOf(client.request({ path: '/version' }))).toMatchObject({
      reason: 'TooLarge',
    });
    expect(sent.chunks).toBeLessThan(70);
  });
});
