/**
 * Tests informers with the compressed streaming lists of Kubernetes 1.37 (`WatchListCompression`, on by default), whose
 * bodies consist of a gzip member per flush. Older servers compress no watch, and 1.33 streams no list by default.
 */
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { gunzipSync } from 'node:zlib';
import {
  createClient,
  createListWatch,
  createSharedInformer,
  type Fetch,
  type KubeClient,
} from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { type ConfigMap, configMaps } from 'rx-informer/resources';
import { tap } from 'rxjs';
import { Agent, fetch as undiciFetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/patience.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { minor } from './apiserver-binary.ts';
import { startChurn } from './churn.ts';
import { noControl } from './cluster.ts';
import { expectSameAsServer, mirror } from './mirror.ts';
import { fillNamespaces } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';

const OBJECTS = 800;
const labels = { test: 'compressed-streams' };
const STREAMING = {
  watch: 'true',
  sendInitialEvents: 'true',
  resourceVersionMatch: 'NotOlderThan',
  allowWatchBookmarks: 'true',
};
const streams = minor >= 34;
const compresses = minor >= 37;

/** What Go writes at the beginning of a gzip member. */
const MEMBER = Buffer.from('1f8b080000000000', 'hex');

/** The texts of the gzip members of a body. Throws if the last one is not complete. */
function gzipMembers(bytes: Buffer): string[] {
  const texts: string[] = [];
  for (let from = bytes.indexOf(MEMBER); from !== -1; ) {
    const next = bytes.indexOf(MEMBER, from + 1);
    texts.push(gunzipSync(bytes.subarray(from, next === -1 ? bytes.length : next)).toString());
    from = next;
  }
  return texts;
}

/** Records each list and watch as the client sees it: its kind, its status and the encoding of its body. */
function recorded(client: KubeClient, sent: string[]): KubeClient {
  const send: KubeClient['send'] = (request) => {
    const { use, query = {} } = request;
    const kind = use === 'watch' && query.sendInitialEvents === 'true' ? 'stream' : use;
    return client.send(request).pipe(
      tap((event) => {
        if (event.kind !== 'head' || use === 'call') return;
        const encoding = event.header('content-encoding') ?? 'identity';
        sent.push(`${kind} ${event.status} ${encoding}`);
      }),
    );
  };
  return Object.create(client, { send: { value: send } });
}

describe.skipIf(noControl)('streaming lists that may be compressed', () => {
  let server: ApiServerProcess;
  let api: RawApi;
  let namespaces: readonly string[];
  let dispatcher: Agent;

  beforeAll(async () => {
    server = await startApiServer();
    api = await openRawApi(server.kubeconfig);
    namespaces = await fillNamespaces(api, { namespaces: 2, objects: OBJECTS, labels });
    dispatcher = new Agent({ connect: { ca: server.ca } });
  });
  afterAll(async () => {
    await dispatcher?.destroy();
    api?.close();
    await server?.stop();
  });

  /** Opens a watch with gzip, and returns its head and the bytes that it has received. */
  async function watching(query: Record<string, string>) {
    const url = new URL(`/api/v1/namespaces/${namespaces[0]}/configmaps`, server.url);
    url.search = new URLSearchParams(query).toString();
    const headers = { authorization: `Bearer ${server.token}`, 'accept-encoding': 'gzip' };
    const head = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = httpsRequest(url, { ca: server.ca, agent: false, headers }, resolve);
      request.on('error', reject);
      request.end();
    });
    onTestFinished(() => void head.destroy());
    const chunks: Buffer[] = [];
    head.on('data', (chunk: Buffer) => chunks.push(chunk));
    head.on('error', () => undefined);
    return { head, bytes: () => Buffer.concat(chunks) };
  }
  const write = (name: string) =>
    api.ok('POST', `/api/v1/namespaces/${namespaces[0]}/configmaps`, {
      body: { metadata: { name } },
    });

  it.runIf(streams)(
    'each flush of a streaming list is a gzip member since Kubernetes 1.37',
    async () => {
      const { head, bytes } = await watching(STREAMING);
      const texts = () => (compresses ? gzipMembers(bytes()) : [bytes().toString()]);
      expect(head.headers['content-encoding']).toBe(compresses ? 'gzip' : undefined);
      await eventually(async () =>
        expect(await texts().join('')).toContain('k8s.io/initial-events-end'),
      );
      for (const name of ['first', 'second']) {
        await write(name);
        const own = () => texts().find((text) => text.includes(`"name":"${name}"`)) ?? '';
        await eventually(async () => expect(await own()).not.toBe(''));
        if (compresses) expect(own().trimEnd().split('\n')).toHaveLength(1);
      }
      expect(texts().join('').split('\n').length).toBeGreaterThan(OBJECTS / 2);
    },
  );

  it('a plain watch is never compressed', async () => {
    const { head, bytes } = await watching({ watch: 'true', resourceVersion: '0' });
    expect(head.headers['content-encoding']).toBeUndefined();
    await eventually(async () => expect(await bytes().toString()).toContain('"type":"ADDED"'));
  });

  /** A fetch of Node with the certificate of the server. `acceptEncoding` replaces that of watches. */
  const fetchWith = (acceptEncoding?: string): Fetch =>
    ((url: string, init: RequestInit & { headers: Record<string, string> }) => {
      const isWatch = init.headers['accept-encoding'] !== undefined;
      const headers =
        isWatch && acceptEncoding !== undefined
          ? { ...init.headers, 'accept-encoding': acceptEncoding }
          : init.headers;
      return undiciFetch(url, { ...init, headers, dispatcher } as never);
    }) as unknown as Fetch;
  const overFetch = (fetch: Fetch) =>
    createClient({
      baseUrl: server.url,
      fetch,
      qps: 0,
      headers: { authorization: `Bearer ${server.token}` },
    });

  const unstreamed = ['stream 422 identity', 'list 200 identity', 'watch 200 identity'];
  const plain = streams ? ['stream 200 identity'] : unstreamed;
  it.each<[string, () => Promise<KubeClient>, readonly string[]]>([
    ['undici', () => clientFromKubeConfig({ file: server.kubeconfig, qps: 0 }), plain],
    ['fetch', async () => overFetch(fetchWith()), plain],
    [
      'a fetch that accepts gzip for watches, too, as in browsers',
      async () => overFetch(fetchWith('gzip')),
      compresses ? ['stream 200 gzip', 'list 200 gzip', 'watch 200 identity'] : plain,
    ],
  ])('W17: an informer over %s equals the server during changes', async (_, open, expected) => {
    const sent: string[] = [];
    const client = await open();
    onTestFinished(() => client.close());
    const source = createListWatch(recorded(client, sent), configMaps, {
      labelSelector: `test=${labels.test}`,
    });
    const informer = createSharedInformer(source);
    onTestFinished(() => informer.stop());
    const mirrored = mirror(informer);
    await informer.whenSynced();
    const place = { api, resource: configMaps, namespace: namespaces[0] as string, labels };
    await expectSameAsServer(informer, mirrored, place);
    expect(informer.indexer.size).toBeGreaterThanOrEqual(OBJECTS);

    const churn = startChurn({ api, resource: configMaps, namespaces, labels, writes: 60 });
    await churn.done;
    // Flushes with pauses between them: each is a member of its own if the watch is compressed.
    for (let at = 0; at < 5; at++) {
      const { metadata } = await api.ok<ConfigMap>(
        'POST',
        `/api/v1/namespaces/${namespaces[0]}/configmaps`,
        { body: { metadata: { generateName: 'pause-', labels } } },
      );
      const key = `${namespaces[0]}/${metadata?.name}`;
      await informer.whenObserved(key, metadata?.resourceVersion ?? '');
    }
    await expectSameAsServer(informer, mirrored, place);
    await eventually(() => informer.status.live, 'the informer is live');
    expect(informer.status.phase).toBe('watching');
    // A list may have several pages.
    expect(sent.filter((one, at) => one !== sent[at - 1])).toEqual(
      expected.map((one) => (one.startsWith('list') ? expect.stringContaining('list 200') : one)),
    );
  });
});
