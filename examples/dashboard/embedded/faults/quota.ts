/** A deployment that was scaled beyond the quota of its namespace. Its replica set cannot create the missing pods. */
import { createManifests } from '../other-kinds.ts';
import type { World } from '../world.ts';
import { beganMs, faultyDeployment, healthyPods, refusedPods } from './faulty-workload.ts';
import type { SeededFault } from './seeded-fault.ts';

const small = { namespace: 'billing', milliCpu: 500, memoryMi: 512, isOld: true };
const EXISTING = 4;

export function quotaFault(world: World): SeededFault {
  const other = { ...small, app: 'dunning', replicas: 2, version: '1.3.2' };
  healthyPods(world, faultyDeployment(world, other).current, other.replicas);
  const plan = { ...small, app: 'invoice-api', replicas: 6, version: '4.0.7' };
  const deployment = faultyDeployment(world, plan);
  const owner = deployment.current;
  healthyPods(world, owner, EXISTING);
  const message = `Scaled up replica set ${owner.name} from ${EXISTING} to ${plan.replicas}`;
  world.tellScaling(deployment, message, beganMs());
  createManifests(world, './faults/quota.yaml');
  const again = refusedPods(
    world,
    deployment,
    (pod) =>
      `pods "${pod}" is forbidden: exceeded quota: compute-resources, requested: requests.cpu=500m, used: requests.cpu=3, limited: requests.cpu=3`,
  );
  return {
    explanation:
      'quota: the deployment billing/invoice-api was scaled from 4 to 6, but the quota compute-resources of the namespace billing allows 3 cores, all of which are requested. Its replica set reports FailedCreate.',
    again,
  };
}
