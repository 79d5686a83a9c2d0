/** Tests the dashboard of a cluster that it did not start: whether it edits, and what it says if it may not read all. */
import type { Browser } from 'playwright-core';
import { deployments } from 'rx-informer/resources';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { launchChromium } from './chromium.ts';
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
        void objects.create(deployments, { metadata: { name: 'web', namespace: 'shop' } }),
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
    expect(await dialog.getByText('Edit', { exact: true }).count()).toBe(allowEdits ? 1 : 0);
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
