import {
  type ApiError,
  createClient,
  createListWatch,
  createSharedInformer,
  type Fetch,
  type InitialList,
  type Transport,
  type TransportRequest,
} from 'rx-informer';
import { configMaps, pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { NEVER, Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';

const STREAM = {
  resourceVersion: '',
  resourceVersionMatch: 'NotOlderThan',
  timeoutSeconds: 300,
  sendInitialEvents: true,
} as const;
const { sendInitialEvents: _, resourceVersionMatch: __, ...WATCH } = STREAM;

/** A client whose answers have this head and no end. `hidden`: before the first of them, and since. */
function answering(encoding: string | null, hidden: readonly [boolean, boolean] = [false, false]) {
  let aborted = 0;
  let answered = false;
  const transport: Transport = {
    get hidesEncoding() {
      return hidden[answered ? 1 : 0];
    },
    send: (_request: TransportRequest) =>
      new Observable((subscriber) => {
        subscriber.add(() => aborted++);
        answered = true;
        const header = (name: string) => (name === 'content-encoding' ? encoding : null);
        subscriber.next({ kind: 'head', status: 200, header });
        return NEVER.subscribe();
      }),
    close: () => Promise.resolve(),
  };
  const client = createClient({ baseUrl: '', transport });
  const told = (request: typeof STREAM | typeof WATCH, resource = pods) => {
    const all: string[] = [];
    createListWatch(client, resource)
      .watch(request)
      .subscribe({
        next: ({ kind }) => all.push(kind),
        error: ({ code, reason, message }: ApiError) => all.push(`${code} ${reason}: ${message}`),
      });
    return all;
  };
  const streams = (resource: Parameters<typeof createListWatch>[1] = pods) =>
    createListWatch(client, resource).watchList;
  return { told, streams, aborted: () => aborted };
}

describe('a streaming list that comes compressed', () => {
  it.each(['gzip', 'br', 'x'])('W17: is aborted at its head: %s', (encoding) => {
    const { told, aborted } = answering(encoding);
    const [error, ...more] = told(STREAM);
    expect(error).toMatch(/^406 NotAcceptable: WATCH v1\/pods: the streaming list comes as /);
    expect([more, aborted()]).toEqual([[], 1]);
  });

  it('W17, W4: its server is asked for no other one, of any resource', () => {
    const { told, streams } = answering('gzip');
    expect([streams(), streams(configMaps)]).toEqual([true, true]);
    told(STREAM);
    expect([streams(), streams(configMaps)]).toEqual([false, false]);
    expect(answering('gzip').streams()).toBe(true);
  });

  it('W17: one that is not, and a plain watch, go on', () => {
    for (const [encoding, request] of [
      [null, STREAM],
      ['identity', STREAM],
      ['gzip', WATCH],
    ] as const) {
      const { told, streams, aborted } = answering(encoding);
      expect([told(request), streams(), aborted()]).toEqual([['opened'], true, 0]);
    }
  });
});

describe('a client that cannot see whether answers are compressed', () => {
  it('W18: streams lists only when told to', () => {
    const { told, streams, aborted } = answering(null, [true, true]);
    expect(streams()).toBe('when-told');
    expect([told(STREAM), streams(), aborted()]).toEqual([['opened'], 'when-told', 0]);
  });

  it('W18: ends the streaming list with whose head it learns that', () => {
    const { told, streams, aborted } = answering(null, [false, true]);
    expect(streams()).toBe(true);
    const [error] = told(STREAM);
    expect(error).toMatch(/^406 NotAcceptable: .* the streaming list may be compressed/);
    expect([streams(), aborted()]).toEqual(['when-told', 1]);
  });
});

/** As browsers do: the header is dropped, silently. */
const likeBrowser: Fetch = (url, init) => {
  const { 'accept-encoding': _, ...headers } = init?.headers ?? {};
  return fetch(url, { ...init, headers });
};

/** `S` a streaming list, `L` a list, `W` a watch. */
const asked = (server: FakeApiServer, resource: string) =>
  server.requests
    .filter((request) => request.resource === resource)
    .map(({ use, query }) => (use === 'list' ? 'L' : query['sendInitialEvents'] ? 'S' : 'W'))
    .join(' ');

it.each<InitialList>(['auto', 'stream'])(
  'W17: an informer lists and watches plainly, and the next one at once (%s)',
  async (initialList) => {
    const server = createFakeApiServer();
    server.faults.gzipStreamingLists();
    const served = await server.serve();
    const client = createClient({ baseUrl: served.url, fetch: likeBrowser });
    const first = createSharedInformer(createListWatch(client, pods), { initialList });
    const second = createSharedInformer(createListWatch(client, configMaps), { initialList });
    first.start();
    await first.whenSynced({ timeoutMs: 5_000 });
    const pod = server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
    await first.whenObserved('shop/web', pod.metadata.resourceVersion, { timeoutMs: 5_000 });
    second.start();
    await second.whenSynced({ timeoutMs: 5_000 });
    await expect.poll(() => asked(server, 'configmaps')).toBe('L W');
    expect(asked(server, 'pods')).toBe('S L W');
    await Promise.all([first.stop(), second.stop()]);
    await served.close();
  },
);
