/**
 * Tests many informers in one browser over HTTP/1.1, which has six connections per origin: lists and watches take turns
 * on four of them, over all tabs, and close in hidden tabs.
 */

import { createServer, type IncomingMessage } from 'node:http';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Resource } from 'rx-informer';
import * as builtIn from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer, type Served } from 'rx-informer/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { forward } from '../node/fronts.ts';
import { opened, type TestServer } from '../node/servers.ts';
import { eventually } from '../support/patience.ts';
import { launchChromium } from './chromium.ts';
import type { InformerPage } from './informer-page.ts';
import { informerScript } from './informer-script.ts';

// An HTTP/1.1 server in front of another one, which counts the lists and watches that are open at the same time.

interface CountingFront extends Pick<TestServer, 'url' | 'drop' | 'close'> {
  /** How many lists and watches are open now. */
  readonly open: number;
  /** The most that were open at the same time, since `count()`. */
  readonly most: number;
  count(): void;
}

const isStream = ({ url = '' }: IncomingMessage) =>
  /\?(.*&)?(watch|limit|resourceVersion)=/.test(url);

async function countingFront(target: string): Promise<CountingFront> {
  let open = 0;
  let most = 0;
  const server = createServer({ noDelay: true }, (request, response) => {
    if (isStream(request)) {
      open++;
      most = Math.max(most, open);
      response.on('close', () => open--);
    }
    forward(target, request, response);
  });
  server.requestTimeout = 0;
  const { url, drop, close } = await opened(server, 'http');
  return {
    ...{ url, drop, close },
    get open() {
      return open;
    },
    get most() {
      return most;
    },
    count: () => {
      most = open;
    },
  };
}

declare const page: InformerPage;

/** Twenty kinds. */
const kinds: readonly (readonly [name: string, resource: Resource<object>])[] = Object.entries(
  builtIn as unknown as Record<string, Resource<object>>,
)
  .filter(([, { namespaced }]) => namespaced)
  .slice(0, 20);
const names = kinds.map(([name]) => name);
const OBJECTS = 50;

let browser: Browser;
let script: string;
let server: FakeApiServer;
let served: Served;
let front: CountingFront;
let context: BrowserContext;

beforeAll(async () => {
  browser = await launchChromium();
  script = await informerScript();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  server = createFakeApiServer({ resources: kinds.map(([, resource]) => resource) });
  for (const [, resource] of kinds) {
    for (let at = 0; at < OBJECTS; at++) {
      server.objects.create(resource, { metadata: { namespace: 'shop', name: `object-${at}` } });
    }
  }
  served = await server.serve();
  front = await countingFront(served.url);
  context = await browser.newContext();
});
afterEach(async () => {
  await context.close();
  await front.close();
  await served.close();
});

async function openTab(): Promise<Page> {
  const tab = await context.newPage();
  await tab.goto(`${front.url}/healthz`);
  await tab.addScriptTag({ content: script });
  await tab.evaluate(() => page.connect(''));
  return tab;
}

const start = (tab: Page, started: readonly string[]) =>
  tab.evaluate((all) => {
    for (const name of all) page.start(name);
  }, started);

const synced = (tab: Page, awaited: readonly string[]) =>
  tab.evaluate(async (all) => {
    await Promise.all(all.map((name) => page.synced(name)));
  }, awaited);

let changes = 0;

/** Changes an object of each kind. Resolves when each tab has all changes. */
async function follow(tabs: readonly Page[], followed: readonly string[]): Promise<void> {
  const changed = String(changes++);
  const expected: Record<string, string> = {};
  for (const [name, resource] of kinds) {
    if (!followed.includes(name)) continue;
    const labels = { changed };
    const { metadata } = server.objects.update(resource, {
      metadata: { namespace: 'shop', name: 'object-0', labels },
    });
    expected[name] = metadata.resourceVersion ?? '';
  }
  for (const tab of tabs) {
    const seen = () =>
      tab.evaluate(
        (all) => Object.fromEntries(all.map((name) => [name, page.versions(name)['object-0']])),
        followed,
      );
    await eventually(async () => expect(await seen()).toEqual(expected));
  }
}

/**
 * As `follow`, on at most four connections at a time. The front may see the end of a request that a page has aborted, or a tab that was
 * closed, after the request that takes its place, so a round with more is repeated.
 */
async function followOnFour(tabs: readonly Page[], followed: readonly string[]): Promise<void> {
  await eventually(async () => {
    front.count();
    await follow(tabs, followed);
    expect(front.most).toBeLessThanOrEqual(4);
  });
}

describe('twenty kinds over HTTP/1.1', () => {
  test('T61: all sync and follow changes on four connections, and other requests are answered', async () => {
    const tab = await openTab();
    await start(tab, names);
    await synced(tab, names);
    await follow([tab], names);
    await tab.evaluate(() => page.call('/version'));
    await followOnFour([tab], names);
    const statuses = await eventually(async () => {
      const now = Object.values(await tab.evaluate(() => page.statuses()));
      const queued = now.filter(({ phase }) => phase === 'queued');
      expect(queued.length).toBeGreaterThan(10);
      for (const { waitingFor } of queued) expect(waitingFor).toContain('take turns');
      return now;
    });
    for (const { attempt, reconnects, relists, error } of statuses) {
      expect({ attempt, reconnects, relists, error }).toEqual({
        ...{ attempt: 0, reconnects: 0, relists: 0, error: undefined },
      });
    }
  });

  test('T61: two tabs together open at most four', async () => {
    const tabs = [await openTab(), await openTab()];
    const few = names.slice(0, 6);
    for (const tab of tabs) await start(tab, few);
    for (const tab of tabs) await synced(tab, few);
    await followOnFour(tabs, few);
    // The slots of a tab that crashes, or is closed, are free.
    await tabs[0]?.close();
    await followOnFour(tabs.slice(1), few);
  });
});

describe('a tab', () => {
  test('T66, I104: that is left closes everything at once, and resumes without a list', async () => {
    const tab = await openTab();
    const few = names.slice(0, 6);
    await start(tab, few);
    await synced(tab, few);
    await follow([tab], few);
    // A browser under test keeps no page in its back/forward cache, so the page receives the events alone.
    const emit = (name: string) =>
      tab.evaluate((event) => void window.dispatchEvent(new Event(event)), name);
    await emit('pagehide');
    await eventually(() => expect(front.open).toBe(0));
    const held = () => tab.evaluate(async () => (await navigator.locks.query()).held?.length);
    await eventually(async () => expect(await held()).toBe(0));
    server.clearRequests();
    await emit('pageshow');
    await follow([tab], few);
    expect(new Set(server.requests.map(({ use }) => use))).toEqual(new Set(['watch']));
    expect(server.requests.some(({ query }) => query['sendInitialEvents'])).toBe(false);
  });

  test('T66, I104: that is hidden closes its watches after the grace, and resumes when it is shown', async () => {
    const tab = await openTab();
    await tab.evaluate(() => page.connect('', { hiddenGraceMs: 500 }));
    const few = names.slice(0, 3);
    await start(tab, few);
    await synced(tab, few);
    const show = (visibility: 'hidden' | 'visible') =>
      tab.evaluate((value) => {
        Object.defineProperty(document, 'visibilityState', { value, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, visibility);
    await show('hidden');
    await eventually(() => expect(front.open).toBe(0));
    await eventually(async () => {
      const hidden = Object.values(await tab.evaluate(() => page.statuses()));
      for (const { phase, waitingFor } of hidden) {
        expect([phase, waitingFor]).toEqual(['queued', expect.stringContaining('tab is hidden')]);
      }
    });
    server.clearRequests();
    await show('visible');
    await follow([tab], few);
    expect(server.requests.map(({ use }) => use)).toEqual(['watch', 'watch', 'watch']);
  });
});
