/** Tests the kinds beside workloads: the seeded causes in their tables, kinds that only discovery knows, and Secrets. */
import type { Page } from 'playwright-core';
import { jobs } from 'rx-informer/resources';
import { expect, test } from 'vitest';
import { eventually } from '../support/patience.ts';
import { dashboards } from './dashboards.ts';
import { type OpenDashboard, visit } from './open-dashboard.ts';

const { openLive } = dashboards();
let opened: OpenDashboard;

async function open(query: string, requests: string[] = []): Promise<Page> {
  opened = await openLive({
    ...{ query, start: { fault: 'mix' } },
    before: (page) => page.context().on('request', (request) => requests.push(request.url())),
  });
  return opened.page;
}

const rowOf = (page: Page, name: string) => page.locator('[data-uid]').filter({ hasText: name });

const causes = [
  ['claims', 'vector-store-data', 'Not bound', '"fast-ssd" not found', '"fast-ssd" not found'],
  ['autoscalers', 'resizer', 'Not measured', 'missing request for cpu', 'missing request for cpu'],
  ['deployments', 'order-api', 'FailedCreate', 'for service "sidecar', 'for service "sidecar'],
  ['nodes', 'node-002', 'MemoryPressure', 'insufficient memory', 'insufficient memory'],
  ['pods', 'wishlist', 'Init:CrashLoopBackOff', 'init container migrate fails', 'exit code 1'],
] as const;

test('the cause of an object of each kind is in its row and in its details', async () => {
  const page = await open('?kind=services');
  for (const [kind, name, status, why, told] of causes) {
    await visit(page, `?kind=${kind}&tone=bad`);
    const row = rowOf(page, name).first();
    await row.getByText(status, { exact: true }).waitFor();
    await row.locator('[data-column=why]', { hasText: why }).waitFor();
    await row.click();
    await page.getByTestId('troubles').getByText(told).first().waitFor();
  }
  expect(opened.complaints).toEqual([]);
});

test('a Pod leads to the claim that it waits for', async () => {
  const page = await open('?tone=bad&filter=vector-store');
  await page.locator('[data-uid]').first().click();
  await page.getByRole('link', { name: 'PersistentVolumeClaim/vector-store-data' }).click();
  await page.getByTestId('troubles').getByText('"fast-ssd" not found').waitFor();
});

test('a CronJob is run now, and no Job exists before the dry run is confirmed', async () => {
  const page = await open('?kind=cronjobs');
  await rowOf(page, 'report').click();
  await page.getByRole('button', { name: 'Actions' }).waitFor();
  await page.keyboard.press('a');
  await page.getByRole('menuitem', { name: /^Run now/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Run now CronJob report' });
  await dialog.getByText(/^creates the Job report-manual-/).waitFor();
  const manual = () =>
    opened.cluster.server.objects
      .list(jobs)
      .filter(({ metadata }) => metadata.name.startsWith('report-manual-'));
  expect(manual()).toEqual([]);
  await dialog.getByRole('button', { name: 'Run now CronJob' }).click();
  await page.getByText(/^Run now CronJob report: creates the Job report-manual-/).waitFor();
  await eventually(() => expect(manual()).toHaveLength(1));
  const [owner] = manual()[0]?.metadata.ownerReferences ?? [];
  expect(owner).toMatchObject({ kind: 'CronJob', name: 'report' });
});

test('a custom resource is found by its name, and has the columns of the server', async () => {
  const page = await open('');
  await page.getByRole('button', { name: 'Any other kind' }).click();
  await page.getByRole('textbox', { name: /kind, a namespace or an/ }).fill('certif');
  await page.getByRole('option', { name: 'Certificates certs.example/v1' }).click();
  const grid = page.getByRole('grid', { name: 'Certificates' });
  for (const name of ['Name', 'Ready', 'Secret', 'Renewal', 'Reason', 'Age', 'Namespace']) {
    await grid.getByRole('columnheader', { name, exact: true }).waitFor();
  }
  await rowOf(page, 'storefront').getByText('Certificate is up to date').waitFor();
  await page.getByRole('button', { name: /^identity/ }).click();
  await rowOf(page, 'storefront').waitFor({ state: 'detached' });
  await rowOf(page, 'login').click();
  const dialog = page.getByRole('dialog', { name: 'Certificate login' });
  await dialog.getByText('Certificate is up to date').waitFor();
  await dialog.getByText('YAML', { exact: true }).click();
  await dialog.getByText('secretName').waitFor();
  expect(await dialog.getByText('Edit', { exact: true }).count()).toBe(0);
  expect(opened.complaints).toEqual([]);
});

test('what a Secret contains is read when it is revealed, and not before', async () => {
  const requests: string[] = [];
  const page = await open('?kind=/v1/secrets/Secret/namespaced', requests);
  await rowOf(page, 'storefront-database').getByText('Opaque').waitFor();
  await rowOf(page, 'storefront-database').click();
  const dialog = page.getByRole('dialog', { name: 'Secret storefront-database' });
  const reveal = dialog.getByRole('button', { name: 'Reveal the data' });
  await reveal.waitFor();
  await dialog.getByText('example/team').waitFor();
  // As `kubectl apply` copies it into an annotation.
  expect(await dialog.textContent()).not.toContain('b2Ytc3RvcmVm');
  const isRead = () => requests.some((url) => url.endsWith('/secrets/storefront-database'));
  expect(isRead()).toBe(false);
  await reveal.click();
  await dialog.getByText('of-storefront-42').waitFor();
  expect(isRead()).toBe(true);
  await dialog.getByRole('button', { name: 'Hide the data' }).click();
  await dialog.getByText('of-storefront-42').waitFor({ state: 'detached' });
});
