/** Tests what the dashboard's page says and shows: on each size of screen, in each state of the connection. */
import type { Page } from 'playwright-core';
import { pods } from 'rx-informer/resources';
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/patience.ts';
import { dashboards } from './dashboards.ts';
import { holdLasts, live, phone, podsOf, retryNow } from './open-dashboard.ts';

const { open } = dashboards();

describe('a phone', () => {
  test('shows the status of each pod, and its name while the other columns scroll', async () => {
    const { page } = await open({ browser: phone });
    await live(page);
    const status = page.locator('[data-uid] [data-column=status]').first();
    // The columns fit after the table has been measured.
    await eventually(async () => {
      const box = await status.boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThanOrEqual(390);
    });
    const grid = page.getByRole('grid', { name: 'Pods' });
    await grid.evaluate((element) => element.scrollBy({ left: 400 }));
    await eventually(async () =>
      expect(await grid.evaluate((element) => element.scrollLeft)).toBeGreaterThan(100),
    );
    const name = page.locator('[data-uid] [data-column=name]').first();
    const width = () => page.evaluate(() => document.documentElement.scrollWidth);
    await eventually(async () => {
      expect((await name.boundingBox())?.x).toBeLessThan(20);
      expect(await width()).toBe(390);
    });
  });

  test('has room for a finger on whatever is touched, except links within sentences', async () => {
    const { page } = await open({ browser: phone });
    await live(page);
    const small = () =>
      page
        .locator('button, a, label, input, [role=option], [role^=menuitem], [data-uid]')
        .filter({ visible: true })
        .evaluateAll((all) =>
          all.flatMap((each) => {
            const { width, height } = each.getBoundingClientRect();
            // The label of a choice is what is touched.
            const isPart =
              each.closest('p') !== null || each.matches('[type=radio], [type=checkbox]');
            const isLarge = width > 43.5 && height > 43.5;
            const name = each.getAttribute('aria-label') ?? each.textContent;
            return isPart || isLarge ? [] : [`${name} ${width} x ${height}`];
          }),
        );
    await eventually(async () => expect(await small()).toEqual([]));
    await page.getByRole('button', { name: /Open the menu/ }).click();
    await page.getByRole('link', { name: 'Nodes' }).waitFor();
    await eventually(async () => expect(await small()).toEqual([]));
    await page.getByRole('button', { name: 'Close the menu' }).click();
    await page.locator('[data-uid]').first().click();
    const details = page.getByRole('dialog');
    for (const part of ['Overview', 'Logs', 'Edit']) {
      await details.getByText(part, { exact: true }).click();
      await eventually(async () => expect(await small()).toEqual([]));
    }
    await details.getByRole('button', { name: 'Actions' }).click();
    await page.getByRole('menuitem').first().waitFor();
    await eventually(async () => expect(await small()).toEqual([]));
  });

  test('has a menu for kinds and namespaces, and reaches faults, truth check and log', async () => {
    const { page, complaints } = await open({ browser: phone });
    await live(page);
    await page.getByRole('button', { name: /Open the menu/ }).click();
    await page.getByRole('link', { name: 'Nodes' }).waitFor();
    const namespace = page.getByRole('region', { name: 'Namespaces' }).getByRole('button').first();
    await namespace.click();
    await page.getByText(/^Namespace /).waitFor();
    await page.getByRole('button', { name: 'Demo server' }).click();
    await page.locator('[data-testid=truth][data-equal=true]').waitFor();
    await page.locator('[data-fault=drop]').scrollIntoViewIfNeeded();
    await page.getByTestId('log').locator('li').first().scrollIntoViewIfNeeded();
    await page.getByRole('button', { name: 'Close the panel' }).click();
    await page.getByRole('grid', { name: 'Pods' }).waitFor();
    expect(complaints).toEqual([]);
  });
});

test('at 1280 pixels no name and no owner is cut', async () => {
  const { page } = await open({ start: { objects: 500 } });
  await live(page);
  const cells = page.locator(
    '[data-uid] [role=gridcell]:is([data-column=name], [data-column=owner])',
  );
  const cut = () =>
    cells.evaluateAll((all) =>
      all.flatMap((cell) =>
        [cell, ...cell.querySelectorAll('*')].some(
          (part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth > 0,
        )
          ? [cell.textContent]
          : [],
      ),
    );
  const grid = page.getByRole('grid', { name: 'Pods' });
  const overflow = () => grid.evaluate((each) => each.scrollWidth - each.clientWidth);
  // Which columns have room is known after the table has been measured.
  await eventually(async () => {
    expect(await cells.count()).toBeGreaterThan(20);
    expect(await cut()).toEqual([]);
    expect(await overflow()).toBe(0);
  });
});

describe('without a connection', () => {
  test('the truth check says that nothing is compared', async () => {
    const { page, cluster } = await open({ query: '?panel=server' });
    const truth = page.getByTestId('truth');
    await page.locator('[data-testid=truth][data-equal=true]').waitFor();
    const refused = cluster.server.faults.refuse({ resource: pods });
    await page.locator('[data-fault=drop]').click();
    await page.locator('[data-testid=status][data-tone=stale]').waitFor();
    await truth.getByText(/^Not compared, because/).waitFor();
    await eventually(async () => expect(await truth.getAttribute('data-equal')).toBeNull());
    refused.heal();
    await retryNow(page);
    await page.locator('[data-testid=truth][data-equal=true]').waitFor();
  });

  test('a refusal is explained, and no number is shown that is not known', async () => {
    const message = 'pods is forbidden: User "jane" cannot list resource "pods"';
    const forbidden = { status: 403, reason: 'Forbidden', message, times: Infinity };
    let heal = () => {};
    const { page } = await open({
      before: (_page, { server }) => {
        const fault = server.faults.failNext({ resource: pods }, forbidden);
        heal = () => fault.heal();
      },
    });
    const alert = page.getByRole('alert').filter({ hasText: 'Forbidden' });
    await alert.getByText('You do not have permission for this').waitFor();
    await alert.getByText(/User "jane" cannot list/).waitFor();
    const unknown = ['–All', '–Running', '–In progress', '–In trouble', '–Completed'];
    const tiles = page.locator('[data-tile]');
    await eventually(async () => expect(await tiles.allTextContents()).toEqual(unknown));
    expect(await page.getByTestId('shown').count()).toBe(0);
    heal();
    await retryNow(page);
    await live(page);
    await eventually(async () =>
      expect(await page.locator('[data-tile=all]').textContent()).toBe('40All'),
    );
  });

  test('an expired version is explained', async () => {
    const { page } = await open({ query: '?panel=server', start: { rate: 50 } });
    await live(page);
    const log = page.getByTestId('log');
    // The page is shown only the last status of a frame, and the list may end within it.
    await eventually(async () => {
      await page.locator('[data-fault=expire]').click();
      await page.getByTestId('status').getByText('Live', { exact: true }).waitFor();
      expect(await log.getByText(/no longer keeps the changes/).count()).toBeGreaterThan(0);
    });
    const lines = await log.locator('li').allTextContents();
    expect(lines.filter((line) => /: too old/.test(line))).toEqual([]);
  });
});

test('Pods in trouble show the cause in the table, and no column is cut', async () => {
  const { page } = await open({ start: { fault: 'image' }, query: '?tone=bad' });
  await live(page);
  const why = page.locator('[data-uid] [data-column=why]').first();
  await why.getByText('not found: recommendations:v2.8.1', { exact: true }).waitFor();
  const title = () => why.locator('span').getAttribute('title');
  await eventually(async () => expect(await title()).toContain('rpc error: code = NotFound'));
  const grid = page.getByRole('grid', { name: 'Pods' });
  // The column of the cause takes room from others when it comes.
  await eventually(async () =>
    expect(await grid.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0),
  );
  await page.locator('[data-tile=all]').click();
  await why.waitFor({ state: 'detached' });
  await page.goto(`${page.url().replace(/\?.*/, '')}?status=ImagePullBackOff`);
  await why.waitFor();
});

test('the namespace of the URL does not filter Nodes, and filters Pods again after them', async () => {
  const { page } = await open({ query: '?kind=nodes&namespace=shop' });
  await live(page);
  await eventually(async () =>
    expect(await page.getByTestId('shown').textContent()).toMatch(/^\d+ Nodes?$/),
  );
  expect(await page.getByText('Namespace shop').count()).toBe(0);
  await page.getByRole('link', { name: 'Pods', exact: true }).click();
  await page.getByText('Namespace shop').waitFor();
});

test('a pod that is being deleted does not count as running', async () => {
  const { page, cluster } = await open();
  await live(page);
  const running = page.locator('[data-tile=good]');
  const before = await running.textContent();
  const pod = podsOf(cluster).create({
    metadata: { name: 'aaa-leaving', namespace: 'shop', finalizers: ['example.com/wait'] },
    spec: { containers: [{ name: 'main', image: 'x:1' }] },
    status: {
      phase: 'Running',
      containerStatuses: [
        ...[{ name: 'main', image: 'x:1', imageID: '', ready: true, restartCount: 0 }],
      ].map((status) => ({ ...status, state: { running: {} } })),
    },
  });
  const row = page.locator('[data-uid]', { hasText: 'aaa-leaving' });
  await row.getByText('Running').waitFor();
  // The numbers are another query than the rows.
  await eventually(async () => expect(await running.textContent()).not.toBe(before));
  podsOf(cluster).delete(pod);
  await row.getByText('Terminating').waitFor();
  await eventually(async () => expect(await running.textContent()).toBe(before));
});

describe('the URL', () => {
  test('keeps filter, sort and object, and the back button leaves the object', async () => {
    const { page, dashboard } = await open();
    await live(page);
    await page.getByRole('textbox', { name: /Filter/ }).fill('a');
    await page.getByRole('button', { name: 'Restarts' }).click();
    await page.locator('[data-uid]').nth(2).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    const title = await dialog.getByRole('heading', { level: 2 }).textContent();
    // Playwright is told of another URL after the page has it.
    const url = await page.evaluate(() => location.href);
    await page.goBack();
    await dialog.waitFor({ state: 'detached' });
    const other = await page.context().newPage();
    await other.goto(url);
    await other
      .getByRole('dialog')
      .getByRole('heading', { name: title ?? '' })
      .waitFor();
    const box = other.getByRole('textbox', { name: /Filter/ });
    await eventually(async () => expect(await box.inputValue()).toBe('a'));
    const header = other.getByRole('columnheader', { name: 'Restarts' });
    await eventually(async () => expect(await header.getAttribute('aria-sort')).toBe('descending'));
    expect(url.startsWith(dashboard.url)).toBe(true);
  });

  test('keeps the columns', async () => {
    const { page } = await open();
    await live(page);
    await page.getByRole('button', { name: 'Choose columns' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Pod IP' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Restarts' }).click();
    await page.reload();
    await page.getByRole('columnheader', { name: 'Pod IP' }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Restarts' }).count()).toBe(0);
  });
});

describe('the filter box', () => {
  test('takes label and field selectors beside words, and explains one that is not valid', async () => {
    const { page, cluster } = await open({ start: { objects: 300 } });
    await live(page);
    const first = cluster.list().find(({ metadata }) => metadata?.labels !== undefined);
    const [label, value] = Object.entries(first?.metadata?.labels ?? {})[0] ?? [];
    const node = first?.spec?.nodeName;
    const box = page.getByRole('textbox', { name: /Filter/ });
    await box.fill(`${label}=${value} spec.nodeName=${node}`);
    const wanted = cluster
      .list()
      .filter((pod) => pod.metadata?.labels?.[label ?? ''] === value)
      .filter((pod) => pod.spec?.nodeName === node).length;
    expect(wanted).toBeGreaterThan(0);
    await eventually(async () =>
      expect(await page.getByTestId('shown').textContent()).toBe(
        `${wanted} of ${cluster.pods} Pods`,
      ),
    );
    // One informer serves all selectors. The worker explains the query.
    await page.getByRole('button', { name: 'Queries' }).click();
    await eventually(async () =>
      expect(await page.getByTestId('explain').textContent()).toContain('reads the informer pods'),
    );
    await box.fill('app in (web');
    await page.getByText(/label selector/).waitFor();
  });
});

test('one namespace is shown without kinds outside of it and without a comparison', async () => {
  const { page, complaints } = await open({
    query: '?panel=server',
    start: { namespace: 'shop', objects: 200 },
  });
  await live(page);
  await page.getByText('shop of embedded cluster').waitFor();
  expect(await page.getByRole('link', { name: 'Nodes' }).count()).toBe(0);
  await page
    .getByTestId('truth')
    .getByText(/one namespace/)
    .waitFor();
  expect(complaints).toEqual([]);
});

/** Waits until the worker of the page has a Pod, which a tab of the same worker shows. */
async function expectArrived(page: Page, name: string): Promise<void> {
  const other = await page.context().newPage();
  await other.goto(`${page.url().replace(/\?.*/, '')}?filter=${name}`);
  await other.locator('[data-uid]', { hasText: name }).waitFor();
  await other.close();
}

test('updates can be paused, and the folded changes appear at once', async () => {
  const { page, cluster } = await open();
  await live(page);
  await page.getByRole('button', { name: 'Pause updates' }).click();
  const create = (name: string) =>
    podsOf(cluster).create({
      metadata: { name, namespace: 'shop' },
      spec: { containers: [{ name: 'main', image: 'x:1' }] },
    });
  const before = `${cluster.pods} Pods`;
  await page.getByTestId('shown').getByText(before, { exact: true }).waitFor();
  create('aaa-one');
  create('aaa-two');
  // The sort still works on the rows that are shown.
  await page.getByRole('button', { name: 'Restarts' }).click();
  await expectArrived(page, 'aaa-two');
  expect(await page.getByTestId('shown').textContent()).toBe(before);
  await page.getByRole('button', { name: 'Resume updates' }).click();
  await eventually(async () =>
    expect(await page.getByTestId('shown').textContent()).toBe(`${cluster.pods} Pods`),
  );
});

test('the truth check says how old the state is that the page equals', async () => {
  const { page, cluster } = await open({ query: '?panel=server' });
  const truth = page.getByTestId('truth');
  await truth.getByText(`Page equals server: yes (${cluster.pods} pods)`).waitFor();
  await page.getByRole('button', { name: 'Pause updates' }).click();
  const before = cluster.pods;
  podsOf(cluster).create({ metadata: { name: 'aaa', namespace: 'shop' } });
  await truth
    .getByText(`Page equals server as it was 1 change ago: yes (${before} pods)`)
    .waitFor();
});

test('a pause lasts while the filter changes, and the rows of a new filter are shown', async () => {
  const { page, cluster } = await open();
  await live(page);
  await page.getByRole('button', { name: 'Pause updates' }).click();
  const create = (name: string) =>
    podsOf(cluster).create({
      metadata: { name, namespace: 'shop', labels: { app: 'aaa' } },
      spec: { containers: [{ name: 'main', image: 'x:1' }] },
    });
  create('aaa-one');
  // A new filter shows what has arrived by then.
  await expectArrived(page, 'aaa-one');
  const filter = page.getByPlaceholder('Filter: words or app=web');
  const shown = () => page.getByTestId('shown').textContent();
  await filter.fill('app=aaa');
  await eventually(async () => expect(await shown()).toBe(`1 of ${cluster.pods} Pods`));
  await page.locator('[data-uid]', { hasText: 'aaa-one' }).waitFor();
  create('aaa-two');
  await expectArrived(page, 'aaa-two');
  expect(await shown()).toBe(`1 of ${cluster.pods - 1} Pods`);
  await page.getByRole('button', { name: 'Resume updates' }).click();
  await eventually(async () => expect(await shown()).toBe(`2 of ${cluster.pods} Pods`));
  await page.getByRole('button', { name: 'Pause updates' }).click();
  // Another kind is another table.
  await page.getByRole('link', { name: 'Nodes' }).click();
  await page.getByRole('button', { name: 'Pause updates' }).waitFor();
});

test('the active row keeps its place on screen when rows come before it after the keyboard has left', async () => {
  const { page, cluster } = await open({ start: { objects: 300 }, before: holdLasts });
  await live(page);
  const grid = page.getByRole('grid', { name: 'Pods' });
  await grid.focus();
  for (let step = 0; step < 3; step++) await page.keyboard.press('PageDown');
  const active = page.locator('[data-uid][data-active=true]');
  // Three steps of 15 rows from the first one, which is the second row of the table.
  const index = 47;
  await eventually(async () =>
    expect(await active.getAttribute('aria-rowindex')).toBe(String(index)),
  );
  const uid = await active.getAttribute('data-uid');
  const place = async () => (await active.boundingBox())?.y;
  // The table may still scroll.
  const y = await eventually(async () => {
    const now = await place();
    expect(await place()).toBe(now);
    return now;
  });
  for (const name of ['aaa-1', 'aaa-2', 'aaa-3']) {
    podsOf(cluster).create({
      metadata: { name, namespace: 'shop' },
      spec: { containers: [{ name: 'main', image: 'x:1' }] },
    });
  }
  // The rows move when the focus leaves the table.
  await page.getByTestId('held').waitFor();
  await eventually(async () =>
    expect(await grid.getAttribute('aria-activedescendant')).toBe(`row-${uid}`),
  );
  await page.getByRole('textbox', { name: /Filter/ }).focus();
  await eventually(async () => {
    expect(await active.getAttribute('aria-rowindex')).toBe(String(index + 3));
    expect(await active.getAttribute('data-uid')).toBe(uid);
  });
  await eventually(async () => expect(await place()).toBe(y));
});
