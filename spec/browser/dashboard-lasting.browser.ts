/** Tests what becomes of a dashboard that is kept open: its tab is hidden and shown, and its token expires. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startDashboard } from '../../examples/dashboard/dashboard.ts';
import { createEmbeddedCluster } from '../../examples/dashboard/embedded-cluster.ts';
import { noFilter } from '../../examples/dashboard/page/cluster/page-state.ts';
import { guarding } from '../node/fronts.ts';
import { opened } from '../node/servers.ts';
import {
  testOnlyCa,
  testOnlyServerCert,
  testOnlyServerKey,
} from '../node/test-only-certificates.ts';
import { eventually } from '../support/patience.ts';
import { keepScreenshot, launchChromium } from './chromium.ts';
import { isList, recordRequests } from './dashboard-requests.ts';
import { live, openDashboard } from './open-dashboard.ts';
import { expectRows, shownOf } from './shown-rows.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

const byName = { key: 'name', descending: false };
const quiet = () => undefined;

/** A front of a cluster that answers only to one token, which the test changes. */
async function guardedFront(target: string, token: string) {
  const tls = { cert: testOnlyServerCert, key: testOnlyServerKey };
  const accepted = { token };
  const server = createServer(
    tls,
    guarding(target, () => accepted.token),
  );
  server.requestTimeout = 0;
  const { url, drop, close } = await opened(server, 'https');
  onTestFinished(close);
  return { url, drop, accepted };
}

test('an expired token is explained, and with a new one the screen equals the server without a reload', async () => {
  const cluster = await createEmbeddedCluster({ objects: 80, rate: 50, seed: 1 });
  onTestFinished(() => cluster.close());
  const front = await guardedFront(cluster.baseUrl, 'first');
  const folder = await mkdtemp(join(tmpdir(), 'rx-informer-token-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const tokenFile = join(folder, 'token');
  const kubeconfig = join(folder, 'config');
  await writeFile(tokenFile, 'first');
  const named = (name: string, fields: object) => [{ name, ...fields }];
  const config = {
    'current-context': 'c',
    clusters: named('c', {
      cluster: { server: front.url, 'certificate-authority-data': btoa(testOnlyCa) },
    }),
    users: named('c', { user: { tokenFile } }),
    contexts: named('c', { context: { cluster: 'c', user: 'c' } }),
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  const options = { port: 0, open: false, embedded: false, objects: 1, rate: 0, seed: 1 };
  const dashboard = await startDashboard({ ...options, kubeconfig }, quiet);
  onTestFinished(() => dashboard.close());
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  onTestFinished(() => page.close());
  await page.goto(dashboard.url);
  await live(page);

  front.accepted.token = 'second';
  front.drop();
  const status = page.getByTestId('status');
  await status.getByText('Not signed in', { exact: true }).waitFor();
  await status.getByText(/^You are not signed in, or your sign-in has expired/).waitFor();
  expect(await status.textContent()).not.toMatch(/first|second/);
  // The rows stay while the page cannot read the cluster.
  expect(await page.locator('[data-uid]').count()).toBeGreaterThan(10);
  await keepScreenshot(page, 'expired-token');
  const before = cluster.changes;
  await eventually(() => expect(cluster.changes - before).toBeGreaterThan(50));

  await writeFile(tokenFile, 'second');
  await live(page);
  cluster.rate = 0;
  await expectRows(page, shownOf(cluster, noFilter, byName));
});

/** The number of objects that the page has stored. */
const storedObjects = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const opening = indexedDB.open('rx-informer');
        opening.onsuccess = () => {
          const database = opening.result;
          const names = [...database.objectStoreNames];
          const count = database.transaction(names).objectStore('objects').count();
          count.onsuccess = () => {
            database.close();
            resolve(count.result);
          };
        };
      }),
  );

test('P27: a reload shows the stored rows while no list and no watch is answered, and then what has changed, without a list', async () => {
  const { page, cluster, dashboard, close } = await openDashboard(browser, {
    start: { objects: 80 },
  });
  onTestFinished(close);
  await live(page);
  await eventually(async () => expect(await storedObjects(page)).toBeGreaterThanOrEqual(80));
  const { requests, stop } = recordRequests(dashboard);
  onTestFinished(stop);
  // By its UID the worker knows that the server is still the same.
  const isRead = ({ path }: { readonly path: string }) => !path.endsWith('/namespaces/kube-system');
  const unanswered = cluster.server.faults.neverAnswer(isRead);
  await page.reload();
  const status = page.getByTestId('status');
  await status.getByText('Catching up', { exact: true }).waitFor();
  await status.getByText(/^showing Pods as of \d\d:\d\d:\d\d$/).waitFor();
  await eventually(async () =>
    expect(await page.locator('[data-uid]').count()).toBeGreaterThan(10),
  );
  expect(await page.getByRole('grid', { name: 'Pods' }).getAttribute('aria-busy')).toBe('true');
  await keepScreenshot(page, 'stored-rows');
  cluster.rate = 50;
  const before = cluster.changes;
  await eventually(() => expect(cluster.changes - before).toBeGreaterThan(50));
  cluster.rate = 0;
  unanswered.heal();
  await live(page);
  await expectRows(page, shownOf(cluster, noFilter, byName));
  const reads = requests.filter(({ pathname }) => pathname === '/api/v1/pods');
  expect(reads.length).toBeGreaterThan(0);
  expect(reads.filter(isList)).toEqual([]);
});
