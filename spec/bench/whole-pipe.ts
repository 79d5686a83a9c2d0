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
 *   --objects 50000 --events 200000 --rounds 5 --seed 1
 *   --short                 fewer objects and events, one round
 *   --node PATH             another Node for the contestants
 *
 * Absolute figures depend on the machine; the ratios of one run can be compared.
 */
import { parseArgs } from 'node:util';
import { commandOf, usual } from './contestants/contestants.ts';
import type { Measurement, Result } from './contestants/result.ts';
import { type BenchServer, runProcess, startServer } from './processes.ts';
import { report } from './report.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    corpus: { type: 'string', default: 'pods' },
    'managed-fields': { type: 'string', default: 'with' },
    drop: { type: 'boolean', default: false },
    objects: { type: 'string' },
    events: { type: 'string' },
    rounds: { type: 'string' },
    short: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: usual.join(',') },
    node: { type: 'string', default: process.execPath },
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

function chosenMeasurements(): Measurement[] {
  // A firehose begins with the first list, so `sync` by itself is measured only if nothing else is.
  if (positionals.length === 0) return ['hot', 'spread', 'latency'];
  return positionals.flatMap((name) => {
    const group = groups[name];
    if (group !== undefined) return group;
    const names = Object.keys(groups).join(', ');
    throw new TypeError(`bench: there is no measurement ${name}; there are ${names}, and query`);
  });
}

const objects = values.objects ?? (values.short ? '10000' : '50000');
const events = values.events ?? (values.short ? '40000' : '200000');
/** Latencies are measured with fewer events, because they come at a steady rate. */
const paced = String(Math.ceil(Number(events) / 8));
const contestants = values.only.split(',');
const measurements = chosenMeasurements();
const rounds = Number(values.rounds ?? (values.short ? 1 : 5));

/** Runs one measurement of one contestant. */
function measure(server: BenchServer, corpus: string, name: string, measurement: Measurement) {
  const args = ['--url', server.url, '--corpus', corpus, '--measure', measurement];
  args.push('--events', measurement === 'latency' ? paced : events);
  return runProcess<Result>(commandOf(name, values.node), args, 300_000);
}

for (const name of contestants) commandOf(name, values.node);
for (const corpus of values.corpus.split(',')) {
  const { seed } = values;
  const args = ['--corpus', corpus, '--objects', objects, '--seed', seed];
  args.push('--managed-fields', values['managed-fields'], ...(values.drop ? ['--drop'] : []));
  const server = await startServer(args);
  const results = new Map<string, Result[]>();
  const failed = new Set<string>();
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const measurement of measurements) {
        for (const name of contestants.filter((contestant) => !failed.has(contestant))) {
          const result = await measure(server, corpus, name, measurement);
          const key = `${name} ${measurement}`;
          if (result === undefined) failed.add(name);
          else results.set(key, [...(results.get(key) ?? []), result]);
          const note = result === undefined ? 'failed' : `synced in ${result.syncMs.toFixed(0)} ms`;
          process.stderr.write(`round ${round}/${rounds}: ${corpus}, ${key} ${note}\n`);
        }
      }
    }
  } finally {
    server.close();
  }
  const { bytesEach } = server;
  process.stdout.write(
    `\n${server.objects} ${corpus} (the first has ${bytesEach} bytes, ${values['managed-fields']} managedFields), ` +
      `${events} events, seed ${seed}, medians (least–greatest) of ${rounds} rounds, Node ${process.version}\n\n`,
  );
  process.stdout.write(report(contestants, measurements, results));
  for (const name of failed) process.stdout.write(`${name} failed\n`);
  if (failed.size > 0) process.exitCode = 1;
}
