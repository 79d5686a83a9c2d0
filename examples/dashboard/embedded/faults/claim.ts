/** A claim of storage whose class does not exist. The pods that use it stay pending. */
import { involved } from '../event-recorder.ts';
import { createManifests } from '../other-kinds.ts';
import type { World } from '../world.ts';
import { type FaultyPlan, faultyDeployment, pendingPods, warnings } from './faulty-workload.ts';
import type { SeededFault } from './seeded-fault.ts';

const claimName = 'vector-store-data';
const plan: FaultyPlan = {
  ...{ namespace: 'search', app: 'vector-store', replicas: 2, version: '2.1.0' },
  ...{ milliCpu: 200, memoryMi: 512 },
  pod: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] },
};

export function claimFault(world: World): SeededFault {
  const { current } = faultyDeployment(world, plan);
  const { metadata } = createManifests(world, './faults/claim.yaml');
  const all = world.nodes.length;
  const message = `0/${all} nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/${all} nodes are available: ${all} Preemption is not helpful for scheduling.`;
  const failed = {
    reason: 'ProvisioningFailed',
    message: 'storageclass.storage.k8s.io "fast-ssd" not found',
    component: 'persistentvolume-controller',
  };
  const warn = warnings(world, involved('PersistentVolumeClaim', metadata), failed, 56);
  const wait = pendingPods(world, { owner: current, count: plan.replicas, message }, 56);
  return {
    explanation:
      'claim: the pods of search/vector-store are pending, because their claim vector-store-data is not bound: its storage class fast-ssd does not exist (there is only "standard").',
    again() {
      warn();
      wait();
    },
  };
}
