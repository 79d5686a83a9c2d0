/** The conditions of objects as a controller writes them. */
import type { Condition } from '../shared/conditions.ts';

/** Keeps the time of the last transition of each condition whose status is the same. */
export function withTimes<C extends Condition>(
  conditions: readonly C[],
  before: readonly (Condition & { lastTransitionTime?: string | undefined })[] | undefined,
  now: string,
): (C & { lastTransitionTime: string })[] {
  return conditions.map((condition) => {
    const last = before?.find(({ type }) => type === condition.type);
    const since = last?.status === condition.status ? last.lastTransitionTime : undefined;
    return { ...condition, lastTransitionTime: since ?? now };
  });
}
