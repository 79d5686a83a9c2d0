/** The failing Pods of many clusters in one list, while clusters come and go. */
import {
  createClient,
  createClusters,
  createLiveQueries,
  type KubeClient,
  liveQuery,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { BehaviorSubject, filter, firstValueFrom } from 'rxjs';

const servers: Record<string, FakeApiServer> = {};
const clientOf = (cluster: string): KubeClient => {
  const server = createFakeApiServer();
  servers[cluster] = server;
  for (const [name, phase] of [
    [`web-${cluster}`, 'Failed'],
    [`db-${cluster}`, 'Running'],
  ] as const) {
    server.objects.create(pods, { metadata: { namespace: 'shop', name }, status: { phase } });
  }
  return createClient({ baseUrl: `https://${cluster}.example`, fetch: server.fetch });
};
const east = clientOf('east');
const west = clientOf('west');

// A value has all clusters of the moment. It may come from a file, from Cluster API, or from a form of a page.
const clients$ = new BehaviorSubject<Record<string, KubeClient>>({ east, west });
const clusters = createClusters(clients$);
clusters.start();
const failed = createLiveQueries(clusters).view(
  liveQuery({
    from: pods,
    where: { path: 'status.phase', eq: 'Failed' },
    orderBy: { path: 'metadata.name' },
    select: { name: 'metadata.name' },
  }),
);
const shown = (count: number) =>
  firstValueFrom(failed.items$.pipe(filter((rows) => rows.length === count)));
const print = (rows: readonly { readonly name?: unknown }[]) =>
  console.log(`failed: ${rows.map(({ name }) => name).join(' ')}`);
print(await shown(2));
console.log(clusters.status.text);

// A cluster that comes adds its rows, and one that leaves takes its rows away.
clients$.next({ east, west, north: clientOf('north') });
print(await shown(3));
clients$.next({ west, north: clusters.get('north')?.client as KubeClient });
print(await shown(2));

// A cluster that cannot be reached keeps its last rows, and the status says so.
servers['north']?.faults.refuse();
servers['north']?.faults.dropWatches();
const { text } = await firstValueFrom(
  clusters.status$.pipe(filter((status) => status.clusters['north']?.live === false)),
);
console.log(text.split(':', 3).join(':'));
print(failed.getSnapshot().rows);
await clusters.stop();
for (const client of [east, west]) await client.close();
