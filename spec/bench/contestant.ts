/** Runs the measurements of one contestant in a process of its own, and prints one line of JSON. */
import { parseArgs } from 'node:util';
import { writtenAnnotation } from './pod-bytes.ts';

/** The part of a pod that a contestant passes to the measurement: only what a handler of an informer reads. */
export interface SeenPod {
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** An informer to be measured. */
export interface Contestant {
  /** Preparation that a program makes once, such as creating its client. Not measured. */
  prepare?(url: string): Promise<void>;
  /** Lists and watches. Calls `onUpdate` for each update, and resolves when the complete list is held. */
  start(url: string, onUpdate: (pod: SeenPod) => void): Promise<void>;
  /** The number of objects held. */
  size(): number;
}

/** The result of a contestant, printed as one line. */
export interface Result {
  /** Time from the start until the complete list is held, in milliseconds. */
  readonly syncMs: number;
  /** CPU time of all threads in the same span, in milliseconds. */
  readonly cpuMs: number;
  readonly eventsPerSecond: number;
  /** Resident memory before the start, and after the list and a forced collection, in MB. */
  readonly rssBaseMb: number;
  readonly rssSettledMb: number;
  /** The peak until the end of the firehose, in MB. */
  readonly rssPeakMb: number;
  /** Latency from the server's write to the handler at a steady rate, in microseconds. */
  readonly p50us: number;
  readonly p99us: number;
}

/** Runs the measurements and prints the {@link Result}, then ends the process. */
export async function contend(contestant: Contestant): Promise<void> {
  const { values } = parseArgs({
    options: {
      url: { type: 'string', default: '' },
      objects: { type: 'string', default: '50000' },
      events: { type: 'string', default: '200000' },
      paced: { type: 'string', default: '25000' },
      rate: { type: 'string', default: '5000' },
    },
  });
  let last = '';
  let arrived = () => {};
  let latencies: number[] | undefined;
  const onUpdate = (pod: SeenPod) => {
    if (latencies !== undefined) {
      const written = Number(pod.metadata?.annotations?.[writtenAnnotation]);
      latencies.push(Number(process.hrtime.bigint() / 1000n) - written);
    }
    if (pod.metadata?.resourceVersion === last) arrived();
  };
  /** Requests events, and resolves when the handler has received the last one. */
  const play = async (path: string) => {
    const response = await fetch(`${values.url}${path}`, { method: 'POST' });
    const answer = (await response.json()) as { last: string };
    // The last event may arrive before the response that names it has been read.
    if (lastSeen === answer.last) return;
    last = answer.last;
    await new Promise<void>((resolve) => {
      arrived = resolve;
    });
  };
  let lastSeen = '';

  await contestant.prepare?.(values.url);
  const rssBaseMb = await settledRss();
  const cpu = process.cpuUsage();
  const started = performance.now();
  await contestant.start(values.url, (pod) => {
    lastSeen = pod.metadata?.resourceVersion ?? '';
    onUpdate(pod);
  });
  const syncMs = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  if (contestant.size() !== Number(values.objects)) {
    throw new Error(`holds ${contestant.size()} objects instead of ${values.objects}`);
  }
  const rssSettledMb = await settledRss();

  const events = Number(values.events);
  const firehose = performance.now();
  await play(`/firehose?events=${events}`);
  const eventsPerSecond = events / ((performance.now() - firehose) / 1000);
  const rssPeakMb = process.resourceUsage().maxRSS / 1024;

  latencies = [];
  await play(`/paced?events=${values.paced}&rate=${values.rate}&objects=10000`);
  latencies.sort((a, b) => a - b);
  const percentile = (p: number) => latencies?.[Math.floor(latencies.length * p)] ?? Number.NaN;

  const result: Result = {
    syncMs,
    cpuMs: (user + system) / 1000,
    eventsPerSecond,
    rssBaseMb,
    rssSettledMb,
    rssPeakMb,
    p50us: percentile(0.5),
    p99us: percentile(0.99),
  };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}

/** The resident memory after garbage collections, in MB. */
async function settledRss(): Promise<number> {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc');
  for (let pass = 0; pass < 3; pass++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return process.memoryUsage.rss() / 2 ** 20;
}
