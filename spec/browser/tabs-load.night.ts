/**
 * Tests three tabs over one worker with 35,000 Pods and 1,000 changes a second, and twenty tabs of which fifteen are hidden. It
 * judges the work of the pages (CPU time of tasks, memory), which other programs on the computer do not change.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { setTimeout as pass } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type Pod, pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer, type Served } from 'rx-informer/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { eventually } from '../support/patience.ts';
import { launchChromium } from './chromium.ts';
import { atRate } from './steady-rate.ts';
import { longTasksOf, measureCalm } from './thread-time.ts';
import { publish, type RunningProject } from './vite-project.ts';

const PODS = 35_000;
const RATE = 1_000;
/** The variable shortens the measurement. */
const SECONDS = Math.min(30, Number(process.env['LOAD_SECONDS'] ?? '30'));

const WORKER = `
import { createClient, createInformerFactory } from 'rx-informer';
import { serveQueries } from 'rx-informer/worker';
const served = serveQueries({
  createFactory: ({ fetch, demand }) =>
    createInformerFactory(createClient({ baseUrl: '', fetch }), { demand }),
});
new BroadcastChannel('count').onmessage = ({ data }) => {
  if (data === 'count') new BroadcastChannel('counts').postMessage(served.counts);
};
`;
const MAIN = `
import { liveQuery } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { connectWorker } from 'rx-informer/worker';
const columns = { name: 'metadata.name', phase: 'status.phase', node: 'spec.nodeName' };
const byName = { path: 'metadata.name' };
const QUERIES = [
  { select: columns, orderBy: byName, limit: 50 },
  { select: columns, orderBy: { ...byName, direction: 'desc' }, limit: 50, offset: 100 },
  { select: columns, where: { path: 'status.phase', eq: 'Failed' }, orderBy: byName, limit: 50 },
  { select: { name: 'metadata.name' }, where: { path: 'spec.nodeName', eq: 'node-7' } },
  { orderBy: byName, limit: 20 },
];
const shown = document.createElement('pre');
document.body.append(shown);
globalThis.notified = 0;
globalThis.open = () => {
  const cluster = connectWorker({
    identity: 'ann',
    shared: () => new SharedWorker(new URL('./cluster.worker.ts', import.meta.url), { type: 'module' }),
  });
  globalThis.views = QUERIES.map((query) => {
    const view = cluster.view(liveQuery({ from: pods, ...query }));
    view.subscribe(() => {
      globalThis.notified++;
      shown.textContent = globalThis.views?.map((each) => each.getSnapshot().total).join(' ');
    });
    return view;
  });
};
globalThis.snapshots = () => globalThis.views.map((view) => {
  const { rows, total, synced } = view.getSnapshot();
  return { synced, total, rows: rows.map((row) => row.name ?? row.metadata.name + ' ' + row.status.phase) };
});
`;

declare const open: () => void;
/** How often the views of the page have called a listener. */
declare const notified: number;
declare const snapshots: () => readonly {
  readonly synced: boolean;
  readonly total: number;
  readonly rows: readonly string[];
}[];

const PHASES = ['Running', 'Pending', 'Succeeded', 'Failed', 'Unknown'];

function podOf(at: number): Pod {
  return {
    metadata: {
      namespace: `ns-${at % 50}`,
      name: `pod-${String(at).padStart(6, '0')}`,
      labels: { app: `app-${at % 200}`, tier: `tier-${at % 3}` },
      annotations: { note: 'x'.repeat(300) },
    },
    spec: { nodeName: `node-${at % 100}`, containers: [{ name: 'main', image: 'shop/main:1' }] },
    status: { phase: PHASES[at % PHASES.length] ?? '', conditions: [] },
  };
}

/** What each query of the page shows of these Pods. */
function expectedOf(all: readonly Pod[]) {
  const sorted = all.toSorted((a, b) =>
    (a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1,
  );
  const namesOf = (some: readonly Pod[]) => some.map(({ metadata }) => metadata?.name ?? '');
  const failed = sorted.filter(({ status }) => status?.phase === 'Failed');
  const ofNode = sorted.filter(({ spec }) => spec?.nodeName === 'node-7');
  const whole = sorted
    .slice(0, 20)
    .map(({ metadata, status }) => `${metadata?.name} ${status?.phase}`);
  return [
    { synced: true, total: all.length, rows: namesOf(sorted.slice(0, 50)) },
    { synced: true, total: all.length, rows: namesOf(sorted.toReversed().slice(100, 150)) },
    { synced: true, total: failed.length, rows: namesOf(failed.slice(0, 50)) },
    { synced: true, total: ofNode.length, rows: namesOf(ofNode) },
    { synced: true, total: all.length, rows: whole },
  ];
}

let browser: Browser;
let server: FakeApiServer;
let served: Served;
let running: RunningProject;
let context: BrowserContext;
let changes = 0;
let seed = 1;

/** Changes Pods at a steady rate until the returned function is called. */
function change(): () => void {
  const all = server.objects.list(pods);
  return atRate(RATE, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    const at = seed % all.length;
    const pod = all[at] as Pod;
    // An update to the phase that a Pod has already would not be a change.
    const next = PHASES.indexOf(pod.status?.phase ?? '') + 1;
    const status = { ...pod.status, phase: PHASES[next % PHASES.length] ?? '' };
    const changed = server.objects.update(pods, { ...pod, status });
    if (changed.metadata?.resourceVersion !== pod.metadata?.resourceVersion) changes++;
    all[at] = changed;
  });
}

async function openTab(): Promise<Page> {
  const tab = await context.newPage();
  await tab.goto(running.url);
  return tab;
}

/** Chromium without a window shows all pages, so a page is told that it is hidden or shown. */
const turn = (tab: Page, state: 'hidden' | 'visible') =>
  tab.evaluate((visibilityState) => {
    Object.defineProperty(document, 'visibilityState', {
      configurable: true,
      get: () => visibilityState,
    });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);

async function heapMb(tab: Page): Promise<number> {
  const cdp = await context.newCDPSession(tab);
  await cdp.send('HeapProfiler.collectGarbage');
  const { usedSize } = await cdp.send('Runtime.getHeapUsage');
  await cdp.detach();
  return usedSize / 1e6;
}

const countsOf = (tab: Page) =>
  tab.evaluate(
    () =>
      new Promise<{ tabs: number; pipelines: number }>((resolve) => {
        new BroadcastChannel('counts').onmessage = ({ data }) => resolve(data as never);
        new BroadcastChannel('count').postMessage('count');
      }),
  );

const rowsOf = (tab: Page) => tab.evaluate(() => snapshots());

beforeAll(async () => {
  browser = await launchChromium();
  context = await browser.newContext();
  server = createFakeApiServer({ historyLimit: 20_000, resources: [pods] as never });
  for (let at = 0; at < PODS; at++) server.objects.create(pods, podOf(at));
  const port = await freePort();
  served = await server.serve({ port });
  const root = fileURLToPath(new URL('./dist/tabs-load/', import.meta.url));
  await mkdir(`${root}src`, { recursive: true });
  await writeFile(
    `${root}index.html`,
    '<!doctype html><link rel="icon" href="data:," /><body><script type="module" src="/src/main.ts"></script>',
  );
  await writeFile(`${root}src/main.ts`, MAIN);
  await writeFile(`${root}src/cluster.worker.ts`, WORKER);
  await writeFile(
    `${root}vite.config.ts`,
    `export default { worker: { format: 'es' }, preview: { proxy: { '/api': 'http://127.0.0.1:${port}' } } };`,
  );
  running = await publish(root);
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await running?.[Symbol.asyncDispose]();
  await served?.close();
});

describe(`tabs with ${PODS} Pods and ${RATE} changes a second`, () => {
  it('B1: three share one list, one watch and one pipeline for each query, take no long task, and are right within two seconds', async () => {
    const tabs = [await openTab(), await openTab(), await openTab()] as [Page, Page, Page];
    const empty = await heapMb(tabs[0]);
    for (const tab of tabs) await tab.evaluate(() => open());
    for (const tab of tabs) {
      await eventually(async () =>
        expect((await rowsOf(tab)).every(({ synced }) => synced)).toBe(true),
      );
    }
    const stop = change();
    await pass(2_000);
    const before = changes;
    const report = await measureCalm(browser, tabs[0], () => pass(SECONDS * 1_000));
    stop();
    const made = changes - before;
    const areRight = async () => {
      const expected = expectedOf(server.objects.list(pods));
      const from = performance.now();
      for (const tab of tabs) {
        await eventually(async () => expect(await rowsOf(tab)).toEqual(expected));
      }
      return performance.now() - from;
    };
    const limitMs = 2_000 * report.slowness;
    let lateMs = await areRight();
    for (let again = 0; again < 2 && lateMs >= limitMs; again++) {
      const end = change();
      await pass(2_000);
      end();
      lateMs = await areRight();
    }
    const heaps = await Promise.all(tabs.map(heapMb));
    process.stdout.write(
      `${Math.round(made / report.seconds)} changes a second; longest task ${report.longestCpuMs.toFixed(0)} ms of CPU, ` +
        `${((report.cpuMs * 1000) / made).toFixed(1)} µs of the busiest main thread a change; right after ${lateMs.toFixed(0)} ms; ` +
        `heap ${empty.toFixed(1)} MB empty, ${heaps.map((mb) => mb.toFixed(1)).join(', ')} MB\n`,
    );
    const requests = server.requests.filter(({ path }) => path === '/api/v1/pods');
    // A streaming list is the first part of the watch.
    expect(requests.filter(({ use }) => use === 'list').length).toBeLessThanOrEqual(1);
    expect(requests.filter(({ use }) => use === 'watch').length).toBe(1);
    expect(await countsOf(tabs[0])).toEqual({ tabs: 3, pipelines: 5 });
    expect(report.longTasks, longTasksOf(report)).toEqual([]);
    expect(lateMs).toBeLessThan(limitMs);
    for (const mb of heaps) expect(mb - empty).toBeLessThan(30);
    for (const tab of tabs) await tab.close();
  }, 420_000);

  it('B9: of twenty tabs the fifteen hidden ones receive nothing, and one set when they are shown', async () => {
    const tabs = await Promise.all(Array.from({ length: 20 }, openTab));
    const visible = tabs.slice(0, 5);
    const hidden = tabs.slice(5);
    for (const tab of tabs) await tab.evaluate(() => open());
    const isSynced = async (tab: Page) => (await rowsOf(tab)).every(({ synced }) => synced);
    for (const tab of tabs) await eventually(async () => expect(await isSynced(tab)).toBe(true));
    for (const tab of hidden) await turn(tab, 'hidden');
    const stop = change();
    const countOf = (tab: Page) => tab.evaluate(() => notified);
    const countsOfHidden = () => Promise.all(hidden.map(countOf));
    // What was on its way to a tab when it was hidden still arrives.
    let former: readonly number[] = [];
    const isSettled = async () => {
      const [before, now] = [former, await countsOfHidden()];
      former = now;
      return String(now) === String(before);
    };
    await eventually(async () => expect(await isSettled()).toBe(true));
    const before = await Promise.all(tabs.map(countOf));
    await pass(3_000);
    // Chromium gives frames to the page in front; others may wait for one.
    for (const [at, tab] of visible.entries()) {
      await tab.bringToFront();
      await eventually(async () => expect(await countOf(tab)).toBeGreaterThan(before[at] ?? 0));
    }
    expect(await countsOfHidden()).toEqual(before.slice(5));
    stop();
    // The pipelines are those of the queries, however many tabs ask them.
    expect(await countsOf(visible[0] as Page)).toEqual({ tabs: 20, pipelines: 5 });
    const expected = expectedOf(server.objects.list(pods));
    const right = async (tab: Page) => {
      await tab.bringToFront();
      await eventually(async () => expect(await rowsOf(tab)).toEqual(expected));
    };
    for (const tab of visible) await right(tab);
    const waking = hidden[0] as Page;
    expect(await rowsOf(waking)).not.toEqual(expected);
    const asleep = await countOf(waking);
    await turn(waking, 'visible');
    await right(waking);
    // Once for each of the five queries.
    expect((await countOf(waking)) - asleep).toBeLessThanOrEqual(5);
    for (const tab of tabs) await tab.close();
  }, 420_000);
});
