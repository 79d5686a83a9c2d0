/**
 * Measures what lists and changes cost a real kube-apiserver and a real nats-server, and prints the table of
 * docs/operations/scaling.md. Takes about two minutes, and needs Linux:
 *
 *   npm run bench -- readers
 */
import { readdirSync, readFileSync } from 'node:fs';
import {
  createListWatch,
  createResourceClient,
  createSharedInformer,
  type KubeClient,
  type ResourceClient,
} from 'rx-informer';
import { createNatsListWatch, publishToNats } from 'rx-informer/nats';
import { clientFromKubeConfig } from 'rx-informer/node';
import { type ConfigMap, configMaps } from 'rx-informer/resources';
import { lastValueFrom, type Subscription } from 'rxjs';
import { toArray } from 'rxjs/operators';
import { startApiServer } from '../e2e/apiserver.ts';
import { NatsServer } from '../nats/nats-server.ts';

const OBJECTS = 1000;
const CHANGES = 300;
const READERS = 100;
const LISTS = 60;
/** The time between two changes, in milliseconds. */
const PACE_MS = 30;
const NAMESPACE = 'default';

/** A server, and the readers that list and watch its ConfigMaps. */
interface Subject {
  readonly pid: number;
  list(reader: number): Promise<unknown>;
  /** Calls back with the number of changes that a reader has received. */
  watch(reader: number, received: (count: number) => void): Promise<Subscription>;
  /** Resolves when the server has the last of the changes. */
  caughtUp(): Promise<void>;
  /** How many bytes all readers have received. */
  bytes(): number;
}

type Change = (at: number) => Promise<unknown>;

/** The CPU time of a process so far, in milliseconds. */
function cpuMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function pidOf(folder: string): number {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder)) return Number(pid);
    } catch {
      // The process has ended meanwhile.
    }
  }
  throw new Error(`no process has ${folder} in its command line`);
}

const refOf = (at: number) => ({ namespace: NAMESPACE, name: `object-${at % OBJECTS}` });

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await wait(1);
}

async function repeated(times: number, task: (at: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < times; at++) await task(at);
}

/** The CPU time of the server, the time on the clock, and the CPU time of the readers during a task, in milliseconds. */
async function costOf(pid: number, task: () => Promise<unknown>) {
  await wait(300);
  const [cpuBefore, before] = [cpuMs(pid), performance.now()];
  const own = process.cpuUsage();
  await task();
  const wallMs = performance.now() - before;
  const { user, system } = process.cpuUsage(own);
  await wait(300);
  return { cpu: cpuMs(pid) - cpuBefore, wallMs, client: (user + system) / 1000 };
}

/** Changes at an even pace, so that no two changes share a batch, with readers and without. */
const paced = (change: Change) =>
  repeated(CHANGES, (at) => Promise.all([change(at), wait(PACE_MS)]));

async function measure(subject: Subject, change: Change) {
  const { pid } = subject;
  await repeated(10, () => subject.list(0));
  const listedFrom = subject.bytes();
  const lists = await costOf(pid, () => repeated(LISTS, () => subject.list(0)));
  const listBytes = (subject.bytes() - listedFrom) / LISTS;
  const changes = await costOf(pid, async () => {
    await repeated(CHANGES, change);
    await subject.caughtUp();
  });
  const alone = await costOf(pid, () => paced(change));

  let received = 0;
  const watches: Subscription[] = [];
  await repeated(READERS, async (reader) => {
    watches.push(
      await subject.watch(reader, (count) => {
        received += count;
      }),
    );
  });
  await wait(2_000);
  received = 0;
  const watchedFrom = subject.bytes();
  const shared = await costOf(pid, async () => {
    await paced(change);
    await until(() => received >= CHANGES * READERS);
  });
  const deliveryBytes = (subject.bytes() - watchedFrom) / received;

  /** The time until `count` readers have a change. The lower quartile, because other processes only add time. */
  const delayOf = async (count: number) => {
    const delays: number[] = [];
    await repeated(40, async (at) => {
      const [before, begun] = [received, performance.now()];
      await change(at);
      await until(() => received >= before + count);
      delays.push(performance.now() - begun);
      await wait(20);
    });
    return delays.sort((a, b) => a - b)[delays.length / 4] as number;
  };
  const lastDeliveryMs = await delayOf(READERS);
  for (const watch of watches.slice(1)) watch.unsubscribe();
  await wait(500);
  const oneDeliveryMs = await delayOf(1);
  watches[0]?.unsubscribe();

  const herds: number[] = [];
  await repeated(5, async () => {
    const all = () => Promise.all(Array.from({ length: READERS }, (_, at) => subject.list(at)));
    herds.push((await costOf(pid, all)).wallMs);
  });
  return {
    listMs: lists.cpu / LISTS,
    listBytes,
    changeMs: changes.cpu / CHANGES,
    deliveryMs: Math.max(0, shared.cpu - alone.cpu) / (CHANGES * READERS),
    deliveryBytes,
    oneDeliveryMs,
    lastDeliveryMs,
    herdMs: Math.min(...herds),
    clientListMs: lists.client / LISTS,
  };
}

/** The readers of kube-apiserver count bytes and lines, and parse nothing. */
function apiServerSubject(
  client: KubeClient,
  own: ResourceClient<ConfigMap>,
  pid: number,
): Subject {
  const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
  let bytes = 0;
  const read = (use: 'list' | 'watch', query: Record<string, string>) =>
    client.send({ method: 'GET', path, query, use });
  return {
    pid,
    bytes: () => bytes,
    caughtUp: () => Promise.resolve(),
    list: () =>
      new Promise<void>((resolve, reject) => {
        read('list', {}).subscribe({
          next: (event) => {
            if (event.kind === 'chunk') bytes += event.bytes.length;
          },
          complete: resolve,
          error: reject,
        });
      }),
    async watch(_reader, received) {
      const { metadata } = await own.list({ namespace: NAMESPACE, limit: 1 });
      const resourceVersion = metadata.resourceVersion ?? '';
      return read('watch', { watch: 'true', resourceVersion }).subscribe((event) => {
        if (event.kind !== 'chunk') return;
        bytes += event.bytes.length;
        received(event.bytes.filter((byte) => byte === 10).length);
      });
    },
  };
}

/** The publisher follows the API server, and each reader has a connection of its own. */
async function natsSubject(
  client: KubeClient,
  own: ResourceClient<ConfigMap>,
  nats: NatsServer,
): Promise<Subject & { stop(): Promise<void> }> {
  const informer = createSharedInformer(
    createListWatch(client, configMaps, { namespace: NAMESPACE }),
  );
  const publisher = publishToNats(informer, {
    connection: await nats.connect(),
    resource: configMaps,
    bucket: 'readers',
    heartbeatMs: 60_000,
  });
  await until(() => publisher.status.phase === 'publishing');
  await wait(2_000);
  const connections = await Promise.all(Array.from({ length: READERS }, () => nats.connect()));
  const sources = connections.map((connection) =>
    createNatsListWatch(connection, configMaps, { bucket: 'readers' }),
  );
  const sourceOf = (reader: number) => sources[reader] as (typeof sources)[number];
  const list = (reader: number) =>
    lastValueFrom(sourceOf(reader).list({ resourceVersion: '' }).pipe(toArray()));
  return {
    pid: pidOf(nats.store.slice(0, nats.store.lastIndexOf('/'))),
    bytes: () => connections.reduce((sum, each) => sum + each.stats().inBytes, 0),
    list,
    async caughtUp() {
      const { metadata } = await own.get(refOf(CHANGES - 1));
      await informer.whenObserved(`${NAMESPACE}/${metadata.name}`, metadata.resourceVersion);
      await wait(500);
    },
    async watch(reader, received) {
      const parts = await list(reader);
      const resourceVersion = parts.at(-1)?.metadata?.resourceVersion ?? '';
      return sourceOf(reader)
        .watch({ resourceVersion, timeoutSeconds: 600 })
        .subscribe((signal) => {
          if (signal.kind !== 'events') return;
          received(signal.events.filter(({ type }) => type === 'MODIFIED').length);
        });
    },
    async stop() {
      await publisher.stop();
      await informer.stop();
    },
  };
}

type Costs = Awaited<ReturnType<typeof measure>>;

function time(ms: number): string {
  if (ms < 1) return `${(1000 * ms).toFixed(0)} µs`;
  return ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${ms.toFixed(0)} ms`;
}

const size = (bytes: number) =>
  bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e3).toFixed(1)} kB`;

const ROWS: readonly (readonly [name: string, of: (costs: Costs) => string])[] = [
  ['a list: CPU time of the server', (costs) => time(costs.listMs)],
  ['a list: bytes', (costs) => size(costs.listBytes)],
  ['a change without readers: CPU time of the server', (costs) => time(costs.changeMs)],
  ['a change for each reader: CPU time of the server', (costs) => time(costs.deliveryMs)],
  ['a change for each reader: bytes', (costs) => size(costs.deliveryBytes)],
  ['until a single reader has a change', (costs) => time(costs.oneDeliveryMs)],
  [`until the last of ${READERS} readers has a change`, (costs) => time(costs.lastDeliveryMs)],
  [`${READERS} lists at the same moment`, (costs) => time(costs.herdMs)],
  ['a list: CPU time of the reader', (costs) => time(costs.clientListMs)],
];

const api = await startApiServer();
const nats = await NatsServer.start();
const client = await clientFromKubeConfig({ file: api.kubeconfig, qps: 0 });
try {
  const own = createResourceClient(client, configMaps);
  const padding = 'x'.repeat(800);
  await repeated(OBJECTS, (at) => own.create({ metadata: refOf(at), data: { padding } }));
  const change: Change = (at) =>
    own.patch(refOf(at), { merge: { data: { at: `${Math.random()}` } } });
  const ofApiServer = await measure(apiServerSubject(client, own, api.pid), change);
  const overNats = await natsSubject(client, own, nats);
  const ofNats = await measure(overNats, change);
  await overNats.stop();
  console.log('| measured | kube-apiserver | nats-server |\n| --- | ---: | ---: |');
  for (const [name, of] of ROWS) console.log(`| ${name} | ${of(ofApiServer)} | ${of(ofNats)} |`);
} finally {
  await client.close();
  await nats.stop();
  await api.stop();
}
