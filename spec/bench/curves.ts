/**
 * Measures how the costs of rx-informer grow, and draws one SVG image per curve.
 *
 *   npm run bench -- curves --out FOLDER [--only informers,subscribers] [--rounds 3] [--short]
 *
 * informers: up to 20 on one HTTP/2 connection. subscribers: up to 100. indices: up to 5. objects, memory: up to
 * 500,000, with a heap limit of 8 GiB. `--short` takes a tenth of the objects and events, to try it.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandOf } from './contestants/contestants.ts';
import type { Measurement } from './contestants/result.ts';
import { lineChart, type Point } from './line-chart.ts';
import { isNoisy, type Measured, measure } from './measure.ts';
import { type BenchServer, startServer } from './processes.ts';
import { spreadOf } from './report.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    out: { type: 'string' },
    only: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    short: { type: 'boolean', default: false },
    'keep-noisy': { type: 'boolean', default: false },
  },
});

interface Curve {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly steps: readonly number[];
  readonly measurement: Measurement;
  readonly objects: (step: number) => number;
  readonly events: (step: number) => number;
  readonly env: (step: number, server: BenchServer) => Readonly<Record<string, string>>;
  /** The figure of one run. */
  readonly y: (result: Measured, step: number) => number;
}

const heapMb = 8192;

const perEvent = ({ eventsPerCpuSecond = Number.NaN }: Measured) => 1e6 / eventsPerCpuSecond;
const cpuPerEvent = 'CPU µs per event';
const firehose = {
  measurement: 'hot',
  yLabel: cpuPerEvent,
  objects: () => 10_000,
  events: () => 60_000,
  y: perEvent,
} as const;
const byObjects = {
  measurement: 'sync',
  xLabel: 'objects',
  steps: [10_000, 50_000, 100_000, 200_000, 500_000],
  objects: (step: number) => step,
  events: () => 0,
  env: () => ({ NODE_OPTIONS: `--max-old-space-size=${heapMb}` }),
} as const;

const curves: Readonly<Record<string, Curve>> = {
  informers: {
    ...firehose,
    title: 'Informers on one HTTP/2 connection',
    xLabel: 'informers of the same 2,000 Pods',
    yLabel: 'CPU µs per event and informer',
    steps: [1, 5, 10, 20],
    objects: () => 2000,
    events: (step) => Math.ceil(120_000 / step),
    env: (step, { http2Url }) => ({ BENCH_INFORMERS: String(step), BENCH_HTTP2_URL: http2Url }),
    y: (result, step) => perEvent(result) / step,
  },
  subscribers: {
    ...firehose,
    title: 'Subscribers that do nothing',
    xLabel: 'subscribers',
    steps: [1, 10, 25, 50, 100],
    // One handler counts the events.
    env: (step) => ({ BENCH_IDLE: String(step - 1) }),
  },
  indices: {
    ...firehose,
    title: 'Indices besides the one of namespaces',
    xLabel: 'indices',
    steps: [0, 1, 2, 3, 4, 5],
    env: (step) => ({ BENCH_INDICES: String(step) }),
  },
  objects: {
    ...byObjects,
    title: 'The first list',
    yLabel: 'CPU ms',
    y: ({ syncCpuMs }) => syncCpuMs,
  },
  memory: {
    ...byObjects,
    title: 'Resident memory after the first list',
    yLabel: 'MB',
    y: ({ rssSettledMb }) => rssSettledMb,
  },
  events: {
    ...byObjects,
    title: 'An event among many objects',
    measurement: 'spread',
    yLabel: cpuPerEvent,
    events: () => 60_000,
    y: perEvent,
  },
};

const share = values.short ? 10 : 1;

async function pointOf(curve: Curve, step: number): Promise<{ point: Point; noisy: number }> {
  const objects = String(Math.ceil(curve.objects(step) / share));
  const server = await startServer(['--objects', objects]);
  try {
    const command = await commandOf('ours', process.execPath);
    const events = Math.ceil(curve.events(step) / share);
    const args = ['--url', server.url, '--measure', curve.measurement];
    args.push('--events', String(events), '--warm', String(Math.ceil(events / 3)));
    const env = { ...command.env, ...curve.env(step, server) };
    const runs: Measured[] = [];
    for (let round = 0; round < Number(values.rounds); round++) {
      const run = await measure({ ...command, env }, args, server.pid, values['keep-noisy']);
      if (run === undefined) throw new Error(`curves: ${curve.title} failed at ${step}`);
      runs.push(run);
    }
    const { median, least, greatest } = spreadOf(runs.map((run) => curve.y(run, step)));
    return { point: { x: step, y: median, least, greatest }, noisy: runs.filter(isNoisy).length };
  } finally {
    server.close();
  }
}

if (values.out === undefined) throw new TypeError('curves: --out needs the folder for the images');
mkdirSync(values.out, { recursive: true });
const names = values.only?.split(',') ?? Object.keys(curves);
for (const name of names) {
  const curve = curves[name];
  if (curve === undefined) {
    throw new TypeError(
      `curves: no curve is called ${name}; there are ${Object.keys(curves).join(', ')}`,
    );
  }
  const points: Point[] = [];
  let noisy = 0;
  for (const step of curve.steps) {
    const measured = await pointOf(curve, step);
    points.push(measured.point);
    noisy += measured.noisy;
    const { y, least, greatest } = measured.point;
    const figures = [y, least, greatest].map((value) => Number(value.toPrecision(4)));
    process.stdout.write(
      `${name}: ${step} ${curve.xLabel}: ${figures[0]} ${curve.yLabel} (${figures[1]}–${figures[2]})\n`,
    );
  }
  const notes = [`Node ${process.version}, medians of ${values.rounds}`];
  if (curve.xLabel === 'objects') notes.push(`heap limit ${heapMb} MB`);
  if (values.short) notes.push('a tenth of the sizes');
  if (noisy > 0) notes.push(`${noisy} noisy runs`);
  writeFileSync(
    join(values.out, `${name}.svg`),
    lineChart({ ...curve, note: notes.join(', '), points }),
  );
}
