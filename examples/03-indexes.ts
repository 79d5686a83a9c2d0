/** Indexes replace scans of the store by lookups: pods by node, by owner, by label. */
import {
  byLabel,
  byOwnerUid,
  createClient,
  createListWatch,
  createSharedInformer,
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';

const server = createFakeApiServer();
for (let index = 0; index < 6; index++) {
  server.objects.create(pods, {
    metadata: {
      namespace: 'shop',
      name: `web-${index}`,
      labels: { tier: index < 4 ? 'front' : 'back' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs-1' }],
    },
    spec: { nodeName: `node-${index % 2}`, containers: [] },
  });
}
const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
const informer = createSharedInformer(createListWatch(client, pods), {
  indexers: {
    node: ({ spec }: Pod) => (spec?.nodeName ? [spec.nodeName] : []),
    owner: byOwnerUid,
    tier: byLabel('tier'),
  },
});
informer.start();
await informer.whenSynced({ timeoutMs: 10_000 });

const { indexer } = informer;
const names = (found: readonly Pod[]) => found.map((pod) => pod.metadata.name).join(' ');
console.log(`nodes: ${indexer.listIndexFuncValues('node').toSorted().join(' ')}`);
console.log(`on node-1: ${names(indexer.byIndex('node', 'node-1'))}`);
console.log(`of rs-1: ${indexer.byIndex('owner', 'rs-1').length}`);
console.log(`backend: ${names(indexer.byIndex('tier', 'back'))}`);

// An update moves the object to its new index value.
const moved = server.objects.modify(pods, { namespace: 'shop', name: 'web-0' }, (pod) => {
  pod.spec = { ...pod.spec, containers: [], nodeName: 'node-1' };
});
await informer.whenObserved('shop/web-0', moved.metadata.resourceVersion, { timeoutMs: 10_000 });
console.log(`on node-1 now: ${names(indexer.byIndex('node', 'node-1'))}`);
await informer.stop();
