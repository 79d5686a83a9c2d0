/** Tests lost access: permissions that are revoked and granted again, tokens that expire before a new one exists. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createListWatch, createSharedInformer, exponentialBackoff } from 'rx-informer';
import { configMaps, secrets } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { guarding } from '../node/fronts.ts';
import { kubeconfig } from '../node/kubeconfigs.ts';
import { opened } from '../node/servers.ts';
import { breathe, eventually } from '../support/patience.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { startChurn } from './churn.ts';
import { noControl } from './cluster.ts';
import { figures } from './figures.ts';
import { expectSameAsServer, mirror, until } from './mirror.ts';
import { freshNamespace } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { openRecordedClient } from './recorded-client.ts';

const backoff = exponentialBackoff({ baseMs: 100, capMs: 500 });
const rbac = '/apis/rbac.authorization.k8s.io/v1';

describe.skipIf(noControl)('permissions that are revoked and granted again', () => {
  let server: ApiServerProcess;
  let api: RawApi;

  beforeAll(async () => {
    server = await startApiServer({ flags: ['--watch-cache-sizes=secrets#0'] });
    api = await openRawApi(server.kubeconfig);
  });
  afterAll(async () => {
    api?.close();
    await server?.stop();
  });

  const rights = (namespace: string) => `${rbac}/namespaces/${namespace}`;
  const grant = async (namespace: string) => {
    const group = { apiGroup: 'rbac.authorization.k8s.io' };
    await api.ok('POST', `${rights(namespace)}/rolebindings`, {
      body: {
        metadata: { name: 'reader' },
        roleRef: { ...group, kind: 'Role', name: 'reader' },
        subjects: [{ ...group, kind: 'User', name: 'limited' }],
      },
    });
  };
  const revoke = (namespace: string) =>
    api.ok('DELETE', `${rights(namespace)}/rolebindings/reader`);

  it('R7, R13: if one of two namespaces is revoked, the other continues, and missed changes are delivered after the grant', async () => {
    const [kept, lost] = [await freshNamespace(api), await freshNamespace(api)];
    for (const namespace of [kept, lost]) {
      const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] }];
      const body = { metadata: { name: 'reader' }, rules };
      await api.ok('POST', `${rights(namespace)}/roles`, { body });
      await grant(namespace);
    }
    const client = await openRecordedClient({ file: server.kubeconfig, context: 'limited' });
    onTestFinished(() => client.close());
    const sources = [kept, lost].map((namespace) =>
      createListWatch(client, secrets, { namespace }),
    );
    const options = { backoff, minWatchTimeoutMs: 2_000 };
    const informer = createSharedInformer(sources, options);
    onTestFinished(() => informer.stop());
    const mirrored = mirror(informer);
    const place = (namespace: string) => ({ api, resource: secrets, namespace });
    const busy = { api, resource: secrets, field: 'stringData', writers: 4 };
    const churn = startChurn({ ...busy, namespaces: [kept, lost], pause: breathe });
    await informer.whenSynced();
    await eventually(() => expect(churn.report.updated).toBeGreaterThan(100));

    await revoke(lost);
    const denied = await until(informer.status$, ({ blocked }) => blocked !== undefined);
    expect(denied).toMatchObject({ phase: 'backoff', blocked: 'forbidden', synced: true });
    expect(denied.error).toMatchObject({ code: 403 });
    expect(denied.error?.message).toContain(`in the namespace "${lost}"`);
    expect(denied.scopes?.[lost]).toMatchObject({ phase: 'backoff', blocked: 'forbidden' });
    expect(denied.scopes?.[kept]?.blocked).toBeUndefined();
    // The permitted namespace stays up to date. The other keeps its objects and is reported as stale.
    const stale = JSON.stringify(informer.indexer.byIndex('namespace', lost));
    const { metadata } = await api.ok<{ metadata: { name: string; resourceVersion: string } }>(
      'POST',
      `/api/v1/namespaces/${kept}/secrets`,
      { body: { metadata: { generateName: 'seen-' } } },
    );
    const key = `${kept}/${metadata.name}`;
    await until(informer.snapshot$, (snapshot) => snapshot.get(key) !== undefined);
    await until(informer.status$, (now) => (now.scopes?.[lost]?.attempt ?? 0) >= 6);
    expect(JSON.stringify(informer.indexer.byIndex('namespace', lost))).toBe(stale);
    expect(informer.status.staleSinceMs).toBeDefined();

    // All objects of the revoked namespace are deleted unnoticed, and the history is compacted.
    await churn.stop();
    const ended = informer.indexer.byIndex('namespace', lost).length;
    await api.ok('DELETE', `/api/v1/namespaces/${lost}/secrets`);
    await startChurn({ ...busy, namespaces: [lost], writes: 20 }).done;
    await server.compact();
    await grant(lost);
    await expectSameAsServer(informer, mirrored, place(lost));
    await expectSameAsServer(informer, mirrored, place(kept));
    const missed = mirrored.deleted.filter((one) => one.finalStateUnknown);
    expect(missed.length).toBeGreaterThanOrEqual(ended);
    expect(missed.every((one) => one.key.startsWith(`${lost}/`))).toBe(true);
    expect(mirrored.statuses.some(({ scopes }) => scopes?.[lost]?.error?.isExpired)).toBe(true);
    await until(informer.status$, ({ phase, error }) => phase === 'watching' && !error);
    expect(informer.status.blocked).toBeUndefined();
    figures('permissions revoked and granted', {
      'missed deletions': missed.length,
    });
  });
});

/** A server in front of the fake API server. It accepts one token, and ends open requests when that token expires. */
async function doorOf(server: FakeApiServer) {
  const behind = await server.serve();
  let accepted = 'token-1';
  const refused: string[] = [];
  let requests = 0;
  const listener = guarding(
    behind.url,
    () => accepted,
    (authorization) => refused.push(authorization),
  );
  const door = createServer(listener).on('request', () => requests++);
  const { url, close } = await opened(door, 'http');
  onTestFinished(async () => {
    await close();
    await behind.close();
  });
  return {
    url,
    refused,
    /** All of them, also the refused ones. */
    get requests() {
      return requests;
    },
    /** Accepts only `token` from now on, and closes open watches. */
    expire(token: string) {
      accepted = token;
      server.faults.closeWatches();
    },
  };
}

describe('a token that expires', () => {
  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), 'rx-informer-token-'));
    onTestFinished(() => rmSync(made, { recursive: true, force: true }));
    return made;
  };
  const ways = {
    'a token file': (at: string) => ({ tokenFile: join(at, 'token') }),
    'an exec plugin': (at: string) => ({
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        interactiveMode: 'Never',
        command: process.execPath,
        args: [
          '-e',
          `const { readFileSync, appendFileSync } = require('node:fs');
           appendFileSync(${JSON.stringify(join(at, 'runs'))}, 'x');
           const token = readFileSync(${JSON.stringify(join(at, 'token'))}, 'utf8').trim();
           const expirationTimestamp = '2199-01-01T00:00:00Z';
           console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1',
             kind: 'ExecCredential', status: { token, expirationTimestamp } }));`,
        ],
      },
    }),
  };

  it.each(Object.entries(ways))(
    'R7: a rotation of %s in time goes unnoticed; after a late rotation the watch recovers',
    async (way, user) => {
      const at = folder();
      writeFileSync(join(at, 'token'), 'token-1\n');
      writeFileSync(join(at, 'runs'), '');
      const server = createFakeApiServer();
      const door = await doorOf(server);
      const file = join(at, 'config');
      writeFileSync(file, kubeconfig({ server: door.url }, user(at)));
      const put = (name: string) =>
        server.objects.create(configMaps, { metadata: { namespace: 'shop', name } });
      for (const name of ['a', 'b', 'c']) put(name);
      const client = await openRecordedClient({ file });
      onTestFinished(() => client.close());
      let agedMs = 0;
      const scheduler: SchedulerLike = {
        now: () => asyncScheduler.now() + agedMs,
        schedule: asyncScheduler.schedule.bind(asyncScheduler),
      };
      const source = createListWatch(client, configMaps, { scheduler });
      const informer = createSharedInformer(source, { backoff, scheduler });
      onTestFinished(() => informer.stop());
      const mirrored = mirror(informer);
      await informer.whenSynced();
      const has = (name: string, there = true) =>
        until(informer.snapshot$, (all) => (all.get(`shop/${name}`) !== undefined) === there);
      // A watch that ends within a second counts as a failure.
      const age = () => {
        agedMs += 1_100;
      };
      const logins = () => door.refused.length;

      // Rotated before the old token expired: one refusal, and the watch resumes.
      age();
      writeFileSync(join(at, 'token'), 'token-2\n');
      door.expire('token-2');
      put('after-the-rotation');
      await has('after-the-rotation');
      expect(logins()).toBeLessThanOrEqual(1);
      expect(mirrored.statuses.filter(({ error }) => error !== undefined)).toEqual([]);
      await until(informer.status$, ({ phase }) => phase === 'watching');
      expect(informer.status.relists).toBe(0);

      // The token has expired, and there is no new one yet.
      age();
      const refused = logins();
      door.expire('token-3');
      const denied = await until(informer.status$, ({ blocked }) => blocked !== undefined);
      server.objects.delete(configMaps, { namespace: 'shop', name: 'a' });
      put('while-locked-out');
      expect(denied).toMatchObject({ phase: 'backoff', blocked: 'unauthorized', synced: true });
      expect(denied).toMatchObject({ error: { code: 401 } });
      expect(denied.staleSinceMs).toBeDefined();
      expect(JSON.stringify(denied)).not.toMatch(/token-\d/);
      await until(informer.status$, ({ attempt }) => attempt >= 4);
      // Two requests per try, because the credentials are requested again after a refusal.
      expect(logins() - refused).toBeLessThanOrEqual(2 * (informer.status.attempt + 1));
      expect(informer.indexer.getByKey('shop/a')).toBeDefined();

      writeFileSync(join(at, 'token'), 'token-3\n');
      await has('while-locked-out');
      await has('a', false);
      await until(informer.status$, ({ live }) => live);
      for (const cured of ['blocked', 'error', 'staleSinceMs', 'nextRetryAtMs'] as const) {
        expect(informer.status[cured]).toBeUndefined();
      }
      expect(informer.status.relists).toBe(0);
      expect(mirrored.deleted).toEqual([{ key: 'shop/a', finalStateUnknown: false }]);
      const truth = server.objects.list(configMaps).map(({ metadata }) => metadata.uid);
      const uids = (all: Iterable<{ metadata?: { uid?: string } }>) =>
        [...all].map(({ metadata }) => metadata?.uid).sort();
      expect(uids(informer.indexer.list())).toEqual(truth.sort());
      expect(uids(mirrored.objects.values())).toEqual(truth);
      expect(uids(mirrored.handled.values())).toEqual(truth);
      expect(mirrored.wrong).toEqual([]);
      figures(`a token that expires, ${way}`, {
        'refused requests': door.refused.length,
        'requests in total': door.requests,
        'runs of the plugin': readFileSync(join(at, 'runs')).length,
      });
    },
  );
});
