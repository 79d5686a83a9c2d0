/** Pods that request more CPU than any node has. They stay pending. */

import type { World } from '../world.ts';
import { beganMs, type FaultyPlan, faultyDeployment } from './faulty-workload.ts';
import type { SeededFault } from './seeded-fault.ts';

const plan: FaultyPlan = {
  ...{ namespace: 'search', app: 'embedder', replicas: 3, version: '0.9.4' },
  ...{ milliCpu: 20_000, memoryMi: 2048 },
};

/** Seeds the fault. */
export function schedulingFault(world: World): SeededFault {
  const { current } = faultyDeployment(world, plan);
  const all = world.nodes.length;
  const message = `0/${all} nodes are available: ${all} Insufficient cpu. no new claims to deallocate, preemption: 0/${all} nodes are available: ${all} Preemption is not helpful for scheduling.`;
  const residents = Array.from({ length: plan.replicas }, () =>
    world.create(current, { node: null, createdMs: beganMs() }),
  );
  const tell = (nowMs: number, times: number) => {
    for (const resident of residents) {
      const failed = { type: 'Warning' as const, reason: 'FailedScheduling', message, times };
      const component = 'default-scheduler';
      world.tell(resident, { ...failed, component, sinceMs: beganMs() }, nowMs);
    }
  };
  for (const resident of residents)
    world.turn(resident, { to: 'unschedulable', message }, beganMs());
  tell(Date.now(), 3);
  let round = 0;
  return {
    explanation:
      'scheduling: each pod of search/embedder requests 20 cores, and the nodes have 15.8. The pods are pending with FailedScheduling.',
    again() {
      // The scheduler tries again every five minutes.
      round++;
      if (round % 12 === 0) tell(Date.now(), 1);
    },
  };
}
