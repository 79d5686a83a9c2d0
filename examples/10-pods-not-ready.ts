/** Pods that are not ready per Deployment: two joins by owner, from Pods over ReplicaSets to Deployments. */
import {
  conditionTrue,
  createClient,
  createInformerFactory,
  liveFilter,
  liveJoin,
  ownerReferenceOf,
  toView,
} from 'rx-informer';
import { deployments, type Pod, pods, replicaSets } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';

const { fetch, objects } = createFakeApiServer();
const status = (isReady: boolean) => ({
  conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
});
const place = (name: string) => ({ namespace: 'shop', name });
for (const app of ['web', 'db']) {
  const deployment = objects.create(deployments, { metadata: place(app) });
  const ofDeployment = [ownerReferenceOf(deployment, deployments)];
  // During a rollout a Deployment has two ReplicaSets.
  for (const revision of [1, 2]) {
    const metadata = { ...place(`${app}-${revision}`), ownerReferences: ofDeployment };
    const replicaSet = objects.create(replicaSets, { metadata });
    const ownerReferences = [ownerReferenceOf(replicaSet, replicaSets)];
    objects.create(pods, {
      metadata: { ...place(`${app}-${revision}-x`), ownerReferences },
      status: status(revision === 1),
    });
  }
}

const client = createClient({ baseUrl: 'http://fake', fetch });
const factory = createInformerFactory(client, { namespaces: ['shop'] });
const podInformer = factory.informer(pods);
const isReady = conditionTrue('Ready');

const notReady$ = podInformer.changes$.pipe(liveFilter((pod) => !isReady(pod)));
const perReplicaSet$ = factory.informer(replicaSets).changes$.pipe(
  liveJoin(notReady$, {
    on: { owner: 'left' },
    project: ({ metadata }, waiting) => ({
      owners: metadata.ownerReferences?.map(({ uid }) => uid),
      pods: waiting.map((pod: Pod) => pod.metadata.name),
    }),
  }),
);
// A row of the first join is not an object with owner references, so the second join uses keys.
const perDeployment = factory.informer(deployments).changes$.pipe(
  liveJoin(perReplicaSet$, {
    on: { left: ({ metadata }) => metadata.uid, right: ({ owners }) => owners },
    project: ({ metadata }, sets) => ({
      name: metadata.name,
      notReady: sets.flatMap((set) => set.pods).sort(),
    }),
  }),
  toView(),
);

const print = () => {
  const { rows } = perDeployment.getSnapshot();
  console.log(
    rows.map(({ name, notReady }) => `${name}: ${notReady.join(' ') || 'ok'}`).join('; '),
  );
};
const leave = perDeployment.subscribe(() => undefined);
factory.start();
await factory.whenSynced({ timeoutMs: 10_000 });
print();

const change = async (name: string, isNowReady: boolean) => {
  const changed = objects.modify(pods, place(name), (pod) => {
    pod.status = status(isNowReady);
  });
  const { resourceVersion } = changed.metadata;
  await podInformer.whenObserved(`shop/${name}`, resourceVersion, { timeoutMs: 10_000 });
  print();
};
await change('web-2-x', true);
await change('db-1-x', false);
leave();
await factory.stop();
