/** Stops a source that emits while it is being subscribed. */
import type { MonoTypeOperatorFunction, Subscriber } from 'rxjs';
import { takeWhile } from 'rxjs/operators';

/**
 * Ends the source at its next emission once `subscriber` is closed. Inside `new Observable(subscriber => …)` the
 * subscription of a source that emits synchronously does not exist yet while it emits, so nothing else can stop it: an
 * endless answer would block the event loop for ever.
 */
export function stoppedWith<T>(subscriber: Subscriber<unknown>): MonoTypeOperatorFunction<T> {
  return takeWhile<T>(() => !subscriber.closed);
}
