/**
 * The project of docs/guide/next.md with the packed library and the real Next.js and Express: pages are live behind a route handler,
 * and behind a rewrite a page says that events are held back. Run it with `npm run test:next`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { createClient, createListWatch, createSharedInformer } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer, type Served } from 'rx-informer/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launchChromium } from '../browser/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { eventually } from '../support/patience.ts';
import { mustRun, packInto, root } from './consumer.ts';

const quiet = ['--no-audit', '--no-fund', '--prefer-offline'];
const LAYOUT = `export default function Layout({ children }: { children: React.ReactNode }) {
  return <html lang="en"><body>{children}</body></html>;
}
`;
let folder: string;
let project: string;
let browser: Browser;
let apiPort: number;
let webPort: number;
let server: FakeApiServer;
let served: Served;
const processes = new Set<ChildProcess>();

const next = (...args: string[]) => ['node_modules/next/dist/bin/next', ...args];
const outside = () => {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    NODE_ENV: 'production',
    NEXT_TELEMETRY_DISABLED: '1',
    API_SERVER: `http://127.0.0.1:${apiPort}`,
  };
  // The variables that vitest sets are removed, because a user does not have them.
  for (const name of ['NODE_OPTIONS', 'VITEST']) delete env[name];
  return env;
};

/** Starts a program of the project, and waits until its port answers. */
async function start(args: readonly string[], port: number): Promise<void> {
  const child = spawn(process.execPath, [...args], { cwd: project, env: outside() });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text;
    });
  }
  processes.add(child);
  const answers = () => {
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended: ${output}`);
    return fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
  };
  await eventually(async () => expect(await answers()).toBe(true));
}

async function build(): Promise<void> {
  rmSync(join(project, '.next'), { recursive: true, force: true });
  const child = spawn(process.execPath, next('build'), { cwd: project, env: outside() });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text;
    });
  }
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(output);
}

const create = (name: string) =>
  server.objects.create(pods, { metadata: { namespace: 'shop', name } });
const watches = () =>
  server.requests.filter(({ use, query }) => use === 'watch' && !isProbe(query));
const isProbe = (query: Readonly<Record<string, string>>) => query['timeoutSeconds'] === '5';

async function open(path: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${webPort}${path}`);
  return page;
}
const names = (page: Page) => page.locator('li').allTextContents();
const status = (page: Page) => page.getByRole('status').textContent();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rx-informer-next-'));
  project = join(folder, 'live-table');
  cpSync(join(root, 'spec/packed/next'), project, { recursive: true });
  cpSync(join(root, 'spec/generated-examples/next'), project, { recursive: true });
  writeFileSync(join(project, 'app/layout.tsx'), LAYOUT);
  const { filename } = await packInto(folder);
  await mustRun('npm', ['ci', ...quiet], project);
  await mustRun('npm', ['install', '--no-save', ...quiet, join('..', filename)], project);
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  server = createFakeApiServer();
  for (const name of ['cart', 'web']) create(name);
  [apiPort, webPort] = [await freePort(), await freePort()];
  served = await server.serve({ port: apiPort });
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  for (const child of processes) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  processes.clear();
  await served.close();
});

describe('Next.js with its defaults', () => {
  it('W33: pages behind the route handler of the guide are live, with hooks and with a worker, and the rows of a handler arrive', async () => {
    await build();
    await start(next('start', '-p', String(webPort)), webPort);
    const page = await open('/');
    await eventually(async () => expect(await status(page)).toBe('Live'));
    expect(await names(page)).toEqual(['cart', 'web']);
    const before = watches().length;
    create('late');
    await eventually(async () => expect(await names(page)).toEqual(['cart', 'late', 'web']));
    // A rewrite ends a response that is silent for 30 s.
    const states = new Set<string | null>();
    for (let second = 0; second < 35; second++) {
      states.add(await status(page));
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    expect([...states]).toEqual(['Live']);
    expect(watches().length).toBe(before);
    await page.close();
    await eventually(() => expect(server.openWatches.length).toBe(0));

    const tab = await open('/tabs');
    await eventually(async () => expect(await names(tab)).toEqual(['cart', 'late', 'web']));
    await eventually(async () => expect(await status(tab)).toBe('Live'));
    create('later');
    await eventually(async () =>
      expect(await names(tab)).toEqual(['cart', 'late', 'later', 'web']),
    );
    await tab.evaluate(() => {
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      new EventSource('/rows').onmessage = ({ data }) => seen.push(data);
    });
    const last = () =>
      tab.evaluate(() => (globalThis as unknown as { seen: string[] }).seen.at(-1));
    await eventually(async () => expect(await last()).toContain('{"name":"later"}'));
    create('latest');
    await eventually(async () => expect(await last()).toContain('{"name":"latest"}'));
    await tab.close();
    await eventually(() => expect(server.openWatches.length).toBe(0));
  });

  it('W33: a page behind a rewrite says that it compresses, and receives a change within 20 s', async () => {
    const destination = `http://127.0.0.1:${apiPort}/:path*`;
    const rewrites = { beforeFiles: [{ source: '/k8s/:path*', destination }] };
    writeFileSync(
      join(project, 'next.config.mjs'),
      `export default { rewrites: async () => (${JSON.stringify(rewrites)}) };\n`,
    );
    try {
      await build();
    } finally {
      rmSync(join(project, 'next.config.mjs'));
    }
    await start(next('start', '-p', String(webPort)), webPort);
    const page = await open('/');
    await eventually(async () => expect(await names(page)).toEqual(['cart', 'web']));
    await eventually(async () =>
      expect(await status(page)).toMatch(/^Late: .* compresses responses/),
    );
    create('late');
    await eventually(async () => expect(await names(page)).toEqual(['cart', 'late', 'web']));
  });
});

describe('Express', () => {
  it('W33: watches behind the server of the guide are live for clients that request gzip', async () => {
    const path = join(project, 'server.mjs');
    const text = readFileSync(path, 'utf8');
    expect(text.match(/8001|3000/g)).toEqual(['8001', '3000']);
    writeFileSync(path, text.replace('8001', String(apiPort)).replace('3000', String(webPort)));
    await start(['server.mjs'], webPort);
    const client = createClient({
      baseUrl: `http://127.0.0.1:${webPort}/k8s`,
      fetch: (input, init) =>
        fetch(input, { ...init, headers: { ...init?.headers, 'accept-encoding': 'gzip' } }),
    });
    const informer = createSharedInformer(createListWatch(client, pods), {
      initialList: 'pages',
    });
    informer.start();
    await eventually(() => expect(informer.status.live).toBe(true));
    create('late');
    await eventually(async () => expect(await informer.indexer.get('shop/late')).toBeDefined());
    await informer.stop();
    await client.close();
  });
});
