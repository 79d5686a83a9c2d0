/** A node without free memory. It evicts pods, which are created again elsewhere, and gets no others. */
import { nodes, pods } from 'rx-informer/resources';
import { involved } from '../event-recorder.ts';
import { timestamp } from '../timestamp.ts';
import type { World } from '../world.ts';
import {
  beganMs,
  type FaultyPlan,
  faultyDeployment,
  healthyPods,
  warnings,
} from './faulty-workload.ts';
import type { SeededFault } from './seeded-fault.ts';

const plan: FaultyPlan = {
  ...{ namespace: 'analytics', app: 'cohort-builder', replicas: 2, version: '3.3.0' },
  ...{ milliCpu: 200, memoryMi: 256, isOld: true },
};

export function pressureFault(world: World): SeededFault {
  const { current } = faultyDeployment(world, plan);
  const [, node] = world.nodes;
  if (node === undefined) throw new Error('the world has one node');
  const { objects } = world.server;
  const since = timestamp(beganMs());
  for (let evicted = 0; evicted < plan.replicas; evicted++) {
    const resident = world.create(current, { node, createdMs: beganMs() - 3_600_000 });
    const message = `The node was low on resource: memory. Threshold quantity: 100Mi, available: ${71 + evicted}Mi. Container ${plan.app} was using 14${evicted}2Mi, request is 256Mi, has larger consumption of memory. `;
    objects.modify(pods, resident.pod.metadata, (draft) => {
      draft.status = { phase: 'Failed', reason: 'Evicted', message, startTime: since };
    });
    resident.pod = objects.get(pods, resident.pod.metadata) ?? resident.pod;
    const told = { type: 'Warning' as const, reason: 'Evicted', message };
    world.tell(resident, told, beganMs());
  }
  node.cordoned = true;
  healthyPods(world, current, plan.replicas);
  const reason = 'KubeletHasInsufficientMemory';
  objects.modify(nodes, node, (draft) => {
    const taint = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' };
    draft.spec = { ...draft.spec, taints: [taint] };
    const pressed = draft.status?.conditions?.find(({ type }) => type === 'MemoryPressure');
    const message = 'kubelet has insufficient memory available';
    Object.assign(pressed ?? {}, { status: 'True', reason, message, lastTransitionTime: since });
  });
  const { name, uid } = node;
  const message = 'Attempting to reclaim memory';
  const told = { reason: 'EvictionThresholdMet', message, component: 'kubelet', host: name };
  return {
    explanation: `pressure: the node ${name} reports MemoryPressure. It has evicted two pods of analytics/cohort-builder, and gets no new pods.`,
    again: warnings(world, involved('Node', { name, uid }), told, 5),
  };
}
