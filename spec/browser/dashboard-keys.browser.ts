/** Tests the keys of the dashboard: to the first row, to the filter, and to any kind, namespace or object. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { eventually } from '../support/patience.ts';
import { dashboards } from './dashboards.ts';

const { openLive } = dashboards();

const jumpBox = (page: Page) => page.getByRole('textbox', { name: /kind, a namespace or an/ });

/** Opens the jump, writes a text, and takes the first option as soon as it has the name. */
async function jump(page: Page, text: string, option: RegExp): Promise<void> {
  await page.keyboard.press(':');
  await jumpBox(page).fill(text);
  await page.locator('[role=option][data-combobox-selected]').filter({ hasText: option }).waitFor();
  await page.keyboard.press('Enter');
}

test('the first row is one Tab away, and Enter opens it', async () => {
  const { page, complaints } = await openLive();
  await page.keyboard.press('Tab');
  const first = page.locator('[data-uid][aria-rowindex="2"]');
  await eventually(async () => expect(await first.getAttribute('data-active')).toBe('true'));
  await page.keyboard.press('Enter');
  const name = await first.locator('[data-column=name]').textContent();
  await page.getByRole('dialog', { name: `Pod ${name}` }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

test('"/" leads to the filter, and Enter from there to the rows', async () => {
  const { page } = await openLive();
  await page.keyboard.press('/');
  await page.keyboard.type('storefront/');
  await eventually(() => expect(page.url()).toContain('filter=storefront%2F'));
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Enter');
  await page.locator('[data-active=true] [data-column=name]', { hasText: 'storefront' }).waitFor();
});

test('an arrow begins in the table while the keyboard is nowhere, and leaves an arrow in the filter alone', async () => {
  const { page } = await openLive();
  await page.keyboard.press('ArrowDown');
  const active = page.locator('[data-uid][data-active=true]');
  await active.waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText('YAML', { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('/');
  await page.keyboard.type('web');
  await page.keyboard.press('ArrowUp');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('filter');
});

test('"t" shows what is in trouble, "l" the log of the open object, and "y" its YAML', async () => {
  const { page, complaints } = await openLive({ start: { fault: 'crash-loop' } });
  await page.keyboard.press('t');
  await eventually(() => expect(page.url()).toContain('tone=bad'));
  await page
    .getByTestId('shown')
    .getByText(/ of \d+ Pods$/)
    .waitFor();
  await page.keyboard.press('Tab');
  await page.locator('[data-uid][data-active=true]').waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText('Logs', { exact: true }).waitFor();
  await page.keyboard.press('l');
  await page.getByTestId('container-log').waitFor();
  await page.keyboard.press('y');
  await page.getByTestId('yaml').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('t');
  await eventually(() => expect(page.url()).not.toContain('tone=bad'));
  await page.keyboard.press('/');
  await page.keyboard.type('crashloop');
  await page.locator('[data-uid]').filter({ hasText: 'settlement' }).first().waitFor();
  expect(complaints).toEqual([]);
});

test('"l" on a Deployment shows the log of the init container that fails', async () => {
  const { page } = await openLive({
    start: { fault: 'init-container' },
    query: '?kind=deployments&filter=wishlist',
  });
  await page.locator('[data-uid]', { hasText: 'wishlist' }).first().click();
  const details = page.getByRole('dialog');
  await details.getByText('Logs', { exact: true }).waitFor();
  await page.keyboard.press('l');
  const log = page.getByTestId('container-log');
  await log
    .getByText(/relation "lists" does not exist/)
    .first()
    .waitFor();
  const chosen = details.locator('input[aria-label=Container]');
  await eventually(async () => expect(await chosen.inputValue()).toBe('migrate'));
});

test('"?" shows the keys, and Escape returns from there and from the jump to where the user was', async () => {
  const { page } = await openLive();
  await page.keyboard.press('Tab');
  await page.keyboard.press('?');
  const list = page.getByRole('dialog', { name: 'Keys' });
  await list.getByText('jump to a kind').waitFor();
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await jumpBox(page).waitFor();
  await page.keyboard.press('Escape');
  await jumpBox(page).waitFor({ state: 'detached' });
  const role = () => document.activeElement?.getAttribute('role');
  await eventually(async () => expect(await page.evaluate(role)).toBe('grid'));
});

test('":" and Ctrl+K lead to a kind by its short name, to a namespace and to an object', async () => {
  const { page, complaints, cluster } = await openLive();
  await jump(page, 'svc', /^Services$/);
  await page.getByRole('grid', { name: 'Services' }).waitFor();
  await page.locator('[data-uid][data-active=true]').waitFor();
  await jump(page, 'ns shop', /shop.*what is in it/);
  await page.getByText('Namespace shop').waitFor();
  const named = cluster.list().find(({ metadata }) => metadata?.namespace === 'search');
  const name = named?.metadata?.name ?? '';
  await page.keyboard.press('Control+k');
  await jumpBox(page).fill(name);
  await page
    .locator('[role=option][data-combobox-selected]', { hasText: name.slice(-5) })
    .waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: `Pod ${name}` }).waitFor();
  expect(complaints).toEqual([]);
});
