/** Tests the details of an object in the dashboard: live, after a deletion, with logs, and edited by draft. */
import { readFile } from 'node:fs/promises';
import type { Locator } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/patience.ts';
import { keepScreenshot } from './chromium.ts';
import { type Received, recordRequests } from './dashboard-requests.ts';
import { dashboards } from './dashboards.ts';
import { live, type OpenOptions, phone, podsOf } from './open-dashboard.ts';

const { open } = dashboards();

const web = {
  metadata: { name: 'aaa-web', namespace: 'shop', labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'x:1' }] },
};

/** Opens the details of the pod `aaa-web`. */
async function openWeb(options: OpenOptions = {}) {
  let pod = {} as ReturnType<ReturnType<typeof podsOf>['create']>;
  const opened = await open({
    ...options,
    before: (_page, cluster) => {
      pod = podsOf(cluster).create(web);
    },
  });
  const { page } = opened;
  await live(page);
  await page.locator('[data-uid]', { hasText: 'aaa-web' }).click();
  const dialog = page.getByRole('dialog', { name: 'Pod aaa-web' });
  await dialog.waitFor();
  return { ...opened, dialog, pod };
}

test('the YAML follows the object and marks the lines of the last change', async () => {
  const { dialog, cluster, pod, complaints } = await openWeb();
  await dialog.getByText('YAML', { exact: true }).click();
  const yaml = dialog.getByTestId('yaml');
  await yaml.getByText('image: x:1').waitFor();
  podsOf(cluster).update({
    ...pod,
    metadata: { ...pod.metadata, labels: { app: 'web', tier: 'one' } },
  });
  await yaml.locator('[data-new=true]', { hasText: 'tier: one' }).waitFor();
  expect(await yaml.locator('[data-new=true]', { hasText: 'image' }).count()).toBe(0);
  expect(complaints).toEqual([]);
});

test('a deleted object keeps its last state, and the one that has its name now is offered', async () => {
  const { page, dialog, cluster, pod } = await openWeb();
  podsOf(cluster).delete(pod);
  await dialog.getByText('This Pod was deleted').waitFor();
  await dialog.getByText('Its last known state is shown below.').waitFor();
  await dialog.getByText('x:1').first().waitFor();
  expect(await dialog.getByText('Edit', { exact: true }).count()).toBe(0);
  podsOf(cluster).create({ ...web, spec: { containers: [{ name: 'main', image: 'x:2' }] } });
  await dialog.getByRole('button', { name: 'Show the new one' }).click();
  await dialog.getByText('x:2').first().waitFor();
  expect(await dialog.getByText('This Pod was deleted').count()).toBe(0);
  // Focus returns to the table.
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  const role = () => page.evaluate(() => document.activeElement?.getAttribute('role'));
  await eventually(async () => expect(await role()).toBe('grid'));
});

test('the reason of a failure stands first, also that of a condition', async () => {
  const { dialog, cluster, pod } = await openWeb();
  const message = '0/3 nodes are available: 3 Insufficient memory.';
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }];
  podsOf(cluster).update({ ...pod, status: { phase: 'Pending', conditions } });
  const troubles = dialog.getByTestId('troubles');
  await troubles.getByText(message).waitFor();
  await troubles.getByText('PodScheduled: Unschedulable').waitFor();
});

/** The text in the editor. */
const textIn = (draft: Locator) =>
  draft.evaluate((content) =>
    [...content.querySelectorAll('.cm-line')].map((line) => line.textContent).join('\n'),
  );

test('an edit shows its difference, sends it, and never overwrites the change of somebody else', async () => {
  const { dialog, cluster, pod, complaints } = await openWeb();
  await dialog.getByText('Edit', { exact: true }).click();
  const draft = dialog.getByRole('textbox', { name: 'Draft as YAML' });
  const text = await textIn(draft);
  expect(text).not.toContain('resourceVersion');
  await draft.fill('a: [');
  await dialog.getByText(/Flow sequence/).waitFor();
  await eventually(() => dialog.getByRole('button', { name: 'Review the change' }).isDisabled());
  await draft.fill(text.replace('app: web', 'app: shop'));
  await dialog.getByRole('button', { name: 'Review the change' }).click();
  const difference = dialog.getByTestId('difference');
  await eventually(async () =>
    expect(await difference.locator('[data-change=removed]').allTextContents()).toEqual([
      '-    app: web',
    ]),
  );
  await eventually(async () =>
    expect(await difference.locator('[data-change=added]').allTextContents()).toEqual([
      '+    app: shop',
    ]),
  );
  await dialog.getByRole('button', { name: 'Send the change' }).click();
  await dialog.getByText('The server has accepted the change.').waitFor();
  const now = () => cluster.list().find(({ metadata }) => metadata?.name === 'aaa-web');
  expect(now()?.metadata?.labels).toEqual({ app: 'shop' });

  await dialog.getByRole('button', { name: 'Edit again' }).click();
  await draft.fill((await textIn(draft)).replace('app: shop', 'app: mine'));
  const other = now() ?? pod;
  podsOf(cluster).update({
    ...other,
    metadata: { ...other.metadata, labels: { app: 'theirs' } },
  } as never);
  await dialog.getByText('The object has changed since you began').waitFor();
  await dialog.getByRole('button', { name: 'Review the change' }).click();
  await dialog.getByRole('button', { name: 'Send the change' }).click();
  await dialog.getByText(/Somebody else has changed the object/).waitFor();
  expect(now()?.metadata?.labels).toEqual({ app: 'theirs' });
  expect(complaints).toEqual([]);
});

test('a draft can be saved after the status of its object has changed', async () => {
  const { dialog, cluster, pod } = await openWeb();
  await dialog.getByText('Edit', { exact: true }).click();
  const draft = dialog.getByRole('textbox', { name: 'Draft as YAML' });
  await draft.fill((await textIn(draft)).replace('app: web', 'app: shop'));
  podsOf(cluster).update({ ...pod, status: { phase: 'Succeeded' } });
  await dialog.getByText('Succeeded').first().waitFor();
  expect(await dialog.getByText('The object has changed since you began').count()).toBe(0);
  await dialog.getByRole('button', { name: 'Review the change' }).click();
  await dialog.getByRole('button', { name: 'Send the change' }).click();
  await dialog.getByText('The server has accepted the change.').waitFor();
  const now = cluster.list().find(({ metadata }) => metadata?.name === 'aaa-web');
  expect(now).toMatchObject({
    metadata: { labels: { app: 'shop' } },
    status: { phase: 'Succeeded' },
  });
});

test('a draft is kept while the page shows something else, until it is discarded', async () => {
  const { page, dialog } = await openWeb();
  const edit = () => dialog.getByText('Edit', { exact: true }).click();
  const draft = dialog.getByRole('textbox', { name: 'Draft as YAML' });
  await edit();
  const text = await textIn(draft);
  const changed = text.replace('app: web', 'app: shop');
  await draft.fill(changed);
  await dialog.getByText('YAML', { exact: true }).click();
  await dialog.getByTestId('yaml').waitFor();
  await edit();
  await eventually(async () => expect(await textIn(draft)).toBe(changed));
  await draft.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.goBack();
  await eventually(async () => expect(await textIn(draft)).toBe(changed));
  const asks = () =>
    page.evaluate(() => !window.dispatchEvent(new Event('beforeunload', { cancelable: true })));
  await eventually(asks);
  await dialog.getByRole('button', { name: 'Discard the draft' }).click();
  await eventually(async () => expect(await textIn(draft)).toBe(text));
  await eventually(async () => expect(await asks()).toBe(false));
  await draft.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.goBack();
  await eventually(async () => expect(await textIn(draft)).toBe(text));
});

test('clicks on the row that is open are no visits: one step back closes its details', async () => {
  const { page, dialog } = await openWeb();
  const row = page.locator('[data-uid]', { hasText: 'aaa-web' });
  for (let click = 0; click < 3; click++) await row.click();
  await page.goBack();
  await dialog.waitFor({ state: 'detached' });
});

test('the log of a pod follows', async () => {
  const opened = await open({ start: { rate: 20 }, query: '?tone=good' });
  const { page, cluster } = opened;
  await live(page);
  // A Pod that a rollout replaces has no log any more.
  cluster.rate = 0;
  await page.locator('[data-uid]').first().click();
  await page.getByRole('dialog').getByText('Logs', { exact: true }).click();
  const log = page.getByTestId('container-log');
  await eventually(async () => expect(await log.locator('div').count()).toBeGreaterThan(0));
  await log.getByText('No line yet.').or(log.locator('div').nth(1)).first().waitFor();
});

test('a pod shows its environment, without the values of config maps and secrets, and its log', async () => {
  const opened = await open({
    start: { fault: 'crash-loop' },
    query: '?filter=settlement',
  });
  const { page } = opened;
  await live(page);
  await page.locator('[data-uid]').first().click();
  const environment = page
    .getByRole('dialog')
    .getByRole('region', { name: 'Environment of settlement' });
  // The worker answers after the details have opened.
  await eventually(async () =>
    expect(await environment.locator('dl > div').allTextContents()).toEqual([
      'POD_NAMEfield metadata.name',
      'LOG_LEVELinfo',
      'Further variablesall keys of ConfigMap settlement-settings',
    ]),
  );
  await page.getByRole('button', { name: 'Open its log' }).click();
  await page
    .getByTestId('container-log')
    .getByText(/SETTLEMENT_DB_URL is not set/)
    .first()
    .waitFor();
});

test('the logs of a workload are one, are searched, and are saved as a file', async () => {
  const opened = await open({
    start: { fault: 'crash-loop' },
    query: '?kind=deployments&filter=settlement',
  });
  const { page } = opened;
  await live(page);
  await page.locator('[data-uid]').first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Logs', { exact: true }).click();
  const log = page.getByTestId('container-log');
  const line = log.getByText(/^settlement-\S+ .*SETTLEMENT_DB_URL is not set/).first();
  await line.waitFor();
  await dialog.getByRole('textbox', { name: 'Only lines with' }).fill('SETTLEMENT_db_URL');
  await eventually(async () => {
    const texts = await log.locator('> div').allTextContents();
    expect(texts.filter((text) => !text.includes('SETTLEMENT_DB_URL'))).toEqual([]);
  });
  await dialog.getByText('wrap lines').click();
  await eventually(async () =>
    expect(await line.evaluate((each) => getComputedStyle(each).whiteSpace)).toBe('pre'),
  );
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Download' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('settlement.log');
  expect(await readFile(await file.path(), 'utf8')).toContain('SETTLEMENT_DB_URL is not set');
  expect(opened.complaints).toEqual([]);
});

test('a line of kubectl is copied', async () => {
  const opened = await open({
    browser: { permissions: ['clipboard-read', 'clipboard-write'] },
  });
  const { page } = opened;
  await live(page);
  await page.locator('[data-uid]').first().click();
  const dialog = page.getByRole('dialog');
  const name = await dialog.getByRole('heading', { level: 2 }).textContent();
  await dialog.getByRole('button', { name: 'Copy a name or a command' }).click();
  await page.getByRole('menuitem', { name: 'kubectl describe' }).click();
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  await eventually(async () => expect(await copied()).toMatch(`describe pod/${name}`));
});

for (const size of [{ width: 1440, height: 900 }, phone.viewport]) {
  test(`"Review the change" is on a screen of ${size.width} pixels`, async () => {
    const opened = await open({ browser: { viewport: size } });
    const { page } = opened;
    await live(page);
    await page.locator('[data-uid]').first().click();
    await page.getByRole('dialog').getByText('Edit', { exact: true }).click();
    const button = page.getByRole('button', { name: 'Review the change' });
    await button.waitFor();
    // The editor above it has its height when it is loaded.
    await eventually(async () => {
      const box = await button.boundingBox();
      expect((box?.y ?? 9999) + (box?.height ?? 0)).toBeLessThanOrEqual(size.height);
    });
    await page.getByRole('textbox', { name: 'Draft as YAML' }).waitFor();
    await eventually(() =>
      button.evaluate((each) => {
        const { x, y, width, height } = each.getBoundingClientRect();
        return each.contains(document.elementFromPoint(x + width / 2, y + height / 2));
      }),
    );
  });
}

test('config maps have a table and details, without their contents', async () => {
  let received: readonly Received[] = [];
  const opened = await open({
    query: '?kind=configmaps',
    before: (_page, _cluster, dashboard) => {
      const recording = recordRequests(dashboard);
      received = recording.requests;
      onTestFinished(recording.stop);
    },
  });
  const { page, cluster, complaints } = opened;
  await live(page);
  const row = page.locator('[data-uid]').first();
  await row.waitFor();
  const name = (await row.locator('[data-column=name]').textContent()) ?? '';
  expect(name).toMatch(/-settings$/);
  const labels = row.locator('[data-column=labels]');
  await eventually(async () => expect(await labels.textContent()).toMatch(/^app=/));
  const namespace = (await row.locator('[data-column=namespace]').textContent()) ?? '';
  await keepScreenshot(page, 'config-maps-table');
  await row.click();
  const dialog = page.getByRole('dialog', { name: `ConfigMap ${name}` });
  await dialog.getByText('Only the metadata is read').waitFor();
  await dialog.getByText('YAML', { exact: true }).click();
  const yaml = dialog.getByTestId('yaml');
  await yaml.getByText('kind: PartialObjectMetadata').waitFor();
  expect(await yaml.textContent()).not.toContain('LOG_LEVEL');
  const { status } = await fetch(
    `${cluster.baseUrl}/api/v1/namespaces/${namespace}/configmaps/${name}`,
    {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ metadata: { labels: { app: 'changed' } } }),
    },
  );
  expect(status).toBe(200);
  await page.locator('[data-uid]', { hasText: 'app=changed' }).waitFor();
  const reads = received.filter(({ pathname }) => /^\/api\/.*configmaps/.test(pathname));
  const accepted = reads.map(({ accept }) => accept);
  expect(accepted.length).toBeGreaterThan(0);
  expect(accepted.filter((accept) => !accept.includes('PartialObjectMetadata'))).toEqual([]);
  await dialog.getByText('Overview', { exact: true }).click();
  await dialog.getByRole('button', { name: 'Reveal the data' }).click();
  await dialog.getByText('LOG_LEVEL').waitFor();
  await keepScreenshot(page, 'config-maps');
  expect(complaints).toEqual([]);
});

test('a Deployment whose pods are refused by a quota shows the quota, and the quota is in a table', async () => {
  const opened = await open({
    start: { fault: 'quota' },
    query: '?kind=deployments&filter=invoice-api',
  });
  const { page } = opened;
  await live(page);
  await page.locator('[data-uid]').first().click();
  const dialog = page.getByRole('dialog');
  const quota = dialog.getByRole('region', { name: /^Quota compute-resources/ });
  await quota.getByText('3 of 3').waitFor();
  await quota.getByRole('link', { name: 'requests.cpu' }).click();
  await page.getByRole('dialog', { name: 'ResourceQuota compute-resources' }).waitFor();
  await page.getByRole('link', { name: 'Quotas' }).click();
  await live(page);
  const row = page.locator('[data-uid]');
  await row.getByText('Used up').waitFor();
  await eventually(async () => expect(await row.textContent()).toContain('pods 6 of 20'));
});

test('a node shows what it has, and what its pods request of it', async () => {
  const opened = await open({ query: '?kind=nodes' });
  const { page } = opened;
  await live(page);
  const row = page.locator('[data-uid]').first();
  const cell = (column: string) => row.locator(`[data-column=${column}]`).textContent();
  await row
    .locator('[data-column=cpu]')
    .getByText(/ of 15\.8 CPU$/)
    .waitFor();
  // It is not known before all Pods are, and has no room beside the details.
  const inTable = `${await cell('cpu')}, ${await cell('memory')} memory`;
  await row.click();
  const facts = page.getByRole('dialog').getByRole('region', { name: 'Node', exact: true });
  await facts.getByText(/^16 CPU, 62\.8 GiB memory, 110 pods, /).waitFor();
  await facts.getByText(/^15\.8 CPU, 60\.8 GiB memory, 110 pods, /).waitFor();
  await facts.getByText(inTable, { exact: true }).waitFor();
});
