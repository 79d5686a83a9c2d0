/** Errors that reach nobody else go where rxjs sends its own: `config.onUnhandledError`, else a global report. */
import { throwError } from 'rxjs';

/** Reports an error asynchronously, without stopping the caller. */
export function reportUnhandled(error: unknown): void {
  throwError(() => error).subscribe();
}

/** A callback that is only told: what it throws is reported, and stops nobody. */
export function told<A extends readonly unknown[]>(
  callback: ((...args: A) => void) | undefined,
): (...args: A) => void {
  return (...args) => {
    try {
      callback?.(...args);
    } catch (error) {
      reportUnhandled(error);
    }
  };
}
