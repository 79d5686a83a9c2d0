/**
 * Faults that the embedded cluster contains from the start. Each has a workload of its own and shows itself only by
 * the signs that a real cluster would show: statuses, conditions, events and logs.
 */
import { autoscalerFault } from './faults/autoscaler.ts';
import { claimFault } from './faults/claim.ts';
import { crashLoopFault } from './faults/crash-loop.ts';
import { faultyDeployment } from './faults/faulty-workload.ts';
import { imageFault } from './faults/image.ts';
import { initContainerFault } from './faults/init-container.ts';
import { pressureFault } from './faults/pressure.ts';
import { probeFault } from './faults/probe.ts';
import { quotaFault } from './faults/quota.ts';
import { schedulingFault } from './faults/scheduling.ts';
import type { FaultPlan, Seed, SeededFault } from './faults/seeded-fault.ts';
import { webhookFault } from './faults/webhook.ts';
import { readManifests } from './manifests.ts';
import type { World } from './world.ts';

const faults = {
  image: imageFault,
  quota: quotaFault,
  probe: probeFault,
  scheduling: schedulingFault,
  'crash-loop': crashLoopFault,
  claim: claimFault,
  autoscaler: autoscalerFault,
  webhook: webhookFault,
  pressure: pressureFault,
  'init-container': initContainerFault,
} satisfies Readonly<Record<string, Seed>>;

type Fault = keyof typeof faults;

export type FaultChoice = Fault | 'mix' | 'none';

export const faultChoices: readonly FaultChoice[] = [
  ...(Object.keys(faults) as Fault[]),
  'mix',
  'none',
];

export function seedFaults(world: World, choice: FaultChoice): readonly SeededFault[] {
  const [plans] = readManifests<Readonly<Record<Fault, FaultPlan>>>('./faults/plans.yaml');
  const chosen = choice === 'mix' ? (Object.keys(faults) as Fault[]) : [choice];
  return chosen.flatMap((fault) => {
    const plan = fault === 'none' ? undefined : plans?.[fault];
    if (fault === 'none' || plan === undefined) return [];
    const deployment = faultyDeployment(world, plan.workload);
    const again = faults[fault](world, { ...plan, deployment });
    return [{ explanation: `${fault}: ${plan.explanation}`, again }];
  });
}
