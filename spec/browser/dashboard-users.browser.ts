/** Tests the page of `npm start -- --serve-users`: who signs in sees the own rows, of a table that the server filters and sorts. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readArguments } from '../../examples/dashboard/arguments.ts';
import { type Dashboard, startDashboard } from '../../examples/dashboard/dashboard.ts';
import { eventually } from '../support/patience.ts';
import { keepScreenshot, launchChromium } from './chromium.ts';
import { live, phone } from './open-dashboard.ts';

let browser: Browser;
let dashboard: Dashboard;

beforeAll(async () => {
  browser = await launchChromium();
  const options = ['--embedded', '--serve-users', '--port', '0', '--pods', '400', '--rate', '0'];
  dashboard = await startDashboard(readArguments(options), () => undefined);
});
afterAll(async () => {
  await browser?.close();
  await dashboard?.close();
});

function tokenOf(name: string): string {
  const tokens = Object.entries(dashboard.embedded?.users?.tokens ?? {});
  return tokens.find(([, user]) => user.name === name)?.[0] ?? '';
}

async function open(options: object = {}, query = '') {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  // What each connection has received: a page whose connection ends receives its rows again.
  const received: number[] = [];
  const windows = new Set<string>();
  page.on('websocket', (socket) => {
    socket.on('framesent', ({ payload }) => {
      const [window] = /"offset":\d+,"limit":\d+/.exec(`${payload}`) ?? [];
      if (window !== undefined) windows.add(window);
    });
    const at = received.push(0) - 1;
    socket.on('framereceived', ({ payload }) => {
      received[at] = (received[at] ?? 0) + payload.length;
    });
  });
  await page.goto(`${dashboard.url}${query}`);
  return { page, errors, windows, received: () => Math.max(...received) };
}

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').first().fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const tile = (page: Page) => page.locator('[data-tile]').first();
const rows = (page: Page) => page.locator('[role=row][aria-rowindex]:not([aria-rowindex="1"])');
const rowCount = async (page: Page) =>
  Number(await page.getByRole('grid').getAttribute('aria-rowcount'));
const isOfTeam = async (page: Page) => {
  const texts = await rows(page).allTextContents();
  return texts.length > 5 && texts.every((text) => /shop|payments/.test(text));
};

describe('the dashboard of several users', () => {
  it('shows two users what each may read, and receives the rows of the screen alone', async () => {
    const [ann, bob] = [await open(phone), await open()];
    await signIn(ann.page, tokenOf('ann'));
    await signIn(bob.page, tokenOf('bob'));
    await live(ann.page);
    await live(bob.page);
    const pods = dashboard.embedded?.pods ?? 0;
    await eventually(async () => expect(await tile(ann.page).textContent()).toContain(`${pods}`));
    await eventually(() => isOfTeam(bob.page), 'the rows of the team');
    // A row has less than 800 bytes; all of them would have more than 200 kB.
    expect(ann.received()).toBeGreaterThan(1_000);
    expect(ann.received()).toBeLessThan(100_000);
    // Another window brings its rows again.
    expect([...ann.windows]).toEqual(['"offset":0,"limit":50']);
    await keepScreenshot(ann.page, 'users-ann-phone');
    await keepScreenshot(bob.page, 'users-bob');
    await bob.page.getByRole('link', { name: 'Nodes' }).click();
    await bob.page.getByText('Forbidden').first().waitFor();
    expect([...ann.errors, ...bob.errors]).toEqual([]);
  });

  it('filters, sorts and scrolls in the server, and opens the details and the log of a Pod', async () => {
    const { page, errors } = await open();
    await signIn(page, tokenOf('bob'));
    await live(page);
    await page.getByRole('columnheader', { name: 'Age' }).click();
    await page.getByPlaceholder('Filter: words or app=web').fill('cart');
    await eventually(async () => {
      const texts = await rows(page).allTextContents();
      expect(texts.length).toBeGreaterThan(0);
      expect(texts.every((text) => text.includes('cart'))).toBe(true);
    });
    const filtered = await rowCount(page);
    await page.getByPlaceholder('Filter: words or app=web').fill('');
    await eventually(async () => expect(await rowCount(page)).toBeGreaterThan(filtered));
    await eventually(async () => {
      await page.locator('[role=grid]').evaluate((grid) => grid.scrollTo(0, grid.scrollHeight));
      const last = page.locator(`[role=row][aria-rowindex="${await rowCount(page)}"]`);
      expect(await last.count()).toBe(1);
    });
    await rows(page).last().click();
    const details = page.getByRole('dialog');
    await details.getByText('Logs', { exact: true }).click();
    const log = page.getByTestId('container-log').locator('div');
    await eventually(async () => expect(await log.count()).toBeGreaterThan(0));
    await keepScreenshot(page, 'users-bob-details');
    expect(errors).toEqual([]);
  });

  it('says that a token is of nobody, keeps who is signed in over a reload, and forgets the token with the sign-out', async () => {
    const { page } = await open();
    await signIn(page, 'of nobody');
    await page.getByRole('alert').getByText('This token is of nobody').waitFor();
    await signIn(page, tokenOf('bob'));
    await live(page);
    await page.reload();
    await live(page);
    await page.getByRole('button', { name: 'bob · Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });
});
