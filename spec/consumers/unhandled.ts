/** Collects the errors that rxjs reports as unhandled. */
import { config } from 'rxjs';
import { allReported } from '../support/errors.ts';

export interface Unhandled {
  /** Waits until rxjs, which reports asynchronously, has reported all errors so far, and returns them. */
  reports(): Promise<readonly unknown[]>;
  /** Restores the handler of rxjs, after all errors of the test have been reported. */
  restore(): Promise<void>;
}

export function unhandled(): Unhandled {
  const before = config.onUnhandledError;
  const errors: unknown[] = [];
  config.onUnhandledError = (error) => errors.push(error);
  return {
    async reports() {
      await allReported();
      return errors;
    },
    async restore() {
      await allReported();
      config.onUnhandledError = before;
    },
  };
}
