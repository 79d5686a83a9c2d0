/** Errors that a test expects: of what must fail, and those that rxjs reports as unhandled. */
import type { ApiError } from 'rx-informer';
import { config, throwError } from 'rxjs';

/** What a promise rejects with, or a call throws or rejects with. Rejects itself if nothing fails. */
export async function failureOf<E = ApiError>(
  failing: Promise<unknown> | (() => unknown),
): Promise<E> {
  try {
    await (typeof failing === 'function' ? failing() : failing);
  } catch (error) {
    return error as E;
  }
  throw new Error('nothing failed');
}

/** Resolves when rxjs has reported all unhandled errors so far, in their order, because it has reported one that came after them. */
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
