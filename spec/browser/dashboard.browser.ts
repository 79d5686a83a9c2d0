/**
 * Tests the dashboard in a browser: rows stay up to date and recover, and no change is lost.
 */
import type { Browser, Page } from 'playwright-core';
import { type PodStatus, pods } from 'rx-informer/resources';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { noFilter } from '../../examples/dashboard/page/cluster/page-state.ts';
import type { Sort } from '../../examples/dashboard/page/kinds/kind.ts';
import { podRow } from '../../examples/dashboard/page/kinds/pods.ts';
import { faultNames } from '../../examples/dashboard/shared/messages.ts';
import { isGate } from '../support/gate.ts';
import { eventually } from '../support/patience.ts';
import { keepScreenshot, launchChromium } from './chromium.ts';
import { recordRequests } from './dashboard-requests.ts';
import {
  equal,
  live,
  type OpenDashboard,
  openDashboard,
  pause,
  podsOf,
  retryNow,
} from './open-dashboard.ts';
import { expectRows, scrollTo, shownOf } from './shown-rows.ts';

let browser: Browser;
let opened: OpenDashboard | undefined;
let complaints: readonly string[] = [];

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());
afterEach(async () => {
  await opened?.close();
  opened = undefined;
});

/** Opens the page with the panel of the embedded server, which is closed otherwise. */
async function openWithPanel(size: { objects: number; rate: number }): Promise<OpenDashboard> {
  const context = { viewport: { width: 1440, height: 900 } };
  opened = await openDashboard(browser, { start: size, browser: context, query: '?panel=server' });
  complaints = opened.complaints;
  await live(opened.page);
  return opened;
}

const shownRows = (page: Page) =>
  page
    .locator('[data-uid]')
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...row.querySelectorAll('[role=gridcell]')].map((cell) => cell.textContent),
      ),
    );

describe('an unreachable server', () => {
  test('the button "Retry now" sends a request immediately, and the page becomes live again', async () => {
    const { page, cluster, dashboard } = await openWithPanel({ objects: 20, rate: 0 });
    const refused = cluster.server.faults.refuse({ resource: pods });
    await page.getByRole('button', { name: 'Drop connections' }).click();
    // The wait must be long enough to be shortened, also on a slow machine.
    const waits = page.getByTestId('status').getByText(/Reconnecting in ([7-9]|[1-9][0-9]) s/);
    await waits.waitFor();
    refused.heal();
    const { requests, stop } = recordRequests(dashboard);
    await retryNow(page);
    const reads = () => requests.filter(({ pathname }) => pathname === '/api/v1/pods').length;
    await eventually(() => expect(reads()).toBeGreaterThan(0));
    stop();
    await live(page);
    await equal(page);
    expect(complaints).toEqual([]);
  });
});

describe('rows', () => {
  test('appear, change and disappear with their pods', async () => {
    const { page, cluster } = await openWithPanel({ objects: 20, rate: 0 });
    const row = page.locator('[data-uid]', { hasText: 'aaa-visitor' });
    const pod = podsOf(cluster).create({
      metadata: { name: 'aaa-visitor', namespace: 'shop' },
      spec: { nodeName: 'node-001', containers: [{ name: 'main', image: 'x:1' }] },
      status: { phase: 'Pending' },
    });
    await row.getByText('Pending').waitFor();
    const waiting = { waiting: { reason: 'CrashLoopBackOff' } };
    const container = { name: 'main', image: 'x:1', imageID: '', ready: false, restartCount: 7 };
    const status = { phase: 'Running', containerStatuses: [{ ...container, state: waiting }] };
    podsOf(cluster).update({ ...pod, status });
    await row.getByText('CrashLoopBackOff').waitFor();
    await row.locator('[data-column=restarts]').getByText('7', { exact: true }).waitFor();
    podsOf(cluster).delete(pod);
    await row.waitFor({ state: 'detached' });
    await equal(page);
    expect(complaints).toEqual([]);
  });

  test('that cannot be read are counted beside the others', async () => {
    const { page, cluster } = await openWithPanel({ objects: 20, rate: 0 });
    const metadata = { name: 'aaa-odd', namespace: 'shop' };
    const status = { phase: 'Running', containerStatuses: 'none' } as unknown as PodStatus;
    const pod = podsOf(cluster).create({ metadata, spec: { containers: [] }, status });
    const shown = page.getByTestId('shown');
    const count = cluster.pods;
    await eventually(async () =>
      expect(await shown.textContent()).toBe(`${count - 1} Pods, 1 unreadable`),
    );
    await keepScreenshot(page, 'unreadable');
    await equal(page);
    podsOf(cluster).update({ ...pod, status: { phase: 'Running' } });
    await page.locator('[data-uid]', { hasText: 'aaa-odd' }).waitFor();
    await eventually(async () => expect(await shown.textContent()).toBe(`${count} Pods`));
    expect(complaints).toEqual([]);
  });

  test('show markup in names and annotations as text', async () => {
    const { page, cluster } = await openWithPanel({ objects: 5, rate: 0 });
    const markup = '<img src=x onerror="document.title=\'hacked\'">';
    podsOf(cluster).create({
      metadata: { name: `0${markup}`, namespace: 'shop', annotations: { note: markup } },
      spec: { containers: [{ name: 'main', image: 'x:1' }] },
    });
    const row = page.locator('[data-uid]', { hasText: '0<img' });
    await row.click();
    const details = page.getByTestId('details');
    await details.getByText(markup).first().waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.title()).not.toBe('hacked');
    expect(complaints).toEqual([]);
  });

  test('are filtered and sorted, and a screen reader is notified of the order', async () => {
    const { page, cluster } = await openWithPanel({ objects: 300, rate: 0 });
    await page.getByRole('button', { name: 'Restarts' }).click();
    const header = page.getByRole('columnheader', { name: 'Restarts' });
    await eventually(async () => {
      expect(await header.getAttribute('aria-sort')).toBe('descending');
      const restarts = (await shownRows(page)).map((cells) => Number(cells[3]));
      expect(restarts).toEqual(restarts.toSorted((a, b) => b - a));
    });
    await page.getByRole('textbox', { name: /Filter/ }).fill('shop cart');
    const wanted = cluster
      .list()
      .map((pod) => podRow(pod))
      .filter(({ text }) => text.includes('shop') && text.includes('cart'));
    await eventually(async () =>
      expect(await page.getByTestId('shown').textContent()).toBe(
        `${wanted.length} of ${cluster.pods} Pods`,
      ),
    );
    await page.getByRole('textbox', { name: /Filter/ }).fill('no such pod');
    await page.getByText('Nothing in Pods matches the filter').waitFor();
    await keepScreenshot(page, 'filtered-to-nothing');
    expect(complaints).toEqual([]);
  });

  test('are those of the server after changes, filtered, sorted and scrolled', async () => {
    const { page, cluster } = await openWithPanel({ objects: 2000, rate: 200 });
    const changed = async (count: number) => {
      const before = cluster.changes;
      await eventually(() => expect(cluster.changes - before).toBeGreaterThan(count));
    };
    await page.getByRole('button', { name: 'Restarts' }).click();
    await page.getByRole('textbox', { name: /Filter/ }).fill('replicaset');
    await page.locator('[data-tile=good]').click();
    await scrollTo(page, 3000);
    await changed(400);
    await keepScreenshot(page, 'filtered-and-sorted');
    await page.locator('[role=columnheader] [data-column=status]').click();
    await changed(100);
    await pause(page);
    await equal(page);
    const filter = { ...noFilter, filter: 'replicaset', tone: 'good' };
    const byStatus: Sort = { key: 'status', descending: false };
    await expectRows(page, shownOf(cluster, filter, byStatus));
    await page.locator('[role=columnheader] [data-column=status]').click();
    await expectRows(page, shownOf(cluster, filter, { key: 'status', descending: true }));
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await scrollTo(page, 20_000);
    await expectRows(page, shownOf(cluster, noFilter, { key: 'status', descending: true }));
    await scrollTo(page, 1e9);
    await expectRows(page, shownOf(cluster, noFilter, { key: 'status', descending: true }));
    expect(complaints).toEqual([]);
  });

  test('can be selected with the keyboard', async () => {
    const { page, cluster } = await openWithPanel({ objects: 300, rate: 0 });
    const grid = page.getByRole('grid', { name: 'Pods' });
    await grid.focus();
    await page.keyboard.press('End');
    const active = page.locator('[data-uid][data-active=true]');
    // The first row of the table is its head.
    const last = cluster.pods + 1;
    await eventually(async () =>
      expect(await active.getAttribute('aria-rowindex')).toBe(String(last)),
    );
    await page.keyboard.press('ArrowUp');
    await eventually(async () =>
      expect(await active.getAttribute('aria-rowindex')).toBe(String(last - 1)),
    );
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });
});

describe('requests of other pages', () => {
  test('a rebound name, a foreign page and a write are refused', async () => {
    const { page } = await openWithPanel({ objects: 5, rate: 0 });
    const port = opened?.dashboard.port ?? 0;
    const write = (type: string) =>
      page.evaluate(async (given) => {
        const headers = { 'content-type': given };
        const path = '/api/v1/namespaces/shop/pods';
        const answer = await fetch(path, { method: 'POST', body: '{}', headers });
        return `${answer.status} ${await answer.text()}`;
      }, type);
    expect(await write('application/json')).toBe(
      '405 This dashboard does not forward POST to this path.\n',
    );
    expect(await write('text/plain')).toBe(
      '403 This dashboard answers only to its own page, not to a form.\n',
    );
    const rebound = await page.goto(`http://rebound.example:${port}/`);
    expect(rebound?.status()).toBe(403);
    expect(await rebound?.text()).toMatch(/^This dashboard answers only to [^\n]+\.\n$/);
    // A page of another origin cannot reach the cluster.
    const foreign = await page.evaluate(
      (url) => fetch(url).then(String, (error: Error) => error.name),
      `http://127.0.0.1:${port}/api/v1/pods`,
    );
    expect(foreign).toBe('TypeError');
  });
});

describe('a fault of the server', () => {
  const played = isGate ? (['drop', 'restart'] as const) : faultNames;
  test.each(played)('%s: the page recovers and equals the server', async (fault) => {
    const { page, cluster } = await openWithPanel({ objects: 500, rate: 100 });
    await page.locator(`[data-fault=${fault}]`).click();
    const before = cluster.changes;
    // Waits for enough changes that could have been lost.
    await eventually(() => expect(cluster.changes - before).toBeGreaterThan(300));
    await eventually(async () =>
      expect(await page.getByTestId('log').locator('li').count()).toBeGreaterThan(2),
    );
    await live(page);
    await pause(page);
    await equal(page);
    await keepScreenshot(page, `healed-${fault}`);
    expect(complaints).toEqual([]);
  });
});
