/** Opens the dashboard in a browser, for the tests of the page. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
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
  readonly before?: (page: Page, cluster: EmbeddedCluster) => unknown;
}

/** The size of a phone, which touches. */
export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };

/** Waits until the page follows the server, and shows its numbers, which may come some frames after the status. */
export async function live(page: Page, timeoutMs = 30_000): Promise<void> {
  await page.locator('[data-testid=status][data-tone=live]').waitFor({ timeout: timeoutMs });
  const isCounted = () => document.querySelector('[data-tile] [role=img]') === null;
  await page.waitForFunction(isCounted, undefined, { timeout: timeoutMs });
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
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    ...options.browser,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // The tests make requests fail, so failed requests are expected.
    if (message.type() !== 'error' || message.text().startsWith('Failed to load')) return;
    complaints.push(message.text());
  });
  await options.before?.(page, cluster);
  await page.goto(`${dashboard.url}${options.query ?? ''}`);
  return {
    page,
    cluster,
    dashboard,
    complaints,
    async close() {
      await context.close();
      await dashboard.close();
    },
  };
}
