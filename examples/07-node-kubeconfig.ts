/** A client from a kubeconfig in Node, which handles certificates, tokens and exec plugins. */
import { createListWatch, createSharedInformer } from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';

const server = createFakeApiServer();
server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
server.objects.create(pods, { metadata: { namespace: 'bank', name: 'ledger-0' } });
const served = await server.serve({ port: 0 });

// From a file: clientFromKubeConfig(), or clientFromKubeConfig({ file, context }).
const client = await clientFromKubeConfig({
  text: JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'demo', cluster: { server: served.url } }],
    // The demo server speaks http, over which no credentials are sent.
    users: [{ name: 'me', user: {} }],
    contexts: [{ name: 'demo', context: { cluster: 'demo', user: 'me' } }],
    'current-context': 'demo',
  }),
});
const version = await client.request<{ gitVersion: string }>({ path: '/version' });
console.log(`server version: ${version.gitVersion}`);

// A user with few permissions can often list one namespace only.
const informer = createSharedInformer(createListWatch(client, pods, { namespace: 'shop' }));
informer.start();
await informer.whenSynced({ timeoutMs: 10_000 });
console.log(`pods of shop: ${informer.indexer.listKeys().join(' ')}`);

await informer.stop();
await client.close();
await served.close();
