/** Errors that rxjs reports as unhandled: it does so later, in their order. */
import { config, throwError } from 'rxjs';

/** Resolves when rxjs has reported all errors so far, because it has reported one that came after them. */
export function allReported(): Promise<void> {
  const last = new Error('the last one');
  return new Promise((resolve) => {
    const { onUnhandledError } = config;
    config.onUnhandledError = (error) => {
      if (error !== last) return onUnhandledError?.(error);
      config.onUnhandledError = onUnhandledError;
      resolve();
    };
    throwError(() => last).subscribe();
  });
}
