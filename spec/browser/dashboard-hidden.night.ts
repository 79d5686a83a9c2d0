/** Tests over minutes of real time what a hidden tab of the dashboard costs, because the clock is that of its worker. */

import { setTimeout as pass } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { noFilter } from '../../examples/dashboard/page/cluster/page-state.ts';
import { eventually } from '../support/patience.ts';
import { launchChromium } from './chromium.ts';
import { live, openDashboard } from './open-dashboard.ts';
import { expectRows, shownOf } from './shown-rows.ts';

const byName = { key: 'name', descending: false };

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

test('a hidden tab closes its watches after the grace, and resumes without a list when it is shown', async () => {
  const { page, cluster, dashboard, close } = await openDashboard(browser, {
    start: { objects: 80, rate: 50 },
  });
  onTestFinished(close);
  await live(page);
  const show = (visibility: 'hidden' | 'visible') =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'visibilityState', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, visibility);
  expect(dashboard.summary().watches).toBeGreaterThan(0);
  await show('hidden');
  // Few changes, so that the server still has the versions of two minutes ago.
  cluster.rate = 2;
  // The clock is that of the worker, which a test cannot change.
  await pass(55_000);
  expect(dashboard.summary().watches).toBeGreaterThan(0);
  // After a minute the worker stops reading its watches, and after another minute it closes them.
  await eventually(async () => expect(await dashboard.summary().watches).toBe(0));
  const before = cluster.changes;
  cluster.rate = 50;
  await eventually(() => expect(cluster.changes - before).toBeGreaterThan(50));
  await show('visible');
  await live(page);
  expect(dashboard.summary().watches).toBeGreaterThan(0);
  cluster.rate = 0;
  await expectRows(page, shownOf(cluster, noFilter, byName));
  expect(await page.getByTestId('status').textContent()).toContain('0 relists');
});
