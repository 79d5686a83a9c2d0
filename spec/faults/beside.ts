/** Side by side: the same seeds, faults and judge for this informer and for that of `@kubernetes/client-node`. */
import { readFileSync } from 'node:fs';
import { runClientNode } from './client-node-run.ts';
import { runHttp } from './http-run.ts';
import type { Outcome } from './outcome.ts';

const seeds = Number(process.argv[2] ?? 100);
const TOGETHER = 5;
const uncaught: string[] = [];
const messages: string[] = [];
const note = (error: unknown) => {
  uncaught.push(String(error));
  messages.push(String(error).slice(0, 160));
};
process.on('uncaughtException', note);
process.on('unhandledRejection', note);

function versionOf(name: string): string {
  const at = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(at, 'utf8')) as { version: string }).version;
}

async function all(run: (seed: number) => Promise<Outcome>): Promise<Outcome[]> {
  const left = Array.from({ length: seeds }, (_, at) => at + 1);
  const outcomes: Outcome[] = [];
  const lane = async () => {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
      outcomes.push(await run(seed));
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, lane));
  return outcomes;
}

const ends = /^(store|index \S+|view|status), /;
const costs = /are allowed|Retry-After said/;

function row(name: string, what: string, outcomes: readonly Outcome[]): string {
  const seedsWhere = (test: (wrong: string) => boolean) =>
    outcomes.filter(({ wrong }) => wrong.some(test)).length;
  const cells = [
    name,
    what,
    outcomes.length,
    outcomes.reduce((sum, { faults }) => sum + faults.length, 0),
    seedsWhere((wrong) => ends.test(wrong)),
    seedsWhere((wrong) => !ends.test(wrong) && !costs.test(wrong)),
    seedsWhere((wrong) => costs.test(wrong)),
    uncaught.splice(0).length,
  ];
  return `| ${cells.join(' | ')} |`;
}

/** What only a broken server sends; without it there is left what sound ones and bad networks do. */
const BROKEN = ['repeat', 'garbage', 'wrong-kind', 'no-metadata', 'unknown-type', 'huge'] as const;
const HEAD = `| informer | faults of | seeds | faults | store ends wrong | told wrong | over the budget | uncaught errors |
|---|---|---|---|---|---|---|---|
`;
const name = `@kubernetes/client-node ${versionOf('@kubernetes/client-node')}`;
const rows: string[] = [];
let theirs: readonly Outcome[] = [];
for (const [what, without] of [
  ['all kinds', []],
  ['networks and sound servers', BROKEN],
] as const) {
  rows.push(row('rx-informer', what, await all((seed) => runHttp(seed, without))));
  theirs = await all((seed) => runClientNode(seed, without));
  rows.push(row(name, what, theirs));
}
process.stdout.write(`\n${HEAD}${rows.join('\n')}\n`);
for (const { seed, wrong } of theirs.filter(({ wrong: some }) => some.length > 0).slice(0, 8)) {
  process.stderr.write(`client-node, seed ${seed}: ${wrong.slice(0, 2).join('; ')}\n`);
}
for (const message of new Set(messages)) process.stderr.write(`uncaught: ${message}\n`);
process.exit();
