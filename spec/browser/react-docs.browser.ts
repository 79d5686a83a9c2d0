/** Runs the projects of docs/guide/react.md and docs/guide/browsers.md as their readers do: with their servers, in Vite's development server, in Chromium. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { createServer } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { eventually } from '../support/patience.ts';
import { keepScreenshot, launchChromium } from './chromium.ts';
import { htmlOf, makeProject } from './docs-project.ts';

const MAIN = `
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createClient } from 'rx-informer';
import { InformerProvider } from 'rx-informer/react';
import App from './App.tsx';
import { PodsPerNode } from './pods-per-node.tsx';
import { PodCount } from './suspense.tsx';
const client = createClient({ baseUrl: '' });
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
    <InformerProvider client={client}><PodCount namespace="shop" /><PodsPerNode /></InformerProvider>
  </StrictMode>,
);
`;

interface Running extends AsyncDisposable {
  readonly page: Page;
  readonly errors: readonly string[];
  /** Kills the server of the project. */
  kill(): Promise<void>;
  restart(): Promise<void>;
}

/** Starts the server of a project. */
async function startCluster(project: string): Promise<ChildProcess> {
  const cluster = spawn(process.execPath, ['--conditions=rx-informer-source', 'server.mjs'], {
    cwd: project,
    stdio: ['inherit', 'pipe', 'inherit'],
  });
  const [printed] = (await once(cluster.stdout, 'data')) as [Buffer];
  expect(String(printed)).toContain('The fake API server listens at http://127.0.0.1');
  return cluster;
}

/** Starts the server of a project and Vite, and opens the page. */
async function start(browser: Browser, project: string): Promise<Running> {
  let cluster = await startCluster(project);
  const vite = await createServer({
    root: project,
    cacheDir: `${project}.vite`,
    // Bundled, the configuration would not find the sources of the library.
    configLoader: 'native',
    logLevel: 'error',
    resolve: { conditions: ['rx-informer-source', 'module', 'browser', 'development'] },
    server: { port: 0, host: '127.0.0.1' },
  });
  await vite.listen();
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await page.goto(vite.resolvedUrls?.local[0] ?? '');
  return {
    page,
    errors,
    async kill() {
      cluster.kill('SIGKILL');
      await once(cluster, 'exit');
    },
    async restart() {
      cluster = await startCluster(project);
    },
    async [Symbol.asyncDispose]() {
      await page.close();
      await vite.close();
      cluster.kill();
    },
  };
}

let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

describe('the project of docs/guide/react.md', () => {
  let running: Running;

  beforeAll(async () => {
    const project = await makeProject('react', await freePort());
    await writeFile(`${project}index.html`, htmlOf('main.tsx'));
    await writeFile(`${project}src/main.tsx`, MAIN);
    running = await start(browser, project);
  });
  afterAll(() => running?.[Symbol.asyncDispose]());

  it('A88: shows a live table, and a click edits a Deployment', async () => {
    const { page } = running;
    const rows = page.locator('tr');
    await eventually(async () =>
      expect(await rows.locator('td:first-child').allTextContents()).toEqual([
        'api',
        'web',
        'worker',
      ]),
    );
    await page.getByText('Live', { exact: true }).waitFor();
    await rows.nth(1).getByText('1 of 2 ready').waitFor();
    await rows.nth(1).getByText('2 of 2 ready').waitFor();
    await keepScreenshot(page, 'react-docs');
    await rows.nth(0).getByText('+').click();
    await rows.nth(0).getByText('2 of 3 ready').waitFor();
    await eventually(async () => {
      const text = await rows.nth(0).textContent();
      expect(text).not.toContain('saving');
      expect(text).toContain('2 of 3 ready');
    });
  });

  it('A88: shows the examples of a suspending hook and of a view', async () => {
    const { page, errors } = running;
    await page.getByText('0 Pods').waitFor();
    expect(errors).toEqual([]);
  });

  it('T57: says at once that the server was killed, keeps the rows, and follows the server that is started again', async () => {
    const { page } = running;
    await page.getByText('Live', { exact: true }).waitFor();
    await running.kill();
    await page.getByText(/^Reconnecting/).waitFor();
    expect(await page.locator('tr').count()).toBe(3);
    await running.restart();
    await page.getByText('Live', { exact: true }).waitFor();
    const web = page.locator('tr').nth(1);
    await web.getByText('1 of 2 ready').waitFor();
    await web.getByText('2 of 2 ready').waitFor();
  });
});

describe('the project of docs/guide/browsers.md', () => {
  it('A88: shows a live table', async () => {
    const project = await makeProject('browsers', await freePort());
    await writeFile(`${project}index.html`, htmlOf('main.ts'));
    await using running = await start(browser, project);
    const { page, errors } = running;
    await page.getByText('Live', { exact: true }).waitFor();
    const rows = page.locator('tr');
    await eventually(async () =>
      expect(await rows.allTextContents()).toEqual(['shopcartRunning', 'shopwebRunning']),
    );
    await page.getByText('job').waitFor();
    await page.getByText('job').waitFor({ state: 'detached' });
    expect(errors).toEqual([]);
  });
});
