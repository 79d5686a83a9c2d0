/** An autoscaler of pods that request no CPU, so that their use of it cannot be measured. */
import { involved } from '../event-recorder.ts';
import { createManifests } from '../other-kinds.ts';
import { healthyPods, warnings } from './faulty-workload.ts';
import type { Seed } from './seeded-fault.ts';

export const autoscalerFault: Seed = (world, { workload, deployment: { current } }) => {
  healthyPods(world, current, workload.replicas);
  const [first] = current.residents;
  const cause = `failed to get cpu utilization: missing request for cpu in container ${workload.app} of Pod ${first?.pod.metadata.name}`;
  const { metadata } = createManifests(world, './faults/autoscaler.yaml', { cause });
  const reason = 'FailedGetResourceMetric';
  const failed = { reason, message: cause, component: 'horizontal-pod-autoscaler' };
  return warnings(world, involved('HorizontalPodAutoscaler', metadata), failed, 210);
};
