/** Follows Pods with the client of a kubeconfig, writes through it, and ends by itself. */
import { createListWatch, createResourceClient, createSharedInformer } from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { PATIENCE, settings, tell } from './settings.ts';

const client = await clientFromKubeConfig({ file: settings().file });
const informer = createSharedInformer(createListWatch(client, pods, { namespace: 'shop' }));
const log: string[] = [];
informer.added$.subscribe(({ metadata }) => log.push(`added ${metadata.name}`));
informer.updated$.subscribe(({ object }) => log.push(`updated ${object.metadata.name}`));
informer.deleted$.subscribe(({ key }) => log.push(`deleted ${key}`));
await informer.whenSynced(PATIENCE);

const shop = createResourceClient(client, pods).namespace('shop');
const made = await shop.create({ metadata: { name: 'made' }, spec: { containers: [] } });
await informer.whenObserved('shop/made', made.metadata.resourceVersion, PATIENCE);
const edited = await shop.edit(made, (draft) => {
  draft.metadata.annotations = { app: 'käse' };
});
await informer.whenObserved('shop/made', edited.metadata.resourceVersion, PATIENCE);
const annotations = informer.indexer.getByKey('shop/made')?.metadata.annotations;
await shop.delete('made');
await informer.whenObserved('shop/made', { uid: made.metadata.uid ?? '', deleted: true }, PATIENCE);
tell({ log, annotations, keys: informer.indexer.listKeys(), protocol: client.protocol });
await informer.stop();
await client.close();
