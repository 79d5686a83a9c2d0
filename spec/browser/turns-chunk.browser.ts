/**
 * Tests a page whose code for the turns of streams is a file of its own, as bundlers with code splitting make it: two
 * tabs, a page that is offline, and a file that a new version of the application has deleted.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer, type Served } from 'rx-informer/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/patience.ts';
import { launchChromium } from './chromium.ts';
import type { InformerPage } from './informer-page.ts';
import { informerFiles } from './informer-script.ts';

declare const page: InformerPage;

let browser: Browser;
let files: ReadonlyMap<string, string>;
let server: FakeApiServer;
let served: Served;
let context: BrowserContext;
/** The files that were requested. */
let requested: string[];
/** How requests for files other than the first are answered. */
let chunks: 'served' | 'offline' | 'deleted';

beforeAll(async () => {
  browser = await launchChromium();
  files = await informerFiles();
});
afterAll(() => browser?.close());
beforeEach(async () => {
  requested = [];
  chunks = 'served';
  server = createFakeApiServer();
  server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
  served = await server.serve();
  context = await browser.newContext();
  await context.route('**/app/*', (route) => {
    const name = new URL(route.request().url()).pathname.slice('/app/'.length);
    requested.push(name);
    const body = files.get(name);
    if (chunks === 'offline') return route.abort('internetdisconnected');
    if (chunks === 'deleted' || body === undefined) return route.fulfill({ status: 404 });
    return route.fulfill({ contentType: 'text/javascript', body });
  });
});
afterEach(async () => {
  await context.close();
  await served.close();
});

async function openTab(): Promise<Page> {
  const tab = await context.newPage();
  await tab.goto(`${served.url}/healthz`);
  await tab.addScriptTag({ type: 'module', url: '/app/main.js' });
  await tab.waitForFunction(() => 'page' in globalThis);
  return tab;
}

const start = (tab: Page, isLimited = true) =>
  tab.evaluate((limited) => {
    page.connect('', limited ? {} : { maxStreams: Number.POSITIVE_INFINITY });
    page.start('pods');
  }, isLimited);
const synced = (tab: Page) => tab.evaluate(() => page.synced('pods'));
const status = (tab: Page) => tab.evaluate(() => page.statuses()['pods']);

describe('the code of the turns', () => {
  test('T69: is loaded by two tabs over HTTP/1.1 when they need it, and not before', async () => {
    for (const tab of [await openTab(), await openTab()]) {
      const before = requested.length;
      await start(tab);
      await synced(tab);
      const loaded = requested.slice(before);
      expect(loaded.filter((file) => !file.includes('server-guards'))).toEqual([
        expect.stringContaining('taking-turns'),
      ]);
    }
  });

  test('T69: is not loaded if the number of streams has no limit', async () => {
    const tab = await openTab();
    await start(tab, false);
    await synced(tab);
    expect(requested.join()).not.toContain('taking-turns');
  });

  test.each(['offline', 'deleted'] as const)(
    'T69: that cannot be loaded (%s) is an error of the status, and is loaded again',
    async (how) => {
      const tab = await openTab();
      chunks = how;
      await start(tab);
      await eventually(async () => {
        const { phase, error } = (await status(tab)) ?? {};
        expect(phase).toBe('backoff');
        expect(error?.message).toMatch(/could not be loaded: .*reload the page/);
      });
      expect(server.requests.filter(({ use }) => use !== 'call')).toEqual([]);
      // As after a deployment that brings the file back, and when the network is back.
      chunks = 'served';
      await synced(tab);
      await eventually(async () => expect((await status(tab))?.synced).toBe(true));
    },
  );
});

describe('the code of the guards', () => {
  test.each(['offline', 'deleted'] as const)(
    'T69: that cannot be loaded (%s) is an error of the status, and is loaded again',
    async (how) => {
      const tab = await openTab();
      chunks = how;
      await start(tab, false);
      await eventually(async () =>
        expect((await status(tab))?.error?.message).toMatch(/the guards could not/),
      );
      expect((await status(tab))?.live).toBe(false);
      chunks = 'served';
      await eventually(async () => expect((await status(tab))?.live).toBe(true));
      expect(requested.filter((file) => file.includes('server-guards')).length).toBeGreaterThan(1);
    },
  );
});
