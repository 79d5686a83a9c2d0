/** A webhook whose program was scaled to zero. No pod can be created in the namespaces that it is asked about. */
import { createManifests } from '../other-kinds.ts';
import { beganMs, faultyDeployment, healthyPods, refusedPods } from './faulty-workload.ts';
import type { Seed } from './seeded-fault.ts';

export const webhookFault: Seed = (world, { workload, deployment }) => {
  const program = { namespace: 'platform', app: 'sidecar-injector', version: '0.14.3' };
  const injector = faultyDeployment(world, { ...workload, ...program, replicas: 0 });
  const message = `Scaled down replica set ${injector.current.name} from 2 to 0`;
  world.tellScaling(injector, message, beganMs());
  createManifests(world, './faults/webhook.yaml');
  healthyPods(world, deployment.current, 1);
  const why =
    'Internal error occurred: failed calling webhook "sidecar-injector.platform.example": failed to call webhook: Post "https://sidecar-injector.platform.svc:443/inject?timeout=10s": no endpoints available for service "sidecar-injector"';
  return refusedPods(world, deployment, () => why);
};
