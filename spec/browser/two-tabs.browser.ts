/**
 * Tests two tabs of one browser that watch the same collection: resources that tabs share must not delay either of
 * them.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer, type Served } from 'rx-informer/testing';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
} from 'vitest';
import { eventually } from '../support/patience.ts';
import { launchChromium } from './chromium.ts';
import type { InformerPage } from './informer-page.ts';
import { informerScript } from './informer-script.ts';

declare const page: InformerPage;

let browser: Browser;
let script: string;
let server: FakeApiServer;
let served: Served;
let context: BrowserContext;

beforeAll(async () => {
  browser = await launchChromium();
  script = await informerScript();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  server = createFakeApiServer();
  served = await server.serve();
  context = await browser.newContext();
});
afterEach(async () => {
  await context.close();
  await served.close();
});

async function openTab(initialList: 'pages' | 'stream'): Promise<Page> {
  const tab = await context.newPage();
  // By its address the server can tell the requests of the tabs apart.
  await tab.goto(`${served.url}/healthz?tab=${context.pages().length}`);
  await tab.addScriptTag({ content: script });
  await tab.evaluate((how) => {
    page.connect('');
    page.start('pods', how);
  }, initialList);
  return tab;
}

/** The addresses of the tabs whose watch has arrived from now on. */
function watchingTabs(): ReadonlySet<string> {
  const tabs = new Set<string>();
  const note = (message: unknown) => {
    const { url = '', headers } = (message as { readonly request: IncomingMessage }).request;
    if (/[?&]watch=/.test(url)) tabs.add(headers.referer ?? '');
  };
  subscribe('http.server.request.start', note);
  onTestFinished(() => void unsubscribe('http.server.request.start', note));
  return tabs;
}

describe('two tabs', () => {
  test.each(['pages', 'stream'] as const)(
    'T22: follow one collection concurrently, with the same URLs (%s)',
    async (initialList) => {
      server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
      const tabs = [await openTab(initialList), await openTab(initialList)];
      for (const tab of tabs) await tab.evaluate(() => page.synced('pods'));
      const watches = () =>
        server.requests.filter(({ use }) => use === 'watch').map(({ query }) => query);
      await eventually(async () => expect(await watches().length).toBe(2));
      expect(watches()[1]).toEqual(watches()[0]);
      const { metadata } = server.objects.create(pods, {
        metadata: { namespace: 'shop', name: 'late' },
      });
      for (const tab of tabs) {
        const versions = () => tab.evaluate(() => page.versions('pods'));
        await eventually(async () =>
          expect(await versions()).toHaveProperty('late', metadata.resourceVersion),
        );
      }
    },
  );

  test('T22: send requests concurrently if the server, or a proxy, is slow to answer', async () => {
    server.faults.neverAnswer({ use: 'watch' });
    const tabs = watchingTabs();
    await openTab('pages');
    await openTab('pages');
    // Otherwise Chromium would delay the second request until the head of the first arrives, or for up to twenty
    // seconds. A tab that waits in vain asks again, so their number is not that of the requests.
    await eventually(() => expect(tabs.size).toBe(2));
  });

  test('T21: know how many of six connections are left', async () => {
    const tab = await openTab('pages');
    await tab.evaluate(() => page.synced('pods'));
    await eventually(async () =>
      expect(await tab.evaluate(() => page.network())).toEqual({
        protocol: 'http/1.1',
        connectionsLeft: 5,
      }),
    );
  });
});
