/**
 * Runs the contestants alternately against one synthetic server and prints medians and ratios to the floor.
 *
 *   npm run bench -- [--objects 50000] [--events 200000] [--rounds 5] [--short] [--only floor,ours] [--assert]
 *
 * Absolute figures depend on the machine; the ratios of one run can be compared. `--assert` exits with 1 if a budget
 * is exceeded.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Result } from './contestant.ts';
import { budgetLines, median, table } from './table.ts';

// As in production, where objects are not frozen.
process.env.NODE_ENV ??= 'production';

const { values } = parseArgs({
  options: {
    objects: { type: 'string' },
    events: { type: 'string' },
    rounds: { type: 'string' },
    only: { type: 'string', default: 'floor,ours,client-node' },
    short: { type: 'boolean', default: false },
    assert: { type: 'boolean', default: false },
  },
});
const objects = values.objects ?? (values.short ? '10000' : '50000');
const events = values.events ?? (values.short ? '40000' : '200000');
const rounds = Number(values.rounds ?? (values.short ? 3 : 5));
const paced = values.short ? '10000' : '25000';
const contestants = values.only.split(',');

function node(file: string, args: readonly string[]): ChildProcess {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const flags = ['--conditions=rx-informer-source', '--expose-gc'];
  return spawn(process.execPath, [...flags, path, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
}

/** Returns the first line of stdout as JSON, or `undefined` if the process ends without a line. */
async function answer<T>(child: ChildProcess): Promise<T | undefined> {
  if (child.stdout === null) return undefined;
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line) as T;
  return undefined;
}

const server = node('./server.ts', ['--objects', objects]);
const ready = await answer<{ url: string; bytesEach: number }>(server);
if (ready === undefined) throw new Error('the synthetic server did not start');
const results = new Map<string, Result[]>(contestants.map((name) => [name, []]));
const failed = new Set<string>();
try {
  for (let round = 1; round <= rounds; round++) {
    for (const name of contestants.filter((contestant) => !failed.has(contestant))) {
      const args = ['--url', ready.url, '--objects', objects, '--events', events, '--paced', paced];
      const child = node(`./${name}.ts`, args);
      const ended = once(child, 'exit');
      const result = await answer<Result>(child);
      await ended;
      if (result === undefined) failed.add(name);
      else results.get(name)?.push(result);
      const note = result === undefined ? 'failed' : `synced in ${result.syncMs.toFixed(0)} ms`;
      process.stderr.write(`round ${round}/${rounds}: ${name} ${note}\n`);
    }
  }
} finally {
  server.stdin?.end();
}

const medians = new Map<string, Result>();
for (const [name, runs] of results) if (runs.length > 0) medians.set(name, median(runs));
process.stdout.write(
  `\n${objects} Pods of ${ready.bytesEach} bytes, ${events} events, medians of ${rounds} rounds, Node ${process.version}\n\n`,
);
process.stdout.write(table(medians));
const budgets = budgetLines(medians);
// With fewer objects a run is mostly compilation, and the ratios say little.
const short = Number(objects) < 50_000 ? ' (meant for 50,000 objects and 200,000 events)' : '';
for (const { text } of budgets) process.stdout.write(`${text}${short}\n`);
for (const name of failed) process.stdout.write(`${name} failed\n`);
if (failed.size > 0 || (values.assert && budgets.some(({ kept }) => !kept))) process.exitCode = 1;
