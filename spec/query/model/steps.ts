/** The operators that a random pipeline is made of. */
import { ORDER_STEPS } from './order-steps.ts';
import { ROW_STEPS } from './row-steps.ts';
import { SEVERAL_STEPS } from './several-steps.ts';
import { type Make, type PipelineStep, pick, type Surroundings } from './step.ts';

export const STEPS: readonly Make[] = [...ROW_STEPS, ...ORDER_STEPS, ...SEVERAL_STEPS];

/** The steps that numbers choose, without those that do not take what the step before gives. */
export function pipelineOf(
  choices: readonly (readonly [number, number])[],
  around: Surroundings,
  makes: readonly Make[] = STEPS,
): PipelineStep[] {
  const steps: PipelineStep[] = [];
  let isOrdered = false;
  for (const [which, start] of choices) {
    const made = (makes[which % makes.length] as Make)(start, around);
    if (made.takes === (isOrdered ? 'unordered' : 'ordered')) continue;
    steps.push(made);
    isOrdered ||= made.name === 'sort' || made.name === 'top';
  }
  // A pipeline of no operator would show the sets of the source, which may say nothing.
  return steps.length > 0 ? steps : [pick(makes, 0)(0, around)];
}
