import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { createFakeApiServer, type FakeApiServer, type Served } from 'rx-informer/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../support/patience.ts';
import { pod, pods, Wire } from '../wire.ts';

const STREAM =
  'watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';

let server: FakeApiServer;
let served: Served;
beforeEach(async () => {
  server = createFakeApiServer();
  server.objects.create(pods, pod('a'));
  served = await server.serve();
  server.faults.gzipStreamingLists();
});
afterEach(() => served.close());

/** The response as it is on the wire, in separate chunks. */
async function raw(query: string, encoding: string) {
  const request = get(`${served.url}/api/v1/pods?${query}`, {
    headers: { 'accept-encoding': encoding },
  });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  response.on('data', (chunk) => chunks.push(chunk));
  response.on('error', () => {});
  const reaches = (count: number) => eventually(() => expect(chunks).toHaveLength(count));
  return { encoding: response.headers['content-encoding'], chunks, reaches, request };
}

it('A63: each flush of a streaming list is a separate gzip member', async () => {
  const { encoding, chunks, reaches, request } = await raw(STREAM, 'br, gzip;q=0.9');
  expect(encoding).toBe('gzip');
  await reaches(1);
  server.objects.create(pods, pod('b'));
  await reaches(2);
  const texts = chunks.map((chunk) => gunzipSync(chunk).toString());
  expect(texts[0]).toMatch(/"ADDED".*"name":"a".*\n.*initial-events-end.*\n$/);
  expect(texts[1]).toMatch(/^{"type":"ADDED".*"name":"b".*\n$/);
  request.destroy();
  await eventually(() => expect(server.openWatches).toEqual([]));
});

it('A63: a client that does not accept gzip gets none, and a plain watch is not compressed', async () => {
  for (const [query, encoding] of [
    [STREAM, 'identity'],
    [STREAM, 'x-gzip, br'],
    ['watch=1', 'gzip'],
  ] as const) {
    const answer = await raw(query, encoding);
    expect(answer.encoding, query).toBeUndefined();
    await answer.reaches(1);
    expect(answer.chunks[0]?.toString(), query).toMatch(/^{"type":"ADDED"/);
    answer.request.destroy();
  }
});

it('A63: a client that supports concatenated members reads the complete list', async () => {
  const wire = await Wire.open(globalThis.fetch, STREAM, served.url);
  expect(await wire.lines()).toEqual(['ADDED a', 'BOOKMARK 2']);
  server.objects.create(pods, pod('b'));
  expect(await wire.lines()).toEqual(['ADDED b']);
  server.faults.closeWatches();
  expect(await wire.chunk()).toBeUndefined();
});
