/** A webhook whose program was scaled to zero. No pod can be created in the namespaces that it is asked about. */
import { createManifests } from '../other-kinds.ts';
import type { World } from '../world.ts';
import { beganMs, faultyDeployment, healthyPods, refusedPods } from './faulty-workload.ts';
import type { SeededFault } from './seeded-fault.ts';

const small = { milliCpu: 100, memoryMi: 128, isOld: true };

export function webhookFault(world: World): SeededFault {
  const program = { ...small, namespace: 'platform', app: 'sidecar-injector', version: '0.14.3' };
  const injector = faultyDeployment(world, { ...program, replicas: 0 });
  const message = `Scaled down replica set ${injector.current.name} from 2 to 0`;
  world.tellScaling(injector, message, beganMs());
  const name = 'sidecar-injector.platform.example';
  createManifests(world, './faults/webhook.yaml');
  const plan = { ...small, namespace: 'orders', app: 'order-api', replicas: 3, version: '7.0.1' };
  const deployment = faultyDeployment(world, plan);
  healthyPods(world, deployment.current, 1);
  const again = refusedPods(
    world,
    deployment,
    () =>
      `Internal error occurred: failed calling webhook "${name}": failed to call webhook: Post "https://sidecar-injector.platform.svc:443/inject?timeout=10s": no endpoints available for service "sidecar-injector"`,
  );
  return {
    explanation:
      'webhook: the deployment orders/order-api has 1 of 3 pods, because the webhook sidecar-injector.platform.example must be asked about new pods and its deployment platform/sidecar-injector was scaled to zero.',
    again,
  };
}
