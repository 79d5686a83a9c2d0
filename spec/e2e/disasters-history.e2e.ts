/** Tests long-running servers: compacted history, and changed API versions. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import {
  createListWatch,
  createSharedInformer,
  exponentialBackoff,
  resourcePath,
} from 'rx-informer';
import { type Secret, secrets } from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/patience.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { startChurn } from './churn.ts';
import { noControl } from './cluster.ts';
import {
  changeWidgets,
  establishWidgets,
  removeWidgets,
  type Widget,
  widgets,
  widgetsV2,
} from './custom-resource.ts';
import { figures } from './figures.ts';
import { expectSameAsServer, mirror, until } from './mirror.ts';
import { freshNamespace } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { openRecordedClient, type RecordedClient } from './recorded-client.ts';
import type { SleeperMessage, SleeperRequest } from './sleeper.ts';

const backoff = exponentialBackoff({ baseMs: 100, capMs: 1_000 });
/** Secrets have no watch cache, so that a compaction has an immediate effect. */
const flags = ['--watch-cache-sizes=secrets#0'];

/** One version of a resource and its informer. */
interface Version {
  readonly resource: typeof widgets;
  readonly informer: ReturnType<typeof createSharedInformer<Widget>>;
  readonly mirrored: ReturnType<typeof mirror<Widget>>;
}

type Told<Type> = Extract<SleeperMessage, { type: Type }>;

/** Starts an informer in a process of its own. */
function startSleeper(kubeconfig: string) {
  const script = fileURLToPath(new URL('./sleeper.ts', import.meta.url));
  const child: ChildProcess = fork(script, [kubeconfig], {
    execArgv: ['--conditions=rx-informer-source'],
  });
  const messages: SleeperMessage[] = [];
  child.on('message', (message: SleeperMessage) => messages.push(message));
  const next = async <Type extends SleeperMessage['type']>(type: Type) => {
    const isIt = (message: SleeperMessage): message is Told<Type> => message.type === type;
    return await eventually(() => {
      const found = messages.find(isIt);
      if (found === undefined) throw new Error(`no message '${type}' from the sleeper`);
      return found;
    });
  };
  return { child, messages, next, ask: (request: SleeperRequest) => child.send(request) };
}

describe.skipIf(noControl)('disasters of a running server', () => {
  let server: ApiServerProcess;
  let api: RawApi;
  let client: RecordedClient;

  beforeAll(async () => {
    server = await startApiServer({ flags });
    api = await openRawApi(server.kubeconfig);
    client = await openRecordedClient({ file: server.kubeconfig });
  });
  afterAll(async () => {
    await client?.close();
    api?.close();
    await server?.stop();
  });

  it('R9: after a compaction past a watch of a suspended process, the missed deletions are delivered', async () => {
    const [kept, emptied] = [await freshNamespace(api), await freshNamespace(api)];
    const create = (namespace: string, name: string) =>
      api.ok<Secret>('POST', resourcePath(secrets, { namespace }), {
        body: { metadata: { name }, stringData: { at: name } },
      });
    await Promise.all(Array.from({ length: 300 }, (_, at) => create(emptied, `gone-${at}`)));
    const { child, messages, next, ask } = startSleeper(server.kubeconfig);
    onTestFinished(() => void child.kill('SIGKILL'));
    expect((await next('synced')).size).toBe(300);

    await eventually(() =>
      messages.some((one) => one.type === 'status' && one.phase === 'watching'),
    );
    const others = await api.openWatches(secrets);
    child.kill('SIGSTOP');
    const before = messages.length;
    const churn = startChurn({
      api,
      resource: secrets,
      namespaces: [kept],
      field: 'stringData',
      writers: 16,
    });
    await api.ok('DELETE', resourcePath(secrets, { namespace: emptied }));
    await create(emptied, 'gone-7');
    const isEnded = async () => (await api.openWatches(secrets)) < others;
    await eventually(isEnded, 'the server ends the watch of the sleeper');
    await eventually(() => expect(churn.report.updated).toBeGreaterThan(100));
    await churn.stop();
    await server.compact();
    const last = await create(kept, 'written-after-the-compaction');
    child.kill('SIGCONT');
    const { resourceVersion: version = '', name, namespace } = last.metadata ?? {};
    ask({ key: `${namespace}/${name}`, version });
    const has = await next('has');

    const { items } = await api.listAll(secrets);
    const expected = Object.fromEntries(
      items.map(({ metadata }) => [
        `${metadata?.namespace}/${metadata?.name}`,
        `${metadata?.uid}@${metadata?.resourceVersion}`,
      ]),
    );
    expect(has.store).toEqual(expected);
    expect(has.handled).toEqual(expected);
    expect(has.wrong).toEqual([]);
    expect(has.relists).toBe(1);
    const statuses = () => messages.slice(before).filter((one) => one.type === 'status');
    const expired = statuses().filter(({ reason }) => reason === 'Expired');
    expect(expired[0]).toMatchObject({ phase: 'backoff', code: 410, stale: true });
    // The store is right before the watch after the list is answered.
    await eventually(() =>
      expect(statuses().at(-1)).toEqual({ type: 'status', phase: 'watching', stale: false }),
    );
    // All 300 objects were deleted: some while the process still read, the others unnoticed.
    expect(has.ends.missed).toBeGreaterThan(0);
    expect(has.ends.seen + has.ends.missed).toBeGreaterThanOrEqual(300);
    ask('stop');
    figures('compaction past a sleeping watch', {
      'observed deletions': has.ends.seen,
      'missed deletions': has.ends.missed,
      relists: has.relists,
    });
  });

  it('R7: a custom resource that is created again in another version is followed in each version', async () => {
    const [v1, v2] = [widgets, widgetsV2].map((resource) => {
      const source = createListWatch(client, resource);
      const informer = createSharedInformer(source, { backoff, name: resource.version });
      onTestFinished(() => informer.stop());
      return { resource, informer, mirrored: mirror<Widget>(informer) };
    }) as [Version, Version];
    const namespace = await freshNamespace(api);
    const churn = (resource: typeof widgets, writes: number) =>
      startChurn({ api, resource, namespaces: [namespace], field: 'spec', writes }).done;
    const same = ({ resource, informer, mirrored }: Version) =>
      expectSameAsServer(informer, mirrored, { api, resource, namespace });
    const blocked = ({ informer }: Version) =>
      until(informer.status$, (status) => status.blocked === 'no-such-resource');
    const watching = ({ informer }: Version) =>
      until(
        informer.status$,
        ({ phase, error, synced }) => synced && phase === 'watching' && !error,
      );
    await Promise.all([blocked(v1), blocked(v2)]);

    await establishWidgets(api);
    await watching(v1);
    await churn(widgets, 30);
    await same(v1);
    const lived = new Set(v1.informer.indexer.list().map(({ metadata }) => metadata?.uid));
    expect(lived.size).toBeGreaterThan(5);
    expect(v2.informer.status).toMatchObject({ synced: false, blocked: 'no-such-resource' });

    await removeWidgets(api);
    expect(await blocked(v1)).toMatchObject({ synced: true, error: { code: 404 } });
    expect(v1.informer.indexer.size).toBe(0);
    await establishWidgets(api, [], [{ name: 'v2' }]);
    await watching(v2);
    await churn(widgetsV2, 30);
    await same(v2);
    // The informer of the old version reports that its resource does not exist, and does not show the objects of the
    // new version.
    expect(v1.informer.status).toMatchObject({ blocked: 'no-such-resource', synced: true });
    expect(v1.informer.status.staleSinceMs).toBeDefined();
    expect(v1.informer.indexer.size).toBe(0);

    await changeWidgets(api, [{ name: 'v1' }, { name: 'v2' }]);
    await watching(v1);
    await churn(widgets, 20);
    await same(v1);
    await same(v2);
    const uidsOf = ({ informer }: Version) =>
      informer.indexer
        .list()
        .map(({ metadata }) => metadata?.uid)
        .sort();
    expect(uidsOf(v1)).toEqual(uidsOf(v2));
    expect(uidsOf(v1).some((uid) => lived.has(uid))).toBe(false);

    // A version that is no longer served: the known objects stay readable and are reported as stale.
    const size = v1.informer.indexer.size;
    await changeWidgets(api, [{ name: 'v1', served: false }, { name: 'v2' }]);
    expect(await blocked(v1)).toMatchObject({ synced: true, phase: 'backoff' });
    expect(v1.informer.indexer.size).toBe(size);
    await churn(widgetsV2, 20);
    await same(v2);
    await changeWidgets(api, [{ name: 'v1' }, { name: 'v2' }]);
    await watching(v1);
    await same(v1);
    await same(v2);
    figures('a custom resource in another version', {
      'relists v1/v2': `${v1.informer.status.relists}/${v2.informer.status.relists}`,
    });
  });
});
