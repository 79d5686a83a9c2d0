/**
 * Measures live queries: how long a batch of events takes until the rows are up to date, beside other ways to do it.
 *
 *   npm run bench -- query [--only join,group] [--batches 200] [--short] [--markdown] [--strict]
 *
 * Each scenario runs in a process of its own, with all contestants in turns. `--short` measures fewer batches and leaves
 * out TanStack DB at 100,000 rows, which needs minutes. `--markdown` prints a table.
 * `--strict` exits with 1 if a budget is missed; a wrong answer always does.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Effort, isMet, type Outcome } from './outcome.ts';
import { MARKDOWN_HEAD, markdownRows, plainTable } from './report.ts';

const ALL = 'sorted-10k,sorted-100k,window,group,join,first,many';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    only: { type: 'string', default: ALL },
    batches: { type: 'string' },
    short: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
  },
});
const { short, markdown, strict } = values;
const effort: Effort = {
  batches: Number(values.batches ?? (short ? 40 : 200)),
  warmUp: short ? 50 : 200,
  isLong: !short,
};

/** Runs a scenario in a process of its own; `undefined` if it fails, which it reports itself. */
async function outcomesOf(name: string): Promise<readonly Outcome[] | undefined> {
  const path = fileURLToPath(new URL('./scenarios.ts', import.meta.url));
  const flags = ['--expose-gc', '--max-old-space-size=4096'];
  const child = spawn(process.execPath, [...flags, path, name, JSON.stringify(effort)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const output = await text(child.stdout);
  const [code] = await ended;
  return code === 0 ? (JSON.parse(output) as Outcome[]) : undefined;
}

const names = values.only.split(',');
const outcomes: Outcome[] = [];
const failed: string[] = [];
if (markdown) process.stdout.write(MARKDOWN_HEAD);
for (const name of names) {
  // `sorted` selects both of its sizes.
  const selected = ALL.split(',').filter((each) => each === name || each.startsWith(`${name}-`));
  if (selected.length === 0) throw new Error(`--only ${name}: the scenarios are ${ALL}`);
  for (const each of selected) {
    process.stderr.write(`${each} …\n`);
    const found = await outcomesOf(each);
    if (found === undefined) failed.push(each);
    else {
      outcomes.push(...found);
      process.stdout.write(markdown ? markdownRows(found) : plainTable(found));
    }
  }
}
process.stdout.write(
  `\nNode ${process.version}, medians of ${effort.batches} batches (least … most)\n`,
);
const budgets = outcomes.flatMap((outcome) => outcome.budgets);
const missed = budgets.filter((budget) => !isMet(budget));
process.stdout.write(`${budgets.length - missed.length} of ${budgets.length} budgets met\n`);
for (const name of failed) process.stdout.write(`${name} failed\n`);
if (failed.length > 0 || (strict && missed.length > 0)) process.exitCode = 1;
