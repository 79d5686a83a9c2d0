/** Serves the built documentation site, under a path other than `/`, and names the pages that the tests look at. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { preview } from 'vite';
import { phone } from '../browser/open-dashboard.ts';

const site = fileURLToPath(new URL('../../.site/', import.meta.url));

/** The base with which `npm run test:site` builds. */
export const BASE = '/docs/';

/** The pages that are looked at: the front page, prose with tables, a picture, a name, and a page of contents. */
export const PAGES: Readonly<Record<string, string>> = {
  front: '',
  queries: 'guide/queries.html',
  status: 'guide/status.html',
  name: 'reference/api/core/query/liveJoin.html',
  performance: 'operations/performance.html',
};

export const SCREENS: Readonly<Record<string, BrowserContextOptions>> = {
  desk: { viewport: { width: 1280, height: 800 } },
  phone,
};

export interface ServedSite {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves `.site/dist`. Rejects if it was not built. */
export async function serveSite(): Promise<ServedSite> {
  if (!existsSync(`${site}dist/index.html`)) {
    throw new Error('The site is not built: run `npm run test:site`, which builds it first.');
  }
  const server = await preview({
    root: site,
    configFile: false,
    base: BASE,
    build: { outDir: 'dist' },
    preview: { port: 0, host: '127.0.0.1' },
    logLevel: 'error',
  });
  const [url = ''] = server.resolvedUrls?.local ?? [];
  return { url, close: () => server.close() };
}

/** Opens a page in a theme on a screen of its own. */
export async function openPage(
  browser: Browser,
  url: string,
  screen: BrowserContextOptions,
  colorScheme: 'light' | 'dark',
): Promise<Page> {
  const context = await browser.newContext({ ...screen, colorScheme });
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForLoadState('networkidle');
  return page;
}
