/** `toWire`, which makes messages of a stream of change sets, for a view on another machine. */
import { asyncScheduler, isObservable, Observable, type SchedulerLike } from 'rxjs';
import { check, refusal } from '../checks/checked-option.ts';
import { AFTER_ALL } from '../query/view/snapshot-of.ts';
import { atEndOfTurn, inTurn } from '../rx/drain.ts';
import { timingOf } from '../rx/timing.ts';
import { uniqueText } from '../rx/unique-text.ts';
import type { AnyChangeSet } from '../store/change-set.ts';
import { publicCarriage, QueryFeed } from './query-feed.ts';
import type { RowDifference } from './row-difference.ts';

/** The version of the messages. */
export const WIRE = 1;

/** A message about the rows of a stream: data of JSON. */
export interface WireMessage extends RowDifference {
  /** The version of the messages. */
  readonly wire: number;
  /** Differs for each subscription. An epoch begins without rows. */
  readonly epoch: string;
  /** 1, 2, 3 … within an epoch. */
  readonly n: number;
}

/** Options of {@link toWire}. */
export interface ToWireOptions {
  /**
   * Emits the `n` of each message that the reader has taken. The next message is sent afterwards, and what changes meanwhile is
   * folded by id into it. @defaultValue a message is sent at the end of each turn in which something has changed
   */
  readonly acks$?: Observable<number> | undefined;
  /** The clock by which ages are told. @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
  /** Makes the epochs. @defaultValue `Math.random` */
  readonly random?: (() => number) | undefined;
}

/**
 * Makes messages of a stream, from which {@link fromWire} makes a view on another machine, with the rows, their order, the total,
 * `synced`, `stale` and the status that a view of the stream has here. Send them as JSON over anything that keeps their order:
 * a WebSocket, a `MessagePort`, server-sent events.
 *
 * Each subscription is an epoch of its own, which begins without rows. A difference of over 65,536 characters comes in several
 * messages, with `more` in all but the last. A row that JSON would lose or change, or of over 262,144 characters, is in
 * `status.refusedRows`, and so is each row behind 33,554,432 characters of one difference. Errors say their code and reason, and neither message nor stack. If the stream errors or completes for good, the
 * last message says so, and the messages complete. Unsubscribing ends the subscription to the stream.
 *
 * Throws a `TypeError` if the source is no Observable, or on an invalid option.
 *
 * ```text
 * changes$  -a--b-c----d--
 * acks$     ----1------2--
 * toWire    -1--(2)----(3)    2 has b, 3 has c and d
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { changeSet } from 'rx-informer/testing';
 * import { fromWire, toWire } from 'rx-informer/wire';
 *
 * const web = { metadata: { name: 'web', uid: 'u1', resourceVersion: '5' } };
 * const messages$ = toWire(of(changeSet({ added: [web] })));
 * const view = fromWire(messages$);
 * const leave = view.subscribe(() => undefined);
 * view.getSnapshot().rows; // => [{ metadata: { name: 'web', uid: 'u1', resourceVersion: '5' } }]
 * leave();
 * ```
 */
export function toWire<T, O>(
  source: Observable<AnyChangeSet<T, O>>,
  options: ToWireOptions = {},
): Observable<WireMessage> {
  check(isObservable(source), 'toWire: the source', source, 'an Observable of change sets');
  const { acks$, scheduler = asyncScheduler } = options;
  if (acks$ !== undefined && !isObservable(acks$)) {
    throw refusal('toWire: acks$', acks$, 'an Observable of the numbers of messages');
  }
  const { random } = timingOf(options);
  const carriage = publicCarriage('toWire', scheduler);
  return new Observable((subscriber) => {
    const epoch = uniqueText(random);
    let n = 0;
    let isBusy = false;
    let isWaiting = false;
    let isScheduled = false;
    const send = () => {
      isScheduled = false;
      if (isBusy || !isWaiting || subscriber.closed) return;
      isWaiting = false;
      const difference = feed.take();
      if (difference === undefined) return;
      isBusy = acks$ !== undefined;
      const { run, error } = difference;
      subscriber.next({ wire: WIRE, epoch, n: ++n, ...difference });
      if (run === 'ended' || error !== undefined) subscriber.complete();
    };
    const schedule = () => {
      if (isScheduled) return;
      isScheduled = true;
      atEndOfTurn(AFTER_ALL, send);
    };
    const answer = { stream: source as Observable<AnyChangeSet<unknown>> };
    const onWaiting = () => {
      isWaiting = true;
      schedule();
    };
    const feed = new QueryFeed({ answer, carriage, onWaiting });
    subscriber.add(() => feed.close());
    subscriber.add(
      acks$?.subscribe({
        next: (taken) => {
          if (taken !== n) return;
          isBusy = false;
          schedule();
        },
        error: (error: unknown) => subscriber.error(error),
      }),
    );
    if (!subscriber.closed) inTurn(() => feed.show());
  });
}
