/**
 * Measures informers behind nginx: for each configuration the time until the store is right, and the delay of later
 * changes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import type { KubernetesObject } from 'rx-informer';
import { configMaps } from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { launchChromium } from '../browser/chromium.ts';
import { informerScript } from '../browser/informer-script.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { figures } from './figures.ts';
import { type Follower, nodeFollower, pageFollower } from './followers.ts';
import { fillNamespaces } from './namespaces.ts';
import { type Nginx, type NginxConfiguration, startNginx } from './nginx/nginx.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { stopwatch } from './stopwatch.ts';

const OBJECTS = 2_000;

describe('behind nginx', () => {
  let server: ApiServerProcess;
  let api: RawApi;
  let namespace: string;
  let browser: Browser;
  let script: string;
  let plainSeconds = 0;

  beforeAll(async () => {
    server = await startApiServer();
    api = await openRawApi(server.kubeconfig);
    [namespace = ''] = await fillNamespaces(api, { namespaces: 1, objects: OBJECTS });
    browser = await launchChromium();
    script = await informerScript();
  });
  afterAll(async () => {
    await browser?.close();
    api?.close();
    await server?.stop();
  });

  const open = async (configuration: NginxConfiguration): Promise<Nginx> => {
    const nginx = await startNginx(configuration, server);
    onTestFinished(() => nginx.close());
    return nginx;
  };
  const openPage = async (nginx: Nginx): Promise<Follower> => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    onTestFinished(() => context.close());
    return pageFollower(context, script, nginx.url);
  };
  const path = () => `/api/v1/namespaces/${namespace}/configmaps`;
  let changes = 0;
  /** The seconds until the store contains the state that the server has now, for names that begin with `begin`. */
  const secondsUntilRight = async (
    follower: Follower,
    mostSeconds: number,
    begin = '',
  ): Promise<number> => {
    const since = stopwatch();
    const { items } = await api.listAll(configMaps);
    const expected: Record<string, string | undefined> = Object.fromEntries(
      items.map(({ metadata }) => [metadata?.name, metadata?.resourceVersion] as const),
    );
    const differing = async () => {
      const shown = await follower.versions();
      const names = new Set([...Object.keys(shown), ...Object.keys(expected)]);
      const ours = [...names].filter((name) => name.startsWith(begin));
      return ours.filter((name) => shown[name] !== expected[name]);
    };
    for (;;) {
      const wrong = await differing();
      if (wrong.length === 0) return since();
      expect(since(), `${follower.name}: ${wrong.slice(0, 3)}`).toBeLessThan(mostSeconds);
      await sleep(100);
    }
  };
  /** Creates an object, changes one and deletes one. Returns the seconds until the store shows all changes. */
  const change = async (follower: Follower, mostSeconds: number): Promise<number> => {
    const begin = `late-${changes++}-`;
    const made = () =>
      api.ok<KubernetesObject>('POST', path(), { body: { metadata: { generateName: begin } } });
    const [stays, goes] = [await made(), await made()];
    const body = { data: { changed: 'yes' } };
    await api.ok('PATCH', `${path()}/${stays.metadata?.name}`, { body });
    await api.ok('DELETE', `${path()}/${goes.metadata?.name}`);
    return secondsUntilRight(follower, mostSeconds, begin);
  };

  it.each(['unbuffered', 'gzip-unbuffered', 'http2'] as const)(
    'W21: %s: events arrive when they are sent, and no probe is needed',
    async (configuration) => {
      const nginx = await open(configuration);
      // The global fetch does not trust the certificate.
      const kinds = configuration === 'http2' ? ['undici'] : ['undici', 'fetch'];
      const all = [
        ...kinds.map((kind) => () => Promise.resolve(nodeFollower(kind as 'undici', nginx.url))),
        () => openPage(nginx),
      ];
      for (const start of all) {
        const since = stopwatch();
        const follower = await start();
        await follower.synced(120_000);
        const syncSeconds = since();
        plainSeconds = Math.max(plainSeconds, configuration === 'unbuffered' ? syncSeconds : 0);
        if (configuration !== 'unbuffered') {
          // A proxy that buffers costs 10 s or more.
          expect(syncSeconds).toBeLessThan(plainSeconds + 8);
        }
        let late = 0;
        for (let round = 0; round < 3; round++) {
          late = Math.max(late, await change(follower, 5));
        }
        expect(await follower.heldBack()).toBeUndefined();
        const { name } = follower;
        figures(`nginx, ${configuration}, ${name}`, {
          'synced after': syncSeconds,
          'changes delayed by': late,
          requests: follower.sent(),
        });
        await follower.stop();
      }
    },
  );

  it('W22, W23: a buffering proxy is detected, changes arrive within 30 s, and the end of the buffering is detected', async () => {
    const configurations = ['defaults', 'gzip-buffered'] as const;
    const sync: Record<string, number> = {};
    const follow = async (configuration: NginxConfiguration, follower: Follower) => {
      const since = stopwatch();
      while ((await follower.heldBack()) === undefined) {
        expect(since(), `${follower.name} detects the buffering`).toBeLessThan(60);
        await sleep(100);
      }
      const foundSeconds = since();
      await follower.synced(120_000);
      const syncSeconds = since();
      sync[`${configuration} ${follower.name}`] = syncSeconds;
      const before = follower.sent();
      const roundsSince = stopwatch();
      let late = 0;
      for (let round = 0; round < 3; round++) {
        await sleep(1_500 * round);
        late = Math.max(late, await change(follower, 30));
      }
      const requests = follower.sent() - before;
      // A watch lasts at least 15 s, and a ping follows 12 s without bytes.
      const [watches, pings] = [15, 12].map((every) => Math.ceil(roundsSince() / every));
      expect(requests).toBeLessThanOrEqual((watches ?? 0) + (pings ?? 0) + 1);
      figures(`nginx, ${configuration}, ${follower.name}`, {
        'detected after': foundSeconds,
        'synced after': syncSeconds,
        'changes delayed by': late,
        requests,
      });
    };
    const mended = async (configuration: NginxConfiguration, follower: Follower) => {
      const since = stopwatch();
      while ((await follower.heldBack()) !== undefined) {
        expect(since(), `${follower.name} detects the end of the buffering`).toBeLessThan(90);
        await sleep(100);
      }
      const seconds = since();
      // The last short watch is still open.
      await change(follower, 25);
      const late = await change(follower, 5);
      figures(`nginx, ${configuration} replaced, ${follower.name}`, {
        'detected after': seconds,
        'changes delayed by': late,
      });
    };
    const all = await Promise.all(
      configurations.map(async (configuration) => {
        const nginx = await open(configuration);
        const followers = [
          nodeFollower('undici', nginx.url),
          nodeFollower('fetch', nginx.url),
          await openPage(nginx),
        ];
        await Promise.all(followers.map((each) => follow(configuration, each)));
        await nginx.reconfigure('unbuffered');
        await Promise.all(followers.map((each) => mended(configuration, each)));
        return followers;
      }),
    );
    for (const follower of all.flat()) {
      await secondsUntilRight(follower, 5);
      await follower.stop();
    }
    for (const name of ['undici', 'fetch', 'Chromium']) {
      const plain = sync[`defaults ${name}`] ?? 0;
      expect(sync[`gzip-buffered ${name}`]).toBeLessThan(2 * plain + 8);
    }
  }, 600_000);
});
