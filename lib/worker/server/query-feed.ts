/** One query of one tab: gathers what has changed since the tab has been told, while the tab is busy or hidden. */
import { EMPTY, Subscription } from 'rxjs';
import { catchError } from 'rxjs/operators';
import { type RowsOfSets, RowsView } from '../../query/view/rows-view.ts';
import { NO_ROWS, type ViewStatus } from '../../query/view/view.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import { Waiting } from '../../store/waiting.ts';
import { carryError, carryStatus } from '../carried-errors.ts';
import type { CarriedQuery } from '../carried-query.ts';
import type { RowDifference } from '../messages.ts';
import type { AskedAnswer } from './answers.ts';
import { RowDifferences } from './row-differences.ts';

/** The parts of a feed. */
export interface QueryFeedParts {
  /** The tab's id of the query. */
  readonly id: number;
  readonly query: CarriedQuery;
  readonly answer: AskedAnswer;
  /** A difference is waiting for `take`. Not called again before. */
  onWaiting(): void;
}

/** The first set of a run, which has all its rows. */
function asReset(set: AnyChangeSet<unknown>): AnyChangeSet<unknown> {
  const { changes, origin } = set;
  return { ...set, reset: true, changes, origin };
}

/** In place of the rows of a view, which nobody reads here: the sets that the tab has not been told. */
class UntoldSets extends Waiting<unknown> implements RowsOfSets<unknown> {
  readonly list = NO_ROWS;
  readonly total = 0;
  #last: { readonly order?: unknown; readonly total?: number | undefined } = {};

  get(): undefined {
    return undefined;
  }

  apply(set: AnyChangeSet<unknown>, isReset: boolean): readonly string[] | undefined {
    const { order, total } = set;
    const isSame = !isReset && order === this.#last.order && total === this.#last.total;
    this.#last = { order, total };
    this.push(set.reset === isReset ? set : asReset(set));
    return isSame && set.changes.length === 0 ? undefined : [];
  }
}

export class QueryFeed {
  readonly parts: QueryFeedParts;
  readonly #untold = new UntoldSets();
  /** Shows what a view without a worker shows. */
  readonly #view: RowsView<unknown, UntoldSets>;
  readonly #differences = new RowDifferences();
  /** The status that the tab has been told. */
  #told: ViewStatus | undefined;
  /** The refused rows that the tab has been told. */
  #toldRefused: RowDifferences['refused'] | undefined;
  #failure: { readonly error: unknown } | undefined;
  #isAnnounced = false;
  #isShown = false;
  #held = Subscription.EMPTY;
  readonly #leave: (() => void) | undefined;

  constructor(parts: QueryFeedParts) {
    this.parts = parts;
    const { answer } = parts;
    this.#leave = 'enter' in answer ? answer.enter() : undefined;
    this.#view = new RowsView({
      rows: this.#untold,
      source: answer.stream.pipe(
        // Not an error of the view, which would report it.
        catchError((error: unknown) => {
          this.#failure = { error };
          this.#announce();
          return EMPTY;
        }),
      ),
    });
  }

  /** Follows the query. The first difference has all rows. If the query has ended, it begins again. */
  show(): void {
    this.#isShown = true;
    this.#failure = undefined;
    this.#hold(new Subscription(this.#view.subscribe(() => this.#announce())));
    this.#announce();
  }

  /** Tells the tab nothing, but keeps the pipeline, which the tab needs again when it is shown. */
  hide(): void {
    this.#isShown = false;
    const { answer } = this.parts;
    const isKept = 'enter' in answer;
    this.#hold(
      isKept ? Subscription.EMPTY : answer.view.status$.subscribe({ error: () => undefined }),
    );
    this.#untold.clear();
    this.#told = undefined;
  }

  close(): void {
    this.#isShown = false;
    this.#held.unsubscribe();
    this.#leave?.();
  }

  /** The difference since the last call. */
  take(): RowDifference | undefined {
    this.#isAnnounced = false;
    if (!this.#isShown) return undefined;
    const { id } = this.parts;
    const set = this.#untold.take();
    const difference = set && this.#differences.of(set);
    const { status, synced } = this.#view.getSnapshot();
    const { refused, total } = this.#differences;
    const isTold = status === this.#told && refused === this.#toldRefused;
    const refusedRows = [...status.refusedRows, ...refused.values()];
    const changed = isTold ? {} : { status: carryStatus({ ...status, refusedRows }) };
    this.#told = status;
    this.#toldRefused = refused;
    const { rows, run } = this.#view.shown;
    const failure = this.#failure && { error: carryError(this.#failure.error) };
    // Nothing follows the error.
    if (failure !== undefined) this.#hold(Subscription.EMPTY);
    return {
      ...{ id, ...difference, total, synced },
      ...(rows === 'outdated' && { stale: true as const }),
      ...(run !== 'begun' && { run }),
      ...changed,
      ...failure,
    };
  }

  /** Afterwards the former hold ends, so that the pipeline does not end in between. */
  #hold(next: Subscription): void {
    const former = this.#held;
    this.#held = next;
    former.unsubscribe();
  }

  #announce(): void {
    if (this.#isAnnounced || !this.#isShown) return;
    this.#isAnnounced = true;
    this.parts.onWaiting();
  }
}
