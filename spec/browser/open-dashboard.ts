/** Opens the dashboard in a browser, for the tests of the page. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Stored } from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import * as builtIn from 'rx-informer/resources';
import {
  createFakeApiServer,
  type FakeApiServer,
  type FakeApiServerOptions,
} from 'rx-informer/testing';
import type { DashboardOptions } from '../../examples/dashboard/arguments.ts';
import { type Dashboard, startDashboard } from '../../examples/dashboard/dashboard.ts';
import type { EmbeddedCluster } from '../../examples/dashboard/embedded-cluster.ts';

/** An open dashboard. */
export interface OpenDashboard {
  readonly page: Page;
  readonly cluster: EmbeddedCluster;
  readonly dashboard: Dashboard;
  /** What the page has reported as errors. */
  readonly complaints: string[];
  close(): Promise<void>;
}

/** What differs between the tests. */
export interface OpenOptions {
  readonly start?: Partial<DashboardOptions>;
  readonly browser?: BrowserContextOptions;
  /** The query of the URL: `?kind=nodes`. */
  readonly query?: string;
  /** Called before the page is loaded. */
  readonly before?: (page: Page, cluster: EmbeddedCluster, dashboard: Dashboard) => unknown;
}

/** Writes pods of a cluster beside those of its simulation. */
export const podsOf = ({ server: { objects } }: Pick<EmbeddedCluster, 'server'>) => ({
  create: (pod: Pod) => objects.create(builtIn.pods, pod) as Stored<Pod>,
  update: (pod: Stored<Pod>) => objects.update(builtIn.pods, pod) as Stored<Pod>,
  delete: ({ metadata }: Stored<Pod>) => objects.delete(builtIn.pods, metadata),
});

/** The size of a phone, which touches. */
export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };

/** Waits until the page follows the server, and shows its rows and numbers, which may come some frames after the status. */
export async function live(page: Page): Promise<void> {
  await page.locator('[data-testid=status][data-tone=live]').waitFor();
  const isShown = () =>
    document.querySelector(
      '[data-tile] [role=img], :is([role=grid], [role=treegrid])[aria-busy=true]',
    ) === null;
  await page.waitForFunction(isShown);
}

/** Shows another query of the URL, as the back button does. To load the page anew takes more CPU time than most tests. */
export async function visit(page: Page, query: string): Promise<void> {
  await page.evaluate((url) => {
    history.pushState(null, '', url);
    dispatchEvent(new PopStateEvent('popstate'));
  }, query);
}

/**
 * Presses "Retry now" of the status line without a wait. The page may try again by itself at any moment, and then the button is gone.
 */
export async function retryNow(page: Page): Promise<void> {
  const button = page.getByTestId('status').getByRole('button', { name: 'Retry now' });
  await button.evaluateAll((all) => {
    for (const each of all) (each as HTMLElement).click();
  });
}

/**
 * Lets the rows be held until the pointer or the keyboard leaves them. The page ends a hold after 30 s without a movement, in which a
 * slow machine may not come to the next step of a test.
 */
export async function holdLasts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const { setTimeout: start } = globalThis;
    const later = (call: () => void, ms?: number, ...of: never[]) =>
      start(call, ms === 30_000 ? 2 ** 31 - 1 : ms, ...of);
    Object.assign(globalThis, { setTimeout: later });
  });
}

/** Opens a page that keeps what it reports as errors. */
async function openPage(browser: Browser, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    ...options,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // The tests make requests fail, so failed requests are expected.
    if (message.type() !== 'error' || message.text().startsWith('Failed to load')) return;
    complaints.push(message.text());
  });
  return { page, complaints, close: () => context.close() };
}

/** A dashboard of a cluster that it did not start. */
export interface OpenRealDashboard extends Omit<OpenDashboard, 'cluster'> {
  readonly server: FakeApiServer;
  /** What the dashboard has printed. */
  readonly said: readonly string[];
}

const { pods, configMaps, services, events, namespaces, nodes, resourceQuotas } = builtIn;
const { deployments, replicaSets, statefulSets, daemonSets, jobs } = builtIn;
/** The kinds that the page shows. */
const shown = [
  ...[pods, configMaps, services, events, namespaces, nodes, resourceQuotas],
  ...[deployments, replicaSets, statefulSets, daemonSets, jobs],
];

/** Starts a dashboard of a fake server that a kubeconfig names, as of a real cluster, and opens its page. */
export async function openRealDashboard(
  browser: Browser,
  options: Omit<OpenOptions, 'before'> & {
    readonly fake?: FakeApiServerOptions;
    /** Another context of the kubeconfig, which is called `other`, and its objects. */
    readonly other?: (server: FakeApiServer) => void;
    readonly before?: (server: FakeApiServer) => void;
  } = {},
): Promise<OpenRealDashboard> {
  const server = createFakeApiServer({
    resources: shown,
    bookmarkIntervalMs: 2000,
    ...options.fake,
  });
  options.before?.(server);
  const served = await server.serve();
  const otherServer = createFakeApiServer({ resources: shown, bookmarkIntervalMs: 2000 });
  options.other?.(otherServer);
  const otherServed = await otherServer.serve();
  const folder = await mkdtemp(join(tmpdir(), 'rx-informer-dashboard-'));
  const kubeconfig = join(folder, 'config');
  const named = (fields: object) => [{ name: 'c', ...fields }];
  const config = {
    'current-context': 'c',
    clusters: [
      ...named({ cluster: { server: served.url } }),
      { name: 'other', cluster: { server: otherServed.url } },
    ],
    users: named({ user: {} }),
    contexts: [
      ...named({ context: { cluster: 'c', user: 'c' } }),
      { name: 'other', context: { cluster: 'other', user: 'c' } },
    ],
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  const said: string[] = [];
  const start = { port: 0, open: false, embedded: false, objects: 1, rate: 0, seed: 1, kubeconfig };
  const dashboard = await startDashboard({ ...start, ...options.start }, (line) => said.push(line));
  const opened = await openPage(browser, options.browser);
  await opened.page.goto(`${dashboard.url}${options.query ?? ''}`);
  return {
    ...opened,
    server,
    said,
    dashboard,
    async close() {
      await opened.close();
      await dashboard.close();
      await served.close();
      await otherServed.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Starts a dashboard with 40 pods that do not change, and opens its page. */
export async function openDashboard(
  browser: Browser,
  options: OpenOptions = {},
): Promise<OpenDashboard> {
  const start = { port: 0, open: false, embedded: true, seed: 1, objects: 40, rate: 0 };
  const dashboard = await startDashboard({ ...start, ...options.start }, () => undefined);
  const cluster = dashboard.embedded;
  if (cluster === undefined) throw new Error('no embedded cluster');
  const { page, complaints, close } = await openPage(browser, options.browser);
  await options.before?.(page, cluster, dashboard);
  await page.goto(`${dashboard.url}${options.query ?? ''}`);
  return {
    page,
    cluster,
    dashboard,
    complaints,
    async close() {
      await close();
      await dashboard.close();
    },
  };
}

/** Waits until the page equals the server at the server's last change. */
export async function equal(page: Page): Promise<void> {
  const truth = page.locator('[data-testid=truth][data-equal=true][data-ahead="0"]');
  await truth.waitFor();
}

/** Stops the changes of the server, by the button of its panel. */
export async function pause(page: Page): Promise<void> {
  await page.getByText('Pause', { exact: true }).click();
}
