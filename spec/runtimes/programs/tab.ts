/** Asks a worker a live query, sees a change of its rows, edits an object, and closes the worker. */
import { writeFileSync } from 'node:fs';
import { createClient, createResourceClient, liveQuery } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { connectWorker } from 'rx-informer/worker';
import { settings, tell } from './settings.ts';

const { url } = settings();
writeFileSync(new URL('./server.txt', import.meta.url), url);
const cluster = connectWorker({
  identity: 'me',
  dedicated: () => new Worker(new URL('./served.ts', import.meta.url), { type: 'module' }),
});
const view = cluster.view(
  liveQuery({ from: pods, select: { name: 'metadata.name' }, orderBy: { path: 'metadata.name' } }),
);
const names = () => view.getSnapshot().rows.map(({ name }) => name);
const shows = (wanted: string) =>
  new Promise<void>((resolve, reject) => {
    const late = setTimeout(
      () =>
        reject(new Error(`${names()} instead of ${wanted}; ${JSON.stringify(cluster.connection)}`)),
      20_000,
    );
    const leave = view.subscribe(check);
    function check() {
      if (names().join() !== wanted) return;
      clearTimeout(late);
      leave();
      resolve();
    }
    check();
  });
const hold = view.subscribe(() => {});
await shows('first');
const shop = createResourceClient(createClient({ baseUrl: url }), pods).namespace('shop');
await shop.create({ metadata: { name: 'second' }, spec: { containers: [] } });
await shows('first,second');
await shop.delete('first');
await shows('second');
const { synced, stale } = view.getSnapshot();
tell({ names: names(), synced, stale: stale === true, phase: cluster.connection.phase });
hold();
cluster.close();
