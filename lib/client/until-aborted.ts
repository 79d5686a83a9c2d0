/** A caller's AbortSignal as an end of a stream. */
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { ApiError } from '../meta/api-error.ts';

/** The error of a call that its caller gave up. */
export function abortedError(where: string): ApiError {
  return ApiError.local('Aborted', `${where}: aborted by the caller`);
}

/** Passes all through until the signal aborts; then errors with `Aborted`, before or while it is subscribed. */
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
