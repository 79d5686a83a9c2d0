/** `fromWire`, which makes a view of the messages of {@link toWire}. */
import {
  asyncScheduler,
  isObservable,
  type Observable,
  type SchedulerLike,
  Subscription,
} from 'rxjs';
import { check, checkedFunction, ifGiven } from '../checks/checked-option.ts';
import { isFields } from '../meta/json-fields.ts';
import { NO_ROWS, type View, type ViewStatus } from '../query/view/view.ts';
import { inTurn } from '../rx/drain.ts';
import type { EpochMs } from '../rx/timing.ts';
import { JoinedParts } from './joined-parts.ts';
import { RemoteView } from './remote-view.ts';
import { WIRE, type WireMessage } from './to-wire.ts';

/** Options of {@link fromWire}. */
export interface FromWireOptions {
  /** Receives the `n` of each message that the view has taken, for the option `acks$` of {@link toWire}. */
  readonly acknowledge?: ((n: number) => void) | undefined;
  /** The clock by which ages are told. @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

/** What views say after messages have ended before their stream. */
const CUT: ViewStatus = { refusedRows: NO_ROWS, phase: 'stopped', live: false };

/** One subscription to the messages. */
class Reading {
  readonly #view: RemoteView;
  readonly #scheduler: SchedulerLike;
  /** When the last message has come; until then the rows were right. */
  heardMs: EpochMs;
  #epoch: unknown;
  #n = 0;
  #parts = new JoinedParts();

  constructor(view: RemoteView, scheduler: SchedulerLike) {
    this.#view = view;
    this.#scheduler = scheduler;
    this.heardMs = scheduler.now();
  }

  /** Takes a message. Throws if it is none, or not the next one. */
  take(message: WireMessage): void {
    // The other side may send anything.
    if (!isFields(message) || typeof message.n !== 'number') {
      throw new TypeError('fromWire: a message is not one of toWire; parse the JSON first');
    }
    const { wire, epoch, n, ...difference } = message;
    if (wire !== WIRE) {
      throw new TypeError(
        `fromWire: a message has version ${wire}, and this one reads version ${WIRE}; load the page again`,
      );
    }
    const { status, rows = [] } = difference;
    const isRows = rows.every((row) => Array.isArray(row) && typeof row[0] === 'string');
    if (!isRows || (status !== undefined && !Array.isArray(status?.['refusedRows']))) {
      throw new TypeError('fromWire: the rows or the status of a message are not those of toWire');
    }
    if (epoch !== this.#epoch) {
      if (this.#epoch !== undefined) this.#view.lose(undefined, this.heardMs);
      this.#epoch = epoch;
      this.#parts = new JoinedParts();
      this.#n = 0;
    }
    if (n !== this.#n + 1) {
      throw new Error(
        `fromWire: message ${this.#n + 1} is missing, and ${n} has come; send all messages in their order, and begin with another subscription`,
      );
    }
    this.#n = n;
    this.heardMs = this.#scheduler.now();
    const all = this.#parts.join(difference);
    if (all !== undefined) this.#view.take(all);
  }
}

/**
 * Makes a view of the messages of {@link toWire}, which shows what a view of the stream shows on the other side. It subscribes to
 * the messages with its first subscriber, and unsubscribes with its last; the last rows stay readable.
 *
 * When messages of another epoch come, as after a `retry` that connects again, the rows stay, `stale: true`, until the new answer
 * is complete, and equal rows stay the same objects. If the messages error, so do `items$` and `status$`, and if they complete
 * before the stream does, these complete; the rows stay, `stale`, with their age in `status.staleSinceMs`. A message
 * that is missing, out of order or of another version is an error.
 *
 * Throws a `TypeError` if `messages$` is no Observable, or on an invalid option.
 *
 * @example
 * ```ts
 * import { retry } from 'rxjs';
 * import { webSocket } from 'rxjs/webSocket';
 * import { fromWire, type WireMessage } from 'rx-informer/wire';
 *
 * const messages$ = webSocket<WireMessage>('wss://example.com/pods').pipe(retry({ delay: 1000 }));
 * const view = fromWire<{ name: string }>(messages$);
 * view.getSnapshot().synced; // => false
 * ```
 */
export function fromWire<Row>(
  messages$: Observable<WireMessage>,
  options: FromWireOptions = {},
): View<Row> {
  check(isObservable(messages$), 'fromWire: messages$', messages$, 'an Observable of messages');
  const { acknowledge, scheduler = asyncScheduler } = options;
  ifGiven(checkedFunction, acknowledge, 'fromWire: acknowledge');
  let run = Subscription.EMPTY;
  let reading: Reading | undefined;
  const view: RemoteView = new RemoteView({
    scheduler,
    heardMs: () => reading?.heardMs ?? scheduler.now(),
    ask: () => {
      const own = new Subscription();
      run.unsubscribe();
      run = own;
      if (reading !== undefined) inTurn(() => view.lose(undefined));
      const current = new Reading(view, scheduler);
      reading = current;
      const fail = (error: unknown) => {
        own.unsubscribe();
        // A stream that has completed or errored keeps that state.
        if (view.shown.run !== 'begun') return;
        inTurn(() => {
          view.lose(undefined);
          view.refuse(error instanceof Error ? error : new Error(String(error)));
        });
      };
      own.add(
        messages$.subscribe({
          next: (message) => {
            if (own.closed) return;
            try {
              inTurn(() => current.take(message));
            } catch (error) {
              return fail(error);
            }
            acknowledge?.(message.n);
          },
          error: fail,
          complete: () => {
            if (own.closed) return;
            own.unsubscribe();
            inTurn(() => view.cut(CUT));
          },
        }),
      );
    },
    leave: () => run.unsubscribe(),
  });
  return view as View<unknown> as View<Row>;
}
