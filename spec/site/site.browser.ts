/** Opens pages of the built documentation site in Chromium, under a path other than `/`: axe, overflow and search. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../browser/chromium.ts';
import { openPage, PAGES, SCREENS, type ServedSite, serveSite } from './served-site.ts';

let browser: Browser;
let site: ServedSite;
const axeFile = createRequire(import.meta.url).resolve('axe-core');

beforeAll(async () => {
  site = await serveSite();
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

/** What axe-core finds: the rule and the elements. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(axeFile, 'utf8'));
  const { violations: found } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, any, all }) => {
      return `${id}: ${target.join(' ')}: ${[...any, ...all][0]?.message ?? ''}`;
    }),
  );
}

const visits = Object.entries(SCREENS).flatMap(([screen, size]) =>
  (['light', 'dark'] as const).flatMap((theme) =>
    Object.entries(PAGES).map(([name, path]) => ({ screen, size, theme, name, path })),
  ),
);

test.each(visits)(
  '$name on a $screen, $theme: axe finds nothing, and the page is not wider than the screen',
  async (visit) => {
    const page = await openPage(browser, `${site.url}${visit.path}`, visit.size, visit.theme);
    const isDark = await page.evaluate(() => document.documentElement.classList.contains('dark'));
    expect(isDark).toBe(visit.theme === 'dark');
    expect(await page.locator('h1').count()).toBe(1);
    expect(await violations(page)).toEqual([]);
    const { scrollWidth, clientWidth } = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return { scrollWidth, clientWidth };
    });
    expect(scrollWidth).toBeLessThanOrEqual(clientWidth);
    await page.context().close();
  },
);

test('the search finds a name, and opens its page', async () => {
  const page = await openPage(browser, site.url, SCREENS.desk ?? {}, 'light');
  await page
    .getByRole('button', { name: /Search/ })
    .first()
    .click();
  await page.getByRole('searchbox').fill('createSharedInformer');
  await page.locator('.result').first().waitFor();
  const titles = await page.locator('.result').allInnerTexts();
  expect(titles[0]).toContain('createSharedInformer');
  await page.locator('.result').first().click();
  await page.getByRole('heading', { level: 1, name: /createSharedInformer/ }).waitFor();
  await page.context().close();
});
