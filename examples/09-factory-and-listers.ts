/** A factory shares informers: here over two namespaces, with listers, and with table rows as kubectl prints them. */
import {
  createClient,
  createDynamicInformerFactory,
  createInformerFactory,
  createMetadataListWatch,
  createTableListWatch,
} from 'rx-informer';
import { configMaps, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';

const server = createFakeApiServer();
for (const namespace of ['shop', 'till', 'elsewhere']) {
  const metadata = { namespace, name: 'web-0', labels: { app: 'web' } };
  server.objects.create(pods, { metadata, status: { phase: 'Running' } });
}
const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });

const factory = createInformerFactory(client, {
  name: 'ui',
  namespaces: ['shop', 'till'],
  projections: { metadata: createMetadataListWatch, table: createTableListWatch },
});
const podLister = factory.lister(pods);
factory.start();
// An informer that is requested after the start starts immediately.
factory.informer(configMaps, { namespace: 'shop' });
await factory.whenSynced({ timeoutMs: 10_000 });
console.log(`informers: ${factory.informers.join(', ')}`);
console.log(`web in both: ${podLister.list('app=web').length}`);
console.log(`uid known: ${podLister.namespace('till').get('web-0').metadata.uid !== undefined}`);
try {
  podLister.get('elsewhere/web-0');
} catch (error) {
  console.log(`in no namespace of the factory: ${(error as Error).message}`);
}

// Waits until the store shows the created pod.
const made = server.objects.create(pods, {
  metadata: { namespace: 'shop', name: 'web-1' },
  status: { phase: 'Pending' },
});
const fresh = await podLister.atLeast(made, { timeoutMs: 10_000 });
console.log(`in the shop now: ${fresh.namespace('shop').list().length}`);

// A panel that opens and closes: the last release stops the informer after the linger.
const panel = factory.acquire(pods, { namespace: '', as: 'metadata' });
await panel.informer.whenSynced({ timeoutMs: 10_000 });
console.log(`metadata only: ${Object.keys(panel.lister.get('elsewhere/web-0')).sort().join(' ')}`);
panel.release();

// Table rows, as `kubectl get` prints them.
const table = factory.informer(pods, { namespace: 'shop', as: 'table' });
table.columns$.subscribe((columns) => {
  const shown = columns.filter(({ priority }) => priority === 0);
  console.log(`columns: ${shown.map(({ name }) => name).join(' ')}`);
});
await table.whenSynced({ timeoutMs: 10_000 });
console.log(
  `rows: ${table.indexer
    .list()
    .map(({ cells }) => `${cells[0]} ${cells[2]}`)
    .join(', ')}`,
);

// The server does not serve widgets, so the wait rejects immediately and names the informer.
const dynamic = createDynamicInformerFactory(client);
dynamic.lister({ group: 'example.com', version: 'v1', plural: 'widgets' });
dynamic.start();
await dynamic.whenSynced().catch((error: Error) => console.log(error.message.replace(/:.*/, '')));
await Promise.all([factory.stop(), dynamic.stop()]);
