/**
 * The subscribers of one stream. A `Subject` completes all of them together. This set completes later only those that
 * were subscribed at a given moment, so that a subscription made between a call and its turn in the drain remains.
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

  /**
   * Returns a function that completes the present subscribers. An error thrown by the teardown of one of them is
   * reported.
   */
  completer(): () => void {
    const present = [...this.#subscribers];
    return () => {
      for (const subscriber of present) reportingErrors(() => subscriber.complete())();
    };
  }
}
