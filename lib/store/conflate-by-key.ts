/**
 * `conflateByKey`, which delivers change sets to a slow consumer. Sets that wait are folded per key, so the number of
 * pending changes is limited by the number of objects, and no deletion is lost. `ready` can stand for animation frames,
 * a free worker or an asynchronous handler.
 */
import type { Observable } from 'rxjs';
import type { Demand } from '../rx/demand.ts';
import { createDemandLoop } from '../rx/demand-loop.ts';
import { type AnyChangeSet, type SetOf, withOrigin } from './change-set.ts';
import type { SetStream } from './change-stream.ts';
import { type Origin, originating } from './origin.ts';
import { SetSource } from './set-source.ts';
import { Waiting } from './waiting.ts';

/** The options of {@link conflateByKey}. */
export interface ConflateByKeyOptions {
  /**
   * Checked before each delivery. An error that it throws or emits is an error of the result. @defaultValue always open
   */
  readonly ready?: Demand | undefined;
}

/**
 * Delivers change sets while `ready` is open, and folds them while it is closed. Each delivery is one set, in which
 * `previous` is the state that this consumer had.
 *
 * While `ready` is open, sets are passed on synchronously. If the source completes, the pending set is delivered as
 * soon as `ready` opens, then the result completes. An error is passed on immediately. Unsubscribing drops the pending
 * set.
 *
 * Costs O(1) for each changed row, and keeps one change for each row that waits.
 *
 * ```
 * source   abc---d----|         each changes one object
 * ready    open, then closed for 5 after each delivery
 * result   a----(bc)---d|       (bc): one set, `previous` is a's object
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { conflateByKey } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const web = { metadata: { name: 'web', uid: 'u1', resourceVersion: '5' } };
 * let delivered = 0;
 * of(changeSet({ added: [web] })).pipe(conflateByKey()).subscribe(() => delivered++);
 * delivered; // => 1
 * ```
 */
export function conflateByKey<T, O = undefined>(
  options: ConflateByKeyOptions = {},
): (source: Observable<AnyChangeSet<T, O>>) => SetStream<SetOf<T, O>> {
  const { ready } = options;
  return (source) => {
    const stream = originating<AnyChangeSet<T>>((subscriber, tell) => {
      const waiting = new Waiting<T>();
      let own: Origin | undefined;
      const sets = new SetSource<T>(() => {
        own = tell({ ...sets.origin, emitter: subscriber });
      });
      let ended = false;
      const loop = createDemandLoop({
        ready,
        hasWork: () => !waiting.isEmpty,
        serve: () => {
          const set = waiting.take();
          if (set !== undefined) subscriber.next(set);
        },
        onIdle: () => {
          if (ended) subscriber.complete();
        },
        onError: (error) => subscriber.error(error),
      });
      subscriber.add(() => loop.close());
      subscriber.add(
        sets.read(source, {
          next: (set) => {
            waiting.push(own === undefined ? set : withOrigin(set, own));
            loop.request();
          },
          error: (error) => subscriber.error(error),
          complete: () => {
            ended = true;
            loop.request();
          },
        }),
      );
    });
    return stream as SetStream<SetOf<T, O>>;
  };
}
