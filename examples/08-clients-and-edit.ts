/** Writes: typed clients, edits by draft that nobody overwrites, server-side apply, and reading what was written. */
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

// Two people change it at once: each recipe sees what the other did, and neither is lost.
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

// The object of a store is frozen, and a good base: nothing is read before it is written.
const informer = createSharedInformer(createListWatch(client, deployments));
informer.start();
await informer.whenSynced({ timeoutMs: 10_000 });
const stored = informer.indexer.get('shop/web');
if (stored === undefined) throw new Error('it is not there');
const paused = await shop.edit(stored, ({ spec }) => {
  if (spec) spec.paused = true;
});
const version = paused.metadata.resourceVersion;
await informer.whenObserved('shop/web', version, { timeoutMs: 10_000 });
console.log(`in the store: paused ${informer.indexer.get('shop/web')?.spec?.paused}`);

// What shall be, not what to do: applying it twice changes nothing.
const wanted = { metadata: { name: 'web', annotations: { owner: 'tea' } } };
await shop.apply(wanted, { fieldManager: 'example' });
const applied = await shop.apply(wanted, { fieldManager: 'example' });
console.log(`owner: ${applied.metadata.annotations?.['owner']}`);

// By name only, as a tool that reads manifests has it.
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
