/** The browser of a file of tests, and the dashboards that its tests open. Each is closed after its test. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { launchChromium } from './chromium.ts';
import {
  live,
  type OpenDashboard,
  type OpenOptions,
  type OpenRealDashboard,
  openDashboard,
  openRealDashboard,
} from './open-dashboard.ts';

/** Opens dashboards in one browser. */
export interface Dashboards {
  open(options?: OpenOptions): Promise<OpenDashboard>;
  /** As {@link Dashboards.open}, when the page follows the server. */
  openLive(options?: OpenOptions): Promise<OpenDashboard>;
  openReal(options?: Parameters<typeof openRealDashboard>[1]): Promise<OpenRealDashboard>;
}

/** Starts a browser for the tests of this file. */
export function dashboards(): Dashboards {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  const kept = async <D extends { close(): Promise<void> }>(opening: Promise<D>): Promise<D> => {
    const opened = await opening;
    onTestFinished(opened.close);
    return opened;
  };
  const open = (options?: OpenOptions) => kept(openDashboard(browser, options));
  return {
    open,
    async openLive(options) {
      const opened = await open(options);
      await live(opened.page);
      return opened;
    },
    openReal: (options) => kept(openRealDashboard(browser, options)),
  };
}
