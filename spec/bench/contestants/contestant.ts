/** Runs one measurement of one contestant in a process of its own, and prints one line of JSON. */
import { parseArgs } from 'node:util';
import type { CorpusName } from '../corpus/corpora.ts';
import { firstVersion, writtenAnnotation } from '../corpus/fields.ts';
import type { State } from '../server/collection.ts';
import { countAllocation, peakRssMb, resetPeakRss, settledRssMb } from './memory.ts';
import type { Measurement, Result } from './result.ts';

/** The part of an object that a contestant passes to the measurement: only what a handler of an informer reads. */
export interface Seen {
  readonly metadata?: {
    readonly resourceVersion?: string | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
}

/** An informer to be measured. */
export interface Contestant {
  /** Preparation that a program makes once, such as creating its client. Not measured. */
  prepare?(url: string, corpus: CorpusName): Promise<void>;
  /** Lists and watches. Calls `onEvent` for each event after the list, and resolves when the complete list is held. */
  start(url: string, corpus: CorpusName, onEvent: (object: Seen) => void): Promise<void>;
  /** All objects held now. */
  held(): Iterable<Seen>;
  /** Further figures, for example the hit rate of a decoder. */
  extra?(): Readonly<Record<string, number>>;
}

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: '' },
    corpus: { type: 'string', default: 'pods' },
    measure: { type: 'string', default: 'sync' },
    events: { type: 'string', default: '200000' },
    warm: { type: 'string', default: '0' },
    rate: { type: 'string', default: '5000' },
    among: { type: 'string', default: '10000' },
  },
});

/** Receives the events, and knows when the last one has arrived. */
class Handler {
  /** The latencies in microseconds, while they are measured. */
  latencies: number[] | undefined;
  /** The greatest version. All versions have the same number of digits. */
  #greatest = '';
  #awaited = '';
  #arrived = () => {};

  readonly onEvent = ({ metadata }: Seen): void => {
    const version = metadata?.resourceVersion ?? '';
    if (this.latencies !== undefined) {
      const written = Number(metadata?.annotations?.[writtenAnnotation]);
      this.latencies.push(Number(process.hrtime.bigint() / 1000n) - written);
    }
    if (version > this.#greatest) this.#greatest = version;
    if (version === this.#awaited) this.#arrived();
  };

  /** Requests events, and resolves when the handler has received the last one. */
  async play(query: string): Promise<void> {
    const response = await fetch(`${values.url}/play?${query}`, { method: 'POST' });
    const { last } = (await response.json()) as { last: string };
    // The last event may arrive before the response that names it has been read.
    if (this.#greatest === last) return;
    this.#awaited = last;
    await new Promise<void>((resolve) => {
      this.#arrived = resolve;
    });
  }
}

/** Throws unless the contestant holds what the server holds, so that nobody is fast because it loses events. */
async function verify(contestant: Contestant): Promise<void> {
  const held = { count: 0, sum: 0 };
  for (const { metadata } of contestant.held()) {
    held.count++;
    held.sum += Number(metadata?.resourceVersion) - firstVersion;
  }
  const response = await fetch(`${values.url}/state`);
  const state = (await response.json()) as State;
  if (held.count !== state.count || held.sum !== state.sum) {
    throw new Error(
      `the contestant holds ${held.count} objects with versions of ${held.sum}, the server ${state.count} with ${state.sum}`,
    );
  }
}

function cpuMs(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

async function firehose(handler: Handler, mode: string): Promise<Partial<Result>> {
  if (Number(values.warm) > 0) await handler.play(`mode=${mode}&events=${values.warm}`);
  const events = Number(values.events);
  resetPeakRss();
  const allocated = countAllocation();
  const cpu = process.cpuUsage();
  const started = performance.now();
  await handler.play(`mode=${mode}&events=${events}`);
  const ms = performance.now() - started;
  const eventsCpuMs = cpuMs(cpu);
  const { bytes, gcMs } = allocated();
  return {
    eventsPerSecond: events / (ms / 1000),
    eventsPerCpuSecond: events / (eventsCpuMs / 1000),
    allocatedPerEvent: bytes / events,
    gcUsPerEvent: (gcMs * 1000) / events,
    rssPeakMb: peakRssMb(),
  };
}

async function latency(handler: Handler): Promise<Partial<Result>> {
  const { events, rate, among } = values;
  const query = `mode=steady&rate=${rate}&objects=${among}`;
  await handler.play(`${query}&events=${Math.ceil(Number(events) / 5)}`);
  const latencies: number[] = [];
  handler.latencies = latencies;
  const cpu = process.cpuUsage();
  await handler.play(`${query}&events=${events}`);
  const eventsPerCpuSecond = Number(events) / (cpuMs(cpu) / 1000);
  latencies.sort((a, b) => a - b);
  const percentile = (p: number) => latencies[Math.floor(latencies.length * p)] ?? Number.NaN;
  return { p50us: percentile(0.5), p99us: percentile(0.99), eventsPerCpuSecond };
}

/** Runs the measurement, prints the {@link Result} and ends the process. */
export async function contend(contestant: Contestant): Promise<void> {
  const corpus = values.corpus as CorpusName;
  const measure = values.measure as Measurement;
  const handler = new Handler();
  // The benchmark closes stdin when it ends, so an interrupted run leaves no process behind.
  process.stdin.resume().on('end', () => process.exit(1));
  await contestant.prepare?.(values.url, corpus);
  const rssBaseMb = await settledRssMb();
  resetPeakRss();
  const cpu = process.cpuUsage();
  const started = performance.now();
  await contestant.start(values.url, corpus, handler.onEvent);
  const syncMs = performance.now() - started;
  const syncCpuMs = cpuMs(cpu);
  const rssSyncPeakMb = peakRssMb();
  await verify(contestant);
  const rssSettledMb = await settledRssMb();
  const more =
    measure === 'sync'
      ? {}
      : measure === 'latency'
        ? await latency(handler)
        : await firehose(handler, measure);
  await verify(contestant);
  const result: Result = {
    runtime: `Node ${process.version}`,
    syncMs,
    syncCpuMs,
    rssBaseMb,
    rssSettledMb,
    rssSyncPeakMb,
    ...more,
    extra: contestant.extra?.() ?? {},
  };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}
