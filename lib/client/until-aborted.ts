/** Ends a stream when the caller's AbortSignal aborts. */
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { ApiError } from '../meta/api-error.ts';

/** The error of a call that was aborted by its caller. */
export function abortedError(where: string): ApiError {
  return ApiError.local('Aborted', `${where}: aborted by the caller`);
}

/** Mirrors the source until the signal aborts, then errors with `Aborted`, also if the signal is already aborted. */
export function untilAborted<T>(
  signal: AbortSignal | undefined,
  where: string,
): MonoTypeOperatorFunction<T> {
  return (source) =>
    signal === undefined
      ? source
      : new Observable<T>((subscriber) => {
          const abort = () => subscriber.error(abortedError(where));
          if (signal.aborted) return abort();
          signal.addEventListener('abort', abort);
          subscriber.add(() => signal.removeEventListener('abort', abort));
          source.subscribe(subscriber);
        });
}
