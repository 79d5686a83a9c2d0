/** Opens the page in a browser, with a fake API server behind it. */
import { type Browser, chromium, type Page } from 'playwright-core';
import { pods } from 'rx-informer/resources';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fakeCluster } from './fake-cluster.ts';

const cluster = fakeCluster(60);
let served: Awaited<ReturnType<typeof cluster.serve>>;
let vite: ViteDevServer;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  served = await cluster.serve();
  // vite.config.ts reads it.
  process.env['API_SERVER'] = served.url;
  vite = await createServer({ server: { host: '127.0.0.1', port: 0 }, logLevel: 'error' });
  await vite.listen();
  const { CHROMIUM } = process.env;
  const installed = CHROMIUM === undefined ? { channel: 'chrome' } : { executablePath: CHROMIUM };
  browser = await chromium.launch(installed);
  page = await browser.newPage();
  await page.goto(vite.resolvedUrls?.local[0] ?? '');
});
afterAll(async () => {
  await browser?.close();
  await vite?.close();
  await served?.close();
});

const names = () => page.locator('tbody th').allTextContents();
const expectedNames = () =>
  cluster.objects
    .list(pods)
    .map(({ metadata }) => metadata.name)
    .sort();

test('shows the first page of the Pods, sorted by name, and turns the order', async () => {
  await page.getByText('60 Pods').waitFor();
  expect(await names()).toEqual(expectedNames().slice(0, 25));
  await page.getByRole('button', { name: 'Name', exact: true }).click();
  await expect.poll(names).toEqual(expectedNames().reverse().slice(0, 25));
  await page.getByRole('button', { name: 'Next' }).click();
  await expect.poll(names).toEqual(expectedNames().reverse().slice(25, 50));
});

test('turns back a page if the rows of the last one have left', async () => {
  await page.getByRole('button', { name: 'Next' }).click();
  await expect.poll(names).toHaveLength(10);
  for (const name of await names()) {
    const pod = cluster.objects.list(pods).find(({ metadata }) => metadata.name === name);
    if (pod !== undefined) cluster.objects.delete(pods, pod.metadata);
  }
  await page.getByText('Page 2 of 2').waitFor();
  expect(await names()).toEqual(expectedNames().reverse().slice(25));
});

test('filters by a part of the name, and follows the cluster', async () => {
  await page.getByRole('searchbox').fill('CHECKOUT-00');
  await expect.poll(names).toEqual(['checkout-009', 'checkout-005', 'checkout-001']);
  cluster.objects.delete(pods, { namespace: 'shop', name: 'checkout-009' });
  await expect.poll(names).toEqual(['checkout-001', 'checkout-005'].reverse());
});

test('shows the former rows, and not that it loads, while the filter is typed', async () => {
  const seen = await page.evaluateHandle(() => {
    const texts: string[] = [];
    const output = document.querySelector('output');
    if (output === null) throw new Error('the page has no output');
    const note = () => texts.push(output.textContent);
    const all = { childList: true, characterData: true, subtree: true };
    new MutationObserver(note).observe(output, all);
    return texts;
  });
  await page.getByRole('searchbox').fill('');
  await page.getByRole('searchbox').pressSequentially('checkout-00');
  await expect.poll(names).toEqual(['checkout-005', 'checkout-001']);
  const texts = await seen.jsonValue();
  expect(texts.at(-1)).toBe('2 Pods');
  expect(texts.filter((text) => !/^\d+ Pods$/.test(text))).toEqual([]);
});

test('says that it is not live when the server is gone, and keeps the rows', async () => {
  const status = page.getByRole('status');
  await expect.poll(() => status.first().textContent()).toBe('Live');
  const port = Number(new URL(served.url).port);
  await served.close();
  await expect.poll(() => status.first().textContent()).toBe('Not live');
  expect(await names()).toEqual(['checkout-005', 'checkout-001']);
  served = await cluster.serve({ port });
  await expect.poll(() => status.first().textContent(), { timeout: 60_000 }).toBe('Live');
});
