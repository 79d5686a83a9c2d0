/** The dashboard reads its objects from NATS, and its proxy only forwards edits and logs. */

import type { Browser } from 'playwright-core';
import { createClient, createListWatch, createSharedInformer, defineResource } from 'rx-informer';
import { publishToNats } from 'rx-informer/nats';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { shownKinds } from '../../examples/dashboard/shared/kinds.ts';
import { keepScreenshot, launchChromium } from '../browser/chromium.ts';
import { recordRequests } from '../browser/dashboard-requests.ts';
import { live, openDashboard } from '../browser/open-dashboard.ts';
import { eventually } from '../support/patience.ts';
import { NatsServer } from './nats-server.ts';

let nats: NatsServer;
let browser: Browser;

beforeAll(async () => {
  nats = await NatsServer.start();
  browser = await launchChromium();
});
afterAll(async () => {
  await browser.close();
  await nats.stop();
});

/** Publishes all kinds of the page from the dashboard's embedded cluster. */
async function publish(baseUrl: string): Promise<void> {
  const connection = await nats.connect();
  for (const kind of shownKinds) {
    const resource = defineResource(kind);
    const informer = createSharedInformer(createListWatch(createClient({ baseUrl }), resource));
    const publisher = publishToNats(informer, { connection, resource, bucket: 'k8s' });
    onTestFinished(async () => {
      await publisher.stop();
      await informer.stop();
    });
  }
}

describe('the dashboard over NATS', () => {
  it('J64: shows the objects of the bucket, follows them, and opens no watch on the API server', async () => {
    const start = { nats: nats.webSocketUrl, bucket: 'k8s', rate: 5 };
    const { page, cluster, dashboard, complaints, close } = await openDashboard(browser, {
      start,
      query: '?panel=server',
      before: (_page, embedded) => publish(embedded.baseUrl),
    });
    onTestFinished(close);
    await live(page);
    await page.getByText('embedded cluster over NATS').first().waitFor();
    await page.locator('[data-uid]').first().waitFor();
    const { requests, stop } = recordRequests(dashboard);
    onTestFinished(stop);
    const before = cluster.changes;
    await eventually(() => expect(cluster.changes).toBeGreaterThan(before + 10));
    await live(page);
    // The page compares its pods with the server, at the version that both have.
    await page.locator('[data-testid=truth][data-equal=true]').waitFor();
    await keepScreenshot(page, 'dashboard-nats');
    const reads = requests.filter(({ pathname }) => /^\/api\/v1\/(pods|nodes)/.test(pathname));
    expect(reads).toEqual([]);
    expect(complaints).toEqual([]);
    expect(dashboard.summary().watches).toBe(0);
  });
});
