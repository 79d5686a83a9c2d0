/** Pods that are not ready per Deployment: a join by owner, from Deployments through ReplicaSets to Pods. */
import {
  conditionTrue,
  createClient,
  createInformerFactory,
  createMetadataListWatch,
  liveFilter,
  liveJoin,
  ownerReferenceOf,
  through,
  toView,
} from 'rx-informer';
import { deployments, pods, replicaSets } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';

const { fetch, objects } = createFakeApiServer();
const status = (isReady: boolean) => ({
  conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
});
const place = (name: string) => ({ namespace: 'shop', name });
const spec = { selector: {}, template: {} };
for (const app of ['web', 'db']) {
  const deployment = objects.create(deployments, { metadata: place(app), spec });
  const ofDeployment = [ownerReferenceOf(deployment, deployments)];
  // During a rollout a Deployment has two ReplicaSets.
  for (const revision of [1, 2]) {
    const metadata = { ...place(`${app}-${revision}`), ownerReferences: ofDeployment };
    const replicaSet = objects.create(replicaSets, { metadata, spec });
    const ownerReferences = [ownerReferenceOf(replicaSet, replicaSets)];
    objects.create(pods, {
      metadata: { ...place(`${app}-${revision}-x`), ownerReferences },
      status: status(revision === 1),
    });
  }
}

const client = createClient({ baseUrl: 'http://fake', fetch });
const factory = createInformerFactory(client, {
  namespaces: ['shop'],
  projections: { metadata: createMetadataListWatch },
});
const podInformer = factory.informer(pods);
const isReady = conditionTrue('Ready');

const notReady$ = podInformer.changes$.pipe(liveFilter((pod) => !isReady(pod)));
// Of the ReplicaSets only the owners are needed.
const replicaSets$ = factory.informer(replicaSets, { as: 'metadata' }).changes$;
const perDeployment = factory.informer(deployments).changes$.pipe(
  liveJoin(notReady$, {
    on: through(replicaSets$, { owner: 'left' }),
    project: ({ metadata }, waiting) => ({
      name: metadata.name,
      notReady: waiting.map((pod) => pod.metadata.name).sort(),
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
