/** The part of the driver that a machine may use, with the errors of users' functions noted by row. */
import type { MachineContext } from './machine.ts';
import type { RefusedRow } from './refused-rows.ts';

/** Names a row of an input among the rows of all inputs. */
function rowName(input: number, id: string): string {
  return `${input}/${id}`;
}

/** Creates the context of one machine. `refusedRows` receives the rows that it keeps out because a function threw. */
export function contextFor(
  operator: string,
  refusedRows: Map<string, RefusedRow>,
  driver: Pick<MachineContext, 'change' | 'nowMs' | 'above'>,
): MachineContext {
  return {
    ...driver,
    attempt: (id, key, evaluate, input = 0) => {
      try {
        const value = evaluate();
        if (refusedRows.size > 0) refusedRows.delete(rowName(input, id));
        return value;
      } catch (error) {
        refusedRows.set(rowName(input, id), { operator, id, key, error });
        return undefined;
      }
    },
    forget: (id, input = 0) => {
      if (refusedRows.size > 0) refusedRows.delete(rowName(input, id));
    },
  };
}
