/**
 * Takes screenshots of the dashboard at 1,000 and 35,000 pods, in both themes, on a desktop and on a phone:
 * `node --conditions=rx-informer-source spec/browser/screenshots.ts <folder> [pods …]`. Look at them.
 */
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from './chromium.ts';
import { live, openDashboard, phone } from './open-dashboard.ts';

const [folder = 'screenshots', ...sizes] = process.argv.slice(2);
const pods = sizes.length === 0 ? [1000, 35_000] : sizes.map(Number);

/** A page in a state: the query of the URL, and what the user does there. */
interface Shot {
  readonly query: string;
  readonly act?: (page: Page) => Promise<unknown>;
}

const openFirst = (page: Page) => page.locator('[data-uid]').first().click();

const shots: Readonly<Record<string, Shot>> = {
  pods: { query: '' },
  trouble: { query: '?tone=bad', act: openFirst },
  tree: {
    query: '?kind=tree',
    act: (page) => page.locator('[data-uid] [aria-hidden=true]').first().click(),
  },
  events: { query: '?kind=events&tone=bad' },
  nodes: { query: '?kind=nodes' },
  server: { query: '?panel=server' },
  queries: { query: '?panel=queries' },
  nothing: { query: '?filter=no-such-pod' },
};

const screens: Readonly<Record<string, BrowserContextOptions>> = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone,
};

await mkdir(folder, { recursive: true });
const browser = await launchChromium();
for (const objects of pods) {
  for (const [screen, size] of Object.entries(screens)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const opened = await openDashboard(browser, {
        start: { objects, rate: 20, fault: 'mix' },
        browser: { ...size, colorScheme },
      });
      const { page, dashboard } = opened;
      for (const [name, { query, act }] of Object.entries(shots)) {
        await page.goto(`${dashboard.url}${query}`);
        await live(page);
        await page.locator('[data-tile=all]').filter({ hasNotText: '–' }).waitFor();
        await act?.(page);
        await page.waitForTimeout(1500);
        const file = `${objects}-${screen}-${colorScheme}-${name}.png`;
        await page.screenshot({ path: resolve(folder, file) });
        process.stdout.write(`${file}\n`);
      }
      await opened.close();
    }
  }
}
await browser.close();
