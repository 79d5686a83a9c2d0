/** Tests that trouble of every kind is seen where one looks first, with its cause, and that no key destroys anything by accident. */
import type { Page } from 'playwright-core';
import { deployments } from 'rx-informer/resources';
import { expect, test } from 'vitest';
import { eventually } from '../support/patience.ts';
import { dashboards } from './dashboards.ts';
import { live } from './open-dashboard.ts';

const { openLive } = dashboards();
const mix = { start: { fault: 'mix' } } as const;

const list = (page: Page) => page.getByRole('list', { name: 'What is in trouble' });

const sorted = (page: Page) => page.locator('[aria-sort=descending]');

/** Words of each seeded cause, as they stand in the list. */
const causes = [
  /Deployment recommendations.*not found: recommendations:v2\.8\.1/,
  /ResourceQuota compute-resources.*Deployment invoice-api.*exceeded quota: compute-resources/,
  /Deployment token-issuer.*port 8080 is not among the container's ports \(9090\)/,
  /Deployment embedder.*Insufficient cpu/,
  /Deployment settlement.*SETTLEMENT_DB_URL is not set/,
  /PersistentVolumeClaim vector-store-data.*"fast-ssd" not found.*Deployment vector-store/,
  /HorizontalPodAutoscaler resizer.*missing request for cpu/,
  /Deployment order-api.*no endpoints available for service "sidecar-injector"/,
  /Node node-002.*insufficient memory/,
  /Deployment wishlist.*relation "lists" does not exist/,
];

test('one key lists all seeded causes in words, and Enter opens the details of one', async () => {
  const { page, complaints } = await openLive(mix);
  const line = page.getByTestId('trouble-line');
  await line.getByText('1 Autoscaler').waitFor();
  for (const what of ['1 Node', '1 Claim', '1 Quota', '6 Deployments']) {
    await line.getByText(what, { exact: true }).waitFor();
  }
  await page.keyboard.press('Shift+T');
  for (const cause of causes)
    await list(page).getByRole('listitem').filter({ hasText: cause }).waitFor();
  // The first one takes the keyboard when the list is shown.
  const links = list(page).locator('h3 a');
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
  await eventually(async () => expect(await focused()).toBe(await links.first().textContent()));
  await page.keyboard.press('ArrowDown');
  const name = await focused();
  expect(await links.allTextContents()).toContain(name);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name, exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('radio', { name: 'In trouble' }).focus();
  await page.keyboard.press('Escape');
  await list(page).waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

test('the sidebar counts what is in trouble of each kind, and leads there', async () => {
  const { page } = await openLive({ ...mix, query: '?kind=tree' });
  await page.getByTestId('trouble-line').waitFor();
  const counts = page.getByRole('navigation').getByRole('button', { name: / in trouble of / });
  const labels = () => counts.evaluateAll((all) => all.map((each) => each.ariaLabel));
  await eventually(async () =>
    expect(await labels()).toEqual(
      expect.arrayContaining([
        ...['8 in trouble of Application tree', '8 in trouble of Deployments'],
        ...['1 in trouble of Autoscalers', '1 in trouble of Nodes', '1 in trouble of Claims'],
      ]),
    ),
  );
  await page.getByRole('button', { name: '1 in trouble of Claims' }).click();
  await page
    .locator('[data-uid]', { hasText: 'vector-store-data' })
    .getByText('Not bound')
    .waitFor();
  await eventually(() => expect(new URL(page.url()).searchParams.get('tone')).toBe('bad'));
});

test('the row and the details of a workload have the last line of the log of its Pod that fails', async () => {
  const { page } = await openLive({
    start: { fault: 'crash-loop' },
    query: '?kind=deployments&tone=bad',
  });
  const row = page.locator('[data-uid]', { hasText: 'settlement' });
  const why = row.locator('[data-column=why] span');
  await why.filter({ hasText: /^FATAL required environment variable/ }).waitFor();
  await eventually(async () =>
    expect(await why.getAttribute('title')).toMatch(/SETTLEMENT_DB_URL is not set — 2 of 2 Pods/),
  );
  await row.click();
  await page.getByTestId('troubles').getByText('SETTLEMENT_DB_URL is not set').waitFor();
});

test('a cause links to the objects that it names', async () => {
  const { page } = await openLive({
    start: { fault: 'webhook' },
    query: '?kind=deployments&tone=bad',
  });
  await page.locator('[data-uid]', { hasText: 'order-api' }).click();
  await page
    .getByTestId('troubles')
    .getByRole('link', { name: '"sidecar-injector"' })
    .first()
    .click();
  const service = page.getByRole('dialog', { name: 'Service sidecar-injector' });
  await service.getByText('Service in platform').waitFor();
  await service.getByText('No Pod is behind this Service').waitFor();
  await service.getByText('Scaled to zero').waitFor();
  await service.getByRole('link', { name: 'sidecar-injector' }).click();
  await page.getByRole('dialog', { name: 'Deployment sidecar-injector' }).waitFor();
});

test('a node under pressure leads to its Pods, with those first that use the most memory', async () => {
  const { page } = await openLive({
    start: { fault: 'pressure' },
    query: '?kind=nodes&tone=bad',
  });
  await page.locator('[data-uid]', { hasText: 'node-002' }).click();
  await page.getByRole('button', { name: 'Show them, by the memory that they use' }).click();
  await page.getByRole('grid', { name: 'Pods' }).waitFor();
  await page.getByRole('columnheader', { name: 'Memory' }).and(sorted(page)).waitFor();
  const nodes = page.locator('[data-uid] [data-column=node]');
  await eventually(async () =>
    expect(new Set(await nodes.allTextContents())).toEqual(new Set(['node-002'])),
  );
});

test('the first action that the keyboard reaches destroys nothing', async () => {
  const { page } = await openLive();
  await page.locator('[data-uid]').first().click();
  await page.getByRole('button', { name: 'Actions' }).waitFor();
  await page.keyboard.press('a');
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
  await eventually(async () => expect(await focused()).toContain('kubectl describe'));
  await page.keyboard.press('Escape');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('a');
  await eventually(async () => expect(await focused()).toContain('kubectl describe'));
  await page.keyboard.press('Enter');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  expect(await page.getByRole('dialog', { name: /^Delete/ }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('grid').focus();
  await page.locator('[data-uid][data-active=true]').waitFor();
  await page.keyboard.press(' ');
  await page.getByRole('region', { name: 'Marked rows' }).waitFor();
  await page.keyboard.press('a');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Marked rows' }).waitFor({ state: 'detached' });
  expect(await page.getByRole('dialog').count()).toBe(0);
});

test('the jump shows the status of objects of every kind that has one', async () => {
  const { page } = await openLive(mix);
  await page.keyboard.press('Control+k');
  const box = page.getByRole('textbox', { name: /kind, a namespace or an/ });
  for (const [text, option] of [
    ['hpa resizer', /HorizontalPodAutoscaler in media.*Not measured/],
    ['node node-002', /Node.*MemoryPressure/],
    ['pvc vector-store', /PersistentVolumeClaim in search.*Not bound/],
    ['deploy settlement', /Deployment in payments.*(Unavailable|CrashLoopBackOff|Error)/],
  ] as const) {
    await box.fill(text);
    await page.getByRole('option', { name: option }).waitFor();
  }
});

test('a frame shows the whole active row, and the line of the status does not alarm while all is live', async () => {
  const { page } = await openLive();
  await page.keyboard.press('Tab');
  const active = page.locator('[data-uid][data-active=true]');
  await active.waitFor();
  const frame = await active.evaluate((row) => {
    const { width, borderTopWidth } = getComputedStyle(row, '::after');
    return [borderTopWidth, Math.abs(Number.parseFloat(width) - row.clientWidth) < 5];
  });
  expect(frame).toEqual(['2px', true]);
  await page.getByRole('link', { name: 'Nodes', exact: true }).click();
  await live(page);
  expect(await page.getByTestId('status').textContent()).not.toMatch(/reconnect|relist/);
});

test('a Deployment that is scaled to zero shows its newest ReplicaSet', async () => {
  const { page, cluster } = await openLive({
    start: { fault: 'webhook' },
    query: '?kind=deployments',
  });
  await page.getByRole('textbox', { name: /Filter/ }).fill('sidecar-injector');
  await page.locator('[data-uid]', { hasText: 'sidecar-injector' }).click();
  const all = cluster.server.objects.list(deployments);
  expect(all.find(({ metadata }) => metadata.name === 'sidecar-injector')?.spec?.replicas).toBe(0);
  await page.getByRole('dialog').getByText('ReplicaSets (1)').waitFor();
});
