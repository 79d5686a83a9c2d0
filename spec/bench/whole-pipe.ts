/**
 * Runs the contestants in turns against one synthetic server and prints medians and ratios to the floor.
 *
 *   npm run bench                                           everything, about half an hour
 *   npm run bench -- firehose --only ours,floor             some measurements, some contestants
 *
 * Measurements: sync (the first list and the memory after it), hot, spread (both: firehose), latency.
 *
 *   --corpus pods           pods, large-pods, deployments, configmaps, events, widgets; several with commas
 *   --managed-fields with   or without: whether the server sends managedFields
 *   --drop                  the server honours Accept: application/json;drop=metadata.managedFields
 *   --objects 50000 --events 200000 --warm 0 --rounds 5 --seed 1
 *   --node PATH             another Node for the contestants
 *   --keep-noisy            do not repeat a run while others used the machine
 *   --assert                exit with 1 if a budget is missed
 *   --short                 about a minute: floor and ours with fewer objects and events after a warm-up. Exits with 1
 *                           if a ratio fell by more than a third against committed.json, unless the run was noisy.
 *                           Measures up to four times as many rounds before it says so
 *   --update                with --short: write committed.json
 *
 * Absolute figures depend on the machine; the ratios of one run can be compared.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { budgetLines } from './budgets.ts';
import { compare, type Ratios, ratiosOf, repeatWhileLost } from './committed.ts';
import { type Command, checkNames, commandOf, usual } from './contestants/contestants.ts';
import type { Measurement } from './contestants/result.ts';
import { isNoisy, type Measured, measure } from './measure.ts';
import { type BenchServer, startServer } from './processes.ts';
import { report } from './report.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    corpus: { type: 'string', default: 'pods' },
    'managed-fields': { type: 'string', default: 'with' },
    drop: { type: 'boolean', default: false },
    objects: { type: 'string' },
    events: { type: 'string' },
    warm: { type: 'string' },
    rounds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    node: { type: 'string', default: process.execPath },
    'keep-noisy': { type: 'boolean', default: false },
    assert: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    update: { type: 'boolean', default: false },
  },
});

const groups: Readonly<Record<string, readonly Measurement[]>> = {
  sync: ['sync'],
  memory: ['sync'],
  hot: ['hot'],
  spread: ['spread'],
  firehose: ['hot', 'spread'],
  latency: ['latency'],
};

// In a short run a few events after the first list let V8 compile the code first.
const sizes = values.short
  ? { objects: '10000', events: '40000', warm: '20000', rounds: '3', only: 'floor,ours' }
  : { objects: '50000', events: '200000', warm: '0', rounds: '5', only: usual.join(',') };
const { objects, events, warm, rounds, only } = {
  objects: values.objects ?? sizes.objects,
  events: values.events ?? sizes.events,
  warm: values.warm ?? sizes.warm,
  rounds: Number(values.rounds ?? sizes.rounds),
  only: (values.only ?? sizes.only).split(','),
};
/** Latencies are measured with fewer events, because they come at a steady rate. */
const paced = String(Math.ceil(Number(events) / 8));
const measurements = chosenMeasurements();

function chosenMeasurements(): readonly Measurement[] {
  // Every process begins with the first list, so `sync` by itself is measured only if nothing else is.
  if (positionals.length === 0) {
    return values.short ? ['hot', 'spread'] : ['hot', 'spread', 'latency'];
  }
  return positionals.flatMap((name) => {
    const group = groups[name];
    if (group !== undefined) return group;
    const names = Object.keys(groups).join(', ');
    throw new TypeError(`bench: there is no measurement ${name}; there are ${names}, and query`);
  });
}

/** The commands of all contestants. One without its compiler is left out. */
async function buildAll(): Promise<Map<string, Command>> {
  const built = new Map<string, Command>();
  for (const name of only) {
    try {
      built.set(name, await commandOf(name, values.node));
    } catch (error) {
      process.stdout.write(`${name} is left out: ${(error as Error).message}\n`);
    }
  }
  return built;
}

/** Runs all contestants in turns and adds to the results. Their keys are a contestant and a measurement, as in `ours hot`. */
async function runRounds(
  server: BenchServer,
  corpus: string,
  results: Map<string, Measured[]>,
  failed: Set<string>,
): Promise<void> {
  for (let round = 1; round <= rounds; round++) {
    for (const measurement of measurements) {
      for (const [name, command] of commands) {
        if (failed.has(name)) continue;
        const key = `${name} ${measurement}`;
        const count = measurement === 'latency' ? paced : events;
        const args = ['--url', server.url, '--corpus', corpus, '--measure', measurement];
        args.push('--events', count, '--warm', warm);
        const result = await measure(command, args, server.pid, values['keep-noisy']);
        if (result === undefined) failed.add(name);
        else results.set(key, [...(results.get(key) ?? []), result]);
        process.stderr.write(`round ${round}/${rounds}: ${corpus}, ${key} ${noteOf(result)}\n`);
      }
    }
  }
}

function noteOf(result: Measured | undefined): string {
  if (result === undefined) return 'failed';
  const { syncMs, noise = 0 } = result;
  const noisy = isNoisy(result) ? `, noisy: others took ${noise.toFixed(2)} of a core` : '';
  return `synced in ${syncMs.toFixed(0)} ms${noisy}`;
}

function heading(server: BenchServer, corpus: string, results: Map<string, Measured[]>): string {
  const runs = [...results.values()].flat();
  const runtimes = [...new Set(runs.map(({ runtime }) => runtime))].join(', ');
  const noisy = runs.filter(isNoisy).length;
  const most = Math.max(0, ...[...results.values()].map(({ length }) => length));
  return (
    `\n${server.objects} ${corpus} of ${server.bytesEach} bytes (the first), ${values['managed-fields']} managedFields, ` +
    `${events} events, seed ${values.seed}, medians (least–greatest) of ${most} rounds, ${runtimes}\n` +
    `${noisy === 0 ? '' : `NOISY: during ${noisy} of ${runs.length} processes others took more than a tenth of a core\n`}\n`
  );
}

const committedFile = new URL('./committed.json', import.meta.url);

function committedRatios(): Ratios {
  return JSON.parse(readFileSync(committedFile, 'utf8')) as Ratios;
}

/** Compares a short run with the committed ratios, or replaces these. Returns whether a ratio was lost. */
function judgeShort(results: ReadonlyMap<string, readonly Measured[]>): boolean {
  if (values.update) {
    const noisy = [...results.values()].flat().some(isNoisy);
    // Beside other work the time says little, and CPU time and memory still do.
    const kept = Object.entries(ratiosOf(results)).filter(
      ([name]) => !noisy || !name.endsWith('eventsPerSecond'),
    );
    writeFileSync(committedFile, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
    return false;
  }
  const comparisons = compare(results, committedRatios());
  for (const { text } of comparisons) process.stdout.write(`${text}\n`);
  return comparisons.some(({ lost }) => lost);
}

/** Runs the rounds on a server of its own, and more of them while a short run lost a ratio. */
async function measureCorpus(
  server: BenchServer,
  corpus: string,
  failed: Set<string>,
): Promise<Map<string, Measured[]>> {
  const results = new Map<string, Measured[]>();
  const runAll = () => runRounds(server, corpus, results, failed);
  await runAll();
  if (values.short && !values.update) await repeatWhileLost(results, committedRatios(), runAll);
  return results;
}

checkNames(only);
const commands = await buildAll();
for (const corpus of values.corpus.split(',')) {
  const args = ['--corpus', corpus, '--objects', objects, '--seed', values.seed];
  args.push('--managed-fields', values['managed-fields'], ...(values.drop ? ['--drop'] : []));
  const server = await startServer(args);
  const failed = new Set<string>();
  const results = await measureCorpus(server, corpus, failed).finally(() => server.close());
  process.stdout.write(heading(server, corpus, results) + report(only, measurements, results));
  const budgets = values.short ? [] : budgetLines(results);
  for (const { text } of budgets) process.stdout.write(`${text}\n`);
  for (const name of failed) process.stdout.write(`${name} failed\n`);
  const lost = values.short && judgeShort(results);
  const missed = values.assert && budgets.some(({ met }) => !met);
  if (failed.size > 0 || lost || missed) process.exitCode = 1;
}
