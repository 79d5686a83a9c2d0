/** One query of one reader: gathers what has changed since the reader has been told, while the reader is busy or hidden. */
import { EMPTY, Observable, type SchedulerLike, Subscription } from 'rxjs';
import { catchError } from 'rxjs/operators';
import { type RowsOfSets, RowsView } from '../query/view/rows-view.ts';
import { NO_ROWS, type View, type ViewStatus } from '../query/view/view.ts';
import type { EpochMs } from '../rx/timing.ts';
import type { AnyChangeSet } from '../store/change-set.ts';
import { Waiting } from '../store/waiting.ts';
import { carryError, carryStatus, type ErrorCarrier } from './carried-errors.ts';
import { unsendable } from './json-data.ts';
import { partsOf } from './parts-of.ts';
import { publicError, readable } from './public-error.ts';
import type { RowDifference } from './row-difference.ts';
import { RowDifferences } from './row-differences.ts';

/**
 * How an answer is behind what the reader has seen elsewhere: `awaited` for a moment, `old`, which is sent and is not complete, or
 * not at all.
 */
export type AnswerLag = 'awaited' | 'old' | 'none';

/** What a reader follows: the channel of a query, a stream that knows its readers, or any stream of change sets. */
export interface AskedAnswer {
  readonly stream: Observable<AnyChangeSet<unknown>>;
  /** Begins at once, and completes with `none`. @defaultValue it is not behind */
  readonly lag$?: Observable<AnswerLag> | undefined;
  /** Keeps the rows until the returned function is called, also while the reader is hidden. */
  enter?(): () => void;
  /** In place of `enter`: keeps the rows while its status has a subscriber. */
  readonly view?: Pick<View<unknown>, 'status$'>;
}

/** How messages leave the process. */
export interface Carriage {
  /** The name that refused rows have. */
  readonly operator: string;
  readonly scheduler: SchedulerLike;
  /** Makes an error data. @defaultValue with everything that it says */
  readonly carry?: ErrorCarrier | undefined;
  /**
   * How long after a message the next one about later changes is sent at the earliest, in milliseconds. @defaultValue 0: at the end of
   * the turn
   */
  readonly frameMs?: number | undefined;
  /** Sends a message about later changes when it is the turn of the reader. @defaultValue at once */
  readonly takeTurn?: ((send: () => void) => Subscription) | undefined;
  /** The most characters of a row and of the rows of a difference, and about the most of a message. @defaultValue no limit */
  readonly limits?:
    | { readonly row: number; readonly difference: number; readonly message: number }
    | undefined;
}

/** The most characters of a row. */
const MOST_OF_ROW = 262_144;
/** The most characters of what changes at once: the process makes it in one turn, in which nobody else is answered. */
const MOST_OF_DIFFERENCE = 33_554_432;
/** About the most characters of a message. One row may be longer. */
const MOST_OF_MESSAGE = 65_536;

/** How messages leave the machine. */
export function publicCarriage(operator: string, scheduler: SchedulerLike): Carriage {
  const limits = {
    row: MOST_OF_ROW,
    difference: MOST_OF_DIFFERENCE,
    message: MOST_OF_MESSAGE,
  };
  return { operator, scheduler, carry: publicError, limits };
}

/** The parts of a feed. */
export interface QueryFeedParts {
  readonly answer: AskedAnswer;
  readonly carriage: Carriage;
  /** A difference is waiting for `take`. Not called again before. */
  onWaiting(): void;
}

/** The changes of one query that one reader has not been sent. */
export interface Feed {
  /** Follows the query. The first difference has all rows. If the query has ended, it begins again. */
  show(): void;
  /** Tells the reader nothing, but keeps the pipeline, which the reader needs again when it is shown. */
  hide(): void;
  close(): void;
  /** The difference since the last call, or the next part of it. After a part with `more` another one is announced. */
  take(): RowDifference | undefined;
}

/** Calls `then` after a stream has completed and its subscriber knows it. */
function afterEnd<T>(source: Observable<T>, then: () => void): Observable<T> {
  return new Observable((subscriber) =>
    source.subscribe({
      next: (value) => subscriber.next(value),
      error: (error) => subscriber.error(error),
      complete: () => {
        subscriber.complete();
        then();
      },
    }),
  );
}

/** The most refused rows that a message of limited size names. */
const MOST_REFUSED = 20;

/** The first set of a run, which has all its rows. */
function asReset(set: AnyChangeSet<unknown>): AnyChangeSet<unknown> {
  const { changes, origin } = set;
  return { ...set, reset: true, changes, origin };
}

/** In place of the rows of a view, which nobody reads here: the sets that the reader has not been told. */
class UntoldSets extends Waiting<unknown> implements RowsOfSets<unknown> {
  readonly list = NO_ROWS;
  readonly total = 0;
  readonly #reset: () => void;
  #last: { readonly order?: unknown; readonly total?: number | undefined } = {};

  constructor(reset: () => void) {
    super();
    this.#reset = reset;
  }

  get(): undefined {
    return undefined;
  }

  apply(set: AnyChangeSet<unknown>, isReset: boolean): readonly string[] | undefined {
    const { order, total } = set;
    const isSame = !isReset && order === this.#last.order && total === this.#last.total;
    this.#last = { order, total };
    if (isReset) this.#reset();
    this.push(set.reset === isReset ? set : asReset(set));
    return isSame && set.changes.length === 0 ? undefined : [];
  }
}

export class QueryFeed implements Feed {
  readonly #parts: QueryFeedParts;
  /** A reset takes the place of the parts, too, which have rows that the reader may no longer be permitted to see. */
  readonly #untold = new UntoldSets(() => {
    if (this.#parted.length === 0) return;
    this.#parted = [];
    // The last part would have told it.
    this.#told = undefined;
  });
  /** Shows what a view in the same process shows. */
  readonly #view: RowsView<unknown, UntoldSets>;
  readonly #differences: RowDifferences;
  /** The parts of a difference that the reader was not sent yet. */
  #parted: RowDifference[] = [];
  /** Whether something has changed that the present parts do not tell. */
  #isBehind = false;
  /** The status that the reader has been told. */
  #told: ViewStatus | undefined;
  /** The refused rows that the reader has been told. */
  #toldRefused: RowDifferences['refused'] | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** How many characters the rows of a difference may still have. */
  #room = Number.POSITIVE_INFINITY;
  #isAnnounced = false;
  #isShown = false;
  #lag: AnswerLag = 'none';
  /** Since when the answer is known to be old. */
  #oldMs: EpochMs = 0;
  readonly #lags: Subscription | undefined;
  #held = Subscription.EMPTY;
  readonly #leave: (() => void) | undefined;

  constructor(parts: QueryFeedParts) {
    this.#parts = parts;
    const { answer, carriage } = parts;
    const { operator, limits } = carriage;
    this.#differences = new RowDifferences(operator, (what, row) => {
      const error =
        this.#room >= 0
          ? unsendable(what, row, limits?.row, (length) => {
              this.#room -= length;
            })
          : new RangeError(
              `${what()} is not sent, because the rows before it have over ${limits?.difference} characters; give the query a limit, or select fewer fields`,
            );
      return error && readable(error);
    });
    this.#leave = answer.enter?.();
    this.#oldMs = carriage.scheduler.now();
    this.#lags = answer.lag$?.subscribe((lag) => {
      this.#lag = lag;
      this.#told = undefined;
      this.#announce();
    });
    this.#view = new RowsView({
      rows: this.#untold,
      source: answer.stream.pipe(
        // The view tells nobody of the end of a run, which changes no row.
        (source) => afterEnd(source, () => this.#announce()),
        // Not an error of the view, which would report it.
        catchError((error: unknown) => {
          this.#failure = { error };
          this.#announce();
          return EMPTY;
        }),
      ),
    });
  }

  show(): void {
    this.#isShown = true;
    this.#failure = undefined;
    this.#hold(new Subscription(this.#view.subscribe(() => this.#announce())));
    this.#announce();
  }

  hide(): void {
    this.#isShown = false;
    const { view } = this.#parts.answer;
    this.#hold(view?.status$.subscribe({ error: () => undefined }) ?? Subscription.EMPTY);
    this.#untold.clear();
    this.#parted = [];
    this.#told = undefined;
  }

  close(): void {
    this.#isShown = false;
    this.#held.unsubscribe();
    this.#lags?.unsubscribe();
    this.#leave?.();
  }

  take(): RowDifference | undefined {
    this.#isAnnounced = false;
    if (!this.#isShown) return undefined;
    if (this.#parted.length === 0) {
      this.#isBehind = false;
      const { limits } = this.#parts.carriage;
      this.#parted = partsOf(this.#difference(), limits?.message);
    }
    const part = this.#parted.shift();
    if (part?.more || this.#isBehind) this.#announce();
    return part;
  }

  #difference(): RowDifference {
    this.#room = this.#parts.carriage.limits?.difference ?? Number.POSITIVE_INFINITY;
    const set = this.#untold.take();
    const difference = set && this.#differences.of(set);
    const { status, synced } = this.#view.getSnapshot();
    const { total } = this.#differences;
    const { carry = carryError } = this.#parts.carriage;
    const { rows, run } = this.#view.shown;
    const isOld = this.#lag !== 'none';
    const failure = this.#failure && { error: carry(this.#failure.error) };
    // Nothing follows the error.
    if (failure !== undefined) this.#hold(Subscription.EMPTY);
    return {
      ...{ ...difference, total, synced: synced && !isOld },
      ...((rows === 'outdated' || isOld) && { stale: true as const }),
      ...(run !== 'begun' && { run }),
      ...this.#untoldStatus(status),
      ...failure,
    };
  }

  #untoldStatus(status: ViewStatus): Pick<RowDifference, 'status'> {
    const { refused } = this.#differences;
    if (status === this.#told && refused === this.#toldRefused) return {};
    this.#told = status;
    this.#toldRefused = refused;
    const { carry, scheduler, limits } = this.#parts.carriage;
    const all = [...status.refusedRows, ...refused.values()];
    const refusedRows = limits === undefined ? all : all.slice(0, MOST_REFUSED);
    const { staleSinceMs = this.#oldMs } = status;
    const old = { synced: false, live: false, stale: true, staleSinceMs } as const;
    const said = { ...status, ...(this.#lag !== 'none' && old), refusedRows };
    return { status: carryStatus(said, scheduler.now(), carry) };
  }

  /** Afterwards the former hold ends, so that the pipeline does not end in between. */
  #hold(next: Subscription): void {
    const former = this.#held;
    this.#held = next;
    former.unsubscribe();
  }

  #announce(): void {
    if (this.#parted.length > 0) this.#isBehind = true;
    if (this.#isAnnounced || !this.#isShown || this.#lag === 'awaited') return;
    this.#isAnnounced = true;
    this.#parts.onWaiting();
  }
}
