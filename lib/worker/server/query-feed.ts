/** One query of one tab: gathers what has changed since the tab has been told, while the tab is busy or hidden. */
import { EMPTY, Subscription } from 'rxjs';
import { catchError, tap } from 'rxjs/operators';
import { toView } from '../../query/view/to-view.ts';
import type { View, ViewStatus } from '../../query/view/view.ts';
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

export class QueryFeed {
  readonly parts: QueryFeedParts;
  readonly #view: View<unknown>;
  readonly #differences = new RowDifferences();
  #waiting = new Waiting<unknown>();
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
    const noted = answer.stream.pipe(
      tap((set) => this.#waiting.push(set)),
      // Not an error of the view, which would report it.
      catchError((error: unknown) => {
        this.#failure = { error };
        this.#announce();
        return EMPTY;
      }),
    );
    this.#view = toView(noted, { mutationGuard: 'off' });
  }

  /** Follows the query. The first difference has all rows. */
  show(): void {
    if (this.#isShown) return;
    this.#isShown = true;
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
    this.#waiting = new Waiting();
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
    if (this.#failure !== undefined) {
      return { id, total: 0, synced: false, error: carryError(this.#failure.error) };
    }
    // A view that has been read holds its rows, and nobody reads them here.
    const set = this.#waiting.take();
    const difference = set && this.#differences.of(set);
    const { status, total, synced } = this.#view.getSnapshot();
    const { refused } = this.#differences;
    const isTold = status === this.#told && refused === this.#toldRefused;
    const refusedRows = [...status.refusedRows, ...refused.values()];
    const changed = isTold ? {} : { status: carryStatus({ ...status, refusedRows }) };
    this.#told = status;
    this.#toldRefused = refused;
    // The view knows that the rows of a stopped informer are not complete any more.
    return { id, ...difference, total: total - refused.size, synced, ...changed };
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
