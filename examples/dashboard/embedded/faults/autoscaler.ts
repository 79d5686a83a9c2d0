/** An autoscaler of pods that request no CPU, so that their use of it cannot be measured. */
import { createManifests } from '../other-kinds.ts';
import type { World } from '../world.ts';
import { beganMs, type FaultyPlan, faultyDeployment, healthyPods } from './faulty-workload.ts';
import type { SeededFault } from './seeded-fault.ts';

const plan: FaultyPlan = {
  ...{ namespace: 'media', app: 'resizer', replicas: 2, version: '1.9.2', isOld: true },
  ...{ milliCpu: 0, memoryMi: 256 },
  container: { resources: { requests: { memory: '256Mi' }, limits: { memory: '512Mi' } } },
};

export function autoscalerFault(world: World): SeededFault {
  const { namespace, app } = plan;
  const { current } = faultyDeployment(world, plan);
  healthyPods(world, current, plan.replicas);
  const [first] = current.residents;
  const cause = `failed to get cpu utilization: missing request for cpu in container ${app} of Pod ${first?.pod.metadata.name}`;
  const { uid } = createManifests(world, './faults/autoscaler.yaml', { cause }).metadata;
  const kind = { kind: 'HorizontalPodAutoscaler', apiVersion: 'autoscaling/v2' };
  const component = 'horizontal-pod-autoscaler';
  const tell = (times: number) => {
    const failed = {
      type: 'Warning' as const,
      reason: 'FailedGetResourceMetric',
      message: cause,
      component,
      times,
    };
    world.events.record(
      { ...kind, name: app, namespace, uid },
      { ...failed, sinceMs: beganMs() },
      Date.now(),
    );
  };
  tell(210);
  return {
    explanation:
      'autoscaler: the autoscaler media/resizer does not scale, because the pods of its target request no CPU, so that a part of the request cannot be measured.',
    again: () => tell(1),
  };
}
