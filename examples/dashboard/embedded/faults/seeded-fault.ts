/** What a seeded fault is. */
import type { Deployment } from '../owners.ts';
import type { World } from '../world.ts';
import type { FaultyWorkload } from './faulty-workload.ts';

/** The plan of a fault, in `plans.yaml`. */
export interface FaultPlan {
  readonly workload: FaultyWorkload;
  readonly log?: readonly string[];
  readonly explanation: string;
}

/** A fault of a world. */
export interface SeededFault {
  /** Names the mistake, its place and its signs, for the person who runs the demo, not for the page. */
  readonly explanation: string;
  /** Lets the fault occur once more: another attempt, another restart. */
  again(): void;
}

/** The plan of a fault and the deployment of its workload, which has no pods yet. */
export interface FaultyScene extends FaultPlan {
  readonly deployment: Deployment;
}

/** Creates a fault, and returns how it occurs once more. */
export type Seed = (world: World, scene: FaultyScene) => SeededFault['again'];
