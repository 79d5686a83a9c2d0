/**
 * Compares informers: the same seeds, faults and judge for this informer, for that of `@kubernetes/client-node`, and
 * for client-go if Go is installed. `beside.ts 50 client-go` runs 50 seeds for the named informers only.
 */
import { readFileSync } from 'node:fs';
import { clientGoVersion, ensureOracle } from '../oracle/oracle-binary.ts';
import { playSeeds, seedsUpTo } from '../support/campaign.ts';
import { type ClientGoOutcome, ClientGoSide } from './client-go-run.ts';
import { runClientNode } from './client-node-run.ts';
import { runHttp } from './http-run.ts';
import type { Outcome } from './outcome.ts';

const seeds = Number(process.argv[2] ?? 100);
const asked = process.argv.slice(3);
const isAsked = (name: string) => asked.length === 0 || asked.includes(name);
const TOGETHER = 5;
/** Runs of client-go mostly wait, so many of them run concurrently. */
const TOGETHER_WAITING = 50;
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

async function all<O extends Outcome>(
  run: (seed: number) => Promise<O>,
  together = TOGETHER,
): Promise<O[]> {
  return await playSeeds(seedsUpTo(seeds), run, together);
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

/** Faults that only a broken server causes. Without them, the faults of sound servers and bad networks are left. */
const BROKEN = ['repeat', 'garbage', 'wrong-kind', 'no-metadata', 'unknown-type', 'huge'] as const;
const HEAD = `| informer | faults of | seeds | faults | wrong stores | misleading notifications | over the budget | uncaught errors |
|---|---|---|---|---|---|---|---|
`;
const name = `@kubernetes/client-node ${versionOf('@kubernetes/client-node')}`;
const rows: string[] = [];
const bad: string[] = [];
const sets = [
  ['all kinds', []],
  ['networks and sound servers', BROKEN],
] as const;

function reportBad(who: string, outcomes: readonly Outcome[]): void {
  for (const { seed, wrong } of outcomes.filter(({ wrong: some }) => some.length > 0).slice(0, 8)) {
    bad.push(`${who}, seed ${seed}: ${wrong.slice(0, 2).join('; ')}`);
  }
}

for (const [what, without] of sets) {
  if (isAsked('rx-informer')) {
    rows.push(row('rx-informer', what, await all((seed) => runHttp(seed, without))));
  }
  if (!isAsked('client-node')) continue;
  const theirs = await all((seed) => runClientNode(seed, without));
  rows.push(row(name, what, theirs));
  reportBad('client-node', theirs);
}

function clientGoNotes(what: string, outcomes: readonly ClientGoOutcome[]): string {
  const sum = (of: (outcome: ClientGoOutcome) => number) =>
    outcomes.reduce((total, outcome) => total + of(outcome), 0);
  const healed = outcomes.filter(({ wrong }) => !wrong.some((each) => ends.test(each)));
  const times = healed.map(({ healedMs }) => Math.round(healedMs / 1000)).sort((a, b) => a - b);
  const misled = outcomes.filter(({ wrong }) => wrong.some((each) => /^client-go: /.test(each)));
  return [
    `client-go, ${what}: ${sum(({ notified }) => notified)} notifications`,
    `${sum(({ replaced }) => replaced)} updates to another UID`,
    `${sum(({ repeated }) => repeated)} updates to the same version`,
    `${misled.length} seeds with misleading notifications before the end`,
    `right after ${times[times.length >> 1]} s (median), ${times.at(-1)} s (most)`,
    `${sum(({ rightOnceCut }) => Number(rightOnceCut))} more after their connections were cut`,
  ].join(', ');
}

/** Runs both sets concurrently, because they take minutes. */
async function runClientGo(): Promise<void> {
  const side = new ClientGoSide(await ensureOracle());
  const run = ([, without]: (typeof sets)[number]) =>
    all((seed) => side.run(seed, without), TOGETHER_WAITING);
  const outcomes = await Promise.all(sets.map(run));
  for (const [at, [what]] of sets.entries()) {
    const theirs = outcomes[at] ?? [];
    rows.push(row(`client-go ${clientGoVersion()}`, what, theirs));
    bad.push(clientGoNotes(what, theirs));
    reportBad('client-go', theirs);
  }
  await side.close();
}
if (isAsked('client-go')) {
  await runClientGo().catch((error: Error) => bad.push(`client-go was left out. ${error.message}`));
}

process.stdout.write(`\n${HEAD}${rows.join('\n')}\n`);
for (const line of bad) process.stderr.write(`${line}\n`);
for (const message of new Set(messages)) process.stderr.write(`uncaught: ${message}\n`);
process.exit();
