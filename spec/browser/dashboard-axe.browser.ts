/** Runs axe-core on the dashboard, in both themes and in the states that a user sees. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { configMaps } from 'rx-informer/resources';
import { expect, test } from 'vitest';
import { eventually } from '../support/patience.ts';
import { dashboards } from './dashboards.ts';
import { live, phone, visit } from './open-dashboard.ts';

const { open } = dashboards();
const axeFile = createRequire(import.meta.url).resolve('axe-core');

/** Waits until nothing fades in: an element has less contrast while it does. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    // A transition begins in the frame after its element was made.
    await frame();
    await frame();
    const finite = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY);
    await Promise.allSettled(finite.map(({ finished }) => finished));
  });
}

/** What axe-core finds: the rule and the elements. */
async function foundBy(page: Page, only: RunOptions): Promise<string[]> {
  await settled(page);
  const isLoaded = await page.evaluate(() => 'axe' in globalThis);
  if (!isLoaded) await page.evaluate(await readFile(axeFile, 'utf8'));
  const results = await page.evaluate(
    (options) =>
      (globalThis as unknown as { axe: { run(of: RunOptions): Promise<AxeResults> } }).axe.run(
        options,
      ),
    { ...only, resultTypes: ['violations'] } satisfies RunOptions,
  );
  // One element stands for all that break a rule.
  return results.violations.map(({ id, nodes: [first, ...others] }) => {
    const { target = [], any = [], all = [] } = first ?? {};
    const why = [...any, ...all][0]?.message ?? '';
    return `${id}: ${target.join(' ')} and ${others.length} others: ${why}`;
  });
}

/** The themes differ in nothing but colours. */
const ONLY_COLORS: RunOptions = { runOnly: ['color-contrast'] };

/** What axe-core finds in both themes. */
async function violations(page: Page): Promise<string[]> {
  const light = await foundBy(page, {});
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor();
  const dark = await foundBy(page, ONLY_COLORS);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.locator('html[data-mantine-color-scheme=light]').waitFor();
  return [...light, ...dark.map((found) => `dark: ${found}`)];
}

const kinds = [
  ...['pods', 'tree', 'events', 'nodes', 'deployments', 'services', 'configmaps'],
  ...['claims', 'autoscalers', 'cronjobs', 'ingresses'],
  ...['/v1/secrets/Secret/namespaced', 'certs.example/v1/certificates/Certificate/namespaced'],
];

/** Waits until no row is one of these, which another kind had, and returns those that are shown. */
async function uidsOtherThan(page: Page, former: readonly string[]): Promise<string[]> {
  const uids = () =>
    page
      .locator('[data-uid]')
      .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-uid') ?? ''));
  return eventually(async () => {
    const shown = await uids();
    expect(shown).not.toEqual([]);
    expect(shown.filter((uid) => former.includes(uid))).toEqual([]);
    return shown;
  });
}

test('nothing in the tables, the details and the panels', async () => {
  const { page } = await open({ start: { objects: 200 }, query: '?kind=pods&panel=server' });
  let former: readonly string[] = [];
  for (const kind of kinds) {
    if (kind !== 'pods') await visit(page, `?kind=${kind}`);
    await live(page);
    former = await uidsOtherThan(page, former);
    expect(await violations(page), kind).toEqual([]);
  }
  await visit(page, '?panel=queries');
  await page.getByTestId('asked').waitFor();
  await live(page);
  expect(await violations(page), 'queries').toEqual([]);
  await visit(page, '?panel=activity');
  await uidsOtherThan(page, former);
  await page.locator('[data-uid]').first().click();
  const dialog = page.getByRole('dialog');
  for (const tab of ['Overview', 'Logs', 'YAML', 'Edit']) {
    await dialog.getByText(tab, { exact: true }).click();
    if (tab === 'Edit') await dialog.getByRole('textbox', { name: /Draft/ }).waitFor();
    expect(await violations(page), tab).toEqual([]);
  }
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Choose columns' }).click();
  const column = page.getByRole('menuitemcheckbox', { name: 'Pod IP' });
  await column.waitFor();
  expect(await violations(page), 'columns').toEqual([]);
  await page.keyboard.press('Escape');
  await column.waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', { name: 'Keys' });
  await keys.waitFor();
  expect(await violations(page), 'keys').toEqual([]);
  await page.keyboard.press('Escape');
  await keys.waitFor({ state: 'detached' });
  await page.keyboard.press(':');
  const jump = page.getByRole('textbox', { name: /kind, a namespace or an/ });
  await jump.fill('shop');
  await page.getByRole('option', { name: /Namespace/ }).waitFor();
  expect(await violations(page), 'jump').toEqual([]);
  await page.keyboard.press('Escape');
  await jump.waitFor({ state: 'detached' });
  await page.getByRole('textbox', { name: /Filter/ }).fill('app in (web');
  await page.getByText(/label selector/).waitFor();
  expect(await violations(page), 'a selector that is not valid').toEqual([]);
  await page.getByRole('textbox', { name: /Filter/ }).fill('no such pod');
  await page.getByText('Nothing in Pods matches').waitFor();
  expect(await violations(page), 'no match').toEqual([]);
});

test('nothing in the actions', async () => {
  const opened = await open({ query: '?kind=deployments' });
  const { page } = opened;
  await live(page);
  await page.locator('[data-uid]').first().click();
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: /^Scale/ }).waitFor();
  expect(await violations(page), 'menu of actions').toEqual([]);
  await page.getByRole('menuitem', { name: /^Scale/ }).click();
  await page.getByRole('textbox', { name: 'Replicas' }).fill('99');
  await page.getByText('the server accepts it').waitFor();
  expect(await violations(page), 'dialog').toEqual([]);
  await page.getByRole('button', { name: /^Scale Deployment/ }).click();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  await page
    .locator('[data-uid]')
    .nth(1)
    .click({ modifiers: ['Control'] });
  await page.getByRole('region', { name: 'Marked rows' }).waitFor();
  expect(await violations(page), 'notice and marked rows').toEqual([]);
  await page.getByRole('region', { name: 'Marked rows' }).getByText('Delete').click();
  await page.getByText('the server accepts it').waitFor();
  expect(await violations(page), 'deletion').toEqual([]);
});

test('nothing on a phone, with the menu and without a connection', async () => {
  const opened = await open({ browser: phone });
  const { page } = opened;
  await live(page);
  expect(await violations(page), 'phone').toEqual([]);
  await page.getByRole('button', { name: /Open the menu/ }).click();
  await page.getByRole('link', { name: 'Nodes' }).waitFor();
  expect(await violations(page), 'menu').toEqual([]);
  await page.getByRole('button', { name: 'Close the menu' }).click();
  opened.cluster.server.faults.refuse({ resource: configMaps });
  // A kind of which the browser has stored no rows.
  await page.goto(`${opened.dashboard.url}?kind=configmaps`);
  await page.getByRole('alert').waitFor();
  expect(await violations(page), 'no connection').toEqual([]);
});
