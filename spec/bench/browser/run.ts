/**
 * Measures the decodings in Chromium: the changes that a page receives as fast as it can, and at a steady rate.
 *
 *   npm run bench -- browser [--objects 10000] [--events 40000] [--rounds 5]
 *
 * The CPU time is that of the page's main thread, of which other programs take nothing. The decodings run in turns.
 */
import { parseArgs } from 'node:util';
import { launchChromium } from '../../browser/chromium.ts';
import { informerScript } from '../../browser/informer-script.ts';
import { measureThread } from '../../browser/thread-time.ts';
import { startServer } from '../processes.ts';
import { spreadOf } from '../report.ts';
import type { MeasuredPage } from './page.ts';

declare const page: MeasuredPage;

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    objects: { type: 'string', default: '10000' },
    events: { type: 'string', default: '40000' },
    rounds: { type: 'string', default: '5' },
  },
});
const events = Number(values.events);
const steady = Math.ceil(events / 4);

/** The events of each measurement. At the steady rate they concern a thousand objects in turn. */
const plays: Readonly<Record<string, readonly [count: number, query: string]>> = {
  hot: [events, `mode=hot&events=${events}`],
  spread: [events, `mode=spread&events=${events}`],
  '1,000 a second': [steady, `mode=steady&rate=1000&objects=1000&events=${steady}`],
};

const script = await informerScript('../bench/browser/page.ts');
const browser = await launchChromium();
const results = new Map<string, { perSecond: number[]; cpuUs: number[]; longestMs: number[] }>();

/** Measures one decoding in a page of its own. */
async function measure(decoding: string, title: string): Promise<void> {
  const [count, query] = plays[title] ?? [0, ''];
  const server = await startServer(['--objects', values.objects, '--drop']);
  const tab = await browser.newPage();
  await tab.goto(`${server.url}/state`);
  await tab.addScriptTag({ content: script });
  await tab.evaluate((name) => page.start(name), decoding);
  // V8 compiles the code first.
  await tab.evaluate((warm) => page.play(warm), 'mode=hot&events=10000');
  let ms = 0;
  const { cpuMs, longestCpuMs } = await measureThread(browser, tab, async () => {
    ms = await tab.evaluate((played) => page.play(played), query);
  });
  await tab.close();
  server.close();
  const key = `${title} | ${decoding}`;
  const { perSecond, cpuUs, longestMs } = results.get(key) ?? {
    perSecond: [],
    cpuUs: [],
    longestMs: [],
  };
  perSecond.push(count / (ms / 1000));
  cpuUs.push((cpuMs * 1000) / count);
  longestMs.push(longestCpuMs);
  results.set(key, { perSecond, cpuUs, longestMs });
}

for (let round = 0; round < Number(values.rounds); round++) {
  for (const title of Object.keys(plays)) {
    for (const decoding of ['json', 'differential']) await measure(decoding, title);
  }
}
await browser.close();

process.stdout.write(
  '| events | decoding | events a second | main thread, µs an event | longest task, ms |\n|---|---|---|---|---|\n',
);
for (const [key, { perSecond, cpuUs, longestMs }] of results) {
  const cells = [perSecond, cpuUs, longestMs].map((figures) => {
    const { median, least, greatest } = spreadOf(figures);
    return `${median.toFixed(0)} (${least.toFixed(0)} to ${greatest.toFixed(0)})`;
  });
  process.stdout.write(`| ${key} | ${cells.join(' | ')} |\n`);
}
