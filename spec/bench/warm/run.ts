/**
 * Compares a start from the files of `fileSnapshots` with a start from a list, in turns, each in a process of its own, and prints
 * a table of medians:
 *
 *   npm run bench -- warm [--objects 50000] [--rounds 5] [--only json,differential] [--managed-fields with]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { nodeCommand } from '../contestants/contestants.ts';
import { runProcess, startServer } from '../processes.ts';
import { spreadOf } from '../report.ts';
import type { Start } from './start.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    objects: { type: 'string', default: '50000' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: 'json,differential' },
    'managed-fields': { type: 'string', default: 'without' },
  },
});
const command = nodeCommand(process.execPath, '../warm/start.ts');
const base = mkdtempSync(join(tmpdir(), 'bench-warm-'));
const server = await startServer([
  '--objects',
  values.objects,
  '--managed-fields',
  values['managed-fields'],
]);

async function start(from: string, decoding: string, folder: string): Promise<Start> {
  const args = ['--url', server.url, '--from', from, '--decoding', decoding, '--folder', folder];
  const result = await runProcess<Start>(command, args, 300_000);
  if (result?.objects !== server.objects) throw new Error(`${decoding} from ${from} failed`);
  return result;
}

const text = (figures: readonly number[]) => {
  const { median, least, greatest } = spreadOf(figures);
  return `${median.toFixed(0)} (${least.toFixed(0)} to ${greatest.toFixed(0)})`;
};

try {
  const decodings = values.only.split(',');
  const results = new Map<string, Start[]>();
  for (const decoding of decodings) await start('nothing', decoding, join(base, decoding));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const decoding of decodings) {
      for (const from of ['list', 'files']) {
        const key = `${decoding} ${from}`;
        const result = await start(from, decoding, join(base, decoding));
        results.set(key, [...(results.get(key) ?? []), result]);
      }
    }
  }
  console.log(
    '| decoding | CPU of a list, ms | CPU from files, ms | ratio | ready after a list, ms | ready from files, ms |\n|---|---|---|---|---|---|',
  );
  for (const decoding of decodings) {
    const of = (from: string, figure: 'cpuMs' | 'readyMs') =>
      (results.get(`${decoding} ${from}`) ?? []).map((each) => each[figure]);
    const ratio = spreadOf(of('files', 'cpuMs')).median / spreadOf(of('list', 'cpuMs')).median;
    const cells = [
      ...[text(of('list', 'cpuMs')), text(of('files', 'cpuMs')), `${ratio.toFixed(2)} ×`],
      ...[text(of('list', 'readyMs')), text(of('files', 'readyMs'))],
    ];
    console.log(`| ${decoding} | ${cells.join(' | ')} |`);
  }
} finally {
  server.close();
  rmSync(base, { recursive: true });
}
