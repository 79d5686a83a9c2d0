/** The rows that an operator keeps out because a user's function threw. */
import { BehaviorSubject, type Observable } from 'rxjs';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import { sameList } from '../operators/shallow-equal.ts';

/** A row that stays out until its object or a parameter changes. */
export interface RefusedRow {
  /** The operator whose function threw: `liveFilter`. */
  readonly operator: string;
  /** The id and the key of the row that the function was called with. */
  readonly id: string;
  readonly key: string;
  readonly error: unknown;
}

const NONE: readonly RefusedRow[] = /* @__PURE__ */ Object.freeze([]);

/** The refused rows of all subscriptions of one operator. */
export class RefusedRows {
  readonly #bySubscription = new Map<object, ReadonlyMap<string, RefusedRow>>();
  /** Those of subscriptions that have completed. Readers keep their rows, also behind `merge`, until the next one has some. */
  #former: ReadonlyMap<string, RefusedRow>[] = [];
  readonly #rows = new BehaviorSubject<readonly RefusedRow[]>(NONE);

  /** The refused rows now, and after each change. */
  readonly rows$: Observable<readonly RefusedRow[]> = this.#rows.asObservable();

  get rows(): readonly RefusedRow[] {
    return this.#rows.value;
  }

  /** Notes the rows that a subscription refuses. Reports what is new if nothing listens. */
  publish(subscription: object, rows: ReadonlyMap<string, RefusedRow>): void {
    if (this.#former.length > 0) this.#former = [];
    if (rows.size === 0) this.#bySubscription.delete(subscription);
    else this.#bySubscription.set(subscription, rows);
    this.#show();
  }

  /** A subscription has ended. */
  end(subscription: object, hasCompleted: boolean): void {
    const rows = this.#bySubscription.get(subscription);
    if (rows === undefined) return;
    this.#bySubscription.delete(subscription);
    if (hasCompleted) this.#former.push(rows);
    else this.#show();
  }

  #show(): void {
    const all = new Map<string, RefusedRow>();
    for (const each of [...this.#bySubscription.values(), ...this.#former]) {
      for (const [id, row] of each) if (!all.has(id)) all.set(id, row);
    }
    const before = this.#rows.value;
    const now = all.size === 0 ? NONE : Object.freeze([...all.values()]);
    if (sameList(now, before)) return;
    if (!this.#rows.observed) {
      for (const row of now) if (!before.includes(row)) reportUnhandled(row.error);
    }
    this.#rows.next(now);
  }
}
