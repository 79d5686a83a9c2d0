/**
 * The embedded cluster of `npm start`, as a process of its own with the command of package.json and without a page. The
 * memory of the process follows its changes, so ten times the rate shows in minutes what an hour would show.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { buildPage } from '../../examples/dashboard/build-page.ts';
import { mb, type PhaseResult, thousands } from './measure.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const RATE = 2000;
const MOST_MB = 300;
const READ_EVERY_MS = 5000;

function memoryMb(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) / 1024;
}

/** Runs the dashboard until its cluster has had the changes of this many minutes at 200 per second. */
export async function dashboardPhase(minutes: number): Promise<PhaseResult> {
  const changes = minutes * 60 * 200;
  // Otherwise the memory of the bundler counts.
  await buildPage();
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const [, ...command] = String(scripts.start).split(' ');
  const options = ['--embedded', '--port', '0', '--pods', '1000', '--rate', String(RATE)];
  const child = spawn(process.execPath, [...command, ...options], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    let url = '';
    for await (const line of createInterface({ input: child.stdout })) {
      url = /^Dashboard: (\S+)$/.exec(line)?.[1] ?? '';
      if (url !== '') break;
    }
    child.stdout.resume();
    const made = async () => {
      const answer = await fetch(`${url}embedded/truth?resourceVersion=0`);
      return Number(((await answer.json()) as { resourceVersion: string }).resourceVersion);
    };
    const readings: number[] = [];
    for (let now = await made(); now < changes; now = await made()) {
      await new Promise((resolve) => setTimeout(resolve, READ_EVERY_MS));
      readings.push(memoryMb(child.pid ?? 0));
    }
    const most = Math.max(...readings);
    const middle = readings[readings.length >> 1];
    return {
      phase: 'the embedded cluster of the dashboard',
      figures: [
        ['changes', thousands(await made())],
        [
          'memory at half of them, at the end, at most',
          `${mb(middle)}, ${mb(readings.at(-1))}, ${mb(most)}`,
        ],
      ],
      wrong: most > MOST_MB ? [`the process held ${mb(most)}, more than ${MOST_MB} MB`] : [],
    };
  } finally {
    child.kill('SIGINT');
    await ended;
  }
}
