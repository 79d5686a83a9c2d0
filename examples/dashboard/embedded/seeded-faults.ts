/**
 * Faults that the embedded cluster contains from the start. Each has a workload of its own and shows itself only by
 * the signs that a real cluster would show: statuses, conditions, events and logs.
 */
import { autoscalerFault } from './faults/autoscaler.ts';
import { claimFault } from './faults/claim.ts';
import { crashLoopFault } from './faults/crash-loop.ts';
import { imageFault } from './faults/image.ts';
import { initContainerFault } from './faults/init-container.ts';
import { pressureFault } from './faults/pressure.ts';
import { probeFault } from './faults/probe.ts';
import { quotaFault } from './faults/quota.ts';
import { schedulingFault } from './faults/scheduling.ts';
import type { SeededFault } from './faults/seeded-fault.ts';
import { webhookFault } from './faults/webhook.ts';
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
};

export type FaultChoice = keyof typeof faults | 'mix' | 'none';

export const faultChoices: readonly FaultChoice[] = [
  ...(Object.keys(faults) as (keyof typeof faults)[]),
  'mix',
  'none',
];

export function seedFaults(world: World, choice: FaultChoice): readonly SeededFault[] {
  if (choice === 'none') return [];
  if (choice === 'mix') return Object.values(faults).map((seed) => seed(world));
  return [faults[choice](world)];
}
