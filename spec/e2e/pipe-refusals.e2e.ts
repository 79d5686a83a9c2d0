/** Tests refusals of a server: missing permissions, requests beyond its limits, and watches that it ends. */
import {
  createListWatch,
  createSharedInformer,
  defineResource,
  exponentialBackoff,
} from 'rx-informer';
import { configMaps } from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { breathe, eventually } from '../support/patience.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { startChurn } from './churn.ts';
import { noControl } from './cluster.ts';
import { expectSameAsServer, mirror, until } from './mirror.ts';
import { fillNamespaces } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { openRecordedClient, type RecordedClient } from './recorded-client.ts';

const backoff = exponentialBackoff({ baseMs: 100, capMs: 500 });
// Administrators are exempt from these limits, so only the limited user reaches them.
const flags = [
  '--max-requests-inflight=2',
  '--max-mutating-requests-inflight=1',
  '--enable-priority-and-fairness=false',
  '--min-request-timeout=5',
];
const rbac = '/apis/rbac.authorization.k8s.io/v1';

describe.skipIf(noControl)('refusals of a server', () => {
  let server: ApiServerProcess;
  let api: RawApi;
  let limited: RawApi;
  let namespaces: readonly string[];

  beforeAll(async () => {
    server = await startApiServer({ flags });
    api = await openRawApi(server.kubeconfig);
    limited = await openRawApi(server.kubeconfig, 'limited');
    namespaces = await fillNamespaces(api, { namespaces: 2, objects: 300 });
    await api.ok('POST', `${rbac}/clusterrolebindings`, {
      body: {
        metadata: { name: 'reader' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'limited' }],
      },
    });
  });
  afterAll(async () => {
    limited?.close();
    api?.close();
    await server?.stop();
  });

  /** Changes during the seconds in which a watch ends. */
  const slow = () => ({ api, resource: configMaps, namespaces, writers: 2, pause: breathe });
  const place = () => ({ api, resource: configMaps, namespace: namespaces[0] as string });
  const open = async (context: string): Promise<RecordedClient> => {
    const client = await openRecordedClient({ file: server.kubeconfig, context });
    onTestFinished(() => client.close());
    return client;
  };
  /** Grants the limited user these verbs on ConfigMaps until the test ends. */
  const grant = async (...verbs: string[]) => {
    const path = `${rbac}/clusterroles`;
    const body = {
      metadata: { name: 'reader' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs }],
    };
    const { status } = await api.call('PUT', `${path}/reader`, { body });
    if (status === 404) await api.ok('POST', path, { body });
  };
  const mayList = (expected: number) =>
    eventually(async () => {
      const { status } = await limited.call('GET', '/api/v1/configmaps?limit=1');
      expect(status).toBe(expected);
    });
  const revoke = async () => {
    await api.call('DELETE', `${rbac}/clusterroles/reader`);
    // The authorizer updates with a delay, and the next test must not see the old permissions.
    await mayList(403);
  };

  it('R13: a 403 is reported immediately, retried with a wait, and ends after a grant', async () => {
    onTestFinished(revoke);
    const client = await open('limited');
    const informer = createSharedInformer(createListWatch(client, configMaps), { backoff });
    onTestFinished(() => informer.stop());
    const mirrored = mirror(informer);
    const denied = await until(informer.status$, ({ phase }) => phase === 'backoff');
    expect(denied).toMatchObject({ blocked: 'forbidden', synced: false, error: { code: 403 } });
    expect(denied.error?.message).toContain('User "limited" cannot list resource "configmaps"');
    expect(client.sent).toHaveLength(2);
    // The stream was denied, and the list, which needs another verb, was requested immediately after it.
    expect(client.sent.slice(0, 2).map(({ kind }) => kind)).toEqual(['stream', 'list']);
    await expect(informer.whenSynced()).rejects.toMatchObject({ code: 403 });
    await until(informer.status$, ({ attempt }) => attempt >= 3);
    expect((denied.nextRetryAtMs ?? 0) - denied.sinceMs).toBeGreaterThanOrEqual(99);

    // With the permission to list alone there is a store, but its age is unknown.
    await grant('list');
    await informer.whenSynced({ whileBlocked: 'wait' });
    const blind = await until(
      informer.status$,
      ({ phase, synced }) => synced && phase === 'backoff',
    );
    expect(blind).toMatchObject({ blocked: 'forbidden', error: { code: 403 } });
    expect(blind.staleSinceMs).toBeDefined();
    expect(blind.error?.message).toContain('cannot watch');
    const { done } = startChurn({ api, resource: configMaps, namespaces, writes: 20 });
    await done;

    await grant('list', 'watch');
    await expectSameAsServer(informer, mirrored, place());
    await until(informer.status$, ({ live }) => live);
    expect(informer.status).toMatchObject({ phase: 'watching', synced: true });
    for (const cured of ['blocked', 'error', 'staleSinceMs', 'nextRetryAtMs'] as const) {
      expect(informer.status[cured]).toBeUndefined();
    }
  });

  it.each(['stream', 'pages'] as const)(
    'W15: a resource whose kind differs from the server does not sync, and the status reports it (%s)',
    async (initialList) => {
      const client = await open('admin');
      const wrong = defineResource({ ...configMaps, kind: 'Secret' });
      const informer = createSharedInformer(createListWatch(client, wrong), {
        ...{ backoff, initialList },
        onWarning: () => undefined,
      });
      onTestFinished(() => informer.stop());
      informer.start();
      await expect(informer.whenSynced()).rejects.toMatchObject({
        reason: 'WrongKind',
      });
      expect(informer.status).toMatchObject({ blocked: 'wrong-kind', synced: false });
      expect(informer.status.error?.message).toContain('ConfigMap');
      expect(informer.indexer.size).toBe(0);
    },
  );

  it('R7: a permission that is revoked and granted again costs no list', async () => {
    onTestFinished(revoke);
    await grant('list', 'watch');
    const client = await open('limited');
    const source = createListWatch(client, configMaps);
    const informer = createSharedInformer(source, { backoff, minWatchTimeoutMs: 2_000 });
    onTestFinished(() => informer.stop());
    const mirrored = mirror(informer);
    await mayList(200);
    await informer.whenSynced();
    const asked = client.sent.length;
    // An open watch stays open; the next watch is denied.
    await grant('get');
    const denied = await until(informer.status$, ({ blocked }) => blocked !== undefined);
    expect(denied).toMatchObject({ phase: 'backoff', blocked: 'forbidden', synced: true });
    await startChurn({ api, resource: configMaps, namespaces, writes: 20 }).done;
    await grant('list', 'watch');
    await expectSameAsServer(informer, mirrored, place());
    expect(informer.status.relists).toBe(0);
    expect(client.sent.slice(asked).every(({ kind }) => kind === 'watch')).toBe(true);
  });

  it('after a 429 the informer waits for as long as the server requested', async () => {
    onTestFinished(revoke);
    await grant('list', 'watch');
    // The server holds a list at a future version for three seconds. Two of them reach the limit.
    const future = { resourceVersion: '999999999' };
    let isRefused = false;
    const occupy = async () => {
      const statuses = new Set<number>();
      do {
        const { status } = await limited.call('GET', '/api/v1/configmaps', { query: future });
        // A request that was just answered may still count for a moment.
        if (status !== 429) statuses.add(status);
      } while (!isRefused || statuses.size === 0);
      return [...statuses];
    };
    const busy = () =>
      eventually(async () => {
        const { status, headers } = await limited.call('GET', '/api/v1/configmaps?limit=1');
        expect({ status, wait: headers['retry-after'] }).toEqual({ status: 429, wait: '1' });
      });
    await mayList(200);
    const held = [occupy(), occupy()];
    await busy();

    const client = await open('limited');
    const source = createListWatch(client, configMaps);
    const informer = createSharedInformer(source, { backoff, initialList: 'pages' });
    onTestFinished(() => informer.stop());
    const mirrored = mirror(informer);
    const refused = await until(informer.status$, ({ phase }) => phase === 'backoff');
    isRefused = true;
    expect(refused.error).toMatchObject({ code: 429, retryAfterMs: 1_000 });
    expect(refused.blocked).toBeUndefined();
    expect((refused.nextRetryAtMs ?? 0) - refused.sinceMs).toBeGreaterThanOrEqual(1_000);
    await informer.whenSynced();
    expect(await Promise.all(held)).toEqual([[504], [504]]);
    const lists = client.sent.filter(({ kind }) => kind === 'list');
    expect(lists.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
    // Each refusal was followed by a wait.
    const waits = mirrored.statuses.filter(({ phase }) => phase === 'backoff');
    expect(waits.length).toBe(lists.filter(({ status }) => status === 429).length);
    for (const { nextRetryAtMs = 0, sinceMs } of waits) {
      expect(nextRetryAtMs - sinceMs).toBeGreaterThanOrEqual(1_000);
    }
    await expectSameAsServer(informer, mirrored, place());
  });

  it('R26: a watch is followed by the next one before its end, and no event is delivered twice or lost', async () => {
    const client = await open('admin');
    // The next watch is asked for 5 to 10 s before the end of one.
    const informer = createSharedInformer(createListWatch(client, configMaps), {
      minWatchTimeoutMs: 10_000,
    });
    onTestFinished(() => informer.stop());
    const mirrored = mirror(informer);
    await informer.whenSynced();
    const churn = startChurn(slow());
    // A process that stands still while a watch ends has to reconnect, which is none of these.
    const followed = () => client.sent.length - informer.status.reconnects;
    await eventually(() => followed() >= 4, 'two more watches');
    await churn.stop();
    await expectSameAsServer(informer, mirrored, place());
    await eventually(() => informer.status.live, 'the informer is live');
    expect(informer.status.relists).toBe(0);
    expect(mirrored.statuses.filter(({ error }) => error !== undefined)).toEqual([]);
  });

  it.each([
    ['by the requested timeout', { minWatchTimeoutMs: 2_000, makeBeforeBreak: false }, {}],
    [
      'by its own timeout',
      {},
      {
        tweak: (options: Record<string, string>) => {
          delete options.timeoutSeconds;
        },
      },
    ],
  ])(
    'R8: a watch that the server ends %s resumes from its last version',
    async (_, options, source) => {
      const client = await open('admin');
      const informer = createSharedInformer(createListWatch(client, configMaps, source), options);
      onTestFinished(() => informer.stop());
      const mirrored = mirror(informer);
      await informer.whenSynced();
      const churn = startChurn(slow());
      await until(informer.status$, ({ reconnects }) => reconnects >= 2);
      await churn.stop();
      await expectSameAsServer(informer, mirrored, place());
      expect(informer.status.relists).toBe(0);
      expect(mirrored.statuses.filter(({ error }) => error !== undefined)).toEqual([]);
      expect(mirrored.statuses.map(({ phase }) => phase)).not.toContain('backoff');
      const [first, ...later] = client.sent;
      expect(first).toMatchObject({ kind: 'stream', end: 'complete' });
      expect(later.length).toBe(informer.status.reconnects);
      let stood = 0;
      for (const { kind, query } of later) {
        expect(kind).toBe('watch');
        expect(Number(query.resourceVersion)).toBeGreaterThan(stood);
        stood = Number(query.resourceVersion);
      }
    },
  );
});
