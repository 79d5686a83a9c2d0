/** Stops a source that emits synchronously while it is being subscribed. */
import type { MonoTypeOperatorFunction, Subscriber } from 'rxjs';
import { takeWhile } from 'rxjs/operators';

/**
 * Ends the source at its next emission once `subscriber` is closed. Inside `new Observable(subscriber => …)`, a
 * source that emits synchronously has no subscription yet that could be unsubscribed, so an endless response would
 * block the event loop.
 */
export function stoppedWith<T>(subscriber: Subscriber<unknown>): MonoTypeOperatorFunction<T> {
  return takeWhile<T>(() => !subscriber.closed);
}
