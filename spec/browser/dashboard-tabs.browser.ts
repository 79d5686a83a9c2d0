/** Tests the dashboard in several tabs: they share one worker, which says which tab asks what, may die, and is quick after a reload. */
import type { Browser, Page } from 'playwright-core';
import { pods } from 'rx-informer/resources';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startDashboard } from '../../examples/dashboard/dashboard.ts';
import { noFilter } from '../../examples/dashboard/page/cluster/page-state.ts';
import { eventually } from '../support/patience.ts';
import { keepScreenshot, launchChromium } from './chromium.ts';
import { isList, type Received, recordRequests } from './dashboard-requests.ts';
import {
  live,
  type OpenDashboard,
  type OpenOptions,
  openDashboard,
  podsOf,
} from './open-dashboard.ts';
import { expectRows, shownOf } from './shown-rows.ts';
import { countsIn } from './stored-counts.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

const byName = { key: 'name', descending: false };

interface Opened extends OpenDashboard {
  readonly requests: readonly Received[];
  /** The pages that have begun a worker of their own, because the shared one began slowly. */
  readonly own: readonly Page[];
}

async function open(options: OpenOptions): Promise<Opened> {
  let requests: readonly Received[] = [];
  const own: Page[] = [];
  const note = (page: Page) => void page.on('worker', () => own.push(page));
  const opened = await openDashboard(browser, {
    ...options,
    before: (page, _cluster, dashboard) => {
      note(page);
      page.context().on('page', note);
      const recording = recordRequests(dashboard);
      requests = recording.requests;
      onTestFinished(recording.stop);
    },
  });
  onTestFinished(opened.close);
  await live(opened.page);
  return { ...opened, requests, own };
}

/** Opens another tab of the same browser. */
async function openTab({ page, dashboard, complaints }: OpenDashboard, query = ''): Promise<Page> {
  const tab = await page.context().newPage();
  tab.on('pageerror', (error) => complaints.push(error.message));
  await tab.goto(`${dashboard.url}${query}`);
  await live(tab);
  return tab;
}

/** The lists and the watches of a collection since the dashboard was opened. */
function readsOf(requests: readonly Received[], path: string) {
  const own = requests.filter(({ pathname }) => pathname === path);
  return {
    lists: own.filter(isList).length,
    watches: own.filter(({ query }) => query.has('watch')).length,
  };
}

async function turn(page: Page, visibility: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate((value) => {
    // Otherwise the page would say that it is visible while it is closed.
    if (value === 'visible') Reflect.deleteProperty(document, 'visibilityState');
    else Object.defineProperty(document, 'visibilityState', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, visibility);
}

/** Ends the worker of the dashboard by a call of its own. */
async function killWorker(url: string): Promise<void> {
  const session = await browser.newBrowserCDPSession();
  const { targetInfos } = await session.send('Target.getTargets');
  const worker = targetInfos.find(
    (target) => target.type === 'shared_worker' && target.url.startsWith(url),
  );
  if (worker === undefined) throw new Error('no shared worker runs');
  const { targetId } = worker;
  const { sessionId } = await session.send('Target.attachToTarget', { targetId, flatten: false });
  const message = { id: 1, method: 'Runtime.evaluate', params: { expression: 'self.close()' } };
  // A message that a busy worker has not read when the session ends is lost.
  const done = new Promise<void>((resolve) => {
    session.on('Target.receivedMessageFromTarget', () => resolve());
    session.on('Target.detachedFromTarget', () => resolve());
  });
  await session.send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify(message) });
  await done;
  // A worker with a debugger stays.
  await session.detach();
}

const tabsOf = (page: Page) => page.getByTestId('tabs').textContent();
const rowsQuery = (page: Page) =>
  page
    .getByTestId('asked')
    .locator('li', { hasText: /^rows pods/ })
    .textContent();

test('two tabs share one list and one watch of each collection, and the panel names both until one is closed', async () => {
  const opened = await open({ start: { objects: 80, rate: 20 }, query: '?panel=queries' });
  const { page, cluster, requests, own, complaints } = opened;
  await eventually(async () =>
    expect(await tabsOf(page)).toBe('One worker answers 1 tab: tab 1 (this tab)'),
  );
  const second = await openTab(opened, '?panel=queries');
  await eventually(async () =>
    expect(await tabsOf(page)).toBe('One worker answers 2 tabs: tab 1 (this tab), tab 2'),
  );
  await eventually(async () =>
    expect(await tabsOf(second)).toBe('One worker answers 2 tabs: tab 1, tab 2 (this tab)'),
  );
  await eventually(async () =>
    expect(await rowsQuery(second)).toBe('rows pods 2 tabs: tab 1, tab 2 (this tab)'),
  );
  // Another kind of the second tab is a query of its own.
  await second.getByRole('link', { name: 'Deployments' }).click();
  await live(second);
  await eventually(async () =>
    expect(await rowsQuery(page)).toBe('rows pods 1 tab: tab 1 (this tab)'),
  );
  await second.getByRole('link', { name: 'Pods' }).click();
  await live(second);
  await keepScreenshot(page, 'two-tabs');
  for (const path of ['/api/v1/pods', '/apis/apps/v1/replicasets', '/apis/apps/v1/deployments']) {
    await eventually(() => expect(readsOf(requests, path).watches, path).toBeGreaterThan(0));
  }
  // All other kinds are listed again and again for what is in trouble.
  const { lists } = readsOf(requests, '/api/v1/pods');
  expect(lists).toBeGreaterThan(0);
  expect(lists).toBeLessThanOrEqual(1 + own.length);
  // Pods, ReplicaSets, Deployments: a tab more, and not a watch more.
  await eventually(() => expect(opened.dashboard.summary().watches).toBeLessThanOrEqual(3));
  await turn(second, 'hidden');
  await eventually(async () =>
    expect(await rowsQuery(page)).toBe('rows pods 2 tabs: tab 1 (this tab), tab 2 (hidden)'),
  );
  await turn(second, 'visible');
  await eventually(async () =>
    expect(await rowsQuery(page)).toBe('rows pods 2 tabs: tab 1 (this tab), tab 2'),
  );
  await second.close();
  await eventually(async () =>
    expect(await tabsOf(page)).toBe('One worker answers 1 tab: tab 1 (this tab)'),
  );
  await eventually(async () =>
    expect(await rowsQuery(page)).toBe('rows pods 1 tab: tab 1 (this tab)'),
  );
  cluster.rate = 0;
  await expectRows(page, shownOf(cluster, noFilter, byName));
  expect(complaints).toEqual([]);
});

test('after the death of the worker both tabs keep their rows, and are right again', async () => {
  const opened = await open({ start: { objects: 80, rate: 0 }, query: '?panel=queries' });
  const { page, cluster, dashboard } = opened;
  const second = await openTab(opened);
  await eventually(async () => expect(await tabsOf(page)).toMatch(/^One worker answers 2 tabs/));
  // The next worker has no answer before the tabs were looked at.
  const unanswered = cluster.server.faults.neverAnswer({ resource: pods });
  await killWorker(dashboard.url);
  for (const tab of [page, second]) {
    await tab.locator('[data-testid=status]:not([data-tone=live])').waitFor();
    expect(await tab.locator('[data-uid]').count()).toBeGreaterThan(10);
  }
  podsOf(cluster).create({
    metadata: { name: 'aaa-visitor', namespace: 'shop' },
    spec: { containers: [{ name: 'main', image: 'x:1' }] },
    status: { phase: 'Pending' },
  });
  unanswered.heal();
  for (const tab of [page, second]) {
    await live(tab);
    await tab.locator('[data-uid]', { hasText: 'aaa-visitor' }).waitFor();
    await expectRows(tab, shownOf(cluster, noFilter, byName));
  }
  // A tab that connects again has another number. One that the next shared worker does not answer within 5 s has a worker of its own.
  await eventually(async () =>
    expect(await tabsOf(page)).toMatch(/^One worker answers (?:1 tab|2 tabs): tab \d/),
  );
});

test('a reload shows the former rows before the worker has answered, marked as stored, and then the present ones', async () => {
  const opened = await open({ start: { objects: 80, rate: 0 } });
  const { page, cluster } = opened;
  // The rows on screen, by their order on the server.
  const first = shownOf(cluster, noFilter, byName)
    .slice(0, 10)
    .map(({ name }) => name);
  // The rows are stored after a second.
  await eventually(async () => expect((await countsIn(page))[1]).toBeGreaterThan(0));
  // The worker does not answer, so that nothing but the stored rows can be shown.
  await page.addInitScript(() => {
    const { SharedWorker: Shared } = globalThis;
    const isHeld = () => (globalThis as { isHeld?: boolean }).isHeld ?? true;
    // A worker that never answers, or one that does.
    const make = (...of: ConstructorParameters<typeof Shared>) =>
      isHeld() ? { port: new MessageChannel().port1, onerror: null } : new Shared(...of);
    Object.assign(globalThis, {
      SharedWorker: function SharedWorker(...of: ConstructorParameters<typeof Shared>) {
        return make(...of);
      },
      Worker: function Worker() {
        return Object.assign(new MessageChannel().port1, { onerror: null, terminate: () => {} });
      },
    });
  });
  podsOf(cluster).create({
    metadata: { name: 'aaa-visitor', namespace: 'shop' },
    spec: { containers: [{ name: 'main', image: 'x:1' }] },
    status: { phase: 'Pending' },
  });
  await page.reload();
  const status = page.getByTestId('status');
  const names = page.locator('[data-uid] [data-column=name]');
  await eventually(async () => expect((await names.allTextContents()).slice(0, 10)).toEqual(first));
  await status.getByText('Catching up', { exact: true }).waitFor();
  await status.getByText(/^showing Pods as of \d\d:\d\d:\d\d$/).waitFor();
  expect(await page.getByRole('grid', { name: 'Pods' }).getAttribute('aria-busy')).toBe('true');
  // Only some rows are painted, so no count is known.
  const counts = page.getByRole('region', { name: 'Namespaces' }).getByText(/^[\d,]+$/);
  expect(await counts.count()).toBe(0);
  await keepScreenshot(page, 'painted-rows');
  await page.evaluate(() => Object.assign(globalThis, { isHeld: false }));
  await live(page);
  await counts.first().waitFor();
  await page.locator('[data-uid]', { hasText: 'aaa-visitor' }).waitFor();
  await expectRows(page, shownOf(cluster, noFilter, byName));
});

test('a tab of a dashboard that was started again with another cluster shows no rows and says so', async () => {
  const opened = await open({ start: { objects: 80, rate: 0 } });
  const { page, dashboard } = opened;
  await dashboard.close();
  const start = {
    port: dashboard.port,
    open: false,
    embedded: true,
    seed: 2,
    objects: 20,
    rate: 0,
  };
  const other = await startDashboard(start, () => undefined);
  onTestFinished(() => other.close());
  const second = await openTab(opened);
  await page.getByTestId('status').getByText('Outdated page', { exact: true }).waitFor();
  await eventually(async () => expect(await page.locator('[data-uid]').count()).toBe(0));
  await page.reload();
  await live(page);
  const shown = (tab: Page) => tab.getByTestId('shown').textContent();
  for (const tab of [page, second]) {
    await eventually(async () => expect(await shown(tab)).toBe(`${other.embedded?.pods} Pods`));
  }
});
