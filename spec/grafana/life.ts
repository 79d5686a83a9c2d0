/**
 * A program whose metrics the dashboard shows: informers, controllers, stored objects and a publisher with a nats-server, on a fake API server, for
 * seven minutes with faults. OpenTelemetry's Prometheus exporter serves the metrics on a port of the loopback interface, and those of a
 * second replica in shards on the next port.
 *
 *   node --conditions=rx-informer-source spec/grafana/life.ts <folder of @opentelemetry packages> <port>
 */
import { mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import type { Meter } from '@opentelemetry/api';
import {
  addEventHandler,
  audit,
  createClient,
  createController,
  createInformerFactory,
  createLeaderElector,
  createShardMember,
  exponentialBackoff,
  forResource,
  metered,
} from 'rx-informer';
import { publishToNats } from 'rx-informer/nats';
import { fileSnapshots } from 'rx-informer/node';
import { configMaps, leases, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { NatsServer } from '../nats/nats-server.ts';

/** The parts of OpenTelemetry's packages that are called here. They are not among the packages of this repository. */
interface Packages {
  PrometheusExporter: new (options: { host: string; port: number }) => unknown;
  MeterProvider: new (options: object) => { getMeter(name: string): Meter };
}

const [folder = '', port = '9464'] = process.argv.slice(2);
const load = createRequire(`${folder}/`) as (name: string) => Packages;
const { PrometheusExporter } = load('@opentelemetry/exporter-prometheus');
const { MeterProvider } = load('@opentelemetry/sdk-metrics');

const boundaries = [1, 10, 100, 1_000, 10_000, 100_000].flatMap((step) =>
  [1, 2.5, 5].map((each) => (each * step) / 10_000),
);
const meterAt = (at: number) =>
  new MeterProvider({
    readers: [new PrometheusExporter({ host: '127.0.0.1', port: at })],
    // As docs/operations/monitoring.md says: buckets for durations in seconds.
    views: [
      {
        instrumentUnit: 's',
        instrumentName: '*',
        instrumentType: 'HISTOGRAM',
        aggregation: { type: 4, options: { boundaries } },
      },
    ],
  }).getMeter('life');

const server = createFakeApiServer({ resources: [pods, configMaps, leases] });
const metrics = metered(meterAt(Number(port)));
const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, metrics });
const factory = createInformerFactory(client, {
  metrics,
  audit: audit({ periodMs: 60_000 }),
  persist: fileSnapshots({
    folder: mkdtempSync(join(tmpdir(), 'rx-informer-life-')),
    ...{ identity: 'life', kinds: [pods], env: 'left-out', transformVersion: '1', metrics },
  }),
  backoff: exponentialBackoff({ baseMs: 200, capMs: 2_000 }),
  resources: [
    forResource(pods, {
      transform: (pod) => {
        if (pod.metadata?.labels?.broken === 'true') throw new Error('this pod is broken');
        return pod;
      },
    }),
  ],
});
/** What goes wrong at this time. */
const troubles = new Set<'slow handler' | 'failing reconciles' | 'slow maps'>();
const podInformer = factory.informer(pods);
const mapInformer = factory.informer(configMaps);
addEventHandler(podInformer, {
  onUpdate: () => (troubles.has('slow handler') ? pause(400) : undefined),
});
const ofTheProcess = { client, metrics, namespace: 'shop', identity: 'life' };
/** A replica of a controller in shards. */
const replica = (identity: string, measuredBy = metrics) => {
  const shared = { metrics: measuredBy, name: 'maps' };
  return createController({
    ...{ ...shared, for: mapInformer, concurrency: 40 },
    shards: createShardMember({ ...ofTheProcess, ...shared, identity }),
    reconcile: () => pause(troubles.has('slow maps') ? 15_000 : 10).then(() => undefined),
  });
};
const maps = replica('a');
const otherMaps = replica('b', metered(meterAt(Number(port) + 1)));
const nats = await NatsServer.start();
publishToNats(mapInformer, {
  ...{ resource: configMaps, bucket: 'life', metrics },
  connection: await connect({ servers: nats.url, maxReconnectAttempts: -1 }),
});
const controller = createController({
  name: 'web',
  for: podInformer,
  concurrency: 2,
  metrics,
  leaderElection: () => createLeaderElector({ ...ofTheProcess, name: 'web' }),
  reconcile: async (key) => {
    await pause(troubles.has('failing reconciles') ? 700 : 20 + 30 * Math.random());
    if (troubles.has('failing reconciles') && key.endsWith('7'))
      throw new Error('the disk is full');
  },
});

const place = (name: string) => ({ namespace: 'shop', name });
for (let at = 0; at < 300; at++) server.objects.create(pods, { metadata: place(`web-${at}`) });
for (let at = 0; at < 40; at++) server.objects.create(configMaps, { metadata: place(`map-${at}`) });

let writes = 0;
setInterval(() => {
  const labels = { round: String(writes) };
  const name = `web-${(writes * 37) % 300}`;
  server.objects.modify(
    pods,
    place(name),
    ({ metadata }) => void Object.assign(metadata, { labels }),
  );
  if (writes % 10 === 0) {
    const data = { round: String(writes) };
    server.objects.modify(
      configMaps,
      place(`map-${writes % 40}`),
      (map) => void Object.assign(map, { data }),
    );
  }
  writes += 1;
}, 200);

function label(broken: string): void {
  for (let at = 0; at < 12; at++)
    server.objects.modify(pods, place(`web-${at}`), ({ metadata }) => {
      Object.assign(metadata, { labels: { broken } });
    });
}

/** The seconds at which something happens. */
const timetable: readonly (readonly [number, () => unknown])[] = [
  [60, () => server.faults.dropWatches()],
  [66, () => server.faults.dropWatches()],
  [72, () => server.faults.dropWatches()],
  [90, () => server.faults.loseEvents(20)],
  [120, () => label('true')],
  [150, () => server.faults.expireWatches()],
  [156, () => server.faults.expireWatches()],
  [180, () => label('false')],
  [200, () => troubles.add('slow handler')],
  // The other replica joins while reconciles run, so the slots that it gets are released late.
  [210, () => troubles.add('slow maps')],
  [215, () => otherMaps.start()],
  [230, () => troubles.delete('slow maps')],
  [240, () => troubles.delete('slow handler')],
  [250, () => troubles.add('failing reconciles')],
  [310, () => troubles.delete('failing reconciles')],
  // Longer than the Lease: the data are old, and nobody leads.
  [315, () => server.faults.refuse()],
  [316, () => server.faults.dropWatches()],
  [350, () => server.faults.healAll()],
  [380, () => server.faults.dropWatches()],
];
for (const [atSeconds, happens] of timetable) setTimeout(happens, atSeconds * 1_000);
factory.start();
controller.start();
maps.start();
