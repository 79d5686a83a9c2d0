/** Tests the React hooks in Chromium, with React 18.3 and 19, with and without the React Compiler. The scenarios run within the page, with a fake API server. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isGate } from '../support/gate.ts';
import { launchChromium } from './chromium.ts';
import { reactScript } from './react/react-script.ts';
import type { Scenarios } from './react/scenarios.ts';

declare const scenarios: Scenarios;

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

/** In the gate the lives of pages in spec/react/pages, which run with both versions, stand for those without the compiler. */
const VERSIONS = [...(isGate ? [] : (['18.3', '19'] as const)), '19 and its compiler'] as const;

describe.each(VERSIONS)('React %s', (version) => {
  let script: string;
  let page: Page;
  const errors: string[] = [];
  beforeAll(async () => {
    script = await reactScript(version);
  });
  beforeEach(async () => {
    errors.length = 0;
    page = await browser.newPage();
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
    });
    await page.setContent('<!doctype html><title>hooks</title>');
    await page.addScriptTag({ content: script });
  });
  afterEach(async () => {
    await page.close();
    expect(errors).toEqual([]);
  });

  it('V1: is the version that the page has', async () => {
    expect(version).toContain((await page.evaluate(() => scenarios.reactVersion())).split('.')[0]);
  });

  it.each([0, 30_000])('V2: StrictMode opens one watch (linger %d ms)', async (lingerMs) => {
    const { mounted, requests } = await page.evaluate(
      (linger) => scenarios.strictMode({ isStrict: true, lingerMs: linger }),
      lingerMs,
    );
    expect(mounted).toEqual({ watches: 1, open: 1 });
    expect(requests).toEqual(['list', 'watch']);
  });

  it.skipIf(version === '18.3').each([true, false])(
    'V2: a hidden <Activity> closes its watch after the linger, and shows the present rows when it is visible again (StrictMode %s)',
    async (isStrict) => {
      const { hidden, open, shown } = await page.evaluate(
        (strict) => scenarios.hiddenActivity({ isStrict: strict, lingerMs: 100 }),
        isStrict,
      );
      expect(hidden).toBe('one true');
      expect(open).toBe(1);
      expect(shown.filter((names) => names !== '')).toEqual(['one', 'one,two']);
    },
  );

  it('V3: one changed object of 1,000 renders one row and the container', async () => {
    const { rendered, containers } = await page.evaluate(() => scenarios.oneOfThousand());
    expect(rendered).toEqual(['pod-0500']);
    expect(containers).toBe(1);
  });

  it('V4: on changed arguments the old rows stand, marked stale, until the new answer is synced', async () => {
    expect(await page.evaluate(() => scenarios.changedArguments())).toEqual([
      'web synced ',
      'web  stale',
      'gold synced ',
      '  ',
    ]);
  });

  it('V5: options written in place are compared by content', async () => {
    expect(await page.evaluate(() => scenarios.optionsInPlace())).toEqual({ watches: 1, open: 1 });
  });

  it('V6: useObject watches one object by its name, and with a uid a recreated object is gone', async () => {
    const { selectors, seen } = await page.evaluate(() => scenarios.oneObject());
    expect(selectors).toEqual(['metadata.name=web']);
    expect(seen).not.toContain('Pending');
  });

  it('V6: useObject reads the informer of a list that has the object', async () => {
    expect(await page.evaluate(() => scenarios.coveredObject())).toBe(1);
  });

  it('V7: the error that blocks is in the result and in the status', async () => {
    expect(await page.evaluate(() => scenarios.forbidden())).toBe(
      '0 false ApiError ApiError forbidden',
    );
  });

  it('V4: former rows of other columns never stand in for those of the query', async () => {
    expect(await page.evaluate(() => scenarios.changedColumns())).toEqual([
      'none stale false,Pod stale false',
      'none stale false,row stale false',
      'none stale false,PartialObjectMetadata stale false',
      // That answer lingers.
      'Pod stale false',
    ]);
  });

  it.each([true, false])(
    'V5: after the linger, a query that a page keeps begins without its former rows (suspending: %s)',
    async (suspends) => {
      const { first, last } = await page.evaluate(
        (suspending) => scenarios.keptQuery(suspending),
        suspends,
      );
      expect(first).toBe(suspends ? 'loading' : ' synced false');
      expect(last).toBe('new synced true');
    },
  );

  it.each([true, false])(
    'V17: rows of a removed informer are stale, request nothing, and continue when it is requested again (suspending: %s)',
    async (suspends) => {
      const { stopped, requests, shown, informers } = await page.evaluate(
        (suspending) => scenarios.removedInformer(suspending),
        suspends,
      );
      expect(stopped).toBe('old stale true pods/shop stopped Stopped');
      expect(requests).toBe(0);
      expect(shown).toBe('new stale false pods/shop watching Live new stale false');
      expect(informers).toEqual(['pods/shop']);
    },
  );

  it('V8: useStatus merges what the hooks read, and nothing else', async () => {
    expect(await page.evaluate(() => scenarios.mergedStatus())).toEqual({
      nothing: 'undefined undefined Starting: nothing was requested yet',
      refused: 'false false Forbidden: LIST v1/pods: no access to vault',
      left: 'true true Live',
      informer: 'true true Live',
      several: 'true true Live',
    });
  });

  it('V8: useStatus renders only if the status changes', async () => {
    expect(await page.evaluate(() => scenarios.quietStatus())).toBe(0);
  });

  it('V9: another client begins with its own informers, and those of the former one are stopped', async () => {
    expect(await page.evaluate(() => scenarios.anotherClient())).toBe(1);
  });

  it('V12, V13: an edit shows in all queries of the provider, and a refused one is rolled back with the words of the server', async () => {
    const { accepted, refused } = await page.evaluate(() => scenarios.editedTwice());
    expect(accepted.filter((text) => !text.startsWith('list 9 dear 9'))).toEqual(
      accepted.includes('list 3 dear  1 ') ? ['list 3 dear  1 '] : [],
    );
    expect(refused).toBe('list 9 dear 9 0 quota exceeded');
  });

  it.each([0, 500, 30_000])(
    'V14: a suspending hook opens one watch and follows it (linger %d ms)',
    async (lingerMs) => {
      const { watches, seen } = await page.evaluate(
        (linger) => scenarios.suspended({ isStrict: true, lingerMs: linger }),
        lingerMs,
      );
      expect(watches).toBe(1);
      expect(seen.filter((text) => text !== '')).toEqual(['loading', 'web tru', 'web,web']);
    },
  );

  it.each([0, 500])(
    'V14: a discarded render has left no subscriber and no request after the linger (%d ms)',
    async (lingerMs) => {
      const left = await page.evaluate((linger) => scenarios.discarded(linger), lingerMs);
      expect(left).toMatchObject({ open: 0, requests: 0 });
    },
  );

  it('V14: in a transition the former rows are shown until the next answer', async () => {
    expect(await page.evaluate(() => scenarios.inTransition())).toEqual(['cash true ']);
  });

  it('V14: an error that blocks the first answer reaches the error boundary, and a later try succeeds', async () => {
    await page.evaluate(() => scenarios.refused());
    expect(errors.join()).toContain('status 403');
    errors.length = 0;
  });
});
