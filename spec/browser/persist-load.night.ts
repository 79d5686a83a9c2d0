/**
 * Measures what it costs a page to keep 35,000 Pods in IndexedDB while 1,000 of them change a second: the CPU time of the thread
 * of the informer, beside the same page without a store. In a worker the same code runs in the worker's thread.
 */
import { setTimeout as pass } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { type Pod, pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer, type Served } from 'rx-informer/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';
import { launchChromium } from './chromium.ts';
import { informerScript } from './informer-script.ts';
import type { PersistPage } from './persist-page.ts';
import { atRate } from './steady-rate.ts';
import { longTasksOf, measureCalm, measureThread, type ThreadReport } from './thread-time.ts';

declare const page: PersistPage;

const PODS = 35_000;
const RATE = 1_000;
/** The variable shortens the measurement. */
const SECONDS = Math.min(30, Number(process.env['LOAD_SECONDS'] ?? '30'));

let browser: Browser;
let server: FakeApiServer;
let served: Served;
let script: string;

const podOf = (at: number, generation: number): Pod => ({
  metadata: {
    namespace: `ns-${at % 50}`,
    name: `pod-${at}`,
    annotations: { note: 'x'.repeat(2_000) },
  },
  spec: { nodeName: `node-${at % 100}`, containers: [{ name: 'main', image: 'shop/main:1' }] },
  status: { phase: 'Running', message: `generation ${generation}` },
});

async function syncedTab(isStored: boolean): Promise<Page> {
  const context = await browser.newContext();
  const tab = await context.newPage();
  await tab.goto(`${served.url}/healthz`);
  await tab.addScriptTag({ content: script });
  await tab.evaluate((stores) => page.start('ann', '', stores), isStored);
  await tab.evaluate(() => page.synced());
  return tab;
}

async function underLoad(tab: Page): Promise<ThreadReport> {
  const stop = atRate(RATE, (made) => server.objects.update(pods, podOf((made * 7) % PODS, made)));
  await pass(2_000);
  const report = await measureCalm(browser, tab, () => pass(SECONDS * 1_000));
  stop();
  return report;
}

const figuresOf = ({ cpuMs, seconds, longestCpuMs }: ThreadReport) =>
  `${((cpuMs / seconds / 1_000) * 100).toFixed(1)} % of a core, longest task ${longestCpuMs.toFixed(0)} ms of CPU`;

beforeAll(async () => {
  browser = await launchChromium();
  script = await informerScript('persist-page.ts');
  server = createFakeApiServer({ historyLimit: 20_000 });
  for (let at = 0; at < PODS; at++) server.objects.create(pods, podOf(at, 0));
  served = await server.serve();
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await served?.close();
});

it('P33: keeping a collection that changes 1,000 times a second costs at most a tenth of a core and takes no long task', async () => {
  const without = await syncedTab(false);
  const plain = await underLoad(without);
  await without.context().close();

  const tab = await syncedTab(true);
  const isComplete = async () => (await tab.evaluate(() => page.counts()))['objects'] === PODS;
  const first = await measureThread(browser, tab, () =>
    eventually(async () => expect(await isComplete()).toBe(true)),
  );
  const stored = await underLoad(tab);
  process.stdout.write(
    `without a store ${figuresOf(plain)}; with one ${figuresOf(stored)}; the first write ${first.cpuMs.toFixed(0)} ms of CPU in ${first.seconds.toFixed(1)} s, longest task ${first.longestCpuMs.toFixed(0)} ms\n`,
  );
  const shareOf = ({ cpuMs, seconds }: ThreadReport) => cpuMs / (seconds * 1_000);
  const slowness = Math.max(stored.slowness, plain.slowness);
  expect(shareOf(stored) - shareOf(plain)).toBeLessThanOrEqual(0.1 * slowness);
  for (const report of [first, stored]) {
    expect(report.longTasks, longTasksOf(report)).toEqual([]);
  }
  await tab.context().close();
}, 420_000);
