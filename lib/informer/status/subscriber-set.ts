/**
 * The subscribers of one stream. A `Subject` completes everybody at once; here those who were there at a given moment
 * are completed later, so that whoever subscribes between a call and its turn in the drain stays.
 */
import type { Subscriber } from 'rxjs';
import { told } from '../../rx/report-unhandled.ts';

/** Subscribers, in the order in which they came. */
export class SubscriberSet<V> {
  readonly #subscribers = new Set<Subscriber<V>>();

  /** Passes every later value on to the subscriber, until it unsubscribes. */
  join(subscriber: Subscriber<V>): void {
    this.#subscribers.add(subscriber);
    subscriber.add(() => this.#subscribers.delete(subscriber));
  }

  next(value: V): void {
    for (const subscriber of [...this.#subscribers]) subscriber.next(value);
  }

  /** Returns the function that completes those who are subscribed now; what the cleanup of one throws is reported. */
  leaving(): () => void {
    const leaving = [...this.#subscribers];
    return () => {
      for (const subscriber of leaving) told(() => subscriber.complete())();
    };
  }
}
