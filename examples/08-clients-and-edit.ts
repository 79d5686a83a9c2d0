/** Writes: typed clients, edits without lost updates, server-side apply, and reading your own write. */
import {
  createClient,
  createDynamicClient,
  createListWatch,
  createResourceClient,
  createSharedInformer,
} from 'rx-informer';
import { deployments } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';

const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
const shop = createResourceClient(client, deployments).namespace('shop');

const labels = { app: 'web' };
const container = { name: 'web', image: 'example.com/web:1' };
await shop.create({
  metadata: { name: 'web', labels },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [container] } },
  },
});

// Two writers edit the Deployment concurrently. Each recipe sees the other's change, so neither change is lost.
const [image, scale] = await Promise.all([
  shop.edit('web', ({ spec }) => {
    for (const each of spec?.template.spec?.containers ?? []) each.image = 'example.com/web:2';
  }),
  shop.edit('web', ({ spec }) => {
    if (spec) spec.replicas = (spec.replicas ?? 0) + 2;
  }),
]);
console.log(`two versions: ${image.metadata.resourceVersion !== scale.metadata.resourceVersion}`);
const both = await shop.get('web');
console.log(`image: ${both.spec?.template.spec?.containers[0]?.image}`);
console.log(`replicas: ${both.spec?.replicas}`);

// An edit can start from the object in the store, which saves the read before the write.
const informer = createSharedInformer(createListWatch(client, deployments));
informer.start();
await informer.whenSynced({ timeoutMs: 10_000 });
const stored = informer.indexer.get('shop/web');
if (stored === undefined) throw new Error('shop/web is not in the store');
const paused = await shop.edit(stored, ({ spec }) => {
  if (spec) spec.paused = true;
});
const version = paused.metadata.resourceVersion;
await informer.whenObserved('shop/web', version, { timeoutMs: 10_000 });
console.log(`in the store: paused ${informer.indexer.get('shop/web')?.spec?.paused}`);

// An apply states the wanted fields, so applying them twice changes nothing.
const wanted = { metadata: { name: 'web', annotations: { owner: 'tea' } } };
await shop.apply(wanted, { fieldManager: 'example' });
const applied = await shop.apply(wanted, { fieldManager: 'example' });
console.log(`owner: ${applied.metadata.annotations?.['owner']}`);

// A dynamic client needs only the kind, for example from a manifest.
const found = await createDynamicClient(client).resource({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
});
const { items } = await found.list({ labelSelector: 'app=web' });
console.log(`${found.resource.plural}: ${items.map(({ metadata }) => metadata.name).join(' ')}`);

await shop.delete('web', { preconditions: { uid: applied.metadata.uid } });
console.log(`left: ${(await shop.list()).items.length}`);
await informer.stop();
await client.close();
