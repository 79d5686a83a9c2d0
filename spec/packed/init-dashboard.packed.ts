/** `rx-informer init dashboard` of the packed library: the project compiles, passes its own test, and is looked at in Chromium. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keepScreenshot, launchChromium } from '../browser/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { eventually } from '../support/patience.ts';
import { mustRun, packInto, root } from './consumer.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');
const quiet = ['--no-audit', '--no-fund', '--prefer-offline'];
let folder: string;
let project: string;
let browser: Browser;
const processes = new Set<ChildProcess>();

/** Starts a program of the project, and waits until it prints a text. */
async function start(args: readonly string[], until: string, env = {}): Promise<ChildProcess> {
  const child = spawn(process.execPath, [...args], {
    cwd: project,
    env: { ...process.env, NODE_ENV: 'development', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  processes.add(child);
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text) => {
      if (String(text).includes(until)) resolve();
    });
    child.once('exit', (code) => reject(new Error(`${args[0]} ended with the code ${code}`)));
  });
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  processes.delete(child);
  if (child.exitCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rx-informer-init-'));
  const tarball = join(folder, (await packInto(folder)).filename);
  const init = ['--', 'rx-informer', 'init', 'dashboard', 'shop-pods'];
  await mustRun('npm', ['exec', '--yes', `--package=${tarball}`, ...init], folder);
  project = join(folder, 'shop-pods');
  const path = join(project, 'package.json');
  const text = readFileSync(path, 'utf8');
  // The library is not taken from the registry.
  const local = text.replace(/("rx-informer": )"[^"]*"/, `$1${JSON.stringify(`file:${tarball}`)}`);
  expect(local).not.toBe(text);
  writeFileSync(path, local);
  await mustRun('npm', ['install', ...quiet], project);
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  for (const child of [...processes]) await end(child);
  rmSync(folder, { recursive: true, force: true });
});

describe('the project of rx-informer init dashboard', () => {
  it('needs the versions with which the library is tested', () => {
    const own = ['package.json', '.suites/package.json'].map((name) =>
      JSON.parse(readFileSync(join(root, name), 'utf8')),
    );
    const tested = Object.assign({}, ...own.flatMap((of) => [of.devDependencies, of.dependencies]));
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(join(project, 'package.json'), 'utf8'),
    );
    const { 'rx-informer': _, rxjs, ...others } = { ...dependencies, ...devDependencies };
    expect(rxjs).toMatch(/^\^7/);
    for (const [name, range] of Object.entries(others))
      expect([name, range]).toEqual([name, tested[name]]);
  });

  it('V47: compiles, is built, and passes its own test', async () => {
    await mustRun('npm', ['run', 'build'], project);
    const chromium = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
    const { stdout } = await mustRun('env', [`CHROMIUM=${chromium}`, 'npm', 'test'], project);
    expect(stdout).toMatch(/Tests +\d+ passed/);
  });

  it('V47: its built page is live behind npm run preview', async () => {
    const [api, web] = [await freePort(), await freePort()];
    await start(['test/serve-cluster.ts', String(api)], 'listens');
    const args = ['preview', '--host', '127.0.0.1', '--port', String(web)];
    const { scripts } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    expect(scripts.preview).toBe('vite preview');
    await start(['node_modules/vite/bin/vite.js', ...args], 'Local', {
      API_SERVER: `http://127.0.0.1:${api}`,
    });
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${web}/`);
    const status = page.getByRole('status').first();
    await eventually(async () => expect(await status.textContent()).toBe('Live'));
    await eventually(async () => expect(await page.locator('tbody th').count()).toBe(25));
    await page.close();
  });

  it('V47: shows sorted and filtered rows, and says that the server is gone or silent', async () => {
    const [api, web] = [await freePort(), await freePort()];
    const cluster = () => start(['test/serve-cluster.ts', String(api)], 'listens');
    let running = await cluster();
    const vite = ['node_modules/vite/bin/vite.js', '--host', '127.0.0.1', '--port', String(web)];
    await start(vite, 'Local', { API_SERVER: `http://127.0.0.1:${api}` });
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    await page.goto(`http://127.0.0.1:${web}/`);
    const status = page.getByRole('status').first();
    const says = (text: string) =>
      eventually(async () => expect(await status.textContent()).toBe(text));
    await says('Live');
    const names = () => page.locator('tbody th').allTextContents();
    const sorted = await names();
    expect(sorted).toHaveLength(25);
    expect(sorted).toEqual(sorted.toSorted());
    await page.getByRole('button', { name: 'Name', exact: true }).click();
    await eventually(async () => expect(await names()).not.toEqual(sorted));
    const turned = await names();
    expect(turned).toEqual(turned.toSorted().reverse());
    await page.getByRole('searchbox').fill('CART-01');
    await eventually(async () => expect(await names()).toEqual(['cart-016', 'cart-012']));
    expect(errors).toEqual([]);
    await end(running);
    await says('Not live');
    expect(await names()).toEqual(['cart-016', 'cart-012']);
    await page.getByText(/the data is [1-9]\d* s old/i).waitFor();
    running = await cluster();
    await says('Live');
    // Frozen, the server keeps all connections open and says nothing.
    running.kill('SIGSTOP');
    await says('Not live');
    running.kill('SIGCONT');
    await says('Live');
    await page.getByRole('searchbox').fill('');
    await looksRight(page);
    await page.close();
  });
});

/** Both themes, on a desk and on a phone: axe finds nothing, and nothing is cut off at the side. */
async function looksRight(page: Page): Promise<void> {
  await page.evaluate(axe);
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1_100, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      await keepScreenshot(page, `init-dashboard-${width}-${colorScheme}`);
      const { violations } = await page.evaluate(() =>
        (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
      );
      expect(violations.map(({ id }) => id)).toEqual([]);
      const hidden = await page.evaluate(
        () => document.documentElement.scrollWidth - window.innerWidth,
      );
      expect(hidden).toBeLessThanOrEqual(0);
    }
  }
}
