/**
 * Takes screenshots of the built site in both themes, on a desk and on a phone:
 * `node --conditions=rx-informer-source spec/site/screenshots.ts <folder>`. Look at them.
 */
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { launchChromium } from '../browser/chromium.ts';
import { openPage, PAGES, SCREENS, serveSite } from './served-site.ts';

const [folder = 'screenshots'] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
const site = await serveSite();
const browser = await launchChromium();
for (const [screen, size] of Object.entries(SCREENS)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [name, path] of Object.entries(PAGES)) {
      const page = await openPage(browser, `${site.url}${path}`, size, colorScheme);
      await page.screenshot({ path: resolve(folder, `${name}-${screen}-${colorScheme}.png`) });
      await page.context().close();
    }
  }
}
await browser.close();
await site.close();
