/** Tests the dashboard of a cluster that it did not start: whether it edits, and what it says if it may not read all. */
import type { Browser } from 'playwright-core';
import { deployments, events, nodes, pods } from 'rx-informer/resources';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/patience.ts';
import { keepScreenshot, launchChromium } from './chromium.ts';
import { live, openRealDashboard } from './open-dashboard.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

test.each([false, true])(
  'a real cluster is read-only unless edits are allowed: %s',
  async (allowEdits) => {
    const opened = await openRealDashboard(browser, {
      start: { allowEdits },
      before: ({ objects }) =>
        void objects.create(deployments, {
          metadata: { name: 'web', namespace: 'shop' },
          spec: { selector: {}, template: {} },
        }),
      query: '?kind=deployments',
    });
    onTestFinished(opened.close);
    const { page, said, server, dashboard } = opened;
    await live(page);
    await page.getByText(allowEdits ? / · edits allowed$/ : / · read-only$/).waitFor();
    expect(said.join()).toMatch(
      allowEdits ? /Edits are allowed\./ : /It is read-only; --allow-edits /,
    );
    await page.locator('[data-uid]').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('YAML', { exact: true }).waitFor();
    const edit = dialog.getByText('Edit', { exact: true });
    await eventually(async () => expect(await edit.count()).toBe(allowEdits ? 1 : 0));
    const { status } = await fetch(`${dashboard.url}apis/apps/v1/namespaces/shop/deployments/web`, {
      method: 'PATCH',
      headers: {
        origin: dashboard.url.slice(0, -1),
        'content-type': 'application/merge-patch+json',
      },
      body: JSON.stringify({ spec: { replicas: 9 } }),
    });
    expect(status).toBe(allowEdits ? 200 : 405);
    const { spec } = server.objects.get(deployments, { name: 'web', namespace: 'shop' }) ?? {};
    expect(spec?.replicas).toBe(allowEdits ? 9 : undefined);
  },
);

test('without the right to list Pods, Nodes are counted, and what their Pods request is not known', async () => {
  const { page, close, complaints } = await openRealDashboard(browser, {
    fake: { allows: ({ resource }) => resource !== 'pods' },
    query: '?kind=nodes',
    before({ objects }) {
      const status = {
        allocatable: { cpu: '4', memory: '8Gi' },
        conditions: [{ type: 'Ready', status: 'True' }],
      };
      objects.create(nodes, { metadata: { name: 'n1' }, status });
      const spec = { nodeName: 'n1', containers: [{ name: 'main', image: 'x:1' }] };
      objects.create(pods, { metadata: { name: 'web', namespace: 'shop' }, spec });
      objects.create(events, {
        metadata: { name: 'e', namespace: 'shop' },
        involvedObject: { kind: 'Pod', name: 'web', namespace: 'shop', uid: 'of-another' },
        reason: 'Stuck',
      });
    },
  });
  onTestFinished(close);
  const tile = (name: string) => page.locator(`[data-tile=${name}]`);
  await eventually(async () => expect(await tile('all').textContent()).toBe('1All'));
  await eventually(async () => expect(await tile('good').textContent()).toBe('1Ready'));
  const row = page.locator('[data-uid]');
  for (const column of ['pods', 'cpu', 'memory']) {
    const cell = row.locator(`[data-column=${column}]`);
    await cell.getByRole('img', { name: 'not known' }).waitFor();
    await eventually(async () => expect(await cell.textContent(), column).toBe('–'));
  }
  await page.getByTestId('status').getByText('Forbidden', { exact: true }).waitFor();
  await keepScreenshot(page, 'nodes-without-pods');
  await row.click();
  await page.getByRole('dialog').getByText('The Pods cannot be read.').waitFor();
  await page.getByRole('link', { name: 'Events' }).click();
  await page.locator('[data-uid]', { hasText: 'Stuck' }).waitFor();
  const now = page.locator('[data-uid] [data-column=objectNow]');
  await eventually(async () => expect(await now.textContent()).toBe('–'));
  expect(complaints).toEqual([]);
});

test('another context is chosen in the page, and a page of the former one says so and reaches it no longer', async () => {
  const podNamed = (name: string) => ({
    metadata: { name, namespace: 'shop' },
    spec: { containers: [{ name: 'main', image: 'x:1' }] },
  });
  const opened = await openRealDashboard(browser, {
    before: ({ objects }) => void objects.create(pods, podNamed('of-c')),
    other: ({ objects }) => void objects.create(pods, podNamed('of-other')),
  });
  onTestFinished(opened.close);
  const { page, dashboard } = opened;
  await live(page);
  await page.getByText('c · read-only').waitFor();
  await page.locator('[data-uid]', { hasText: 'of-c' }).waitFor();
  const second = await page.context().newPage();
  await second.goto(dashboard.url);
  await live(second);
  await page.getByRole('button', { name: 'Choose another context' }).click();
  const option = page.getByRole('menuitem', { name: 'other' });
  await option.waitFor();
  await keepScreenshot(page, 'contexts');
  await option.click();
  await page.getByText('other · read-only').waitFor();
  await live(page);
  await page.locator('[data-uid]', { hasText: 'of-other' }).waitFor();
  await page.locator('[data-uid]', { hasText: 'of-c' }).waitFor({ state: 'detached' });
  await second.getByText(/another tab shows another cluster, .*; reload the page/).waitFor();
  expect(await second.locator('[data-uid]', { hasText: 'of-other' }).count()).toBe(0);
  await second.reload();
  await second.locator('[data-uid]', { hasText: 'of-other' }).waitFor();
});
