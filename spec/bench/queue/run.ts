/**
 * Compares work queues with client-go's, in turns, each measurement in a process of its own, and prints a table of medians:
 *
 *   npm run bench -- queue [--keys 1000000] [--rounds 5] [--only pair,operator]
 */
import { parseArgs } from 'node:util';
import { type Command, commandOf, nodeCommand } from '../contestants/contestants.ts';
import { runProcess } from '../processes.ts';
import { ways } from './ways.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    keys: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: Object.keys(ways).join() },
  },
});

const ours = nodeCommand(process.execPath, '../queue/ours.ts');
const theirs = await commandOf('client-go', process.execPath);

async function once(command: Command, way: string): Promise<number> {
  const args = ['--measure', 'queue', '--way', way, '--events', values.keys];
  const own = command === ours ? args.slice(2) : args;
  const result = await runProcess<{ nanosecondsPerKey: number }>(command, own, 120_000);
  if (result === undefined) throw new Error(`${way} failed`);
  return result.nanosecondsPerKey;
}

function described(all: readonly number[]): { readonly median: number; readonly text: string } {
  const sorted = all.toSorted((one, other) => one - other);
  const median = sorted[sorted.length >> 1] ?? Number.NaN;
  const [least, greatest] = [sorted[0] ?? 0, sorted.at(-1) ?? 0];
  return { median, text: `${median.toFixed(0)} (${least.toFixed(0)} to ${greatest.toFixed(0)})` };
}

console.log('| ns per key | rx-informer | client-go | rx-informer is |\n|---|---|---|---|');
for (const way of values.only.split(',')) {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    times[0].push(await once(ours, way));
    times[1].push(await once(theirs, way === 'operator' ? 'pair' : way));
  }
  const [one, other] = times.map(described);
  if (one === undefined || other === undefined) continue;
  const ratio = (other.median / one.median).toFixed(2);
  console.log(`| ${way} | ${one.text} | ${other.text} | ${ratio} × as fast |`);
}
