/** Errors that reach nobody else go where rxjs sends its own: `config.onUnhandledError`, else a global report. */
import { throwError } from 'rxjs';

/** Reports an error asynchronously, without stopping the caller. */
export function reportUnhandled(error: unknown): void {
  throwError(() => error).subscribe();
}
