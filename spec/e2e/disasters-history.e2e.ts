/** Tests long-running servers: compacted history, changed API versions, mass deletions, and clock jumps. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import {
  addEventHandler,
  createListWatch,
  createSharedInformer,
  exponentialBackoff,
  type KubernetesList,
  resourcePath,
} from 'rx-informer';
import { type ConfigMap, configMaps, type Secret, secrets } from 'rx-informer/resources';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
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
import { figures, stopwatch } from './figures.ts';
import { expectSameAsServer, mirror, until } from './mirror.ts';
import { fillNamespaces, freshNamespace } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { openRecordedClient, type RecordedClient } from './recorded-client.ts';
import type { SleeperMessage, SleeperRequest } from './sleeper.ts';

const backoff = exponentialBackoff({ baseMs: 100, capMs: 1_000 });
/** Secrets have no watch cache, so that a compaction has an immediate effect. */
const flags = [
  '--watch-cache-sizes=secrets#0',
  '--delete-collection-workers=8',
  // By default the server ends a request after a minute, and a deletion of 4,500 objects took longer on a busy machine.
  '--request-timeout=10m',
];
const HOUR_MS = 3_600_000;

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

describe.skipIf(noControl)('disasters of a running server', { timeout: 600_000 }, () => {
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

    child.kill('SIGSTOP');
    const before = messages.length;
    const asleepS = stopwatch();
    const churn = startChurn({
      api,
      resource: secrets,
      namespaces: [kept],
      field: 'stringData',
      writers: 16,
    });
    await api.ok('DELETE', resourcePath(secrets, { namespace: emptied }));
    await create(emptied, 'gone-7');
    // Longer than the longest watch of the sleeper.
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, 5_500 - asleepS() * 1_000)));
    await eventually(() => expect(churn.report.updated).toBeGreaterThan(100));
    await churn.stop();
    await server.compact();
    const last = await create(kept, 'written-after-the-compaction');
    const sleptS = asleepS();
    const wokenS = stopwatch();
    child.kill('SIGCONT');
    const { resourceVersion: version = '', name, namespace } = last.metadata ?? {};
    ask({ key: `${namespace}/${name}`, version });
    const has = await next('has');
    const healedS = wokenS();

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
      'asleep s': sleptS,
      'healed after s': healedS,
      'observed deletions': has.ends.seen,
      'missed deletions': has.ends.missed,
      relists: has.relists,
    });
  });

  it('S7: deleteCollection of 5,000 objects is delivered as 5,000 deletions, each once, without a relist', async () => {
    const OBJECTS = 5_000;
    const [namespace] = await fillNamespaces(api, { namespaces: 1, objects: OBJECTS });
    const scope = { namespace: namespace as string };
    const informer = createSharedInformer(createListWatch(client, configMaps), { backoff });
    onTestFinished(() => informer.stop());
    const mirrored = mirror(informer);
    await informer.whenSynced({ timeoutMs: 150_000 });
    expect(informer.indexer.size).toBeGreaterThanOrEqual(OBJECTS);
    // An asynchronous consumer, which must not delay the others.
    const ended = new Set<string>();
    addEventHandler(informer, {
      onDelete: async ({ uid }) => {
        await Promise.resolve();
        ended.add(uid);
      },
    });
    const deletedS = stopwatch();
    const collection = resourcePath(configMaps, scope);
    await api.ok('DELETE', collection, { query: { labelSelector: 'group!=g3' } });
    const answeredS = deletedS();
    // New objects under names that were just deleted.
    const remake = (at: number) =>
      api.ok<ConfigMap>('POST', collection, { body: { metadata: { name: `config-${at * 10}` } } });
    await Promise.all(Array.from({ length: 50 }, (_, at) => remake(at)));
    await expectSameAsServer(informer, mirrored, { api, resource: configMaps, ...scope });
    const deliveredS = deletedS();
    expect(informer.indexer.byIndex('namespace', scope.namespace)).toHaveLength(500 + 50 + 1);
    // The other objects are deleted, too, in pages of their own.
    await api.ok<KubernetesList<ConfigMap>>('DELETE', collection);
    await expectSameAsServer(informer, mirrored, { api, resource: configMaps, ...scope });
    expect(mirrored.deleted).toHaveLength(OBJECTS + 50 + 1);
    expect(mirrored.deleted.every(({ finalStateUnknown }) => !finalStateUnknown)).toBe(true);
    await eventually(() => expect(ended.size).toBe(OBJECTS + 50 + 1));
    expect(informer.status).toMatchObject({ phase: 'watching', relists: 0 });
    expect(mirrored.statuses.filter(({ error }) => error !== undefined)).toEqual([]);
    figures('deleteCollection of 5,000', {
      'the server responded after s': answeredS,
      'all delivered after s': deliveredS,
      relists: informer.status.relists,
      reconnects: informer.status.reconnects,
    });
  });

  it('X6, R8: a clock that jumps an hour, in either direction, costs at most one request', async () => {
    let offsetMs = 0;
    const scheduler: SchedulerLike = {
      now: () => Date.now() + offsetMs,
      schedule: (...work: Parameters<SchedulerLike['schedule']>) =>
        asyncScheduler.schedule(...work),
    } as SchedulerLike;
    const [namespace] = await fillNamespaces(api, { namespaces: 1, objects: 20 });
    const place = { api, resource: configMaps, namespace: namespace as string };
    const informer = createSharedInformer(createListWatch(client, configMaps, { scheduler }), {
      backoff,
      scheduler,
      // The jump is found within 5 s, well before the first watch ends by itself.
      minWatchTimeoutMs: 20_000,
      makeBeforeBreak: false,
    });
    onTestFinished(() => informer.stop());
    const mirrored = mirror(informer);
    await informer.whenSynced({ timeoutMs: 150_000 });
    const asked = client.sent.length;
    const jumped = until(informer.status$, ({ error }) => error?.reason === 'Silent');
    offsetMs = HOUR_MS;
    const status = await jumped;
    expect(status).toMatchObject({ phase: 'backoff', synced: true });
    expect(status.error?.message).toContain('while the clock jumped');
    // A jump of the clock looks like a sleep, and the server was last heard before it.
    expect(status.staleSinceMs).toBeLessThan(Date.now() + 20_000);
    expect(status.staleSinceMs).toBeGreaterThan(Date.now() - 120_000);
    await expectSameAsServer(informer, mirrored, place);
    expect(client.sent.slice(asked).map(({ kind }) => kind)).toEqual(['watch']);
    expect(informer.status).toMatchObject({ phase: 'watching', relists: 0 });

    // The clock jumps back by two hours, and the current watch ends by its timeout. No failure is reported.
    const statuses = mirrored.statuses.length;
    const { reconnects } = informer.status;
    offsetMs = -HOUR_MS;
    await until(informer.status$, (now) => now.reconnects > reconnects);
    await expectSameAsServer(informer, mirrored, place);
    expect(mirrored.statuses.slice(statuses).filter(({ error }) => error !== undefined)).toEqual(
      [],
    );
    expect(informer.status).toMatchObject({ phase: 'watching', relists: 0 });
    figures('clock jumps of an hour', {
      'requests after the jump': client.sent.slice(asked).length,
      relists: informer.status.relists,
    });
  });

  it('R10: a custom resource that is created again in another version is followed in each version', async () => {
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

    const goneS = stopwatch();
    await removeWidgets(api);
    expect(await blocked(v1)).toMatchObject({ synced: true, error: { code: 404 } });
    expect(v1.informer.indexer.size).toBe(0);
    await establishWidgets(api, [], [{ name: 'v2' }]);
    await watching(v2);
    const otherS = goneS();
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
    const servedS = stopwatch();
    await changeWidgets(api, [{ name: 'v1' }, { name: 'v2' }]);
    await watching(v1);
    await same(v1);
    await same(v2);
    figures('a custom resource in another version', {
      'deleted until watched in the other version s': otherS,
      'served again until right s': servedS(),
      'relists v1/v2': `${v1.informer.status.relists}/${v2.informer.status.relists}`,
    });
  });
});
