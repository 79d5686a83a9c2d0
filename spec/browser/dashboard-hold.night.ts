/** Measures at night how long the line of the status shows what is over in a moment. */
import { expect, onTestFinished, test } from 'vitest';
import { launchChromium } from './chromium.ts';
import { live, openDashboard } from './open-dashboard.ts';

test('the line of the status does not change with the page', async () => {
  const browser = await launchChromium();
  onTestFinished(() => browser.close());
  const { page, close } = await openDashboard(browser, { start: { objects: 300 } });
  onTestFinished(close);
  await live(page);
  const said: (readonly [text: string, afterMs: number])[] = [];
  await page.exposeFunction('said', (...words: [string, number]) => said.push(words));
  await page.evaluate(() => {
    const status = document.querySelector('[data-testid=status]');
    let clickedMs = 0;
    addEventListener('click', () => (clickedMs = performance.now()), true);
    const { said: say } = globalThis as unknown as { said(text: string, afterMs: number): void };
    const tell = () => say(status?.textContent ?? '', performance.now() - clickedMs);
    if (status)
      new MutationObserver(tell).observe(status, {
        subtree: true,
        childList: true,
        characterData: true,
      });
  });
  for (const kind of ['Nodes', 'Services', 'Jobs']) {
    await page.getByRole('link', { name: kind, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: kind }).waitFor();
    await live(page);
  }
  // A wait of a second is shown, and a slow machine may have one.
  const isFlicker = ([text, afterMs]: (typeof said)[number]) =>
    /Waiting for a connection|since/.test(text) && afterMs < 1_000;
  expect(said.filter(isFlicker)).toEqual([]);
});
