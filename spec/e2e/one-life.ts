/**
 * Runs as a process of its own: follows a namespace of a real cluster, closes everything, and prints the resources
 * that are left.
 */
import { createListWatch, createSharedInformer } from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { configMaps } from 'rx-informer/resources';

const [file, namespace] = process.argv.slice(2) as [string, string];
const client = await clientFromKubeConfig({ file });
const informer = createSharedInformer(createListWatch(client, configMaps, { namespace }));
const subscription = informer.changes$.subscribe();
informer.start();
await informer.whenSynced();
const objects = informer.indexer.size;
subscription.unsubscribe();
await informer.stop();
await client.close();
// Closing the sockets takes a moment.
for (let turn = 0; turn < 50 && process.getActiveResourcesInfo().length > 1; turn++) {
  await new Promise((resolve) => setImmediate(resolve));
}
process.stdout.write(JSON.stringify({ objects, left: process.getActiveResourcesInfo() }));
