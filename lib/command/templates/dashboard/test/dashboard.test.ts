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
  await page.getByText('60 Pods', { exact: true }).waitFor();
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
  await page.getByText('Page 2 of 2', { exact: true }).waitFor();
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
    const count = document.querySelector('search > span');
    if (count === null) throw new Error('the page has no count');
    const note = () => texts.push(count.textContent);
    const all = { childList: true, characterData: true, subtree: true };
    new MutationObserver(note).observe(count, all);
    return texts;
  });
  await page.getByRole('searchbox').fill('');
  await page.getByRole('searchbox').pressSequentially('checkout-00');
  await expect.poll(names).toEqual(['checkout-005', 'checkout-001']);
  const texts = await seen.jsonValue();
  expect(texts.at(-1)).toBe('2 Pods');
  expect(texts.filter((text) => !/^\d+ Pods$/.test(text))).toEqual([]);
});

test('says the count to screen readers once for each choice, and not for each Pod', async () => {
  const said = await page.evaluateHandle(() => {
    const texts: string[] = [];
    const live = 'output, [role="status"], [role="alert"], [aria-live]';
    const note = (changes: MutationRecord[]) => {
      for (const { target } of changes) {
        const element = target instanceof Element ? target : target.parentElement;
        const region = element?.closest(`main :is(${live})`);
        if (region) texts.push(region.textContent);
      }
    };
    const all = { childList: true, characterData: true, subtree: true };
    new MutationObserver(note).observe(document.body, all);
    return texts;
  });
  const filter = page.getByRole('searchbox');
  await filter.fill('many');
  await page.getByText('0 Pods', { exact: true }).waitFor();
  for (let count = 1; count <= 30; count++) {
    cluster.objects.create(pods, { metadata: { namespace: 'shop', name: `many-${count}` } });
    await page.getByText(`${count} Pods`, { exact: true }).waitFor();
  }
  expect(await said.jsonValue()).toEqual(['0 Pods, page 1 of 1']);
  await filter.fill('many-3');
  await expect.poll(() => said.jsonValue()).toEqual(['0 Pods, page 1 of 1', '2 Pods, page 1 of 1']);
});

test('keeps the focus on the button of the last page and of the first one', async () => {
  await page.getByRole('searchbox').fill('many');
  for (const [name, last] of [
    ['Next', 'Page 2 of 2'],
    ['Previous', 'Page 1 of 2'],
  ] as const) {
    const button = page.getByRole('button', { name });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByText(last, { exact: true }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(name);
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    // Nothing follows the last page.
    await page.keyboard.press('Enter');
    await page.getByText(last, { exact: true }).waitFor();
    expect(await names()).toHaveLength(name === 'Next' ? 5 : 25);
  }
  await page.getByRole('searchbox').fill('checkout-00');
  await expect.poll(names).toEqual(['checkout-005', 'checkout-001']);
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

test('shows the error beside the rows if the permission is withdrawn', async () => {
  cluster.faults.failNext({ resource: pods }, { status: 403, times: 1_000 });
  cluster.faults.closeWatches();
  await page.getByRole('alert').waitFor();
  expect(await names()).toEqual(['checkout-005', 'checkout-001']);
});
