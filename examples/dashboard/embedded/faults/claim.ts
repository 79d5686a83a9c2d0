/** A claim of storage whose class does not exist. The pods that use it stay pending. */
import { involved } from '../event-recorder.ts';
import { createManifests } from '../other-kinds.ts';
import { pendingPods, warnings } from './faulty-workload.ts';
import type { Seed } from './seeded-fault.ts';

export const claimFault: Seed = (world, { workload, deployment: { current } }) => {
  const { metadata } = createManifests(world, './faults/claim.yaml');
  const all = world.nodes.length;
  const message = `0/${all} nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/${all} nodes are available: ${all} Preemption is not helpful for scheduling.`;
  const failed = {
    reason: 'ProvisioningFailed',
    message: 'storageclass.storage.k8s.io "fast-ssd" not found',
    component: 'persistentvolume-controller',
  };
  const warn = warnings(world, involved('PersistentVolumeClaim', metadata), failed, 56);
  const wait = pendingPods(world, { owner: current, count: workload.replicas, message }, 56);
  return () => {
    warn();
    wait();
  };
};
