/**
 * Tests two tabs of one browser that watch the same collection: resources that tabs share must not delay either of
 * them.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer, type Served } from 'rx-informer/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
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
  await tab.goto(`${served.url}/healthz`);
  await tab.addScriptTag({ content: script });
  await tab.evaluate((how) => {
    page.connect('');
    page.start('pods', how);
  }, initialList);
  return tab;
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
    const slow = server.faults.neverAnswer({ use: 'watch' });
    await openTab('pages');
    await openTab('pages');
    // Otherwise Chromium would delay the second request until the head of the first arrives, or for up to twenty
    // seconds.
    await eventually(() => expect(slow.hits).toBe(2));
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
