/** The part of the driver that a machine may use, with the errors of users' functions noted by row. */
import type { MachineContext } from './machine.ts';
import type { RejectedRow } from './rejections.ts';

/** Names a row of an input among the rows of all inputs. */
function rowName(input: number, id: string): string {
  return `${input}/${id}`;
}

/** Creates the context of one machine. `rejected` receives the rows that it keeps out because a function threw. */
export function contextFor(
  operator: string,
  rejected: Map<string, RejectedRow>,
  driver: Pick<MachineContext, 'change' | 'nowMs'>,
): MachineContext {
  return {
    ...driver,
    attempt: (id, key, evaluate, input = 0) => {
      try {
        const value = evaluate();
        if (rejected.size > 0) rejected.delete(rowName(input, id));
        return value;
      } catch (error) {
        rejected.set(rowName(input, id), { operator, id, key, error });
        return undefined;
      }
    },
    forget: (id, input = 0) => {
      if (rejected.size > 0) rejected.delete(rowName(input, id));
    },
  };
}
