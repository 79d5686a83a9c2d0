/** Tests a view that is read through the Observable of the platform, in a page. */
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/patience.ts';
import { launchChromium } from './chromium.ts';
import { informerScript } from './informer-script.ts';
import type { ObservablePage } from './observable-page.ts';

declare const observed: ObservablePage;

const metadata = (name: string) => ({ metadata: { namespace: 'shop', name } });

test('V44: the Observable of Chromium takes a view, and an abort ends the watch', async () => {
  const server = createFakeApiServer();
  const served = await server.serve();
  const browser = await launchChromium();
  onTestFinished(async () => {
    await browser.close();
    await served.close();
  });
  server.objects.create(pods, metadata('a'));
  const page = await browser.newPage();
  await page.goto(`${served.url}/healthz`);
  await page.addScriptTag({ content: await informerScript('observable-page.ts') });
  await page.evaluate(() => observed.start());
  const last = () => page.evaluate(() => observed.seen().at(-1));
  await eventually(async () => expect(await last()).toEqual(['a']));
  server.objects.create(pods, metadata('b'));
  await eventually(async () => expect(await last()).toEqual(['a', 'b']));
  expect(server.openWatches).toHaveLength(1);
  await page.evaluate(() => observed.leave());
  await eventually(() => expect(server.openWatches).toHaveLength(0));
});
