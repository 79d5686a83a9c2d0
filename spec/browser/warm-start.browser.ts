/** Tests informers that keep their objects in the IndexedDB of a real Chromium. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer, type Served } from 'rx-informer/testing';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isGate } from '../support/gate.ts';
import { eventually } from '../support/patience.ts';
import { launchProfile } from './chromium.ts';
import { informerScript } from './informer-script.ts';
import type { PersistPage } from './persist-page.ts';

declare const page: PersistPage;

let script: string;
let server: FakeApiServer;
let served: Served;
let folder: string;
let context: BrowserContext;

const podOf = (at: number) => ({
  metadata: { namespace: 'shop', name: `pod-${at}`, annotations: { note: 'x'.repeat(2_000) } },
});

beforeAll(async () => {
  script = await informerScript('persist-page.ts');
});
beforeEach(async () => {
  server = createFakeApiServer();
  for (let at = 0; at < 3; at++) server.objects.create(pods, podOf(at));
  served = await server.serve();
  folder = await mkdtemp(join(tmpdir(), 'profile-'));
  context = await launchProfile(folder);
});
afterEach(async () => {
  await context.close();
  await served.close();
  await rm(folder, { recursive: true, force: true });
});

async function openTab(): Promise<Page> {
  const tab = await context.newPage();
  // Its writes wait for timers, which a test can move.
  await tab.clock.install();
  await tab.goto(`${served.url}/healthz`);
  await tab.addScriptTag({ content: script });
  return tab;
}

async function startedTab(...of: Parameters<PersistPage['start']>): Promise<Page> {
  const tab = await openTab();
  await tab.evaluate((given) => page.start(...given), of);
  await tab.evaluate(() => page.synced());
  return tab;
}

const countsOf = (tab: Page) => tab.evaluate(() => page.counts());
const seenIn = (tab: Page) => tab.evaluate(() => page.seen());
const versionsIn = (tab: Page) => tab.evaluate(() => page.versions());
const storedIn = (tab: Page, objects: number) =>
  eventually(async () => expect(await countsOf(tab)).toMatchObject({ collections: 1, objects }));
const versionsOnServer = () =>
  Object.fromEntries(
    server.objects.list(pods).map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
  );
/** The lists of the collection since the last call. */
function listsOf(): number {
  const lists = server.requests.filter(
    ({ path, query }) =>
      path === '/api/v1/pods' &&
      query['limit'] !== '1' &&
      (query['watch'] === undefined || query['sendInitialEvents'] === 'true'),
  );
  server.clearRequests();
  return lists.length;
}

describe('a database of Chromium', () => {
  it('P27: has the objects after a reload, and in a new process of the browser', async () => {
    const first = await startedTab();
    await storedIn(first, 3);
    await first.close();
    await context.close();
    context = await launchProfile(folder);
    server.objects.create(pods, podOf(7));
    listsOf();
    const second = await startedTab();
    expect((await seenIn(second)).statuses).toEqual(['loading', 'stale', 'synced']);
    expect(await versionsIn(second)).toEqual(versionsOnServer());
    await storedIn(second, 4);
    await second.reload();
    await second.addScriptTag({ content: script });
    await second.evaluate(() => page.start());
    await second.evaluate(() => page.synced());
    expect((await seenIn(second)).statuses).toContain('stale');
    expect(listsOf()).toBe(0);
    expect((await seenIn(second)).warnings).toEqual([]);
  });

  it('P27: is as before or as after a write during which the page is closed', async () => {
    let tab = await startedTab();
    await storedIn(tab, 3);
    for (const [at, written] of [0, 1, 700, 1_500].entries()) {
      const writes = tab.waitForEvent('console', (message) => message.text() === 'writes');
      await tab.evaluate((count) => {
        const { put } = IDBObjectStore.prototype;
        let puts = 0;
        IDBObjectStore.prototype.put = function (...of) {
          if (++puts === count) console.log('writes');
          return put.apply(this, of);
        };
        if (count === 0) console.log('writes');
      }, written);
      for (let pod = 0; pod < 1_500; pod++) {
        server.objects.create(pods, podOf(10_000 * (at + 1) + pod));
      }
      await writes;
      await tab.close();
      tab = await startedTab();
      expect(await versionsIn(tab)).toEqual(versionsOnServer());
      expect((await seenIn(tab)).warnings).toEqual([]);
    }
  });

  it('P28: is written by one of two tabs, and by the other one when that is closed', async () => {
    const first = await startedTab();
    await storedIn(first, 3);
    const second = await startedTab();
    server.objects.create(pods, podOf(8));
    await storedIn(first, 4);
    await first.close();
    server.objects.create(pods, podOf(9));
    await storedIn(second, 5);
    expect((await seenIn(second)).warnings).toEqual([]);
  });

  it('P28: is written by the newer of two programs', async () => {
    const older = await startedTab('ann', '1');
    await storedIn(older, 3);
    const newer = await startedTab('ann', '2');
    await eventually(async () =>
      expect(await newer.evaluate(() => page.writtenBy())).toEqual(['2']),
    );
    const oldest = await startedTab('ann', '1');
    // Time in which the older programs could write.
    for (const tab of [older, oldest, newer]) await tab.clock.runFor(1_500);
    await newer.close();
    await older.close();
    const next = await startedTab('ann', '2');
    expect((await seenIn(next)).statuses).toContain('stale');
  });

  it('P29: is emptied for all tabs when a user signs out, and for the next user', async () => {
    const tabs = [await startedTab(), await startedTab()] as const;
    await storedIn(tabs[0], 3);
    await tabs[1].evaluate(() => page.forget());
    const empty = { state: 0, collections: 0, objects: 0 };
    expect(await countsOf(tabs[0])).toEqual(empty);
    server.objects.create(pods, podOf(5));
    for (const tab of tabs) await tab.clock.runFor(2_500);
    expect(await countsOf(tabs[0])).toEqual(empty);
    for (const tab of tabs) await tab.close();
    const hers = await startedTab();
    await storedIn(hers, 4);
    const his = await startedTab('bob');
    expect((await seenIn(his)).statuses).not.toContain('stale');
    await storedIn(his, 4);
    server.objects.create(pods, podOf(6));
    await storedIn(his, 5);
  });

  it('P30: can be upgraded and deleted by another tab at once, and the start after it is right', async () => {
    const first = await startedTab();
    await storedIn(first, 3);
    const second = await openTab();
    await second.evaluate(() => page.replaceDatabase(0));
    server.objects.create(pods, podOf(4));
    await first.clock.runFor(2_500);
    await second.evaluate(() => page.replaceDatabase(9));
    await second.evaluate(() => page.start());
    await second.evaluate(() => page.synced());
    expect(await versionsIn(second)).toEqual(versionsOnServer());
    expect((await seenIn(second)).warnings).toEqual([expect.stringContaining('less than')]);
  });

  const damages: readonly [string, string, (value: never) => unknown][] = [
    ['lacks an object', 'objects', () => undefined],
    ['has an object that is no JSON', 'objects', () => new Uint8Array([123, 0, 255])],
    ['has something else in place of an object', 'objects', () => ({ metadata: {} })],
    ['has an object without a name', 'objects', () => new TextEncoder().encode('{"a":1}')],
    ['has null in place of an object', 'objects', () => new TextEncoder().encode('null')],
    ['has a record of other types', 'collections', () => ({ head: {}, count: 'x' })],
    [
      'has names of prototypes in its record',
      'collections',
      () => JSON.parse('{"__proto__":{"head":""},"constructor":1}'),
    ],
  ];
  it.each(isGate ? damages.slice(0, 2) : damages)(
    'P30: that %s is not used, which is said once',
    async (_what, store, change) => {
      const first = await startedTab();
      await storedIn(first, 3);
      await first.evaluate(() => page.stop());
      // The function is sent as its text.
      const text = `page.damage(${JSON.stringify(store)}, ${String(change)})`;
      await first.evaluate(text);
      await first.close();
      listsOf();
      const second = await startedTab();
      expect(await versionsIn(second)).toEqual(versionsOnServer());
      expect((await seenIn(second)).warnings).toHaveLength(1);
      expect(listsOf()).toBe(1);
      await storedIn(second, 3);
    },
  );

  it('P30: that is full, and a browser without one, start with a list and say so once', async () => {
    const tab = await openTab();
    const cdp = await context.newCDPSession(tab);
    const origin = new URL(served.url).origin;
    await cdp.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 20_000 });
    for (let at = 10; at < 500; at++) server.objects.create(pods, podOf(at));
    await tab.evaluate(() => page.start());
    await tab.evaluate(() => page.synced());
    await eventually(async () =>
      expect((await seenIn(tab)).warnings).toEqual([expect.stringContaining('cannot be written')]),
    );
    expect(await versionsIn(tab)).toEqual(versionsOnServer());
    await eventually(async () => expect((await countsOf(tab))['collections']).toBe(0));
    await context.addInitScript(() => {
      Object.defineProperty(globalThis, 'indexedDB', { value: undefined });
    });
    const without = await startedTab();
    expect((await seenIn(without)).warnings).toEqual([expect.stringContaining('no IndexedDB')]);
    expect(await versionsIn(without)).toEqual(versionsOnServer());
  });
});
