/**
 * Reports errors that no caller receives, in the way of rxjs: to `config.onUnhandledError`, or else as an uncaught
 * error.
 */
import { throwError } from 'rxjs';

/** Reports an error asynchronously, without stopping the caller. */
export function reportUnhandled(error: unknown): void {
  throwError(() => error).subscribe();
}

/** Wraps a callback so that an error it throws is reported and does not reach the caller. */
export function reportingErrors<A extends readonly unknown[]>(
  callback: ((...args: A) => void) | undefined,
  report: (error: unknown) => void = reportUnhandled,
): (...args: A) => void {
  return (...args) => {
    try {
      callback?.(...args);
    } catch (error) {
      report(error);
    }
  };
}
