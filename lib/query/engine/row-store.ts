/** The parameters of an operator, and the rows of its sources until each of its parameters has a value. */

import { isObservable } from 'rxjs';
import type { RowIdentity } from '../../delta/net-change.ts';
import type { AnswerRows, HeldRow, MachineContext } from './machine.ts';
import { RowMachine } from './row-machine.ts';

/** The context of a machine that calls no function of a user. */
export const NO_CONTEXT: MachineContext = {
  above: [],
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

  put(input: number, id: string, key: string, object: unknown, of?: RowIdentity): void {
    (this.inputs[input] as Map<string, HeldRow<unknown>>).set(id, { key, object, of });
  }

  protected removed(): void {
    // There is no answer that could change.
  }
}

/** The current values of an operator's parameters, of which some are Observables. */
export class Parameters {
  readonly values: unknown[];
  readonly #missing = new Set<number>();

  constructor(params: readonly unknown[]) {
    this.values = [...params];
    for (const [at, param] of params.entries()) if (isObservable(param)) this.#missing.add(at);
  }

  /** Whether each parameter has a value. */
  get complete(): boolean {
    return this.#missing.size === 0;
  }

  /** Sets a value, and returns whether it differs from the one before. */
  set(at: number, value: unknown): boolean {
    if (!this.#missing.delete(at) && Object.is(this.values[at], value)) return false;
    this.values[at] = value;
    return true;
  }
}
