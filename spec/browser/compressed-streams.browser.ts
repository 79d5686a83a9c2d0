/**
 * Tests informers in pages with a server that compresses streaming lists like Kubernetes 1.37, from the same origin
 * and from another.
 */
import type { Browser, Page } from 'playwright-core';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer, type Served } from 'rx-informer/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/patience.ts';
import { launchChromium } from './chromium.ts';
import type { InformerPage } from './informer-page.ts';
import { informerScript } from './informer-script.ts';

declare const page: InformerPage;

let browser: Browser;
let script: string;
let server: FakeApiServer;
let closing: Served[] = [];

beforeAll(async () => {
  browser = await launchChromium();
  script = await informerScript();
});
afterAll(() => browser?.close());
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  for (const served of closing) await served.close();
  closing = [];
});

const origins = ['same', 'another'] as const;

/** Opens a page of the server's origin or of another origin, with a client of the server in it. */
async function open(origin: (typeof origins)[number]): Promise<Page> {
  const served = await server.serve({ cors: origin === 'another' });
  const host = origin === 'same' ? served : await createFakeApiServer().serve();
  closing.push(served, host);
  const context = await browser.newContext();
  const tab = await context.newPage();
  // Any page of that origin can be used, because the informer is added as a script.
  await tab.goto(`${host.url}/healthz`);
  await tab.addScriptTag({ content: script });
  const baseUrl = origin === 'same' ? '' : served.url;
  await tab.evaluate((url) => page.connect(url), baseUrl);
  return tab;
}

/** The requests so far: `S` is a streaming list, `L` a list, `W` a watch. */
const asked = (resource = 'pods') =>
  server.requests
    .filter((request) => request.resource === resource)
    .map(({ use, query }) => (use === 'list' ? 'L' : query['sendInitialEvents'] ? 'S' : 'W'))
    .join(' ');

/** Waits until the page's store equals the server. */
async function follows(tab: Page): Promise<void> {
  const held = server.objects
    .list(pods)
    .map(({ metadata }) => [metadata.name, metadata.resourceVersion]);
  const expected = Object.fromEntries(held);
  const versions = () => tab.evaluate(() => page.versions('pods'));
  await eventually(async () => expect(await versions()).toEqual(expected));
}

/** Waits for each change before the next one is written. */
async function followsEachChange(tab: Page): Promise<void> {
  await follows(tab);
  for (let change = 0; change < 4; change++) {
    const metadata = { namespace: 'shop', name: `late-${change}` };
    server.objects.create(pods, { metadata });
    await follows(tab);
    server.objects.update(pods, { metadata: { ...metadata, labels: { changed: 'yes' } } });
    await follows(tab);
    if (change % 2 === 0) continue;
    server.objects.delete(pods, metadata);
    await follows(tab);
  }
}

describe.each(origins)('a page of the %s origin', (origin) => {
  // With 3 objects the end mark is in the first chunk of the body, with 600 in a later one.
  test.each([3, 600])(
    'W17, W18: follows a server that compresses streams, with %i objects',
    async (count) => {
      server = createFakeApiServer();
      server.faults.gzipStreamingLists();
      for (let at = 0; at < count; at++) {
        const annotations = { filler: 'x'.repeat(500) };
        server.objects.create(pods, {
          metadata: { namespace: 'shop', name: `pod-${at}`, annotations },
        });
      }
      const tab = await open(origin);
      await tab.evaluate(async () => {
        page.start('pods');
        await page.synced('pods');
      });
      await followsEachChange(tab);
      expect(asked()).toBe(origin === 'same' ? 'S L W' : 'L W');
      await tab.evaluate(async () => {
        page.start('configMaps');
        await page.synced('configMaps');
      });
      await eventually(async () => expect(await asked('configmaps')).toBe('L W'));
    },
  );

  test('W17, W18: streams from a server that does not compress; across origins only if it is configured', async () => {
    server = createFakeApiServer();
    const tab = await open(origin);
    await tab.evaluate(
      async (initialList) => {
        page.start('pods', initialList);
        await page.synced('pods');
      },
      origin === 'same' ? ('auto' as const) : ('stream' as const),
    );
    await followsEachChange(tab);
    expect(asked()).toBe('S');
  });
});
