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
import { eventually } from '../support/patience.ts';

const STREAM = {
  resourceVersion: '',
  resourceVersionMatch: 'NotOlderThan',
  timeoutSeconds: 300,
  sendInitialEvents: true,
} as const;
const { sendInitialEvents: _, resourceVersionMatch: __, ...WATCH } = STREAM;

/**
 * A client whose responses have this head and no end. `hidden` is `hidesEncoding` before the first response and after
 * it.
 */
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
  const received = (request: typeof STREAM | typeof WATCH, resource = pods) => {
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
  return { received, streams, aborted: () => aborted };
}

describe('a compressed streaming list', () => {
  it.each(['gzip', 'br', 'x'])(
    'W17: the response is aborted when its head arrives (%s)',
    (encoding) => {
      const { received, aborted } = answering(encoding);
      const [error, ...more] = received(STREAM);
      expect(error).toMatch(
        /^406 NotAcceptable: WATCH v1\/pods: the streaming list is encoded as /,
      );
      expect([more, aborted()]).toEqual([[], 1]);
    },
  );

  it('W17, W4: no other streaming list of any resource is requested from that server', () => {
    const { received, streams } = answering('gzip');
    expect([streams(), streams(configMaps)]).toEqual([true, true]);
    received(STREAM);
    expect([streams(), streams(configMaps)]).toEqual([false, false]);
    expect(answering('gzip').streams()).toBe(true);
  });

  it('W17: an uncompressed streaming list and a plain watch are not aborted', () => {
    for (const [encoding, request] of [
      [null, STREAM],
      ['identity', STREAM],
      ['gzip', WATCH],
    ] as const) {
      const { received, streams, aborted } = answering(encoding);
      expect([received(request), streams(), aborted()]).toEqual([['opened'], true, 0]);
    }
  });
});

describe('a client that cannot see whether responses are compressed', () => {
  it('W18: lists are streamed only if the user requests it', () => {
    const { received, streams, aborted } = answering(null, [true, true]);
    expect(streams()).toBe('when-told');
    expect([received(STREAM), streams(), aborted()]).toEqual([['opened'], 'when-told', 0]);
  });

  it('W18: the streaming list whose head reveals this is aborted', () => {
    const { received, streams, aborted } = answering(null, [false, true]);
    expect(streams()).toBe(true);
    const [error] = received(STREAM);
    expect(error).toMatch(/^406 NotAcceptable: .* the streaming list may be compressed/);
    expect([streams(), aborted()]).toEqual(['when-told', 1]);
  });
});

/** Drops the header without an error, as browsers do. */
const likeBrowser: Fetch = (url, init) => {
  const { 'accept-encoding': _, ...headers } = init?.headers ?? {};
  return fetch(url, { ...init, headers });
};

/**
 * `S` a streaming list, `L` a list, `W` a watch. Without the watch from version 0 that tries whether a proxy holds events back, which is
 * sent when this process stood still.
 */
const asked = (server: FakeApiServer, resource: string) =>
  server.requests
    .filter((request) => request.resource === resource)
    .filter(({ use, query }) => use === 'list' || query['resourceVersion'] !== '0')
    .map(({ use, query }) => (use === 'list' ? 'L' : query['sendInitialEvents'] ? 'S' : 'W'))
    .join(' ');

it.each<InitialList>(['auto', 'stream'])(
  'W17: an informer falls back to a LIST and a plain WATCH, and the next informer starts with them (%s)',
  async (initialList) => {
    const server = createFakeApiServer();
    server.faults.gzipStreamingLists();
    const served = await server.serve();
    const client = createClient({ baseUrl: served.url, fetch: likeBrowser });
    const first = createSharedInformer(createListWatch(client, pods), { initialList });
    const second = createSharedInformer(createListWatch(client, configMaps), { initialList });
    first.start();
    await first.whenSynced();
    const pod = server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
    await first.whenObserved('shop/web', pod.metadata.resourceVersion);
    second.start();
    await second.whenSynced();
    await eventually(() => expect(asked(server, 'configmaps')).toBe('L W'));
    expect(asked(server, 'pods')).toBe('S L W');
    await Promise.all([first.stop(), second.stop()]);
    await served.close();
  },
);
