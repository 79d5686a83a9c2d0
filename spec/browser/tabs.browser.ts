/**
 * Runs the project of docs/guide/tabs.md in Chromium: tabs that share a real SharedWorker, in Vite's development server and as
 * a built page.
 */

import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type Deployment, deployments, pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer, type Served } from 'rx-informer/testing';
import { preview } from 'vite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import webpack from 'webpack';
import { freePort } from '../support/free-port.ts';
import { isGate } from '../support/gate.ts';
import { eventually } from '../support/patience.ts';
import { keepScreenshot, launchChromium } from './chromium.ts';
import { htmlOf, makeProject } from './docs-project.ts';
import { develop, publish, type RunningProject } from './vite-project.ts';

const loader = fileURLToPath(new URL('typescript-loader.cjs', import.meta.url));

/** Builds `src/ENTRY` of a project with webpack, and serves it with the proxy of its Vite configuration. */
async function publishByWebpack(root: string, entry: string): Promise<RunningProject> {
  const outDir = `${root}dist-webpack`;
  await rm(outDir, { recursive: true, force: true });
  const compiler = webpack({
    mode: 'production',
    context: root,
    entry: `./src/${entry}`,
    output: { path: outDir, publicPath: '/' },
    resolve: { conditionNames: ['rx-informer-source', '...'] },
    module: { rules: [{ test: /\.tsx?$/, use: loader }] },
  });
  await new Promise<void>((resolve, reject) => {
    compiler.run((error, stats) => {
      if (error === null && stats?.hasErrors() === false) resolve();
      else reject(error ?? new Error(stats?.toString('errors-only')));
    });
  });
  await new Promise((resolve) => compiler.close(resolve));
  const page = '<!doctype html><link rel="icon" href="data:," /><div id="root"></div>';
  await writeFile(`${outDir}/index.html`, `${page}<script src="/main.js"></script>`);
  const vite = await preview({
    root,
    configLoader: 'native',
    logLevel: 'error',
    build: { outDir },
    preview: { port: 0, host: '127.0.0.1' },
  });
  const url = vite.resolvedUrls?.local[0] ?? '';
  return { url, [Symbol.asyncDispose]: () => vite.close() };
}

const MAIN = `
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import App from './App.tsx';
createRoot(document.getElementById('root')!).render(<StrictMode><App /></StrictMode>);
`;
/** How a test ends a worker, as its browser might. */
const MORTAL = `
new BroadcastChannel('test').onmessage = () => self.close();
`;
/** A stream, whose rows have the number of the run that has made them. */
const STREAM = `
import { count, liveGroupBy, liveMap } from 'rx-informer';

// Builds a project with webpack 5, as its users do: an entry, and a loader for TypeScript.

let runs = 0;
Object.assign(queries, {
  phases: (namespace, live) => {
    const run = ++runs;
    return live.stream(liveQuery({ from: pods, namespace })).pipe(
      liveGroupBy((pod) => pod.status?.phase ?? 'Unknown', { pods: count() }),
      liveMap(({ key, pods }) => ({ key, pods, run })),
    );
  },
});
`;
const EXPOSED = `
Object.assign(globalThis, { cluster });
`;

declare const cluster: {
  view(query: object): {
    subscribe(listener: () => void): () => void;
    getSnapshot(): { readonly rows: readonly unknown[]; readonly synced: boolean };
  };
  readonly connection: { readonly phase: string; readonly host: string; readonly workers: number };
  signedIn(identity: string): void;
  signedOut(): void;
};

let browser: Browser;
let server: FakeApiServer;
let served: Served;
let root: string;
let running: RunningProject;
let context: BrowserContext;
const errors: string[] = [];

beforeAll(async () => {
  browser = await launchChromium();
  const port = await freePort();
  server = createFakeApiServer();
  for (const name of ['web', 'api', 'worker']) {
    server.objects.create(deployments, {
      metadata: { namespace: 'shop', name },
      spec: { replicas: 2, selector: {}, template: {} },
      status: { readyReplicas: 2 },
    } as Deployment);
  }
  server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
  served = await server.serve({ port });
  root = await makeProject('tabs', port);
  // One test opens the page by a name, which the proxy must know.
  const config = await readFile(`${root}vite.config.ts`, 'utf8');
  const target = `viteProxy('http://127.0.0.1:${port}')`;
  expect(config).toContain(target);
  const hosts = "'', { hosts: ['127.0.0.1', 'rebound.example'] }";
  await writeFile(
    `${root}vite.config.ts`,
    config.replace(target, `${target.slice(0, -1)}, ${hosts})`),
  );
  await writeFile(`${root}index.html`, htmlOf('main.tsx'));
  await writeFile(`${root}src/main.tsx`, MAIN);
  await appendFile(`${root}src/cluster.worker.ts`, MORTAL + STREAM);
  await appendFile(`${root}src/App.tsx`, EXPOSED);
  // In the development server, where one test runs, a page loads hundreds of files.
  running = await publish(root);
});
afterAll(async () => {
  await browser?.close();
  await running?.[Symbol.asyncDispose]();
  await served?.close();
});
beforeEach(async () => {
  errors.length = 0;
  context = await browser.newContext();
});
afterEach(() => context.close());

async function openTab(url = running.url): Promise<Page> {
  const tab = await context.newPage();
  tab.on('pageerror', ({ message }) => errors.push(message));
  await tab.goto(url);
  return tab;
}

/** Pages that are opened from now on have no shared workers. */
const withoutSharedWorkers = () =>
  context.addInitScript(() => {
    Object.assign(globalThis, { SharedWorker: undefined });
  });
const namesOf = (tab: Page) => tab.locator('tr td:first-child').allTextContents();
const openWatches = () =>
  server.openWatches.filter(({ request }) => request.path.endsWith('/deployments')).length;
const connectionOf = (tab: Page) => tab.evaluate(() => cluster.connection);
/** A tab whose shared worker starts slowly has a worker of its own until then. */
const isShared = (tab: Page) =>
  eventually(async () =>
    expect(await connectionOf(tab)).toMatchObject({ phase: 'open', host: 'shared' }),
  );
const isReplaced = (tab: Page) =>
  eventually(async () =>
    expect(await connectionOf(tab)).toSatisfy(
      ({ phase, workers }) => phase === 'open' && workers > 1,
    ),
  );

describe('the project of docs/guide/tabs.md', () => {
  it('B1, B12: in the development server, shows a live table in every tab with one watch, and an edit in all of them', async () => {
    await using developed = await develop(root);
    // The server prepares the packages for its first page, whose worker loads meanwhile.
    const early = await browser.newContext();
    const page = await early.newPage();
    await page.goto(developed.url);
    await page.getByText('Live', { exact: true }).waitFor();
    await early.close();
    const open = () => openTab(developed.url);
    const tabs = [await open(), await open(), await open()];
    for (const tab of tabs) {
      await eventually(async () => expect(await namesOf(tab)).toEqual(['api', 'web', 'worker']));
      await tab.getByText('Live', { exact: true }).waitFor();
      await tab.getByText('1 Pods: WEB-0').waitFor();
    }
    for (const tab of tabs) await isShared(tab);
    await eventually(async () => expect(await openWatches()).toBe(1));
    await keepScreenshot(tabs[0] as Page, 'tabs-docs');
    await tabs[0]?.locator('tr').nth(0).getByText('+').click();
    for (const tab of tabs) await tab.locator('tr').nth(0).getByText('2 of 3 ready').waitFor();
    await eventually(async () =>
      expect(await tabs[0]?.locator('tr').nth(0).textContent()).not.toContain('saving'),
    );
    expect(errors).toEqual([]);
  });

  it('B17: a stream of live operators runs once in the worker for all tabs', async () => {
    const tabs = [await openTab(), await openTab()];
    const rowsOf = (tab: Page) =>
      tab.evaluate(() => {
        const view = cluster.view({ named: 'phases', params: 'shop' });
        view.subscribe(() => undefined);
        return view.getSnapshot().rows;
      });
    for (const tab of tabs) {
      await eventually(async () =>
        expect(await rowsOf(tab)).toEqual([{ key: 'Unknown', pods: 1, run: 1 }]),
      );
    }
    const metadata = { namespace: 'shop', name: 'streamed' };
    server.objects.create(pods, { metadata, status: { phase: 'Running' } });
    const expected = [
      { key: 'Unknown', pods: 1, run: 1 },
      { key: 'Running', pods: 1, run: 1 },
    ];
    for (const tab of tabs)
      await eventually(async () => expect(await rowsOf(tab)).toEqual(expected));
    server.objects.delete(pods, metadata);
    for (const tab of tabs)
      await eventually(async () => expect(await rowsOf(tab)).toEqual(expected.slice(0, 1)));
    expect(errors).toEqual([]);
  });

  it.each(['shared', 'dedicated'])(
    'B5: a sign-out takes the rows from all tabs, and a sign-in brings them back, the other worker: %s',
    async (host) => {
      const tabs = [await openTab()] as unknown as [Page, Page];
      if (host === 'dedicated') await withoutSharedWorkers();
      tabs.push(await openTab());
      for (const tab of tabs) await tab.getByText('Live', { exact: true }).waitFor();
      await tabs[0].evaluate(() => cluster.signedOut());
      for (const tab of tabs) {
        await tab
          .getByText(/signed out/)
          .first()
          .waitFor();
        await eventually(async () => expect(await namesOf(tab)).toEqual([]));
      }
      await tabs[1].evaluate(() => cluster.signedIn('another'));
      await eventually(async () => expect(await namesOf(tabs[1])).toHaveLength(3));
      expect(await namesOf(tabs[0])).toEqual([]);
    },
  );

  it('B8, B9: a frozen tab gets what it has missed when it wakes', async () => {
    const tabs = [await openTab(), await openTab()] as [Page, Page];
    for (const tab of tabs) await tab.getByText('Live', { exact: true }).waitFor();
    const session = await context.newCDPSession(tabs[0]);
    await session.send('Page.setWebLifecycleState', { state: 'frozen' });
    const created = server.objects.create(deployments, {
      metadata: { namespace: 'shop', name: 'late' },
      spec: { replicas: 1, selector: {}, template: {} },
    } as Deployment);
    await eventually(async () => expect(await namesOf(tabs[1])).toContain('late'));
    await session.send('Page.setWebLifecycleState', { state: 'active' });
    await eventually(async () => expect(await namesOf(tabs[0])).toContain('late'));
    server.objects.delete(deployments, { namespace: 'shop', name: created.metadata.name });
    for (const tab of tabs)
      await eventually(async () => expect(await namesOf(tab)).not.toContain('late'));
  });

  it('B10: without shared workers every page has a worker of its own', async () => {
    await withoutSharedWorkers();
    const tab = await openTab();
    await eventually(async () => expect(await namesOf(tab)).toEqual(['api', 'web', 'worker']));
    await eventually(async () =>
      expect(await connectionOf(tab)).toMatchObject({ phase: 'open', host: 'dedicated' }),
    );
  });

  it('B10: a tab whose shared worker loads slowly moves to it', async () => {
    let scripts = 0;
    const name = 'the first request for the script of a worker takes eight seconds';
    await using published = await publish(root, [
      {
        name,
        configurePreviewServer: ({ middlewares }) => {
          middlewares.use(({ url = '' }, _, next) => {
            if (!/worker.*\.js$/.test(url) || scripts++ > 0) return next();
            setTimeout(next, 8_000);
          });
        },
      },
    ]);
    const tab = await openTab(published.url);
    await eventually(() => expect(scripts).toBeGreaterThan(0));
    await isShared(tab);
    await tab.getByText('Live', { exact: true }).waitFor();
    await eventually(async () => expect(await namesOf(tab)).toEqual(['api', 'web', 'worker']));
    expect(errors).toEqual([]);
  });

  it.each([
    ['Vite', (folder: string) => publish(folder)] as const,
    ...(isGate
      ? []
      : [['webpack', (folder: string) => publishByWebpack(folder, 'main.tsx')] as const]),
  ])('B1: runs as a page built by %s, whose worker is a file of its own', async (_, build) => {
    await using published = await build(root);
    const tabs = [await openTab(published.url), await openTab(published.url)];
    for (const tab of tabs) {
      await eventually(async () => expect(await namesOf(tab)).toEqual(['api', 'web', 'worker']));
      await isShared(tab);
    }
    expect(errors).toEqual([]);
  });

  it('B7: keeps the rows while the worker is killed, and is right again', async () => {
    await using published = await publish(root);
    const tabs = [await openTab(published.url), await openTab(published.url)];
    for (const tab of tabs) await tab.getByText('Live', { exact: true }).waitFor();
    const [first] = tabs as [Page];
    await first.evaluate(() => {
      new BroadcastChannel('test').postMessage('die');
    });
    for (const tab of tabs) {
      await isReplaced(tab);
      expect(await namesOf(tab)).toHaveLength(3);
      await tab.getByText('Live', { exact: true }).waitFor();
    }
    expect(errors).toEqual([]);
  });

  it('B8: a page in an element out of sight, which is visible but not painted, follows the cluster', async () => {
    await using published = await publish(root);
    const around = await context.newPage();
    // The page is of another site than the one around it, so the browser does not paint it.
    await around.setContent(
      `<div style="height: 5000px"></div><iframe src="${published.url}"></iframe>`,
    );
    const page = around.frameLocator('iframe');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.locator('body').evaluate(() => {
      requestAnimationFrame(() => Object.assign(globalThis, { isPainted: true }));
    });
    for (const name of ['first', 'second']) {
      const metadata = { namespace: 'shop', name };
      server.objects.create(deployments, { metadata, spec: { replicas: 1 } } as Deployment);
      await page.getByText(name, { exact: true }).waitFor();
      server.objects.delete(deployments, metadata);
    }
    const seen = () => [document.visibilityState, 'isPainted' in globalThis];
    expect(await page.locator('body').evaluate(seen)).toEqual(['visible', false]);
  });
});

describe('the built project of docs/guide/tabs.md over plain HTTP', () => {
  it('B7: notices a killed worker without Web Locks', async () => {
    await using published = await publish(root);
    // Not a trustworthy origin, as 127.0.0.1 is.
    const url = published.url.replace('127.0.0.1', 'rebound.example');
    const tabs = [await openTab(url), await openTab(url)];
    for (const tab of tabs) await tab.getByText('Live', { exact: true }).waitFor();
    expect(await tabs[0]?.evaluate(() => [isSecureContext, 'locks' in navigator])).toEqual([
      false,
      false,
    ]);
    await tabs[0]?.evaluate(() => {
      new BroadcastChannel('test').postMessage('die');
    });
    for (const tab of tabs) {
      await isReplaced(tab);
      await isShared(tab);
      await tab.getByText('Live', { exact: true }).waitFor();
      await eventually(async () => expect(await namesOf(tab)).toHaveLength(3));
    }
    expect(errors).toEqual([]);
  });
});

describe('the built project of docs/guide/tabs.md in the back/forward cache', () => {
  let published: RunningProject;
  let caching: Browser;
  beforeAll(async () => {
    caching = await launchChromium({ backForwardCache: true });
    published = await publish(root);
  });
  afterAll(async () => {
    await caching?.close();
    await published?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    context = await caching.newContext();
  });

  /**
   * Opens two tabs, leaves one of them for another page, and returns to it from the cache. Chromium drops a page of its cache
   * to which a message was on its way; it is then loaded again, and this begins again with other tabs.
   */
  async function returned(meanwhile: (other: Page) => Promise<unknown>): Promise<[Page, Page]> {
    for (;;) {
      const [tab, other] = [await openTab(published.url), await openTab(published.url)];
      for (const each of [tab, other]) await each.getByText('Live', { exact: true }).waitFor();
      await tab.evaluate(() => {
        Object.assign(globalThis, { isKept: false });
        addEventListener('pageshow', () => Object.assign(globalThis, { isKept: true }));
      });
      await tab.goto(`${published.url}api/v1`);
      await meanwhile(other);
      await tab.goBack({ waitUntil: 'commit' });
      // A page that was loaded again does not have the value.
      const isKept = () => tab.evaluate(() => (globalThis as { isKept?: boolean }).isKept ?? 'no');
      const kept = await eventually(async () => {
        const found = await isKept();
        return found !== false && found;
      });
      if (kept === true) return [tab, other];
      await tab.close();
      await other.close();
    }
  }

  it('B8: a page that returns has what it has missed, and follows the cluster again', async () => {
    const missed = { namespace: 'shop', name: 'missed' };
    const [tab, other] = await returned(async (another) => {
      const isThere = server.objects
        .list(deployments)
        .some(({ metadata }) => metadata.name === 'missed');
      if (isThere) server.objects.delete(deployments, missed);
      server.objects.create(deployments, {
        metadata: missed,
        spec: { replicas: 1, selector: {}, template: {} },
      } as Deployment);
      await eventually(async () => expect(await namesOf(another)).toContain('missed'));
    });
    await eventually(async () => expect(await namesOf(tab)).toContain('missed'));
    server.objects.delete(deployments, missed);
    for (const each of [tab, other])
      await eventually(async () => expect(await namesOf(each)).not.toContain('missed'));
  });

  it('B5: a page that returns after another user has signed in shows no rows', async () => {
    const [tab] = await returned(async (other) => {
      await other.evaluate(() => cluster.signedIn('another'));
      await eventually(async () => expect(await namesOf(other)).toHaveLength(3));
    });
    await tab
      .getByText(/signed out|signed in/)
      .first()
      .waitFor();
    await eventually(async () => expect(await namesOf(tab)).toEqual([]));
  });
});
