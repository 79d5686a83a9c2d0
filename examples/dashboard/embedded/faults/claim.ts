/** A claim of storage whose class does not exist. The pods that use it stay pending. */
import { createManifests } from '../other-kinds.ts';
import type { World } from '../world.ts';
import { beganMs, type FaultyPlan, faultyDeployment, pendingPods } from './faulty-workload.ts';
import type { SeededFault } from './seeded-fault.ts';

const claimName = 'vector-store-data';
const plan: FaultyPlan = {
  ...{ namespace: 'search', app: 'vector-store', replicas: 2, version: '2.1.0' },
  ...{ milliCpu: 200, memoryMi: 512 },
  pod: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] },
};

export function claimFault(world: World): SeededFault {
  const { current } = faultyDeployment(world, plan);
  const { uid } = createManifests(world, './faults/claim.yaml').metadata;
  const all = world.nodes.length;
  const message = `0/${all} nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/${all} nodes are available: ${all} Preemption is not helpful for scheduling.`;
  const claim = {
    ...{ kind: 'PersistentVolumeClaim', apiVersion: 'v1', name: claimName, uid },
    namespace: plan.namespace,
  };
  const failed = {
    ...{ type: 'Warning' as const, reason: 'ProvisioningFailed' },
    message: 'storageclass.storage.k8s.io "fast-ssd" not found',
    component: 'persistentvolume-controller',
  };
  const tellPods = pendingPods(world, { owner: current, count: plan.replicas, message });
  const tell = (times: number) => {
    world.events.record(claim, { ...failed, times, sinceMs: beganMs() });
    tellPods(times);
  };
  tell(56);
  return {
    explanation:
      'claim: the pods of search/vector-store are pending, because their claim vector-store-data is not bound: its storage class fast-ssd does not exist (there is only "standard").',
    again: () => tell(1),
  };
}
