/**
 * Requests that wait for a connection or for credentials are reported as queued, and that wait does not count as a
 * silence of the server.
 */

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import {
  type ApiError,
  createClient,
  createListWatch,
  type KubeClient,
  type ReflectorStatus,
  reflect,
  type Transport,
} from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { eventually } from '../support/patience.ts';
import { endings, folder, open, prepareKubeconfigs } from './kubeconfig-rig.ts';
import { kubeconfig } from './kubeconfigs.ts';
import { expectClean, watch } from './seen.ts';
import { listen, opened, type Response } from './servers.ts';
import { testOnlyCa } from './test-only-certificates.ts';

prepareKubeconfigs();

const get = { method: 'GET', path: '/api/v1/pods', use: 'watch' } as const;

/** A reflector with short timeouts, and the phases and errors that it reported. */
function reflected(
  client: KubeClient,
  initialList: 'pages' | 'stream',
  scheduler: SchedulerLike = asyncScheduler,
) {
  const errors: ApiError[] = [];
  const seen: { status?: ReflectorStatus } = {};
  const run = reflect(createListWatch(client, pods), {
    initialList,
    scheduler,
    requestTimeoutMs: 500,
    onError: (error) => void errors.push(error),
    onStatus: (status) => {
      seen.status = status;
    },
  }).subscribe();
  endings.push(async () => run.unsubscribe());
  return { run, errors, seen };
}

/** The kinds of events of one request, and `|` for its end. */
function kindsOf(transport: Transport): string[] {
  const kinds: string[] = [];
  transport.send(get).subscribe({
    next: ({ kind }) => kinds.push(kind),
    complete: () => kinds.push('|'),
    error: (error) => kinds.push(String(error)),
  });
  return kinds;
}
const answered = ['queued', 'sending', 'head', 'chunk', '|'];

it('T12: a request that waits for a connection emits queued, and sending when undici begins it', async () => {
  const responses: Response[] = [];
  const server = await listen('http', (_, response) => responses.push(response));
  const transport = createUndiciTransport({ baseUrl: server.url, maxConnections: 1 });
  endings.push(server.close, () => transport.close());
  const first = kindsOf(transport);
  await eventually(() => responses.length === 1, 'the first');
  const second = kindsOf(transport);
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect([first, second]).toEqual([['queued', 'sending'], ['queued']]);
  responses[0]?.end('x');
  await eventually(() => responses.length === 2, 'the second');
  expect(second).toEqual(['queued', 'sending']);
  responses[1]?.end('x');
  await eventually(() => second.at(-1) === '|', 'the end');
  expect([first, second]).toEqual([answered, answered]);
});

it('T12: over HTTP/2 a request on an open connection is not queued', async () => {
  const server = await listen('http2', (_, response) => response.end('x'));
  const tls = { ca: testOnlyCa };
  const transport = createUndiciTransport({ baseUrl: server.url, tls, maxConnections: 1 });
  endings.push(server.close, () => transport.close());
  const first = kindsOf(transport);
  await eventually(() => first.at(-1) === '|', 'the first');
  const second = kindsOf(transport);
  await eventually(() => second.at(-1) === '|', 'the second');
  expect([first, second]).toEqual([answered, ['head', 'chunk', '|']]);
});

it('T12: unsubscribing from a queued request ends it', async () => {
  const server = await listen('http', () => {});
  const transport = createUndiciTransport({ baseUrl: server.url, maxConnections: 1 });
  endings.push(server.close, () => transport.close());
  for (const _ of [1, 2]) {
    const kinds: string[] = [];
    const run = transport.send(get).subscribe(({ kind }) => {
      kinds.push(kind);
      queueMicrotask(() => run.unsubscribe());
    });
    await eventually(() => run.closed, 'the wait');
    expect(kinds).toEqual(['queued']);
  }
});

it.each(['pages', 'stream'] as const)(
  'R15, T12: a second informer (%s) on one connection is queued, and reports no error',
  async (initialList) => {
    const fake = createFakeApiServer();
    fake.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
    const server = await fake.serve();
    const transport = createUndiciTransport({ baseUrl: server.url, maxConnections: 1 });
    const client = createClient({ baseUrl: server.url, transport });
    endings.push(server.close, () => client.close());
    const first = reflected(client, 'stream');
    await eventually(() => first.seen.status?.synced === true, 'the first');
    const time = new VirtualTime();
    const second = reflected(client, initialList, time);
    await eventually(() => second.seen.status?.phase === 'queued', 'the queue');
    await time.advance(10_000);
    expect([second.errors, second.seen.status?.phase]).toEqual([[], 'queued']);
    first.run.unsubscribe();
    await eventually(() => second.seen.status?.synced === true, 'the second');
  },
);

it('R15, T12: the time of a slow plugin does not count as a silence of the server', async () => {
  const fake = createFakeApiServer();
  const server = await fake.serve();
  endings.push(server.close);
  const apiVersion = 'client.authentication.k8s.io/v1';
  const credential = { apiVersion, kind: 'ExecCredential', status: { token: 't' } };
  const file = join(folder(), 'go-on');
  const print = `until [ -e "$0" ]; do sleep 0.1; done; echo '${JSON.stringify(credential)}'`;
  const exec = { apiVersion, command: '/bin/sh', args: ['-c', print, file] };
  const client = await open({ text: kubeconfig({ server: server.url }, { exec }) });
  const time = new VirtualTime();
  const { errors, seen } = reflected(client, 'pages', time);
  await eventually(() => seen.status?.phase === 'queued', 'the plugin');
  await time.advance(10_000);
  expect([errors, seen.status?.phase]).toEqual([[], 'queued']);
  writeFileSync(file, '');
  await eventually(() => seen.status?.synced === true, 'the list');
});

it('T12: a proxy that does not answer keeps a request queued no longer than the timeout for a response head', async () => {
  const silent = await opened(
    createServer((socket) => void socket.resume()),
    'http',
  );
  const transport = createUndiciTransport({
    baseUrl: 'https://127.0.0.1:1',
    proxy: silent.url,
    headersTimeoutMs: 100,
  });
  endings.push(silent.close, () => transport.close());
  const seen = watch(transport.send(get));
  await eventually(() => seen.error !== undefined, 'the end');
  expect(expectClean(seen.error, 'Network', []).message).toContain('HEADERS_TIMEOUT');
});

it('W29: the connection that is opened for a ping is no wait, but the wait for a free one is', async () => {
  // TLS never begins, so the connection is never open.
  const { url: baseUrl, close } = await opened(createServer(), 'https');
  endings.push(close);
  const urgent = (transport: Transport) => {
    const kinds: string[] = [];
    const run = transport.send({ ...get, isUrgent: true }).subscribe({
      next: ({ kind }) => kinds.push(kind),
      error: () => kinds.push('error'),
    });
    endings.push(async () => run.unsubscribe());
    return kinds;
  };
  const free = createUndiciTransport({ baseUrl });
  const scarce = createUndiciTransport({ baseUrl, maxConnections: 1 });
  endings.push(
    () => free.close(),
    () => scarce.close(),
  );
  kindsOf(free);
  const scarceKinds = kindsOf(scarce);
  await eventually(() => scarceKinds.length > 0, 'queued');
  expect(urgent(free)).toEqual([]);
  expect(urgent(scarce)).toEqual(['queued']);
});

it('W29: the wait of a ping for one of the streams of an HTTP/2 connection is reported', async () => {
  const server = await listen('http2', (_, response) => {
    response.writeHead(200);
    response.write('x');
  });
  const transport = createUndiciTransport({
    baseUrl: server.url,
    tls: { ca: testOnlyCa },
    maxConnections: 1,
  });
  endings.push(server.close, () => transport.close());
  const watches = Array.from({ length: 100 }, () => kindsOf(transport));
  await eventually(() => watches.every((kinds) => kinds.includes('head')), 'the heads');
  const kinds: string[] = [];
  const urgent = transport
    .send({ ...get, isUrgent: true })
    .subscribe(({ kind }) => kinds.push(kind));
  expect(kinds).toEqual(['queued']);
  urgent.unsubscribe();
});
