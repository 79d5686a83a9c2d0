/** A live list of pods in ten lines: of a fake cluster or, with `--cluster`, of the cluster of your kubeconfig. */
import { createClient, createListWatch, createSharedInformer } from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';

const { fetch, objects } = createFakeApiServer();
objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });

const isReal = process.argv.includes('--cluster');
const client = isReal
  ? await clientFromKubeConfig()
  : createClient({ baseUrl: 'http://fake', fetch });
const informer = createSharedInformer(createListWatch(client, pods));
informer.added$.subscribe(({ metadata }) =>
  console.log(`+ ${metadata.namespace}/${metadata.name}`),
);
informer.deleted$.subscribe(({ key }) => console.log(`- ${key}`));
await informer.whenSynced({ timeoutMs: 10_000 });
console.log(`${informer.indexer.size} pods; changes appear as they happen`);

objects.create(pods, { metadata: { namespace: 'shop', name: 'web-1' } });
objects.delete(pods, { namespace: 'shop', name: 'web-0' });
await new Promise((resolve) => setTimeout(resolve, 500));
await informer.stop();
await client.close();
