/**
 * The subscribers of one stream. Unlike a `Subject`, the stream can be subscribed again after it has completed, and a
 * teardown that throws does not keep the other subscribers from completing.
 */
import type { Subscriber } from 'rxjs';
import { reportingErrors } from '../../rx/report-unhandled.ts';

/** Subscribers, in the order of their subscriptions. */
export class SubscriberSet<V> {
  readonly #subscribers = new Set<Subscriber<V>>();

  /** Passes every later value to the subscriber, until it unsubscribes. */
  join(subscriber: Subscriber<V>): void {
    this.#subscribers.add(subscriber);
    subscriber.add(() => this.#subscribers.delete(subscriber));
  }

  next(value: V): void {
    for (const subscriber of [...this.#subscribers]) subscriber.next(value);
  }

  /** Completes the present subscribers. An error thrown by the teardown of one of them is reported. */
  complete(): void {
    for (const subscriber of [...this.#subscribers]) {
      reportingErrors(() => subscriber.complete())();
    }
  }
}
