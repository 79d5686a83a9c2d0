/** A deployment that was scaled beyond the quota of its namespace. Its replica set cannot create the missing pods. */
import { createManifests } from '../other-kinds.ts';
import { beganMs, faultyDeployment, healthyPods, refusedPods } from './faulty-workload.ts';
import type { Seed } from './seeded-fault.ts';

const EXISTING = 4;

export const quotaFault: Seed = (world, { workload, deployment }) => {
  const other = { ...workload, app: 'dunning', replicas: 2, version: '1.3.2' };
  healthyPods(world, faultyDeployment(world, other).current, other.replicas);
  const owner = deployment.current;
  healthyPods(world, owner, EXISTING);
  const message = `Scaled up replica set ${owner.name} from ${EXISTING} to ${workload.replicas}`;
  world.tellScaling(deployment, message, beganMs());
  createManifests(world, './faults/quota.yaml');
  const why = 'exceeded quota: compute-resources, requested: requests.cpu=500m';
  return refusedPods(
    world,
    deployment,
    (pod) => `pods "${pod}" is forbidden: ${why}, used: requests.cpu=3, limited: requests.cpu=3`,
  );
};
