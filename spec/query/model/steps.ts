/** The operators that a random pipeline is made of. */
import { VirtualTimeScheduler } from 'rxjs';
import { ORDER_STEPS } from './order-steps.ts';
import { ROW_STEPS } from './row-steps.ts';
import { SEVERAL_STEPS } from './several-steps.ts';
import { type Make, type PipelineStep, pick, plainly, type Surroundings } from './step.ts';

export const STEPS: readonly Make[] = [...ROW_STEPS, ...ORDER_STEPS, ...SEVERAL_STEPS];

/** What each maker's steps take. */
const takes = new Map<Make, PipelineStep['takes']>();
const anywhere = plainly(new VirtualTimeScheduler());
for (const make of STEPS) takes.set(make, make(0, anywhere).takes);

/** The steps that numbers choose, each among those that take what the step before gives. */
export function pipelineOf(
  choices: readonly (readonly [number, number])[],
  around: Surroundings,
  makes: readonly Make[] = STEPS,
): PipelineStep[] {
  const after = {
    rows: makes.filter((make) => takes.get(make) !== 'ordered'),
    order: makes.filter((make) => takes.get(make) !== 'unordered'),
  };
  let isOrdered = false;
  return choices.map(([which, start]) => {
    const step = pick(isOrdered ? after.order : after.rows, which)(start, around);
    isOrdered ||= step.name === 'sort' || step.name === 'top';
    return step;
  });
}
