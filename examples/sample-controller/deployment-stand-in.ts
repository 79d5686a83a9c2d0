/**
 * Stands in for the deployment controller on the fake API server, and on a kube-apiserver that runs without
 * controllers. It reports the wanted replicas of each Deployment as available.
 */
import {
  createController,
  createListWatch,
  createResourceClient,
  createSharedInformer,
  type KubeClient,
} from 'rx-informer';
import { deployments } from 'rx-informer/resources';

/** Starts the stand-in. The returned function stops it. */
export function standInForDeployments(client: KubeClient, namespace?: string): () => Promise<void> {
  const scope = namespace === undefined ? {} : { namespace };
  const informer = createSharedInformer(createListWatch(client, deployments, scope));
  const calls = createResourceClient(client, deployments);
  const controller = createController({
    name: 'deployment-stand-in',
    for: informer,
    concurrency: 4,
    reconcile: async (_key, { object, name, signal }) => {
      const replicas = object?.spec?.replicas ?? 0;
      if (object === undefined || object.status?.availableReplicas === replicas) return;
      const counts = { replicas, readyReplicas: replicas, availableReplicas: replicas };
      const status = { ...counts, observedGeneration: object.metadata.generation ?? 0 };
      await calls.patchStatus(name, { merge: { status } }, { signal });
    },
  });
  controller.start();
  return async () => {
    await controller.stop();
    await informer.stop();
  };
}
