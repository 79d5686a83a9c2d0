/**
 * Reports the errors of a stream's direct subscribers to the informer, with the name of the subscriber and the key.
 * rxjs alone would report them as uncaught errors, without either.
 */
import { Observable, type Observer, Subscriber, type Subscription } from 'rxjs';
import type { UnhandledErrorContext } from '../status/reporter.ts';

/** Returns the context of an error that a subscriber threw. The key is left out if the value has none. */
export function contextOf(
  subscriber: string,
  key: string | undefined,
): Omit<UnhandledErrorContext, 'informer'> {
  return key === undefined ? { subscriber } : { subscriber, key };
}

type Next<T> = ((value: T) => void) | null | undefined;

/**
 * Returns the same stream, but passes errors that a direct subscriber throws to `report`. Operators are not affected.
 */
export function reportSubscriberErrors<T>(
  source: Observable<T>,
  report: (error: unknown, subscriber: string, value: T) => void,
): Observable<T> {
  const guarded = (next: (value: T) => void, name: string) => (value: T) => {
    try {
      next(value);
    } catch (error) {
      report(error, name, value);
    }
  };
  const stream = new Observable<T>((subscriber) => source.subscribe(subscriber));
  const subscribe = stream.subscribe.bind(stream) as (observer: unknown) => Subscription;
  const safe = (
    given?: Partial<Observer<T>> | Next<T>,
    onError?: Observer<T>['error'],
    onComplete?: Observer<T>['complete'],
  ): Subscription => {
    // The subscriber of an operator, whose error belongs to the stream of that operator.
    if (given instanceof Subscriber) return subscribe(given);
    const observer =
      given && typeof given !== 'function'
        ? given
        : { next: given, error: onError, complete: onComplete };
    const { next, error, complete } = observer;
    if (typeof next !== 'function') return subscribe(observer);
    const name = next.name && next.name !== 'next' ? next.name : 'a subscriber';
    return subscribe({
      next: guarded(next.bind(observer), name),
      // Not added if the observer has no `error`, because rxjs reports an error only to an observer without that
      // method.
      ...(error ? { error: error.bind(observer) } : {}),
      ...(complete ? { complete: complete.bind(observer) } : {}),
    });
  };
  return Object.defineProperty(stream, 'subscribe', { value: safe });
}
