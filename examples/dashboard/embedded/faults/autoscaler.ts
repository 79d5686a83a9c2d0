/** An autoscaler of pods that request no CPU, so that their use of it cannot be measured. */
import { involved } from '../event-recorder.ts';
import { createManifests } from '../other-kinds.ts';
import type { World } from '../world.ts';
import { type FaultyPlan, faultyDeployment, healthyPods, warnings } from './faulty-workload.ts';
import type { SeededFault } from './seeded-fault.ts';

const plan: FaultyPlan = {
  ...{ namespace: 'media', app: 'resizer', replicas: 2, version: '1.9.2', isOld: true },
  ...{ milliCpu: 0, memoryMi: 256 },
  container: { resources: { requests: { memory: '256Mi' }, limits: { memory: '512Mi' } } },
};

export function autoscalerFault(world: World): SeededFault {
  const { current } = faultyDeployment(world, plan);
  healthyPods(world, current, plan.replicas);
  const [first] = current.residents;
  const cause = `failed to get cpu utilization: missing request for cpu in container ${plan.app} of Pod ${first?.pod.metadata.name}`;
  const { metadata } = createManifests(world, './faults/autoscaler.yaml', { cause });
  const reason = 'FailedGetResourceMetric';
  const failed = { reason, message: cause, component: 'horizontal-pod-autoscaler' };
  const about = involved('HorizontalPodAutoscaler', metadata);
  return {
    explanation:
      'autoscaler: the autoscaler media/resizer does not scale, because the pods of its target request no CPU, so that a part of the request cannot be measured.',
    again: warnings(world, about, failed, 210),
  };
}
