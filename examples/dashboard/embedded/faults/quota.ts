/** A deployment that was scaled beyond the quota of its namespace. Its replica set cannot create the missing pods. */
import { resourceQuotas } from 'rx-informer/resources';
import { newQuota } from '../cluster-shapes.ts';
import type { World } from '../world.ts';
import {
  beganMs,
  faultyDeployment,
  healthyPods,
  refusedPods,
  tellScaling,
} from './faulty-workload.ts';
import type { SeededFault } from './seeded-fault.ts';

const small = { namespace: 'billing', milliCpu: 500, memoryMi: 512, isOld: true };
const EXISTING = 4;
const ROUNDS_PER_ATTEMPT = 12;

/** Seeds the fault. */
export function quotaFault(world: World): SeededFault {
  const other = { ...small, app: 'dunning', replicas: 2, version: '1.3.2' };
  healthyPods(world, faultyDeployment(world, other).current, other.replicas);
  const plan = { ...small, app: 'invoice-api', replicas: 6, version: '4.0.7' };
  const deployment = faultyDeployment(world, plan);
  const owner = deployment.current;
  healthyPods(world, owner, EXISTING);
  const message = `Scaled up replica set ${owner.name} from ${EXISTING} to ${plan.replicas}`;
  tellScaling(world, deployment, message);

  const quota = { namespace: small.namespace, name: 'compute-resources' };
  const amounts = {
    hard: { 'requests.cpu': '3', 'requests.memory': '8Gi', pods: '20' },
    used: { 'requests.cpu': '3', 'requests.memory': '3Gi', pods: '6' },
  };
  world.server.objects.create(
    resourceQuotas,
    newQuota(quota, amounts, world.random.uid(), beganMs()),
  );

  const refuse = refusedPods(
    world,
    deployment,
    (pod) =>
      `pods "${pod}" is forbidden: exceeded quota: compute-resources, requested: requests.cpu=500m, used: requests.cpu=3, limited: requests.cpu=3`,
  );
  for (let attempt = 0; attempt < 5; attempt++) refuse(beganMs() + attempt * 150_000);
  let round = 0;
  return {
    explanation:
      'quota: the deployment billing/invoice-api was scaled from 4 to 6, but the quota compute-resources of the namespace billing allows 3 cores, all of which are requested. Its replica set reports FailedCreate.',
    again() {
      // Each attempt is an event of its own, because each names another pod.
      round++;
      if (round % ROUNDS_PER_ATTEMPT === 0) refuse(Date.now());
    },
  };
}
