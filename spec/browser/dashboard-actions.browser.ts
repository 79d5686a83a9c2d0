/** Tests the actions of the dashboard in its page: the dialog with the dry run, several rows, missing rights, and what is taken back. */
import type { Page } from 'playwright-core';
import { deployments, nodes, pods, replicaSets } from 'rx-informer/resources';
import type { FakeApiServer } from 'rx-informer/testing';
import { expect, test } from 'vitest';
import { eventually } from '../support/patience.ts';
import { keepScreenshot } from './chromium.ts';
import { dashboards } from './dashboards.ts';
import { live } from './open-dashboard.ts';

const { openReal } = dashboards();
const web = { name: 'web', namespace: 'shop' };
const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image }] },
});
const podSpec = { containers: [{ name: 'c', image: 'x:1' }] };

function fill({ objects }: FakeApiServer): void {
  const { metadata } = objects.create(deployments, {
    metadata: web,
    spec: { replicas: 3, selector: { matchLabels: { app: 'web' } }, template: template('x:2') },
  });
  for (const number of [1, 2]) {
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: metadata.uid };
    objects.create(replicaSets, {
      metadata: {
        ...{ name: `web-${number}`, namespace: 'shop', labels: { app: 'web' } },
        annotations: { 'deployment.kubernetes.io/revision': `${number}` },
        ownerReferences: [{ ...owner, controller: true }],
      },
      spec: { selector: {}, template: template(`x:${number}`) },
    });
  }
  objects.create(nodes, { metadata: { name: 'n1' } });
  for (const name of ['a', 'b', 'c']) {
    objects.create(pods, { metadata: { name, namespace: 'shop' }, spec: podSpec });
  }
}

/** Opens a dashboard that forwards edits. The server notes what it was sent beside reads and reviews. */
async function openWith(query: string, allows: (verb: string) => boolean = () => true) {
  const opened = await openReal({
    start: { allowEdits: true },
    fake: { allows: ({ verb }) => allows(verb) },
    before: fill,
    query,
  });
  await live(opened.page);
  const { server } = opened;
  const writes = () =>
    server.requests
      .filter(({ method, path }) => method !== 'GET' && !path.includes('review'))
      .map(({ method, path, query: sent }) => `${method} ${path} ${sent['dryRun'] ?? ''}`.trim());
  return { ...opened, writes, spec: () => server.objects.get(deployments, web)?.spec };
}

const openMenu = async (page: Page) => {
  await page.getByRole('button', { name: 'Actions' }).waitFor();
  await page.keyboard.press('a');
};

const act = async (page: Page, action: RegExp) => {
  await openMenu(page);
  await page.getByRole('menuitem', { name: action }).click();
};

/** The dialog of an action. The details of an object are one, too. */
const dialogOf = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true });

test('a Deployment is scaled after a dry run, and back again', async () => {
  const { page, spec, writes, dashboard, complaints } = await openWith('?kind=deployments');
  await page.locator('[data-uid]').first().click();
  await act(page, /^Scale/);
  const dialog = dialogOf(page, 'Scale Deployment web');
  const place = dialog.locator('dl');
  await eventually(async () =>
    expect(await place.innerText()).toMatch(/(Cluster|Context)\s.+\s+Namespace\s+shop$/),
  );
  const replicas = dialog.getByRole('textbox', { name: 'Replicas' });
  await eventually(async () => expect(await replicas.inputValue()).toBe('3'));
  const send = dialog.getByRole('button', { name: 'Scale Deployment' });
  await eventually(() => send.isDisabled());
  await replicas.fill('5');
  await dialog.getByText('3 → 5 replicas').waitFor();
  expect(spec()?.replicas).toBe(3);
  const path = '/apis/apps/v1/namespaces/shop/deployments/web/scale';
  expect(writes()).toEqual([`PATCH ${path} All`]);
  await keepScreenshot(page, 'action-scale');
  await send.click();
  await dialog.waitFor({ state: 'detached' });
  expect(spec()?.replicas).toBe(5);
  await page.getByText('Scale Deployment web: 3 → 5 replicas').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone: Scale Deployment web: 3 → 5 replicas').waitFor();
  expect(spec()?.replicas).toBe(3);
  expect(writes()).toEqual([`PATCH ${path} All`, `PATCH ${path}`, `PATCH ${path}`]);
  expect(dashboard.port).toBeGreaterThan(0);
  expect(complaints).toEqual([]);
});

test('a rollout is restarted and taken back, and an earlier revision returns', async () => {
  const { page, spec, complaints } = await openWith('?kind=deployments');
  await page.locator('[data-uid]').first().click();
  const restartedAt = () => Object.keys(spec()?.template.metadata?.annotations ?? {});
  await act(page, /^Restart/);
  await page.getByRole('button', { name: 'Restart Deployment' }).click();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  expect(restartedAt()).toEqual(['kubectl.kubernetes.io/restartedAt']);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText(/^Undone: Restart/).waitFor();
  expect(restartedAt()).toEqual([]);
  await act(page, /^Roll back/);
  const dialog = dialogOf(page, 'Roll back Deployment web');
  await dialog.getByText('back to revision 1 (x:1)').waitFor();
  await dialog.getByRole('button', { name: 'Roll back Deployment' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(spec()?.template.spec?.containers[0]?.image).toBe('x:1');
  expect(complaints).toEqual([]);
});

test('marked Pods are deleted, but not the one that has changed meanwhile', async () => {
  const { page, server, writes, complaints } = await openWith('');
  await page.keyboard.press('Tab');
  await page.locator('[data-uid][data-active=true]').waitFor();
  await page.keyboard.press('Space');
  await page.locator('[data-uid]', { hasText: 'b' }).click({ modifiers: ['Control'] });
  const bar = page.getByRole('region', { name: 'Marked rows' });
  await bar.getByText('2 Pods marked').waitFor();
  const marked = page.locator('[data-uid][aria-selected=true]');
  await eventually(async () => expect(await marked.count()).toBe(2));
  await keepScreenshot(page, 'action-marked');
  // First to what destroys nothing.
  await page.keyboard.press('a');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  const dialog = dialogOf(page, 'Delete 2 Pods');
  await eventually(async () =>
    expect(await dialog.getByText('the server accepts it').count()).toBe(2),
  );
  expect(server.objects.list(pods)).toHaveLength(3);
  const now = server.objects.get(pods, { name: 'a', namespace: 'shop' });
  server.objects.update(pods, { ...now, status: { phase: 'Running' } } as never);
  await dialog.getByRole('button', { name: 'Delete 2 Pods' }).click();
  await dialog.getByText(/Somebody else has changed the object/).waitFor();
  const names = () => server.objects.list(pods).map(({ metadata }) => metadata?.name);
  expect(names()).toEqual(['a', 'c']);
  await dialog.getByRole('button', { name: 'Check again' }).click();
  await dialog.getByRole('button', { name: 'Delete Pod' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(names()).toEqual(['c']);
  expect(writes().filter((line) => line.startsWith('DELETE'))).toHaveLength(6);
  await bar.waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

test('an action whose right is missing is shown, and says which right', async () => {
  const { page, writes } = await openWith('?kind=nodes', (verb) => verb !== 'patch');
  await page.locator('[data-uid]').first().click();
  await openMenu(page);
  const cordon = page.getByRole('menuitem', { name: /^Cordon/ });
  await cordon.getByText('Needs the right to patch nodes').waitFor();
  await eventually(async () => expect(await cordon.getAttribute('aria-disabled')).toBe('true'));
  await keepScreenshot(page, 'action-without-right');
  await cordon.click({ force: true });
  await page.getByRole('menuitem', { name: /^kubectl drain/ }).waitFor();
  expect(await page.getByRole('dialog', { name: /^Cordon/ }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await page
    .locator('[data-uid]')
    .first()
    .click({ modifiers: ['Control'] });
  const bar = page.getByRole('region', { name: 'Marked rows' });
  await bar.getByText('Cordon needs the right to patch nodes.', { exact: true }).waitFor();
  await eventually(() => bar.getByRole('button', { name: 'Cordon', exact: true }).isDisabled());
  expect(writes()).toEqual([]);
});

test('a dashboard that only reads has no actions and no marks', async () => {
  const { page } = await openReal({ before: fill });
  await live(page);
  await page.getByText(/ · read-only$/).waitFor();
  await page
    .locator('[data-uid]')
    .first()
    .click({ modifiers: ['Control'] });
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('a');
  expect(await page.getByRole('button', { name: 'Actions' }).count()).toBe(0);
  expect(await page.locator('[data-marked=true]').count()).toBe(0);
});
