/**
 * Turns decoded watch responses into signals. All events that are decoded before the event loop turns are one batch.
 */
import { Observable, type OperatorFunction, type SchedulerLike, Subject } from 'rxjs';
import type { WatchEvent } from '../decode/watch-event.ts';
import { gather } from '../rx/gather.ts';
import type { DecodedResponse } from './decode-response.ts';
import type { WatchSignal } from './lister-watcher.ts';

/** Batches decoded events. Other signals pass immediately. */
export function signals<T>(
  scheduler: SchedulerLike,
): OperatorFunction<DecodedResponse<readonly WatchEvent<T>[]>, WatchSignal<T>> {
  return (source) =>
    new Observable<WatchSignal<T>>((subscriber) => {
      const events = new Subject<readonly WatchEvent<T>[]>();
      subscriber.add(
        events.pipe(gather(scheduler)).subscribe({
          next: (batch) => subscriber.next({ kind: 'events', events: batch }),
          error: (error) => subscriber.error(error),
          complete: () => subscriber.complete(),
        }),
      );
      subscriber.add(
        source.subscribe({
          next: (answer) => {
            if (answer.kind === 'decoded') events.next(answer.value);
            else subscriber.next(answer);
          },
          error: (error) => events.error(error),
          complete: () => events.complete(),
        }),
      );
    });
}
