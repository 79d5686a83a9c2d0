/** Tests that the dashboard's table stays still under the pointer, and that the details say what the table hides. */
import { expect, test } from 'vitest';
import { eventually } from '../support/patience.ts';
import { dashboards } from './dashboards.ts';
import { holdLasts, live, type OpenOptions, podsOf } from './open-dashboard.ts';

const { openLive } = dashboards();
const open = (options?: OpenOptions) => openLive({ ...options, before: holdLasts });

const podNamed = (name: string) => ({
  metadata: { name, namespace: 'shop' },
  spec: { containers: [{ name: 'main', image: 'x:1' }] },
});

test('rows do not move under the pointer, and a click opens the row that it has pointed at', async () => {
  const { page, cluster } = await open();
  const row = page.locator('[data-uid]').nth(2);
  const uid = await row.getAttribute('data-uid');
  await row.hover();
  for (const name of ['aaa-1', 'aaa-2', 'aaa-3']) podsOf(cluster).create(podNamed(name));
  await page.getByTestId('held').getByText('3 rows will move').waitFor();
  await page.getByTestId('shown').getByText(`${cluster.pods} Pods`, { exact: true }).waitFor();
  await page.mouse.down();
  await page.mouse.up();
  await page.getByRole('dialog').waitFor();
  await eventually(() => expect(page.url()).toContain(String(uid)));
  expect(await page.locator('[data-uid]', { hasText: 'aaa-1' }).count()).toBe(0);
  await page.getByRole('heading', { level: 1 }).hover();
  await page.locator('[data-uid]', { hasText: 'aaa-1' }).waitFor();
  await page.getByTestId('held').waitFor({ state: 'detached' });
});

test('in the tree, an application that fails keeps its place under the pointer, also while branches open', async () => {
  const { page, cluster } = await open({ query: '?kind=tree', start: { objects: 200, seed: 4 } });
  const names = () =>
    page
      .locator('[data-uid][aria-level="1"]')
      .evaluateAll((rows) =>
        rows.map((row) => row.querySelector('[title]')?.getAttribute('title')),
      );
  const last = page.locator('[data-uid][aria-level="1"]').last();
  const name = (await last.locator('[title]').first().getAttribute('title')) ?? '';
  await last.hover();
  const before = await names();
  const pod = cluster
    .list()
    .find(({ metadata }) => metadata?.labels?.['app'] === name && metadata.ownerReferences);
  const [status] = pod?.status?.containerStatuses ?? [];
  if (pod === undefined || status === undefined) throw new Error(`no pod of ${name}`);
  const waiting = { reason: 'ImagePullBackOff', message: 'Back-off pulling image "x:2"' };
  podsOf(cluster).update({
    ...pod,
    status: {
      ...pod.status,
      containerStatuses: [{ ...status, ready: false, state: { waiting } }],
    },
  } as never);
  await last
    .getByText(/^Back-off pulling image .* \(\d+ of \d+ Pods?: ImagePullBackOff\)$/)
    .waitFor();
  expect(await names()).toEqual(before);
  await last.locator('span[aria-hidden=true]').click();
  await page.locator('[data-uid][aria-level="2"]').first().waitFor();
  expect(await names()).toEqual(before);
  await page.getByRole('heading', { level: 1 }).hover();
  await eventually(async () =>
    expect((await names()).indexOf(name)).toBeLessThan(before.indexOf(name)),
  );
});

test('rows do not move while the keyboard moves over them, until it leaves the table', async () => {
  const { page, cluster } = await open();
  const grid = page.getByRole('grid', { name: 'Pods' });
  await grid.focus();
  await page.keyboard.press('ArrowDown');
  await page.locator('[data-uid][data-active=true]').waitFor();
  const first = () => page.locator('[data-uid] [data-column=name]').first().textContent();
  const name = await first();
  podsOf(cluster).create(podNamed('aaa-1'));
  await page.getByTestId('held').getByText('1 row will move').waitFor();
  expect(await first()).toBe(name);
  await page.keyboard.press('Tab');
  await page.locator('[data-uid]', { hasText: 'aaa-1' }).waitFor();
});

test('the details say that the filter hides their object', async () => {
  const { page } = await open();
  await page.locator('[data-uid]').first().click();
  const dialog = page.getByRole('dialog');
  await page.getByRole('textbox', { name: /Filter/ }).fill('no such pod');
  await dialog.getByText('The filter of the table hides this Pod.').waitFor();
  await dialog.getByRole('button', { name: 'Clear filters' }).click();
  await dialog.getByText('The filter of the table hides').waitFor({ state: 'detached' });
});

test('beside the details no column is cut, and the line of the status stays', async () => {
  const { page } = await open({ start: { objects: 300, fault: 'quota' } });
  const line = page.getByTestId('trouble-line');
  await line.getByRole('button', { name: '1 Quota', exact: true }).waitFor();
  await page.locator('[data-uid]').first().click();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  const grid = page.getByRole('grid', { name: 'Pods' });
  await eventually(async () =>
    expect(await grid.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0),
  );
  await dialog.getByText('YAML', { exact: true }).click();
  // The pane scrolls, and not the text in it.
  const yaml = dialog.getByTestId('yaml');
  await eventually(async () =>
    expect(await yaml.evaluate((each) => each.scrollHeight - each.clientHeight)).toBe(0),
  );
  for (const kind of ['Nodes', 'Services', 'Jobs']) {
    await page.getByRole('link', { name: kind, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: kind }).waitFor();
    await live(page);
  }
  await page.getByRole('link', { name: 'Pods', exact: true }).click();
  await line.getByRole('button', { name: '1 Quota', exact: true }).click();
  await page.locator('[data-uid]', { hasText: 'compute-resources' }).getByText('Used up').waitFor();
});
