/** Pods per Node with the CPU and memory that they request: groups of Pods, joined to the Nodes. */
import {
  count,
  createClient,
  createInformerFactory,
  liveGroupBy,
  liveJoin,
  podRequests,
  sum,
  toView,
} from 'rx-informer';
import { nodes, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';

const { fetch, objects } = createFakeApiServer();
for (const name of ['node-1', 'node-2', 'node-3']) objects.create(nodes, { metadata: { name } });
const createPod = (name: string, nodeName: string, cpu: string, memory: string) =>
  objects.create(pods, {
    metadata: { namespace: 'shop', name },
    spec: { nodeName, containers: [{ name: 'main', resources: { requests: { cpu, memory } } }] },
  });
createPod('web-0', 'node-1', '100m', '128Mi');
createPod('web-1', 'node-1', '0.2', '128Mi');
createPod('db-0', 'node-2', '2', '1Gi');

const client = createClient({ baseUrl: 'http://fake', fetch });
const factory = createInformerFactory(client);
const podInformer = factory.informer(pods);

const requested$ = podInformer.changes$.pipe(
  liveGroupBy(
    // A Pod that has ended requests nothing any more, and one without a Node is in no group.
    ({ spec, status }) =>
      status?.phase === 'Succeeded' || status?.phase === 'Failed' ? undefined : spec?.nodeName,
    {
      pods: count(),
      // Thousandths of a core, because sums of integers are exact and 0.1 + 0.2 is not.
      cpu: sum((pod) => podRequests(pod).cpu.milli),
      memory: sum((pod) => podRequests(pod).memory.value),
    },
  ),
);
// The join adds the Nodes without Pods, which have no group.
const perNode = factory.informer(nodes).changes$.pipe(
  liveJoin(requested$, {
    on: { left: ({ metadata }) => metadata.name, right: ({ key }) => key },
    one: true,
    project: ({ metadata }, requested) => ({
      name: metadata.name,
      pods: requested?.pods ?? 0,
      cpu: `${requested?.cpu ?? 0}m`,
      MiB: (requested?.memory ?? 0) / 2 ** 20,
    }),
  }),
  toView(),
);

const print = () => {
  for (const { name, pods, cpu, MiB } of perNode.getSnapshot().rows) {
    console.log(`${name}: ${pods} pods, cpu ${cpu}, memory ${MiB}Mi`);
  }
};
const leave = perNode.subscribe(() => undefined);
factory.start();
await factory.whenSynced({ timeoutMs: 10_000 });
print();

const { metadata } = createPod('job-0', 'node-3', '1500m', '512Mi');
await podInformer.whenObserved('shop/job-0', metadata.resourceVersion, { timeoutMs: 10_000 });
console.log('-- a pod was created on node-3');
print();
leave();
await factory.stop();
