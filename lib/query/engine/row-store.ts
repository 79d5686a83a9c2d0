/** Holds the rows of an operator's sources until each of its parameters has a value. */
import type { AnswerRows, HeldRow, MachineContext } from './machine.ts';
import { RowMachine } from './row-machine.ts';

/** The context of a machine that calls no function of a user. */
export const NO_CONTEXT: MachineContext = {
  nowMs: () => 0,
  attempt: (_id, _key, evaluate) => evaluate(),
  forget: () => undefined,
  change: (task) => task(),
};

/** Rows by input, without an answer. */
export class RowStore extends RowMachine<never> {
  readonly answer: AnswerRows<never> = { get: () => undefined, entries: () => [] };
  constructor(inputs: number) {
    super(NO_CONTEXT, inputs);
    this.logging = false;
  }

  put(input: number, id: string, key: string, object: unknown): void {
    (this.inputs[input] as Map<string, HeldRow<unknown>>).set(id, { key, object });
  }

  protected removed(): void {
    // There is no answer that could change.
  }
}
