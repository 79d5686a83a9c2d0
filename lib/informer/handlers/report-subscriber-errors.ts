/**
 * A stream whose direct subscribers cannot fail in silence. rxjs keeps a throwing subscriber from the others but
 * reports it to nobody in particular; here the informer is told, with the subscriber's name and the key.
 */
import { Observable, type Observer, Subscriber, type Subscription } from 'rxjs';

type Next<T> = ((value: T) => void) | null | undefined;

/**
 * The same stream; what a direct subscriber throws goes to `report`. Operators and `pipe` are as always.
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
  const safe = (observer?: Partial<Observer<T>> | Next<T>): Subscription => {
    // An operator's own: what it throws is that branch's error.
    if (observer instanceof Subscriber) return subscribe(observer);
    if (typeof observer === 'function') {
      return subscribe({ next: guarded(observer, observer.name || 'a subscriber') });
    }
    if (observer === undefined || observer === null) return subscribe(undefined);
    const { next } = observer;
    if (typeof next !== 'function') return subscribe(observer);
    const name = next.name && next.name !== 'next' ? next.name : 'a subscriber';
    const { error, complete } = observer;
    return subscribe({
      next: guarded(next.bind(observer), name),
      // Without an `error` of its own: rxjs reports an error to nobody who has one.
      ...(error === undefined ? {} : { error: error.bind(observer) }),
      ...(complete === undefined ? {} : { complete: complete.bind(observer) }),
    });
  };
  return Object.defineProperty(stream, 'subscribe', { value: safe });
}
