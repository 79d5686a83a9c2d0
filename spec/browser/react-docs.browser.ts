/** Runs the project of docs/react.md as its reader does: with its server, in Vite's development server, in Chromium. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createTcpServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keepScreenshot, launchChromium } from './chromium.ts';

const project = fileURLToPath(new URL('./dist/react-docs/', import.meta.url));
const written = fileURLToPath(new URL('../generated-examples/react/', import.meta.url));
const INDEX =
  '<!doctype html><link rel="icon" href="data:," /><div id="root"></div><script type="module" src="/src/main.tsx"></script>';
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

async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function makeProject(port: number): Promise<void> {
  await rm(project, { recursive: true, force: true });
  await mkdir(project, { recursive: true });
  await cp(written, project, { recursive: true });
  for (const name of ['vite.config.ts', 'server.mjs']) {
    const text = await readFile(project + name, 'utf8');
    expect(text).toContain('8001');
    await writeFile(project + name, text.replaceAll('8001', String(port)));
  }
  await writeFile(`${project}index.html`, INDEX);
  await writeFile(`${project}src/main.tsx`, MAIN);
}

let browser: Browser;
let cluster: ChildProcess;
let vite: ViteDevServer;
let page: Page;
const errors: string[] = [];

beforeAll(async () => {
  await makeProject(await freePort());
  cluster = spawn(process.execPath, ['--conditions=rx-informer-source', 'server.mjs'], {
    cwd: project,
    stdio: 'inherit',
  });
  vite = await createServer({
    root: project,
    configFile: `${project}vite.config.ts`,
    cacheDir: `${project}.vite`,
    logLevel: 'error',
    resolve: { conditions: ['rx-informer-source', 'module', 'browser', 'development'] },
    server: { port: 0, host: '127.0.0.1' },
  });
  await vite.listen();
  browser = await launchChromium();
  page = await browser.newPage();
  page.on('pageerror', ({ message }) => errors.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await page.goto(vite.resolvedUrls?.local[0] ?? '');
});
afterAll(async () => {
  await browser?.close();
  await vite?.close();
  cluster?.kill();
});

describe('the project of docs/react.md', () => {
  it('V15: shows a live table, and a click edits a Deployment', async () => {
    const rows = page.locator('tr');
    await rows.nth(2).waitFor({ timeout: 60_000 });
    expect(await rows.locator('td:first-child').allTextContents()).toEqual([
      'api',
      'web',
      'worker',
    ]);
    await page.getByText('Live', { exact: true }).waitFor();
    await rows.nth(1).getByText('1 of 2 ready').waitFor();
    await rows.nth(1).getByText('2 of 2 ready').waitFor();
    await keepScreenshot(page, 'react-docs');
    await rows.nth(0).getByText('+').click();
    await rows.nth(0).getByText('2 of 3 ready').waitFor();
    await expect.poll(() => rows.nth(0).textContent()).not.toContain('saving');
    expect(await rows.nth(0).textContent()).toContain('2 of 3 ready');
  });

  it('V15: shows the examples of a suspending hook and of a view', async () => {
    await page.getByText('0 Pods').waitFor();
    expect(errors).toEqual([]);
  });
});
