/** Starts the installed Chromium, headless and without background requests. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { isGate } from '../support/gate.ts';
import { HANG_MS } from '../support/patience.ts';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const screenshots = fileURLToPath(new URL('./.cache/', import.meta.url));

/**
 * Chromium loads two pages for the suggestions of its address bar into each window, which nobody sees: three quarters of the CPU time of a
 * new context. Of two such options it reads the last one, so those that Playwright disables are repeated.
 */
const DISABLED_FEATURES = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'],
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...['HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'PaintHolding'],
  ...['ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect', 'AimEnabled'],
  ...['OptimizationHints', 'NetworkTimeServiceQuerying', 'PreconnectToSearch'],
];

interface LaunchOptions {
  /** Whether pages that were left stay in the back/forward cache, which Playwright switches off. */
  readonly backForwardCache?: boolean;
}

function launchOptions({ backForwardCache = false }: LaunchOptions = {}) {
  if (!existsSync(executablePath)) {
    throw new Error(
      `There is no Chromium at ${executablePath}: install it, or set the variable CHROMIUM to its path.`,
    );
  }
  return {
    executablePath,
    ignoreDefaultArgs: backForwardCache ? ['--disable-back-forward-cache'] : [],
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${DISABLED_FEATURES.join(',')}`,
      // A name that an attacker resolves to this machine.
      '--host-resolver-rules=MAP rebound.example 127.0.0.1',
    ],
  };
}

/** Starts Chromium. Rejects with an instruction if it is not installed. */
export async function launchChromium(options?: LaunchOptions): Promise<Browser> {
  const browser = await chromium.launch(launchOptions(options));
  const { newContext } = browser;
  browser.newContext = async (...of) => {
    const context = await newContext.apply(browser, of);
    context.setDefaultTimeout(HANG_MS);
    return context;
  };
  return browser;
}

/** Starts Chromium with a profile that outlives it. Rejects with an instruction if it is not installed. */
export async function launchProfile(folder: string): Promise<BrowserContext> {
  const context = await chromium.launchPersistentContext(folder, launchOptions());
  context.setDefaultTimeout(HANG_MS);
  return context;
}

/** Saves a screenshot of the page in a folder that git ignores, except in the gate, of which nobody keeps them. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  if (isGate) return;
  await mkdir(screenshots, { recursive: true });
  await page.screenshot({ path: `${screenshots}${name}.png` });
}
