/** Measures what a kube-apiserver does with lists and watches, in words that are equal for servers that do the same. */
import { setTimeout } from 'node:timers/promises';
import { createListWatch, createSharedInformer } from 'rx-informer';
import { configMaps } from 'rx-informer/resources';
import { shardSelector } from '../../../lib/index.ts';
import {
  type Answer,
  type ApiServer,
  configMaps as configMapsPath,
  fill,
  get,
  names,
  post,
} from '../../conformance/api-server.ts';
import { openRealApiServer } from '../../conformance/real.ts';
import { type ApiServerProcess, startApiServer } from '../apiserver.ts';
import { until } from '../mirror.ts';
import { openRecordedClient } from '../recorded-client.ts';

/** What was measured, by the names of the rows of the table. */
export type Facts = Readonly<Record<string, string>>;

const TWELVE = Array.from({ length: 12 }, (_, at) => `n${at}`);
const STREAMING = {
  watch: 'true',
  sendInitialEvents: 'true',
  resourceVersionMatch: 'NotOlderThan',
  allowWatchBookmarks: 'true',
  timeoutSeconds: '2',
};
/** Three quarters of the objects, so that some of twelve are selected and some are not. */
const SHARDS = shardSelector('uid', [{ start: '0x0000000000000000', end: '0xc000000000000000' }]);
const END_MARK = 'k8s.io/initial-events-end';

/** A server with twelve config maps in a namespace, and the requests of the measurements. */
interface Measured {
  readonly process: ApiServerProcess;
  readonly server: ApiServer;
  list(query: Record<string, string>, headers?: Record<string, string>): Promise<Answer>;
}

/** Runs `measure` on a new server with these feature gates. Returns `undefined` if the server does not know them. */
async function onServer<R>(
  gates: string,
  measure: (measured: Measured) => Promise<R>,
): Promise<R | undefined> {
  let process: ApiServerProcess;
  try {
    process = await startApiServer({ flags: gates === '' ? [] : [`--feature-gates=${gates}`] });
  } catch (error) {
    if (String(error).includes('unrecognized feature gate')) return undefined;
    throw error;
  }
  const server = await openRealApiServer(process);
  try {
    const namespace = await server.freshNamespace();
    await fill(server, namespace, TWELVE);
    const path = configMapsPath(namespace);
    const list: Measured['list'] = (query, headers = {}) =>
      server.request('GET', path, { query, headers });
    return await measure({ process, server, list });
  } finally {
    await server.close();
    await process.stop();
  }
}

/** How a server answers a streaming list: whether it is one, and how its body is encoded. */
async function streaming({ list }: Measured): Promise<{ streams: boolean; encoding: string }> {
  const { status, text } = await list(STREAMING);
  if (status !== 200 || !text.includes(END_MARK)) return { streams: false, encoding: '' };
  const { headers } = await list(STREAMING, { 'accept-encoding': 'gzip' });
  return { streams: true, encoding: headers.get('content-encoding') ?? 'none' };
}

/** How many lists at the newest version the server has answered from its watch cache. */
async function consistentReads({ server }: Measured): Promise<number> {
  const { text } = await server.request('GET', '/metrics');
  let count = 0;
  for (const line of text.split('\n')) {
    if (!line.startsWith('apiserver_watch_cache_consistent_read_total{')) continue;
    if (/resource="\/?configmaps"/.test(line) && line.includes('success="true"')) {
      count += Number(line.slice(line.lastIndexOf(' ') + 1));
    }
  }
  return count;
}

/** What `remainingItemCount` of the first page counts. */
async function remaining({ list }: Measured, selector: Record<string, string>): Promise<string> {
  const { metadata } = (await list({ limit: '1', ...selector })).json;
  if (metadata.continue === undefined) throw new Error('the list has one page only');
  const count: number | undefined = metadata.remainingItemCount;
  if (count === undefined) return 'absent';
  return count === TWELVE.length - 1 ? 'all objects of later pages' : `${count}`;
}

/** The requests with which an informer with default options becomes live. */
async function firstRequests({ process }: Measured): Promise<string> {
  const client = await openRecordedClient({ file: process.kubeconfig });
  const informer = createSharedInformer(createListWatch(client, configMaps));
  informer.start();
  await until(informer.status$, ({ live }) => live);
  const sent = client.sent.map(({ kind, status }) => `${WORDS[kind]} (${status})`);
  await informer.stop();
  await client.close();
  return sent.join(', ');
}
const WORDS = { list: 'LIST', stream: 'streaming LIST', watch: 'WATCH' };

/** Lists with `drop=metadata.managedFields`, as informers do. */
async function managedFields({ server }: Measured): Promise<string> {
  const path = configMapsPath(await server.freshNamespace());
  await post(server, path, { metadata: { name: 'owned' }, data: { a: '1' } });
  const has = async (accept: string) =>
    (await server.request('GET', path, { headers: { accept } })).text.includes('"managedFields"');
  if (!(await has('application/json'))) throw new Error('the object has no managedFields');
  const dropping = 'application/json;drop=metadata.managedFields, application/json';
  return (await has(dropping)) ? 'sent' : 'left out';
}

/** Whether the last seconds of a watch bring a bookmark. Its version must be newer than that of the watch. */
async function lastBookmark({ server, list }: Measured): Promise<string> {
  const { resourceVersion } = (await list({})).json.metadata;
  const watch = list({
    watch: 'true',
    resourceVersion,
    allowWatchBookmarks: 'true',
    timeoutSeconds: '4',
  });
  await setTimeout(500);
  await fill(server, await server.freshNamespace(), ['elsewhere']);
  return (await watch).text.includes('"BOOKMARK"') ? 'yes' : 'no';
}

async function byDefault(measured: Measured) {
  const { server, list } = measured;
  const before = await consistentReads(measured);
  await list({});
  const cached = (await consistentReads(measured)) > before;
  const unasked = await list({ watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds: '2' });
  const sharded = names((await list({ shardSelector: SHARDS })).json);
  return {
    version: (await get(server, '/version')).gitVersion as string,
    ...(await streaming(measured)),
    sharded: sharded.length < TWELVE.length,
    unselected: await remaining(measured, {}),
    labelled: await remaining(measured, { labelSelector: '!none' }),
    cached: cached ? 'the watch cache' : 'etcd',
    unasked: unasked.text.includes(END_MARK) ? 'an end mark' : 'no end mark',
    lastBookmark: await lastBookmark(measured),
    managedFields: await managedFields(measured),
    requests: await firstRequests(measured),
  };
}

/** Measures a server with default settings, and with a feature gate for each feature that is off. */
export async function measureFacts(): Promise<Facts> {
  const plain = await onServer('', byDefault);
  if (plain === undefined) throw new Error('the server was not measured');
  const streamed = plain.streams ? plain : await onServer('WatchList=true', streaming);
  const shards = await onServer('ShardedListAndWatch=true', async (measured) => ({
    filters: names((await measured.list({ shardSelector: SHARDS })).json).length < TWELVE.length,
    remaining: await remaining(measured, { shardSelector: SHARDS }),
  }));
  const gated = (works: boolean | undefined) => (works ? 'with the feature gate' : 'no');
  return {
    'kube-apiserver': plain.version,
    'streaming LISTs (`WatchList`)': plain.streams ? 'by default' : gated(streamed?.streams),
    'encoding of streaming LISTs for clients that accept gzip': streamed?.encoding ?? '–',
    'shard selectors (`ShardedListAndWatch`)': plain.sharded
      ? 'by default'
      : gated(shards?.filters),
    '`remainingItemCount` of a page': plain.unselected,
    '… with a label selector': plain.labelled,
    '… with a shard selector and the feature gate': shards?.remaining ?? '–',
    'a LIST at the newest version is read from': plain.cached,
    'a plain WATCH without a version, with bookmarks, receives': plain.unasked,
    'a bookmark in the last seconds of a WATCH': plain.lastBookmark,
    '`managedFields` for `drop=metadata.managedFields`': plain.managedFields,
    'requests of an informer until it is live': plain.requests,
  };
}
