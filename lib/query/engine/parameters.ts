/** The current values of an operator's parameters, of which some are Observables. */
import { isObservable } from 'rxjs';

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
