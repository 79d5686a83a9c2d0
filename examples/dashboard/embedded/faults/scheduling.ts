/** Pods that request more CPU than any node has. They stay pending. */
import type { World } from '../world.ts';
import { every, type FaultyPlan, faultyDeployment, pendingPods } from './faulty-workload.ts';
import type { SeededFault } from './seeded-fault.ts';

const plan: FaultyPlan = {
  ...{ namespace: 'search', app: 'embedder', replicas: 3, version: '0.9.4' },
  ...{ milliCpu: 20_000, memoryMi: 2048 },
};

export function schedulingFault(world: World): SeededFault {
  const { current } = faultyDeployment(world, plan);
  const all = world.nodes.length;
  const message = `0/${all} nodes are available: ${all} Insufficient cpu. no new claims to deallocate, preemption: 0/${all} nodes are available: ${all} Preemption is not helpful for scheduling.`;
  const again = pendingPods(world, { owner: current, count: plan.replicas, message }, 3);
  return {
    explanation:
      'scheduling: each pod of search/embedder requests 20 cores, and the nodes have 15.8. The pods are pending with FailedScheduling.',
    // The scheduler tries again every five minutes.
    again: every(12, again),
  };
}
