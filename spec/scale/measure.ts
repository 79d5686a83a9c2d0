/**
 * Measures the costs that the simulation takes as parameters, with a real kube-apiserver and a real nats-server:
 * CPU time of the server process, bytes, and the time that a herd of lists takes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import {
  createListWatch,
  createResourceClient,
  createSharedInformer,
  type KubeClient,
} from 'rx-informer';
import { createNatsListWatch, publishToNats } from 'rx-informer/nats';
import { clientFromKubeConfig } from 'rx-informer/node';
import { configMaps } from 'rx-informer/resources';
import { lastValueFrom, type Subscription } from 'rxjs';
import { toArray } from 'rxjs/operators';
import { startApiServer } from '../e2e/apiserver.ts';
import { NatsServer } from '../nats/nats-server.ts';
import type { Measured, ServerCosts } from './costs.ts';

const OBJECTS = 1000;
const CHANGES = 300;
const READERS = 100;
/** The time between two changes, in milliseconds. */
const PACE_MS = 30;
const PADDING = 'x'.repeat(800);
const NAMESPACE = 'default';
const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`;

/** The CPU time of a process, in milliseconds. */
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

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await wait(1);
}

/** The lower quartile: other processes of the machine only add time. */
function quartile(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 4)] ?? 0;
}

/** Runs a task. Returns the CPU time of the server, the time on the clock, and the CPU time of the readers, in milliseconds. */
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
async function paced(change: (at: number) => Promise<unknown>): Promise<void> {
  await repeated(CHANGES, async (at) => {
    await Promise.all([change(at), wait(PACE_MS)]);
  });
}

/** The time from a change until the readers have it, in milliseconds. */
async function delayOf(change: (at: number) => Promise<unknown>, isThere: () => () => boolean) {
  const delays: number[] = [];
  await repeated(40, async (at) => {
    const hasArrived = isThere();
    const begun = performance.now();
    await change(at);
    await until(hasArrived);
    delays.push(performance.now() - begun);
    await wait(20);
  });
  return quartile(delays);
}

/** Lists of all readers at the same moment: the quickest of five times. */
async function herdOf(pid: number, list: (at: number) => Promise<unknown>) {
  const herds: { cpu: number; wallMs: number }[] = [];
  await repeated(5, async () => {
    const all = () => Promise.all(Array.from({ length: READERS }, (_, at) => list(at)));
    herds.push(await costOf(pid, all));
  });
  return herds.reduce((least, each) => (each.wallMs < least.wallMs ? each : least));
}

/** Reads a response without parsing it. Returns its length. */
async function readAll(client: KubeClient, from: string): Promise<number> {
  let bytes = 0;
  const events$ = client.send({ method: 'GET', path: from, query: {}, use: 'list' });
  await new Promise<void>((resolve, reject) => {
    events$.subscribe({
      next: (event) => {
        if (event.kind === 'chunk') bytes += event.bytes.length;
      },
      complete: resolve,
      error: reject,
    });
  });
  return bytes;
}

async function repeated(times: number, task: (at: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < times; at++) await task(at);
}

/** The costs of kube-apiserver. */
async function ofApiServer(kubeconfig: string, pid: number): Promise<ServerCosts> {
  const client = await clientFromKubeConfig({ file: kubeconfig, qps: 0 });
  const own = createResourceClient(client, configMaps);
  const object = (at: number) => ({ namespace: NAMESPACE, name: `object-${at}` });
  await repeated(OBJECTS, (at) => own.create({ metadata: object(at), data: { padding: PADDING } }));
  const change = (at: number) =>
    own.patch(object(at % OBJECTS), { merge: { data: { at: `${Math.random()}` } } });
  const empty = '/api/v1/namespaces/empty/configmaps';
  await repeated(10, () => readAll(client, path));
  const listBytes = await readAll(client, path);
  const lists = await costOf(pid, () => repeated(60, () => readAll(client, path)));
  const empties = await costOf(pid, () => repeated(300, () => readAll(client, empty)));
  const changes = await costOf(pid, () => repeated(CHANGES, change));
  const alone = await costOf(pid, () => paced(change));
  const watching: Subscription[] = [];
  let received = 0;
  let bytes = 0;
  const { metadata } = await own.list({ namespace: NAMESPACE });
  for (let at = 0; at < READERS; at++) {
    const query = { watch: 'true', resourceVersion: metadata.resourceVersion ?? '' };
    const watch$ = client.send({ method: 'GET', path, query, use: 'watch' });
    const next = (event: { kind: string; bytes?: Uint8Array }) => {
      if (event.kind !== 'chunk' || event.bytes === undefined) return;
      bytes += event.bytes.length;
      for (const byte of event.bytes) if (byte === 10) received += 1;
    };
    watching.push(watch$.subscribe({ next }));
  }
  await wait(2_000);
  [received, bytes] = [0, 0];
  const shared = await costOf(pid, async () => {
    await paced(change);
    await until(() => received >= CHANGES * READERS);
  });
  const arrived = (count: number) => () => {
    const before = received;
    return () => received >= before + count;
  };
  const lastDeliveryMs = await delayOf(change, arrived(READERS));
  for (const each of watching.slice(1)) each.unsubscribe();
  await wait(500);
  const oneDeliveryMs = await delayOf(change, arrived(1));
  for (const each of watching) each.unsubscribe();
  const herd = await herdOf(pid, () => readAll(client, path));
  await client.close();
  const listFixedMs = empties.cpu / 300;
  return {
    objects: OBJECTS,
    listBytes,
    listFixedMs,
    listObjectMs: (lists.cpu / 60 - listFixedMs) / OBJECTS,
    changeMs: changes.cpu / CHANGES,
    deliveryMs: Math.max(0, shared.cpu - alone.cpu) / (CHANGES * READERS),
    deliveryBytes: bytes / received,
    clientListMs: lists.client / 60,
    clientDeliveryMs: Math.max(0, shared.client - alone.client) / (CHANGES * READERS),
    anchors: {
      readers: READERS,
      oneDeliveryMs,
      lastDeliveryMs,
      herdMs: herd.wallMs,
      herdCpuMs: herd.cpu,
    },
  };
}

/** The costs of nats-server: the publisher follows the API server, and readers have a connection each. */
async function ofNats(kubeconfig: string): Promise<ServerCosts> {
  const nats = await NatsServer.start();
  const pid = pidOf(nats.store.slice(0, nats.store.lastIndexOf('/')));
  const client = await clientFromKubeConfig({ file: kubeconfig, qps: 0 });
  const own = createResourceClient(client, configMaps);
  const informer = createSharedInformer(
    createListWatch(client, configMaps, { namespace: NAMESPACE }),
  );
  const publisher = publishToNats(informer, {
    connection: await nats.connect(),
    resource: configMaps,
    bucket: 'scale',
    heartbeatMs: 60_000,
  });
  await until(() => publisher.status.phase === 'publishing');
  await wait(2_000);
  const connections = await Promise.all(Array.from({ length: READERS }, () => nats.connect()));
  const sources = connections.map((connection) =>
    createNatsListWatch(connection, configMaps, { bucket: 'scale' }),
  );
  const listOf = (at: number) =>
    lastValueFrom(
      (sources[at % READERS] as (typeof sources)[number])
        .list({ resourceVersion: '' })
        .pipe(toArray()),
    );
  const bytesIn = () => connections.reduce((sum, each) => sum + each.stats().inBytes, 0);
  await listOf(0);
  const listedFrom = bytesIn();
  const lists = await costOf(pid, () => repeated(20, () => listOf(1)));
  const listBytes = (bytesIn() - listedFrom) / 20;
  const change = (at: number) =>
    own.patch(
      { namespace: NAMESPACE, name: `object-${at % OBJECTS}` },
      { merge: { data: { at: `${Math.random()}` } } },
    );
  const versionOf = () => informer.lastSyncResourceVersion;
  const caughtUp = async () => {
    const { metadata } = await own.list({ namespace: NAMESPACE });
    await until(
      () => versionOf() === metadata.resourceVersion || informer.indexer.size === OBJECTS,
    );
    await wait(500);
  };
  const changes = await costOf(pid, async () => {
    await repeated(CHANGES, change);
    await caughtUp();
  });
  const alone = await costOf(pid, () => paced(change));
  let received = 0;
  const watching: Subscription[] = [];
  for (const source of sources) {
    const parts = await lastValueFrom(source.list({ resourceVersion: '' }).pipe(toArray()));
    const resourceVersion = parts.at(-1)?.metadata?.resourceVersion ?? '';
    watching.push(
      source.watch({ resourceVersion, timeoutSeconds: 600 }).subscribe((signal) => {
        if (signal.kind !== 'events') return;
        received += signal.events.filter(({ type }) => type === 'MODIFIED').length;
      }),
    );
  }
  await wait(2_000);
  const from = bytesIn();
  received = 0;
  const shared = await costOf(pid, async () => {
    await paced(change);
    await until(() => received >= CHANGES * READERS);
  });
  const deliveryBytes = (bytesIn() - from) / (CHANGES * READERS);
  const arrived = (count: number) => () => {
    const before = received;
    return () => received >= before + count;
  };
  const lastDeliveryMs = await delayOf(change, arrived(READERS));
  for (const each of watching.slice(1)) each.unsubscribe();
  await wait(500);
  const oneDeliveryMs = await delayOf(change, arrived(1));
  for (const each of watching) each.unsubscribe();
  const herd = await herdOf(pid, listOf);
  await publisher.stop();
  await informer.stop();
  await nats.stop();
  await client.close();
  return {
    objects: OBJECTS,
    listBytes,
    // A consumer costs about the same for any number of objects; it is part of the messages here.
    listFixedMs: 0,
    listObjectMs: lists.cpu / 20 / OBJECTS,
    changeMs: changes.cpu / CHANGES,
    deliveryMs: Math.max(0, shared.cpu - alone.cpu) / (CHANGES * READERS),
    deliveryBytes,
    clientListMs: lists.client / 20,
    clientDeliveryMs: Math.max(0, shared.client - alone.client) / (CHANGES * READERS),
    anchors: {
      readers: READERS,
      oneDeliveryMs,
      lastDeliveryMs,
      herdMs: herd.wallMs,
      herdCpuMs: herd.cpu,
    },
  };
}

/** Measures both servers. Takes about a minute. */
export async function measure(): Promise<Measured> {
  const api = await startApiServer();
  try {
    const apiServer = await ofApiServer(api.kubeconfig, api.pid);
    const nats = await ofNats(api.kubeconfig);
    return { cores: cpus().length, apiServer, nats };
  } finally {
    await api.stop();
  }
}
