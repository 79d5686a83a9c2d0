/** Pods that request more CPU than any node has. They stay pending. */
import { every, pendingPods } from './faulty-workload.ts';
import type { Seed } from './seeded-fault.ts';

export const schedulingFault: Seed = (world, { workload, deployment: { current } }) => {
  const all = world.nodes.length;
  const message = `0/${all} nodes are available: ${all} Insufficient cpu. no new claims to deallocate, preemption: 0/${all} nodes are available: ${all} Preemption is not helpful for scheduling.`;
  const again = pendingPods(world, { owner: current, count: workload.replicas, message }, 3);
  // The scheduler tries again every five minutes.
  return every(12, again);
};
