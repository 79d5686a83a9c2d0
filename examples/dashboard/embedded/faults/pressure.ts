/** A node without free memory. It evicts pods, which are created again elsewhere, and gets no others. */
import { nodes, pods } from 'rx-informer/resources';
import { involved } from '../event-recorder.ts';
import { timestamp } from '../timestamp.ts';
import { beganMs, healthyPods, warnings } from './faulty-workload.ts';
import type { Seed } from './seeded-fault.ts';

export const pressureFault: Seed = (world, { workload, deployment: { current } }) => {
  const [, node] = world.nodes;
  if (node === undefined) throw new Error('the world has one node');
  const { objects } = world.server;
  const since = timestamp(beganMs());
  for (let evicted = 0; evicted < workload.replicas; evicted++) {
    const resident = world.create(current, { node, createdMs: beganMs() - 3_600_000 });
    const message = `The node was low on resource: memory. Threshold quantity: 100Mi, available: ${71 + evicted}Mi. Container ${workload.app} was using 14${evicted}2Mi, request is ${workload.memoryMi}Mi, has larger consumption of memory. `;
    resident.pod = objects.modify(pods, resident.pod.metadata, (draft) => {
      draft.status = { phase: 'Failed', reason: 'Evicted', message, startTime: since };
    });
    world.tell(resident, { type: 'Warning', reason: 'Evicted', message }, beganMs());
  }
  node.cordoned = true;
  node.isPressed = true;
  healthyPods(world, current, workload.replicas);
  objects.modify(nodes, node, (draft) => {
    const taint = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' };
    draft.spec = { ...draft.spec, taints: [taint] };
    const pressed = draft.status?.conditions?.find(({ type }) => type === 'MemoryPressure');
    const reason = 'KubeletHasInsufficientMemory';
    const message = 'kubelet has insufficient memory available';
    Object.assign(pressed ?? {}, { status: 'True', reason, message, lastTransitionTime: since });
  });
  const { name, uid } = node;
  const message = 'Attempting to reclaim memory';
  const told = { reason: 'EvictionThresholdMet', message, component: 'kubelet', host: name };
  return warnings(world, involved('Node', { name, uid }), told, 5);
};
