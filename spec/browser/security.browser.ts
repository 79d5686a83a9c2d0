/**
 * Tests the dashboard with hostile objects in the cluster: their content is shown as text and does not break the
 * layout.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Dashboard, startDashboard } from '../../examples/dashboard/dashboard.ts';
import type { EmbeddedCluster } from '../../examples/dashboard/embedded-cluster.ts';
import { eventually } from '../support/patience.ts';
import { keepScreenshot, launchChromium } from './chromium.ts';
import { podsOf } from './open-dashboard.ts';

interface Watched extends Window {
  violations: string[];
}

let browser: Browser;
let dashboard: Dashboard | undefined;
let complaints: string[];

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  await dashboard?.close();
  dashboard = undefined;
});

async function openDashboard(
  prepare: (cluster: EmbeddedCluster) => void = () => undefined,
): Promise<{ page: Page; cluster: EmbeddedCluster }> {
  const options = { port: 0, open: false, embedded: true, seed: 1, objects: 20, rate: 0 };
  dashboard = await startDashboard(options, () => undefined);
  const cluster = dashboard.embedded;
  if (cluster === undefined) throw new Error('no embedded cluster');
  prepare(cluster);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  complaints = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // The faults make requests fail, so failed requests are expected.
    if (message.type() !== 'error' || message.text().startsWith('Failed to load')) return;
    complaints.push(message.text());
  });
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.addInitScript(() => {
    const here = window as unknown as Watched;
    here.violations = [];
    document.addEventListener('securitypolicyviolation', (event) =>
      here.violations.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`),
    );
  });
  await page.goto(`${dashboard.url}?panel=server`);
  await page.locator('[data-testid=status][data-tone=live]').waitFor();
  return { page, cluster };
}

const violations = (page: Page) =>
  page.evaluate(() => (window as unknown as Watched).violations.slice());

describe('the policy of the page', () => {
  test('blocks no part of the page, and blocks injected scripts', async () => {
    const { page } = await openDashboard();
    await page.getByRole('button', { name: /Switch to/ }).click();
    await page.getByRole('button', { name: 'Restarts' }).click();
    await page.getByRole('textbox', { name: /Filter/ }).fill('a');
    await page.locator('[data-uid]').first().click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.locator('[data-fault=drop]').click();
    await eventually(async () =>
      expect(await page.getByTestId('log').locator('li').count()).toBeGreaterThan(2),
    );
    expect(await violations(page)).toEqual([]);
    expect(complaints).toEqual([]);
    // Shows that the listener receives violations and that the policy is effective.
    await page.evaluate(() => {
      document.body.insertAdjacentHTML(
        'beforeend',
        `<img src="x" onerror="document.title='hacked'"><iframe src="/"></iframe>`,
      );
      const script = document.createElement('script');
      script.textContent = 'document.title = "hacked"';
      document.body.append(script);
      const foreign = document.createElement('script');
      foreign.src = 'http://127.0.0.1:1/evil.js';
      document.body.append(foreign);
    });
    for (const directive of ['script-src-elem: inline', 'script-src-attr: inline', 'evil.js']) {
      await eventually(async () =>
        expect((await violations(page)).join('\n')).toContain(directive),
      );
    }
    expect(await page.title()).not.toBe('hacked');
  });

  test('prevents other pages from reading the dashboard or showing it in a frame', async () => {
    const { page } = await openDashboard();
    const url = dashboard?.url ?? '';
    const other = await page.context().newPage();
    await other.goto('data:text/html,<body></body>');
    const seen = await other.evaluate(async (address) => {
      const read = await fetch(`${address}api/v1/pods`).then(String, (error: Error) => error.name);
      const frame = document.createElement('iframe');
      frame.src = address;
      const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
      document.body.append(frame);
      await loaded;
      return { read, inside: frame.contentDocument === null };
    }, url);
    expect(seen).toEqual({ read: 'TypeError', inside: true });
    const framed = other.frames().find((frame) => frame !== other.mainFrame());
    expect(await framed?.evaluate(() => document.querySelector('#root'))).toBeNull();
  });
});

const OVERRIDE = '\u202e';
const payloads = [
  `<script>document.title='hacked'</script>`,
  `<img src=x onerror="document.title='hacked'">`,
  `"><svg/onload=document.title='hacked'>`,
  `javascript:document.title='hacked'`,
  `<style>*{display:none}</style><base href="//evil.example/">`,
  `&lt;b&gt;&#x3c;i&#x3e;`,
  `${OVERRIDE}gpj.exe`,
  '{{constructor.constructor("document.title=1")()}}',
  '__proto__',
  'constructor',
  'toString',
];

describe('the content of a cluster', () => {
  test('is shown as text everywhere', async () => {
    const { page } = await openDashboard((cluster) => {
      payloads.forEach((payload, at) => {
        podsOf(cluster).create({
          metadata: {
            name: `0${at}-${payload}`,
            namespace: payload,
            labels: JSON.parse(`{"__proto__":${JSON.stringify(payload)}}`),
            annotations: { note: payload, [payload]: 'value' },
            ownerReferences: [
              { apiVersion: 'v1', kind: payload, name: payload, uid: 'u', controller: true },
            ],
          },
          spec: { nodeName: payload, containers: [{ name: payload, image: payload }] },
          status: {
            phase: 'Pending',
            podIP: payload,
            containerStatuses: [
              {
                name: payload,
                image: payload,
                imageID: '',
                ready: false,
                restartCount: 0,
                state: { waiting: { reason: payload, message: payload } },
              },
            ],
          },
        });
      });
    });
    const title = await page.title();
    for (const [at, payload] of payloads.entries()) {
      const row = page.locator('[data-uid]', { hasText: `0${at}-` });
      const cells = row.locator(':is([data-column=name], [data-column=namespace])');
      await eventually(async () =>
        expect(await cells.allTextContents()).toEqual([`0${at}-${payload}`, payload]),
      );
      await row.click();
      const details = page.getByTestId('details');
      await details.getByText('value', { exact: true }).waitFor();
      // The payload appears as namespace, node, owner (twice), image, message, container, label, annotation and its
      // name.
      await eventually(async () => {
        const text = (await details.textContent()) ?? '';
        expect(text.split(payload).length - 1, payload).toBeGreaterThanOrEqual(10);
        expect(text).toContain('__proto__');
      });
      await page.keyboard.press('Escape');
      await details.waitFor({ state: 'detached' });
    }
    expect(await page.locator('img, iframe, base, #root script').count()).toBe(0);
    const styles = await page.locator('style').allTextContents();
    expect(styles.join()).not.toContain('*{display:none}');
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    expect(await page.title()).toBe(title);
    const polluted = await page.evaluate(() => [
      Object.keys(Object.prototype),
      typeof {}.toString,
      Object.getPrototypeOf({}) === Object.prototype,
    ]);
    expect(polluted).toEqual([[], 'function', true]);
    await page.locator('[data-testid=truth][data-equal=true]').waitFor();
    expect(await violations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('keeps the layout, with texts of any length and direction', async () => {
    const long = 'x'.repeat(100_000);
    const { page } = await openDashboard((cluster) => {
      for (const [at, text] of [long, OVERRIDE.repeat(50), `\u05d0${OVERRIDE}abc`].entries()) {
        podsOf(cluster).create({
          metadata: { name: `0${at}${text}`, namespace: text, annotations: { note: text } },
          spec: { nodeName: text, containers: [{ name: 'main', image: text }] },
          status: { phase: text },
        });
      }
    });
    await page.locator('[data-uid]').nth(7).waitFor();
    const boxesOfRows = () =>
      page.locator('[data-uid]').evaluateAll((rows) =>
        rows.slice(0, 8).map((row) => {
          const { height } = row.getBoundingClientRect();
          const cells = [...row.querySelectorAll('[role=gridcell]')];
          return [height, ...cells.map((cell) => Math.round(cell.getBoundingClientRect().left))];
        }),
      );
    await eventually(async () => {
      const boxes = await boxesOfRows();
      expect(boxes).toHaveLength(8);
      for (const box of boxes) expect(box).toEqual(boxes[0]);
    });
    const row = page.locator('[data-uid]', { hasText: '00x' });
    await row.click();
    const details = page.getByTestId('details');
    await details.waitFor();
    const widths = () =>
      page.evaluate(() => {
        const { scrollWidth } = document.documentElement;
        const drawer = document.querySelector('[data-testid=details]');
        return [
          scrollWidth - window.innerWidth,
          (drawer?.scrollWidth ?? 1) - (drawer?.clientWidth ?? 0),
        ];
      });
    // Neither the page nor the details scroll horizontally, once all of the details are shown.
    await details.getByText('note', { exact: true }).first().waitFor();
    await eventually(async () => expect(Math.max(...(await widths()))).toBeLessThanOrEqual(0));
    await keepScreenshot(page, 'long-names');
    expect(await violations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
